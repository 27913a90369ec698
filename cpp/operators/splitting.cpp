// SPDX-License-Identifier: BSD-3-Clause
#include "operators/splitting.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "fields/reductions.hpp"

namespace particles {

// Cells are counted in 32 bits.
constexpr double kMovesAtMost = 1 << 30;

std::vector<Stage> make_schedule(int ndim, int order, int full_axis) {
  std::vector<int> halves;
  for (int axis = 0; axis < ndim; axis++)
    if (axis != full_axis) halves.push_back(axis);
  std::vector<Stage> stages;
  if (order == 1) {
    for (int axis = 0; axis < ndim; axis++) stages.push_back({axis, 0, 1});
    return stages;
  }
  for (const int axis : halves) stages.push_back({axis, 0, 0.5});
  stages.push_back({full_axis, 0, 1});
  std::reverse(halves.begin(), halves.end());
  for (const int axis : halves) stages.push_back({axis, 0.5, 0.5});
  return stages;
}

int least_strained_axis(const std::vector<double>& strain_per_axis) {
  constexpr double kNearlyEqual = 1.01;
  const double least = *std::min_element(strain_per_axis.begin(), strain_per_axis.end());
  int chosen = 0;
  for (size_t axis = 0; axis < strain_per_axis.size(); axis++)
    if (strain_per_axis[axis] <= kNearlyEqual * least) chosen = static_cast<int>(axis);
  return chosen;
}

Splitting::Splitting(std::shared_ptr<AdvectionOp> advection, std::shared_ptr<RemeshOp> remesh,
                     int order)
    : advection_(std::move(advection)),
      remesh_(std::move(remesh)),
      order_(order),
      ndim_(remesh_->first().grid().ndim) {
  if (order != 1 && order != 2)
    throw std::invalid_argument("order: expected 1 (Lie) or 2 (Strang), got " +
                                std::to_string(order));
  const Field& first = remesh_->first();
  if (advection_->velocity().grid != first.grid() || advection_->dtype() != first.dtype() ||
      advection_->context() != first.context())
    throw std::invalid_argument(
        "velocity: expected the grid, dtype and device of the fields it carries");
  bool needs_displacements = false;
  for (int axis = 0; axis < ndim_; axis++) {
    Motion motion = advection_->motion(axis);
    const auto make = [&](const Motion& kind) {
      return std::make_unique<Sweep>(first.context(), kind, remesh_->fields(), remesh_->kernel(),
                                     remesh_->limits());
    };
    auto sweep = make(motion);
    if (sweep->is_segmented() && motion.is_formula()) {
      // How far a formula moves particles is known only once they have moved.
      if (!needs_displacements)
        displacements_ = std::make_shared<Field>(first.context(), first.grid(), 1, first.dtype(),
                                                 "displacements");
      needs_displacements = true;
      sweep = make(Motion::given(displacements_, axis));
    }
    sweeps_.push_back(std::move(sweep));
  }
  schedule_ = make_schedule(ndim_, order_, ndim_ - 1);
}

void Splitting::choose_schedule(const std::vector<double>& strain_per_axis) {
  const std::lock_guard<std::mutex> lock(mutex_);
  schedule_ = make_schedule(ndim_, order_, least_strained_axis(strain_per_axis));
}

std::vector<Stage> Splitting::schedule() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return schedule_;
}

void Splitting::advance(double time, double dt, int64_t steps) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (int64_t step = 0; step < steps; step++)
    for (const Stage& stage : schedule_)
      enqueue(stage.axis, {time + (step + stage.begin) * dt, stage.length * dt});
}

void Splitting::sweep(int axis, const Interval& interval) {
  const std::lock_guard<std::mutex> lock(mutex_);
  enqueue(axis, interval);
}

void Splitting::enqueue(int axis, const Interval& interval) {
  Sweep& sweep = *sweeps_[axis];
  const Motion motion = advection_->motion(axis);
  if (!sweep.is_segmented()) {
    sweep.apply(motion, interval, 0);
  } else if (!motion.is_formula()) {
    const double speed = advection_->extremes(axis, interval.begin).speed;
    const double cells = speed * std::abs(interval.duration) / motion.grid().spacing[axis];
    sweep.apply(motion, interval, cells);
  } else {
    advection_->displace(axis, interval, *displacements_);
    const double greatest_move = reduce(*displacements_, Reduction::max_abs);
    if (!(greatest_move < kMovesAtMost))
      throw std::invalid_argument("velocity: expected moves of less than 2**30 cells, got " +
                                  std::to_string(greatest_move) + " along axis " +
                                  std::to_string(axis));
    sweep.apply(Motion::given(displacements_, axis), interval, greatest_move);
  }
}

}  // namespace particles
