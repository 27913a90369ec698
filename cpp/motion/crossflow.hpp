// SPDX-License-Identifier: BSD-3-Clause
// How the velocity across an axis strains what comes in through its ends.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "motion/flow.hpp"
#include "runtime/buffer.hpp"

namespace particles {

class Crossflow {
 public:
  // Compiles for the ends of an axis. `ends`: through which of them particles come in.
  Crossflow(const Flow& flow, int axis, const std::array<bool, 2>& ends);

  // Enqueues where the velocity has changed, or depends on time: the rates in the middle of an
  // interval.
  void update(Flow& flow, const Interval& interval);

  // The derivative of the velocity along each other axis, the lane axis first, at each line of
  // either end.
  const Buffer& rates() const { return *rates_; }

 private:
  struct Other {
    LinePlan plan;
    Kernel kernel;
  };
  void launch(const Other& other, size_t which, size_t end, const Motion& motion, double time);
  template <class Real>
  void tell_others();

  std::shared_ptr<Context> context_;
  Grid grid_;
  LineAxes axes_;
  std::array<bool, 2> ends_;
  std::vector<Other> others_;  // along the lane axis, and along the outer axis
  DType dtype_;
  std::unique_ptr<Buffer> rates_;
  std::optional<int64_t> version_;  // of the velocity they were measured on
};

}  // namespace particles
