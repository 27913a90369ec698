// SPDX-License-Identifier: BSD-3-Clause
// A velocity on the lines of the particles, as kernels that hold no sums read it: those that push
// particles, and those that measure.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "fields/extended.hpp"
#include "motion/motion_copy.hpp"

namespace particles {

class Flow {
 public:
  // Throws std::invalid_argument where the velocity does not fit.
  Flow(std::shared_ptr<Context> context, Velocity velocity, DType dtype, Form form);

  const std::shared_ptr<Context>& context() const { return context_; }
  const Velocity& velocity() const { return velocity_; }
  DType dtype() const { return dtype_; }
  const Form& form() const { return form_; }

  // What a kernel is compiled for, and of a series at one of its times.
  const Motion& kind(int axis) const { return axes_.at(axis).kind; }
  const Motion& kind_at_level(int axis) const { return axes_.at(axis).kind_at_level; }
  // How lines are divided among work-items.
  const LinePlan& plan(int axis) const { return axes_.at(axis).plan; }

  // The motion during an interval, which lies between two neighbouring times of a series. Enqueues
  // what a velocity on a coarse grid needs when it has changed. Along an axis that is cut it is
  // known so many rows beyond those of the part.
  Motion motion(int axis, const Interval& interval, int64_t rows_beyond = kFewRows);

  // The same where the plan wants it to be read; there is one such place for all intervals.
  Motion read_by_plan(int axis, const Interval& interval, int64_t rows_beyond = kFewRows);
  // Of a series, at one of its times, each of which has a place of its own.
  Motion level_by_plan(int axis, size_t level);

  // Of a part of a grid: what neighbours have told of the velocity is asked for again.
  void forget();
  // How often that has been: all parts know the same velocity where they know it.
  int64_t times_forgotten() const { return times_forgotten_; }

 private:
  static constexpr int64_t kFewRows = 8;  // which measuring needs
  // A component of the velocity at one time.
  struct Level {
    std::unique_ptr<Refined> refined;  // null for a formula
    MotionCopy copy;                   // of a series
    Extended extended;                 // along an axis that is cut
    int64_t rows_beyond = 0;           // of it that are known; 0 for none
  };
  struct Axis {
    Motion kind, kind_at_level;
    std::vector<Level> levels;
    LinePlan plan;
    MotionCopy copy;
  };

  void make_axis(int axis);
  Motion motion_at(int axis, const Interval& interval, int64_t rows_beyond = kFewRows);
  Motion motion_of_levels(int axis, size_t first, size_t count, int64_t rows_beyond = kFewRows);
  std::shared_ptr<Field> extended(Level& level, int axis, int64_t rows_beyond);

  std::shared_ptr<Context> context_;
  Velocity velocity_;
  DType dtype_;
  Form form_;
  std::array<Axis, 3> axes_;
  int64_t times_forgotten_ = 0;
  std::mutex mutex_;  // one caller at a time
};

}  // namespace particles
