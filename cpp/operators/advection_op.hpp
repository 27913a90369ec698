// SPDX-License-Identifier: BSD-3-Clause
// Moves particles: writes displacements, and knows how fast and how strained the velocity is.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "operators/velocity.hpp"

namespace particles {

// Along one axis, over the whole grid.
struct Extremes {
  double speed = 0;   // greatest |a|
  double strain = 0;  // greatest |difference of neighbouring nodes| / spacing
};

class AdvectionOp {
 public:
  // Compiles for all axes. Throws std::invalid_argument where the velocity does not fit.
  AdvectionOp(std::shared_ptr<opencl::Context> context, Velocity velocity, DType dtype, Form form);

  const std::shared_ptr<opencl::Context>& context() const { return context_; }
  const Velocity& velocity() const { return velocity_; }
  DType dtype() const { return dtype_; }
  const Form& form() const { return form_; }
  const Motion& motion(int axis) const { return motions_.at(axis); }

  // Enqueues: how many cells each particle moves along `axis` during the interval.
  void displace(int axis, const Interval& interval, Field& displacements);

  // Measured on the device when the velocity has changed since the last call; waits then.
  Extremes extremes(int axis, double time);

 private:
  struct Measured {
    int64_t version;
    double time;
    Extremes extremes;
  };
  struct Axis {
    LinePlan plan;
    MotionCopy copy;
    std::shared_ptr<Field> displacements;  // transposed, where the plan wants them so
    opencl::Kernel displace, strain;
    std::unique_ptr<opencl::Buffer> partial;
    size_t work_items = 1;
    std::optional<Measured> measured;
  };

  void compile(int axis);
  Extremes measure(int axis, double time);

  std::shared_ptr<opencl::Context> context_;
  Velocity velocity_;
  DType dtype_;
  Form form_;
  std::vector<Motion> motions_;  // per axis
  std::array<Axis, 3> axes_;
  std::mutex mutex_;
};

}  // namespace particles
