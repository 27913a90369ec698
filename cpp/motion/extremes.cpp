// SPDX-License-Identifier: BSD-3-Clause
#include "motion/extremes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "fields/neighbours.hpp"

namespace particles {
namespace {

constexpr size_t kNumbers = 3;  // of a work-group: speed, strain, speed on a wall

void take_greater(Extremes& most, const Extremes& other) {
  const auto take = [](double& one, double x) {
    if (x > one || std::isnan(x)) one = x;  // once NaN, NaN for good
  };
  take(most.speed, other.speed);
  take(most.strain, other.strain);
  take(most.on_wall, other.on_wall);
}

}  // namespace

ExtremesOp::ExtremesOp(std::shared_ptr<Flow> flow) : flow_(std::move(flow)) {
  Context& context = *flow_->context();
  size_t groups = 0;
  for (int axis = 0; axis < flow_->velocity().grid.ndim; axis++) {
    const LinePlan& plan = flow_->plan(axis);
    kernels_[axis] = kernel_of("strain", context, flow_->kind_at_level(axis), plan,
                               " -DGROUP=" + std::to_string(plan.group));
    groups = std::max(groups, plan.groups(context.device()));
  }
  partial_.emplace(flow_->context(), flow_->dtype(), kNumbers, groups);
}

std::vector<ExtremesOp::Key> ExtremesOp::keys_of(const Look& look) const {
  const Velocity& velocity = flow_->velocity();
  if (!velocity.is_series()) {
    const bool is_timed = velocity.is_formula() && velocity.depends_on_time;
    return {{look.axis, 0, is_timed ? look.interval.begin : 0}};
  }
  const std::vector<Interval> pieces = velocity.pieces_of(look.interval);
  const auto level_of = [&](const Interval& piece) {
    return velocity.level_at(piece.begin + piece.duration / 2);
  };
  const size_t one = level_of(pieces.front()), other = level_of(pieces.back());
  std::vector<Key> keys;
  for (size_t level = std::min(one, other); level <= std::max(one, other) + 1; level++)
    keys.emplace_back(look.axis, level, 0);
  return keys;
}

std::optional<Extremes> ExtremesOp::known(const Key& key) const {
  const auto& [axis, level, time] = key;
  const Velocity& velocity = flow_->velocity();
  if (velocity.is_shared(level)) return std::nullopt;
  const auto own = measured_.find({axis, level});
  if (own == measured_.end()) return std::nullopt;
  const Extremes* extremes = own->second.at(velocity.version_of(level), time);
  return extremes ? std::optional(*extremes) : std::nullopt;
}

std::vector<Extremes> ExtremesOp::measure(const std::vector<Look>& looks) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Velocity& velocity = flow_->velocity();
  std::vector<std::vector<Key>> keys_of_looks;
  std::vector<Key> keys;
  for (const Look& look : looks) {
    keys_of_looks.push_back(keys_of(look));
    keys.insert(keys.end(), keys_of_looks.back().begin(), keys_of_looks.back().end());
  }
  std::map<Key, int64_t> versions;  // that are measured
  const auto launch = [&](const Key& key) {
    versions[key] = velocity.version_of(std::get<1>(key));
    this->launch(key);
  };
  // Along a line, where particles are, the cubic exceeds its nodes by a quarter at most: the
  // weights' absolute values add up to 5/4 half-way between two nodes, and to less elsewhere.
  const double beyond_nodes = velocity.rule.interpolation == "cubic" ? 1.25 : 1;
  const auto& neighbours = velocity.grid.neighbours;
  const auto extremes_of = [&](const Key& key, const std::vector<double>& own) {
    const auto& [axis, level, time] = key;
    const std::vector<double> greatest = neighbours ? neighbours->greatest(own) : own;
    const double spacing = velocity.grid.spacing[axis];
    const Extremes extremes{beyond_nodes * greatest[0], greatest[1] / spacing, greatest[2]};
    measured_[{axis, level}].keep(versions[key], time, extremes);
    return extremes;
  };
  const std::map<Key, Extremes> found = partial_->measure<Extremes>(
      keys, [&](const Key& key) { return known(key); }, launch, extremes_of);
  std::vector<Extremes> result;
  for (const auto& some : keys_of_looks) {
    Extremes greatest;
    for (const Key& key : some) take_greater(greatest, found.at(key));
    result.push_back(greatest);
  }
  return result;
}

void ExtremesOp::launch(const Key& key) {
  const auto& [axis, level, time] = key;
  Context& context = *flow_->context();
  const LinePlan& plan = flow_->plan(axis);
  const Interval unit{time, flow_->velocity().grid.spacing[axis]};  // scale 1
  const Motion motion = flow_->velocity().is_series() ? flow_->level_by_plan(axis, level)
                                                      : flow_->read_by_plan(axis, unit);
  const Range range = plan.range(context.device());
  Launch launch(kernels_[axis]);
  partial_->add_to(launch, plan.groups(context.device()));
  plan.add_to(launch, context.device());
  motion.add_to(launch, plan, unit);
  context.queue().launch(
      launch.range(range).traffic(motion.bytes() * flow_->velocity().grid.points()));
}

void ExtremesOp::bound_speeds(SpeedBounds bounds) {
  const int ndim = flow_->velocity().grid.ndim;
  if (bounds.speeds.size() != static_cast<size_t>(ndim))
    throw std::invalid_argument("speeds: expected one per axis (" + std::to_string(ndim) +
                                "), got " + std::to_string(bounds.speeds.size()));
  const std::lock_guard<std::mutex> lock(mutex_);
  bounds_ = std::move(bounds);
}

void ExtremesOp::forget() {
  const std::lock_guard<std::mutex> lock(mutex_);
  measured_.clear();
}

double ExtremesOp::bound_of_speed(int axis, double time) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!bounds_ || !(bounds_->begin <= time && time <= bounds_->end))
    return std::numeric_limits<double>::infinity();
  return bounds_->speeds[axis];
}

double ExtremesOp::bound_of_move(int axis, const Interval& interval) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const double end = interval.begin + interval.duration;
  if (!bounds_ || std::min(interval.begin, end) < bounds_->begin ||
      std::max(interval.begin, end) > bounds_->end)
    return std::numeric_limits<double>::infinity();
  return bounds_->speeds[axis] * std::abs(interval.duration) / flow_->velocity().grid.spacing[axis];
}

}  // namespace particles
