// SPDX-License-Identifier: BSD-3-Clause
#include "operators/splitting.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "fields/reductions.hpp"

namespace particles {

// Cells are counted in 32 bits.
constexpr double kMovesAtMost = 1 << 30;

// Durations of which long lines keep how far a formula moves them: whole and half steps along every
// axis, and those of a shorter step.
constexpr size_t kPushesKept = 16;

namespace {

constexpr double kNearlyEqual = 1.01;

std::vector<int> ascending_axes(int ndim) {
  std::vector<int> axes(static_cast<size_t>(ndim));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

std::vector<Stage> lie_schedule(int ndim) {
  std::vector<Stage> stages;
  for (const int axis : ascending_axes(ndim)) stages.push_back({axis, 0, 1});
  return stages;
}

std::vector<Stage> strang_schedule(std::vector<int> axes) {
  std::vector<Stage> stages;
  for (const int axis : axes) stages.push_back({axis, 0, 0.5});
  stages.back().length = 1;
  std::reverse(axes.begin(), axes.end());
  for (size_t k = 1; k < axes.size(); k++) stages.push_back({axes[k], 0.5, 0.5});
  return stages;
}

}  // namespace

std::vector<int> axes_of_steps(const std::vector<double>& strain_per_axis) {
  const double least = *std::min_element(strain_per_axis.begin(), strain_per_axis.end());
  std::vector<int> axes = ascending_axes(static_cast<int>(strain_per_axis.size()));
  const auto full = std::find_if(axes.rbegin(), axes.rend(), [&](int axis) {
    return strain_per_axis[axis] <= kNearlyEqual * least;
  });
  std::rotate(full.base() - 1, full.base(), axes.end());
  return axes;
}

std::vector<int> axes_of_joined_steps(const std::vector<double>& strain_per_axis) {
  std::vector<int> axes = axes_of_steps(strain_per_axis);
  if (axes.size() == 3 && strain_per_axis[axes[0]] > kNearlyEqual * strain_per_axis[axes[1]])
    std::swap(axes[0], axes[1]);
  return axes;
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
  if (advection_->velocity().grid != first.grid() ||
      advection_->dtype() != arithmetic(first.dtype()) || advection_->context() != first.context())
    throw std::invalid_argument(
        "velocity: expected the grid, dtype and device of the fields it carries");
  for (int axis = 0; axis < ndim_; axis++) {
    const Motion& motion = advection_->motion(axis);
    const auto make = [&](const Motion& kind) {
      return std::make_unique<Sweep>(first.context(), kind, remesh_->fields(), remesh_->kernel(),
                                     remesh_->form(axis));
    };
    auto sweep = make(motion);
    if (sweep->is_segmented() && motion.is_formula()) {
      // How far a formula moves particles is known only once they have moved.
      if (!displacements_) make_displacements();
      sweep = make(Motion::given(displacements_, axis));
    }
    sweeps_.push_back(std::move(sweep));
  }
  schedule_ = order_ == 1 ? lie_schedule(ndim_) : strang_schedule(ascending_axes(ndim_));
  joined_schedule_ = schedule_;
}

void Splitting::make_displacements() {
  const Field& first = remesh_->first();
  displacements_ = std::make_shared<Field>(first.context(), first.grid(), 1,
                                           arithmetic(first.dtype()), "displacements");
  reduce(*displacements_, Reduction::max_abs);  // builds what steps will need
}

void Splitting::choose_schedules(const std::vector<double>& strain_per_axis) {
  if (order_ == 1) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  schedule_ = strang_schedule(axes_of_steps(strain_per_axis));
  joined_schedule_ = strang_schedule(axes_of_joined_steps(strain_per_axis));
}

std::vector<Stage> Splitting::schedule() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return schedule_;
}

std::vector<Stage> Splitting::joined_schedule() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return joined_schedule_;
}

void Splitting::advance(double time, double dt, int64_t steps, bool joined) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (int64_t step = 0; step < steps; step++) {
    for (const Stage& stage : joined ? joined_schedule_ : schedule_) {
      const Interval interval{time + (step + stage.begin) * dt, stage.length * dt};
      if (joined && held_ && held_->axis == stage.axis) {
        held_->interval.duration += interval.duration;
      } else {
        release();
        held_ = Held{stage.axis, interval};
      }
    }
    steps_done_++;
  }
  if (!joined) release();
}

void Splitting::close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  release();
}

int64_t Splitting::steps_done() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return steps_done_;
}

void Splitting::sweep(int axis, const Interval& interval) {
  const std::lock_guard<std::mutex> lock(mutex_);
  release();
  enqueue(axis, interval);
}

void Splitting::release() {
  if (!held_) return;
  const Held sweep = *held_;
  held_.reset();
  enqueue(sweep.axis, sweep.interval);
}

void Splitting::enqueue(int axis, const Interval& interval) {
  Sweep& sweep = *sweeps_[axis];
  const Motion& motion = advection_->motion(axis);
  if (!sweep.is_segmented()) {
    sweep.apply(motion, interval, 0);
  } else if (!motion.is_formula()) {
    const double speed = advection_->extremes(axis, interval.begin).speed;
    const double cells = speed * std::abs(interval.duration) / motion.grid().spacing[axis];
    sweep.apply(motion, interval, cells);
  } else {
    const double cells = displace(axis, interval);
    sweep.apply(Motion::given(displacements_, axis), interval, cells);
  }
}

// Returns the greatest displacement. A steady formula gives the same ones for the same duration.
double Splitting::displace(int axis, const Interval& interval) {
  const Push push{axis, interval.duration};
  if (displaced_ != push) {
    displaced_.reset();
    advection_->displace(axis, interval, *displacements_);
  }
  if (advection_->velocity().depends_on_time) return greatest_displacement(axis);
  displaced_ = push;
  const auto known = greatest_.find(push);
  if (known != greatest_.end()) return known->second;
  if (greatest_.size() == kPushesKept) greatest_.clear();
  return greatest_[push] = greatest_displacement(axis);
}

double Splitting::greatest_displacement(int axis) const {
  const double cells = reduce(*displacements_, Reduction::max_abs);
  if (!(cells < kMovesAtMost))
    throw std::invalid_argument("velocity: expected moves of less than 2**30 cells, got " +
                                std::to_string(cells) + " along axis " + std::to_string(axis));
  return cells;
}

}  // namespace particles
