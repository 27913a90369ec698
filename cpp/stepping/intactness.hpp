// SPDX-License-Identifier: BSD-3-Clause
// Whether what a transport advances is still whole. A step that has been cut short leaves fields of
// no time, part of them swept and part not: nobody may go on from there unawares.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "runtime/context.hpp"
#include "runtime/error.hpp"

namespace particles {

class Intactness {
 public:
  explicit Intactness(std::shared_ptr<Context> context)
      : context_(std::move(context)), commands_lost_(context_->queue().commands_lost()) {}

  // Does a part of a step; throws DeviceError if one was cut short before.
  template <class Work>
  void keep(Work work) {
    const bool has_lost = context_->queue().commands_lost() != commands_lost_;
    if (is_cut_ || has_lost)
      throw DeviceError("a step was cut short " +
                        (has_lost ? "when " + context_->device().name + " failed" : "by an error") +
                        ", so the fields belong to no time: fill them again, or restore a "
                        "checkpoint, and make new operators for them");
    try {
      work();
    } catch (...) {  // a neighbour's failure, too, which Python tells of
      is_cut_ = true;
      throw;
    }
  }

 private:
  std::shared_ptr<Context> context_;
  int64_t commands_lost_;
  bool is_cut_ = false;
};

}  // namespace particles
