// SPDX-License-Identifier: BSD-3-Clause
// Moves particles: writes displacements, and knows how fast and how strained the velocity is.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "motion/velocity.hpp"

namespace particles {

// Along one axis, over the whole grid.
struct Extremes {
  double speed = 0;    // greatest |a| that particles may meet
  double strain = 0;   // greatest |difference of neighbouring nodes| / spacing
  double on_wall = 0;  // greatest |a| on a wall across the axis
};

// Between two times, per axis: nothing is faster. Infinity where nobody knows.
struct SpeedBounds {
  double begin, end;
  std::vector<double> speeds;
};

class AdvectionOp {
 public:
  // Compiles for all axes. Throws std::invalid_argument where the velocity does not fit.
  AdvectionOp(std::shared_ptr<Context> context, Velocity velocity, DType dtype, Form form);

  const std::shared_ptr<Context>& context() const { return context_; }
  const Velocity& velocity() const { return velocity_; }
  DType dtype() const { return dtype_; }
  const Form& form() const { return form_; }

  // What a kernel is compiled for.
  const Motion& kind_of_motion(int axis) const { return axes_.at(axis).kind; }

  // The motion during an interval, which lies between two neighbouring times of a series. Enqueues
  // what a velocity on a coarse grid needs when it has changed.
  Motion motion(int axis, const Interval& interval);

  // The interval in pieces that each lie between two neighbouring times of a series; throws
  // std::invalid_argument where it leaves them.
  std::vector<Interval> pieces_of(const Interval& interval) const;

  // Enqueues: how many cells each particle moves along `axis` during the interval, which must be
  // one piece.
  void displace(int axis, const Interval& interval, Field& displacements);
  // Builds what `displace` needs, which most splittings never call.
  void prepare_to_displace(int axis);

  // At the beginning of an interval, or all over it for a series. Measured on the device when the
  // velocity has changed since the last call; waits then.
  Extremes extremes(int axis, const Interval& interval);

  // Of a formula that depends on time, so that a move within these times need not be measured.
  void bound_speeds(SpeedBounds bounds);

  // How many cells particles move during an interval at most; infinity where nobody knows.
  double bound_of_move(int axis, const Interval& interval) const;

 private:
  struct Measured {
    int64_t version;
    double time;
    Extremes extremes;
  };
  // A component of the velocity at one time.
  struct Level {
    std::unique_ptr<Refined> refined;  // null for a formula
    MotionCopy copy;                   // for its extremes
    std::optional<Measured> measured;
  };
  struct Axis {
    Motion kind;
    std::vector<Level> levels;
    LinePlan plan;
    MotionCopy copy;
    std::shared_ptr<Field> displacements;  // transposed, where the plan wants them so
    Kernel displace, strain;
    std::unique_ptr<Buffer> partial;
    size_t work_items = 1;
  };

  void make_levels(int axis);
  void compile(int axis);
  Kernel kernel(const char* name, const Axis& own, const Motion& motion) const;
  void build_displace(Axis& own);
  // Of a series: the level at or before the beginning of a piece, the other being the next.
  size_t level_of(const Interval& piece) const;
  Motion motion_of_levels(int axis, size_t first, size_t count);
  Extremes extremes_of_level(int axis, size_t level, double time);
  Extremes measure(int axis, size_t level, double time);

  std::shared_ptr<Context> context_;
  Velocity velocity_;
  DType dtype_;
  Form form_;
  std::array<Axis, 3> axes_;
  std::optional<SpeedBounds> speed_bounds_;
  mutable std::mutex mutex_;
};

}  // namespace particles
