// SPDX-License-Identifier: BSD-3-Clause
// How far the particles of a sweep come at most: sweeps look as far along their lines.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "motion/advection_op.hpp"
#include "sweep/sweep.hpp"

namespace particles {

// The motion that a sweep is given, and how many cells it moves particles at most: 0 where the
// sweep does not ask.
struct BoundedMotion {
  Motion motion;
  double cells;
};

class Reach {
 public:
  // Of fields like one, remeshed by a kernel.
  Reach(std::shared_ptr<AdvectionOp> advection, const RemeshingKernel& kernel,
        const Field& carried);

  // Chooses how it is found for sweeps like one. What comes back are displacements for which the
  // sweep must be made instead, if any: those by a formula on long lines are computed first.
  std::optional<Motion> choose(int axis, const Sweep& sweep);
  // The same for a chain, whose lines are not cut.
  void choose_for_chain(int axis);

  // Of a sweep over an interval within one piece. Waits where it must be measured.
  BoundedMotion of(int axis, const Interval& interval) {
    return (this->*ways_.at(axis))(axis, interval);
  }

  // Of a part of a grid: what is known of the velocity elsewhere.
  void forget() { version_.reset(); }

 private:
  using Way = BoundedMotion (Reach::*)(int, const Interval&);
  using Push = std::pair<int, double>;  // along an axis, for a duration

  BoundedMotion unasked(int axis, const Interval& interval);
  BoundedMotion by_fields(int axis, const Interval& interval);
  BoundedMotion between_ends(int axis, const Interval& interval);
  BoundedMotion displaced(int axis, const Interval& interval);
  BoundedMotion in_part(int axis, const Interval& interval);

  int64_t rows_looked_at(int axis, double cells) const;

  std::optional<double> bound(int axis, const Interval& interval) const;
  double beyond_ends(int axis, const Interval& interval);
  double farthest(int axis, const Interval& interval);
  void displace(int axis, const Interval& interval);
  double greatest_of(const Push& push, const std::function<double()>& measure);
  void forget_what_has_changed();
  void check_move(double cells, int axis) const;

  std::shared_ptr<AdvectionOp> advection_;
  SweepKind sweep_;
  std::shared_ptr<Context> context_;
  Grid grid_;
  DType dtype_;
  std::array<Way, 3> ways_{};
  std::shared_ptr<Field> displacements_;  // of long lines moved by a formula
  std::optional<Push> displaced_;         // what they are now, if the formula is steady
  std::map<Push, double> greatest_;       // moves by a steady formula
  std::optional<int64_t> version_ = 0;    // of the formula then
};

}  // namespace particles
