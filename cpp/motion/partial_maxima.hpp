// SPDX-License-Identifier: BSD-3-Clause
// The greatest of what the work-items of a kernel find, of several launches with one wait.
#pragma once

#include <memory>
#include <vector>

#include "arrays/dtype.hpp"
#include "runtime/launch.hpp"

namespace particles {

class PartialMaxima {
 public:
  // Of so many numbers of each work-item, of which no launch has more.
  PartialMaxima(const std::shared_ptr<Context>& context, DType dtype, size_t numbers,
                size_t work_items);

  // Forgets launches that nobody has read, as one of them failed.
  void begin() { launches_.clear(); }

  // Adds the arguments `out` and `out_offset`, where so many work-items leave their numbers.
  void add_to(Launch& launch, size_t work_items);

  // Whether there is no room for another launch.
  bool is_full() const { return launches_.size() == most_; }

  // Waits, and begins anew: the greatest of each number, by launches. NaN is greater than all.
  std::vector<std::vector<double>> read();

 private:
  DType dtype_;
  size_t numbers_, room_, most_;  // room_: of a launch, in numbers
  std::vector<size_t> launches_;  // their work-items
  Buffer buffer_;
};

}  // namespace particles
