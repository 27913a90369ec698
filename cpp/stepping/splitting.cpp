// SPDX-License-Identifier: BSD-3-Clause
#include "stepping/splitting.hpp"

#include <cmath>
#include <stdexcept>

#include "arrays/reductions.hpp"

namespace particles {

// Cells are counted in 32 bits.
constexpr double kMovesAtMost = 1 << 30;

// Durations of which long lines keep how far a formula moves them: up to three along each of three
// axes, and those of a shorter step.
constexpr size_t kPushesKept = 18;

// Of a line's nodes: moves by less are not measured where a bound is known.
constexpr double kShareOfLine = 0.125;

namespace {

void check_move(double cells, int axis) {
  if (!(cells < kMovesAtMost))
    throw std::invalid_argument("velocity: expected moves of less than 2**30 cells, got " +
                                std::to_string(cells) + " along axis " + std::to_string(axis));
}

}  // namespace

Splitting::Splitting(std::shared_ptr<AdvectionOp> advection, std::shared_ptr<RemeshOp> remesh,
                     int order, std::shared_ptr<SourceOp> source, Diffusions diffusions)
    : advection_(std::move(advection)),
      remesh_(std::move(remesh)),
      source_(std::move(source)),
      diffusions_(std::move(diffusions)),
      order_(order),
      ndim_(advection_ ? remesh_->first().grid().ndim : 0),
      intactness_(remesh_->first().context()) {
  if (order != 1 && order != 2 && order != 4)
    throw std::invalid_argument("order: expected 1, 2 or 4, got " + std::to_string(order));
  if (order == 4 && !diffusions_.empty())
    throw std::invalid_argument("order: expected 1 or 2 with diffusion, got 4");
  const Field& first = remesh_->first();
  if (ndim_ > 0 && (advection_->velocity().grid != first.grid() ||
                    advection_->dtype() != arithmetic(first.dtype()) ||
                    advection_->context() != first.context()))
    throw std::invalid_argument(
        "velocity: expected the grid, dtype and device of the fields it carries");
  for (int axis = 0; axis < ndim_; axis++) {
    const Motion& motion = advection_->kind_of_motion(axis);
    const auto make = [&](const Motion& kind) {
      return std::make_unique<Sweep>(first.context(), kind, remesh_->fields(), remesh_->kernel(),
                                     remesh_->form(axis), remesh_->inflow());
    };
    auto sweep = make(motion);
    if (sweep->is_segmented() && motion.is_formula()) {
      // How far a formula moves particles is known only once they have moved.
      if (!displacements_) make_displacements();
      advection_->prepare_to_displace(axis);
      if (first.grid().boundary[axis].periodic()) sweep = make(Motion::given(displacements_, axis));
    }
    if (sweep->needs_turns()) {
      const auto& brought = remesh_->inflow()[axis];
      crossflows_[axis].emplace(*advection_, axis,
                                std::array<bool, 2>{!brought[0].empty(), !brought[1].empty()});
    }
    sweeps_.push_back(std::move(sweep));
  }
  const std::vector<double> alike(static_cast<size_t>(ndim_), 0.0);
  schedule_ = joined_schedule_ =
      schedule_of(order_, ndim_ == 0 ? std::vector<int>{} : axes_of_steps(alike),
                  source_ != nullptr, !diffusions_.empty());
}

void Splitting::make_displacements() {
  const Field& first = remesh_->first();
  displacements_ = std::make_shared<Field>(first.context(), first.grid(), 1,
                                           arithmetic(first.dtype()), "displacements");
  reduce(displacements_->array(), displacements_->everything(),
         Reduction::max_abs);  // builds what steps will need
}

void Splitting::choose_schedules(const std::vector<double>& strain_per_axis) {
  const std::vector<int> joined_axes = axes_of_joined_steps(strain_per_axis);
  // Joints within a step of order 4 are as long as those between two of them.
  const std::vector<int> axes = order_ == 4 ? joined_axes : axes_of_steps(strain_per_axis);
  const std::lock_guard<std::mutex> lock(mutex_);
  schedule_ = schedule_of(order_, axes, source_ != nullptr, !diffusions_.empty());
  joined_schedule_ = schedule_of(order_, joined_axes, source_ != nullptr, !diffusions_.empty());
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
    std::array<double, 3> swept{};  // until when each axis is, in steps
    const std::vector<Stage>& stages = joined ? joined_schedule_ : schedule_;
    // A part that is alone would join all steps.
    const bool joins = joined && stages.size() > 1;
    for (const Stage& stage : stages) {
      const Interval interval{time + (step + stage.begin) * dt, stage.length * dt};
      if (joins && held_ && held_->axis == stage.axis && stage.axis != kDiffusion) {
        held_->interval.duration += interval.duration;
      } else {
        release();
        std::array<double, 3> leads{};
        for (int axis = 0; axis < ndim_; axis++) leads[axis] = (stage.begin - swept[axis]) * dt;
        held_ = Held{stage.axis, interval, leads};
      }
      if (stage.axis >= 0) swept[stage.axis] = stage.begin + stage.length;
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
  enqueue(axis, interval, std::nullopt);
}

void Splitting::release() {
  if (!held_) return;
  const Held sweep = *held_;
  held_.reset();
  enqueue(sweep.axis, sweep.interval, sweep.leads);
}

void Splitting::enqueue(int axis, const Interval& interval, const Leads& leads) {
  intactness_.keep([&] {
    if (axis == kSource) {
      source_->apply(interval);
      return;
    }
    if (axis == kDiffusion) {
      // Between sweeps an inflow end has what came in until the middle of the step.
      std::optional<double> moment;
      if (ndim_ > 0) moment = interval.begin + interval.duration / (order_ == 1 ? 1 : 2);
      for (const auto& diffusion : diffusions_) diffusion->apply(interval, moment);
      return;
    }
    for (const Interval& piece : advection_->pieces_of(interval)) {
      Leads own = leads;
      for (int other = 0; own && other < ndim_; other++)
        (*own)[other] += piece.begin - interval.begin;
      enqueue_piece(axis, piece, own);
    }
  });
}

void Splitting::enqueue_piece(int axis, const Interval& interval, const Leads& leads) {
  Sweep& sweep = *sweeps_[axis];
  Turns turns{leads};
  if (auto& crossflow = crossflows_[axis]) {
    if (leads) crossflow->update(*advection_, interval);
    turns.crossflow = &*crossflow;
  }
  const bool is_periodic = remesh_->first().grid().boundary[axis].periodic();
  if (!sweep.needs_reach()) {
    sweep.apply(advection_->motion(axis, interval), interval, 0);
  } else if (!is_periodic && advection_->velocity().is_formula()) {
    sweep.apply(advection_->motion(axis, interval), interval, greatest_move(axis, interval), turns);
  } else if (!advection_->velocity().is_formula()) {
    const Motion motion = advection_->motion(axis, interval);
    const double speed = advection_->extremes(axis, interval).speed;
    const double cells = speed * std::abs(interval.duration) / motion.grid().spacing[axis];
    sweep.apply(motion, interval, cells, turns);
  } else {
    const double cells = displace(axis, interval);
    sweep.apply(Motion::given(displacements_, axis), interval, cells);
  }
}

// What is known without waiting, unless it is so much that to measure costs less than to look so
// far.
std::optional<double> Splitting::bound_of_move(int axis, const Interval& interval) const {
  const double cells = advection_->bound_of_move(axis, interval);
  if (!(cells <= kShareOfLine * advection_->velocity().grid.shape[axis])) return std::nullopt;
  return cells;
}

// Of a formula on a line with ends, particles beyond these included. Where it is asked for a
// velocity, the next node is half a cell away at most.
double Splitting::greatest_move(int axis, const Interval& interval) {
  if (const auto bound = bound_of_move(axis, interval)) return *bound;
  const double spacing = advection_->velocity().grid.spacing[axis];
  double cells = sweeps_[axis]->is_segmented() ? displace(axis, interval) : 0;
  for (const double time : moments_of(interval)) {
    const Extremes extremes = advection_->extremes(axis, Interval{time, 0});
    const double speed = extremes.speed + extremes.strain * spacing / 2;
    cells = std::max(cells, speed * std::abs(interval.duration) / spacing);
  }
  check_move(cells, axis);
  return cells;
}

std::vector<std::array<double, 2>> Splitting::crossed(int axis) {
  const std::lock_guard<std::mutex> lock(mutex_);
  release();
  size_t components = 0;
  for (const auto& field : remesh_->fields())
    components += static_cast<size_t>(field->components());
  std::vector<std::array<double, 2>> sums(components);
  const auto add = [&](const std::vector<std::array<double, 2>>& some, size_t from, size_t to,
                       size_t count) {
    for (size_t c = 0; c < count; c++)
      for (size_t end = 0; end < 2; end++) sums[to + c][end] += some[from + c][end];
  };
  if (ndim_ > 0) add(sweeps_.at(axis)->crossed(), 0, 0, components);
  for (const auto& diffusion : diffusions_) {
    const auto diffused = diffusion->crossed(axis);
    size_t from = 0;
    for (const auto& field : diffusion->fields()) {
      const auto count = static_cast<size_t>(field->components());
      add(diffused, from, number_of(*field), count);
      from += count;
    }
  }
  return sums;
}

// Of its first component, among those of all that are carried.
size_t Splitting::number_of(const Field& field) const {
  size_t number = 0;
  for (const auto& other : remesh_->fields()) {
    if (other.get() == &field) return number;
    number += static_cast<size_t>(other->components());
  }
  throw std::invalid_argument("diffusion: expected fields that are carried");
}

// Returns the greatest displacement. A steady formula gives the same ones for the same duration.
double Splitting::displace(int axis, const Interval& interval) {
  const Push push{axis, interval.duration};
  const int64_t version = advection_->velocity().version_of_formula();
  if (displaced_version_ != version) {
    displaced_.reset();
    greatest_.clear();
    displaced_version_ = version;
  }
  if (displaced_ != push) {
    displaced_.reset();
    advection_->displace(axis, sweeps_[axis]->push_of(interval), *displacements_);
  }
  if (advection_->velocity().depends_on_time) {
    const auto bound = bound_of_move(axis, interval);
    return bound ? *bound : greatest_displacement(axis);
  }
  displaced_ = push;
  const auto known = greatest_.find(push);
  if (known != greatest_.end()) return known->second;
  if (greatest_.size() == kPushesKept) greatest_.clear();
  return greatest_[push] = greatest_displacement(axis);
}

double Splitting::greatest_displacement(int axis) const {
  const double cells =
      reduce(displacements_->array(), displacements_->everything(), Reduction::max_abs);
  check_move(cells, axis);
  return cells;
}

}  // namespace particles
