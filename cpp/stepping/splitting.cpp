// SPDX-License-Identifier: BSD-3-Clause
#include "stepping/splitting.hpp"

#include <stdexcept>

namespace particles {

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
  if (ndim_ > 0 && (advection_->flow().velocity().grid != first.grid() ||
                    advection_->flow().dtype() != arithmetic(first.dtype()) ||
                    advection_->flow().context() != first.context()))
    throw std::invalid_argument(
        "velocity: expected the grid, dtype and device of the fields it carries");
  if (ndim_ > 0) make_sweeps();
  if (ndim_ > 0)
    schedules_ = schedules_for(std::vector<double>(static_cast<size_t>(ndim_), 0.0));
  else
    schedules_.single = schedules_.joined =
        schedule_of(order_, {}, source_ != nullptr, !diffusions_.empty());
}

void Splitting::make_sweeps() {
  const Field& first = remesh_->first();
  std::vector<Form> forms;
  for (int axis = 0; axis < ndim_; axis++) forms.push_back(remesh_->form(axis));
  const auto& flow = advection_->shared_flow();
  if (const auto plan = plan_chain(*flow, remesh_->fields(), remesh_->kernel(), forms)) {
    chain_.emplace(flow, *plan, remesh_->fields(), remesh_->kernel(), remesh_->inflow());
    for (int axis = 0; axis < ndim_; axis++) {
      if (!chain_->has_ends(axis)) continue;
      if (!reach_) reach_.emplace(advection_, remesh_->kernel(), first);
      reach_->choose_for_chain(axis);
    }
    return;
  }
  reach_.emplace(advection_, remesh_->kernel(), first);
  for (int axis = 0; axis < ndim_; axis++) {
    const auto make = [&](const Motion& kind) {
      return std::make_unique<Sweep>(first.context(), kind, remesh_->fields(), remesh_->kernel(),
                                     remesh_->form(axis), remesh_->inflow());
    };
    auto sweep = make(advection_->flow().kind(axis));
    if (const auto displaced = reach_->choose(axis, *sweep)) sweep = make(*displaced);
    if (sweep->needs_turns())
      crossflows_[axis].emplace(advection_->flow(), axis, inflow_ends(remesh_->inflow(), axis));
    sweeps_.push_back(std::move(sweep));
  }
}

std::vector<std::vector<std::string>> Splitting::forms() const {
  std::vector<std::vector<std::string>> names;
  for (const auto& sweep : sweeps_) names.push_back(sweep->forms());
  return names;
}

Schedules Splitting::schedules_for(const std::vector<double>& strain_per_axis) const {
  const std::vector<int> joined_axes = axes_of_joined_steps(strain_per_axis);
  // Joints within a step of order 4 are as long as those between two of them.
  const std::vector<int> axes = order_ == 4 ? joined_axes : axes_of_steps(strain_per_axis);
  const auto schedule = [&](const std::vector<int>& some) {
    return schedule_of(order_, some, source_ != nullptr, !diffusions_.empty());
  };
  return {schedule(axes), schedule(joined_axes)};
}

Chosen Splitting::choose_schedules(const std::vector<std::vector<double>>& strains) {
  const Schedules first = schedules_for(strains.at(0));
  int64_t alike = 1;
  while (alike < static_cast<int64_t>(strains.size()) && schedules_for(strains[alike]) == first)
    alike++;
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool is_new = !(schedules_ == first);
  schedules_ = first;
  return {is_new, alike};
}

Schedules Splitting::schedules() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return schedules_;
}

void Splitting::advance(const std::vector<double>& times, double dt, int64_t steps, bool joined,
                        int64_t first) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const double time : times) enqueue_steps(time, dt, steps, joined, first);
  launch_chain();
}

void Splitting::advance_fitted(const std::vector<FittedStep>& steps) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const FittedStep& step : steps) {
    schedules_ = step.schedules;
    enqueue_steps(step.begin, step.dt, 1, step.joined, 0);
  }
  launch_chain();
}

void Splitting::enqueue_steps(double time, double dt, int64_t steps, bool joined, int64_t first) {
  for (int64_t step = first; step < first + steps; step++) {
    std::array<double, 3> swept{};  // until when each axis is, in steps
    const std::vector<Stage>& stages = joined ? schedules_.joined : schedules_.single;
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
  launch_chain();
}

std::optional<HalfSweep> Splitting::held() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!held_) return std::nullopt;
  return HalfSweep{held_->axis, held_->interval};
}

// Whoever asks for fields finds all sweeps enqueued.
void Splitting::launch_chain() {
  if (chain_) intactness_.keep([&] { chain_->launch(); });
}

void Splitting::forget() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (reach_) reach_->forget();
}

void Splitting::sweep(int axis, const Interval& interval) {
  const std::lock_guard<std::mutex> lock(mutex_);
  release();
  enqueue(axis, interval, std::nullopt);
  launch_chain();
}

void Splitting::release() {
  if (!held_) return;
  const Held sweep = *held_;
  held_.reset();
  enqueue(sweep.axis, sweep.interval, sweep.leads);
}

void Splitting::enqueue(int axis, const Interval& interval, const Leads& leads) {
  intactness_.keep([&] {
    if (axis < 0 && chain_) chain_->launch();
    if (axis == kSource) {
      source_->apply(interval);
      return;
    }
    if (axis == kDiffusion) {
      // Between sweeps an inflow end has what came in until the middle of the step.
      std::optional<double> instant;
      if (ndim_ > 0) instant = interval.begin + interval.duration / (order_ == 1 ? 1 : 2);
      for (const auto& diffusion : diffusions_) diffusion->apply(interval, instant);
      return;
    }
    for (const Interval& piece : advection_->flow().velocity().pieces_of(interval)) {
      Leads own = leads;
      for (int other = 0; own && other < ndim_; other++)
        (*own)[other] += piece.begin - interval.begin;
      enqueue_piece(axis, piece, own);
    }
  });
}

void Splitting::enqueue_piece(int axis, const Interval& interval, const Leads& leads) {
  sweeps_done_++;
  if (chain_) {
    const double cells = chain_->has_ends(axis) ? reach_->of(axis, interval).cells : 0;
    chain_->add(axis, interval, cells, leads);
    return;
  }
  Sweep& sweep = *sweeps_[axis];
  Turns turns{leads};
  if (auto& crossflow = crossflows_[axis]) {
    if (leads) crossflow->update(advection_->flow(), interval);
    turns.crossflow = &*crossflow;
  }
  const BoundedMotion moved = reach_->of(axis, interval);
  sweep.apply(moved.motion, interval, moved.cells, turns);
}

std::vector<std::array<double, 2>> Splitting::crossed(int axis) {
  const std::lock_guard<std::mutex> lock(mutex_);
  release();
  launch_chain();
  const auto components = static_cast<size_t>(components_of(remesh_->fields()));
  std::vector<std::array<double, 2>> sums(components);
  const auto add = [&](const std::vector<std::array<double, 2>>& some, size_t from, size_t to,
                       size_t count) {
    for (size_t c = 0; c < count; c++)
      for (size_t end = 0; end < 2; end++) sums[to + c][end] += some[from + c][end];
  };
  if (chain_) add(chain_->crossed(axis), 0, 0, components);
  if (!sweeps_.empty()) add(sweeps_.at(axis)->crossed(), 0, 0, components);
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

}  // namespace particles
