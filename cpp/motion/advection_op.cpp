// SPDX-License-Identifier: BSD-3-Clause
#include "motion/advection_op.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "runtime/kernel_source.hpp"

namespace particles {
namespace {

// What rounding may make of times, as a share of all time.
constexpr double kRounded = 1e-9;

// Displacing and measuring hold no sums, only perhaps a copy of a line: lanes, or single lines.
LinePlan plan_without_sums(const Device& device, const Motion& motion, const Form& form) {
  LineRequest request{device, motion.grid(), motion.axis(), motion.dtype()};
  request.padded = motion.is_padded();
  request.in_place = true;
  request.form = form;
  const bool in_lanes = lanes_for(form, device, motion.dtype()) > 1;
  request.form.kind = in_lanes ? Kind::lanes : Kind::private_lines;
  return plan_lines(request);
}

// Numbers of a work-item that measures: speed, strain, speed on a wall.
constexpr size_t kMeasured = 3;

double greatest(const std::vector<double>& partial, size_t first) {
  double result = 0;
  for (size_t i = first; i < partial.size(); i += kMeasured)
    if (partial[i] > result || std::isnan(partial[i])) result = partial[i];
  return result;
}

}  // namespace

AdvectionOp::AdvectionOp(std::shared_ptr<Context> context, Velocity velocity, DType dtype,
                         Form form)
    : context_(std::move(context)), velocity_(std::move(velocity)), dtype_(dtype), form_(form) {
  const int ndim = velocity_.grid.ndim;
  for (const auto& field : velocity_.fields)
    if (field->components() != ndim)
      throw std::invalid_argument("velocity: expected a component per axis (" +
                                  std::to_string(ndim) + "), got " +
                                  std::to_string(field->components()));
  check_form(form_, context_->device(), dtype_);
  for (int axis = 0; axis < ndim; axis++) {
    make_levels(axis);
    compile(axis);
  }
}

void AdvectionOp::make_levels(int axis) {
  Axis& own = axes_[axis];
  if (velocity_.is_formula()) {
    own.levels.emplace_back();
    own.kind = Motion::by_formula(velocity_, axis, dtype_);
    return;
  }
  for (const auto& field : velocity_.fields) {
    Level level;
    level.refined = std::make_unique<Refined>(field->component(axis), velocity_.grid, axis,
                                              options_of(velocity_.rule));
    own.levels.push_back(std::move(level));
  }
  own.kind = motion_of_levels(axis, 0, velocity_.is_series() ? 2 : 1);
}

Kernel AdvectionOp::kernel(const char* name, const Axis& own, const Motion& motion) const {
  return context_->kernel(
      kernel_source(std::string("motion/") + name + ".cl", motion.generated_files()),
      kernel_options(context_->device(), dtype_) + own.plan.options() + motion.options(own.plan),
      name);
}

void AdvectionOp::compile(int axis) {
  Axis& own = axes_[axis];
  const auto& device = context_->device();
  const Motion one = velocity_.is_series() ? motion_of_levels(axis, 0, 1) : own.kind;
  own.plan = plan_without_sums(device, own.kind, form_);
  own.copy = MotionCopy(context_, own.kind, own.plan);
  if (own.plan.transposed)
    own.displacements =
        transposed_field(context_, velocity_.grid, dtype_, "transposed displacements");
  own.strain = kernel("strain", own, one);
  own.work_items = own.plan.range(device).global[0];
  own.partial = std::make_unique<Buffer>(context_, kMeasured * own.work_items * size_of(dtype_),
                                         "partial results of the strain");
  if (velocity_.is_series())
    for (Level& level : own.levels) level.copy = MotionCopy(context_, one, own.plan);
}

void AdvectionOp::prepare_to_displace(int axis) {
  const std::lock_guard<std::mutex> lock(mutex_);
  build_displace(axes_.at(axis));
}

void AdvectionOp::build_displace(Axis& own) {
  if (!own.displace) own.displace = kernel("advect", own, own.kind);
}

std::vector<Interval> AdvectionOp::pieces_of(const Interval& interval) const {
  if (!velocity_.is_series()) return {interval};
  const std::vector<double>& times = velocity_.times;
  const double end = interval.begin + interval.duration;
  const double low = std::min(interval.begin, end), high = std::max(interval.begin, end);
  const double rounded = kRounded * (times.back() - times.front());
  if (!(low >= times.front() - rounded && high <= times.back() + rounded))
    throw std::invalid_argument("time: expected within the velocity's, " +
                                std::to_string(times.front()) + " to " +
                                std::to_string(times.back()) + ", got " + std::to_string(low) +
                                " to " + std::to_string(high));
  std::vector<double> joints{low};
  for (const double time : times)
    if (time > low + rounded && time < high - rounded) joints.push_back(time);
  joints.push_back(high);
  if (interval.duration < 0) std::reverse(joints.begin(), joints.end());
  std::vector<Interval> pieces;
  for (size_t k = 0; k + 1 < joints.size(); k++)
    pieces.push_back({joints[k], joints[k + 1] - joints[k]});
  return pieces;
}

size_t AdvectionOp::level_of(const Interval& piece) const {
  const std::vector<double>& times = velocity_.times;
  const double middle = piece.begin + piece.duration / 2;
  const auto after = std::upper_bound(times.begin() + 1, times.end() - 1, middle);
  return static_cast<size_t>(after - times.begin()) - 1;
}

Motion AdvectionOp::motion_of_levels(int axis, size_t first, size_t count) {
  std::vector<std::shared_ptr<Field>> fields;
  std::array<double, 2> times{};
  for (size_t k = 0; k < count; k++) {
    Refined& refined = *axes_[axis].levels[first + k].refined;
    refined.update();
    fields.push_back(refined.field());
    if (velocity_.is_series()) times[k] = velocity_.times[first + k];
  }
  return Motion::by_fields(velocity_, axis, std::move(fields), times);
}

Motion AdvectionOp::motion(int axis, const Interval& interval) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (velocity_.is_series()) return motion_of_levels(axis, level_of(interval), 2);
  const Axis& own = axes_.at(axis);
  if (!velocity_.is_formula()) own.levels.front().refined->update();
  return own.kind;
}

void AdvectionOp::displace(int axis, const Interval& interval, Field& displacements) {
  if (pieces_of(interval).size() > 1)
    throw std::invalid_argument(
        "dt: expected a push that passes no time of the velocity, got one from " +
        std::to_string(interval.begin) + " to " +
        std::to_string(interval.begin + interval.duration));
  const Motion original = motion(axis, interval);
  const std::lock_guard<std::mutex> lock(mutex_);
  Axis& own = axes_.at(axis);
  const LinePlan& plan = own.plan;
  build_displace(own);
  Field& written = own.displacements ? *own.displacements : displacements;
  Launch launch(own.displace);
  launch.buffer("out", written.buffer()).uint64("out_offset", written.layout().offset);
  add_strides(launch, "", strides_of(written.layout(), plan.axes));
  plan.add_to(launch, context_->device());
  const Motion motion = own.copy.of(original);
  motion.add_to(launch, plan, interval);
  const double bytes = (motion.bytes() + size_of(dtype_)) * velocity_.grid.points();
  context_->queue().launch(launch.range(plan.range(context_->device())).moves(bytes));
  if (own.displacements) displacements.copy_from(written);
  displacements.touch();
}

Extremes AdvectionOp::extremes(int axis, const Interval& interval) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!velocity_.is_series()) return extremes_of_level(axis, 0, interval.begin);
  const std::vector<Interval> pieces = pieces_of(interval);
  const size_t one = level_of(pieces.front()), other = level_of(pieces.back());
  Extremes greatest;
  for (size_t level = std::min(one, other); level <= std::max(one, other) + 1; level++) {
    const Extremes own = extremes_of_level(axis, level, 0);
    const auto take = [](double& most, double x) {
      if (x > most || std::isnan(x)) most = x;  // once NaN, NaN for good
    };
    take(greatest.speed, own.speed);
    take(greatest.strain, own.strain);
    take(greatest.on_wall, own.on_wall);
  }
  return greatest;
}

void AdvectionOp::bound_speeds(SpeedBounds bounds) {
  if (bounds.speeds.size() != static_cast<size_t>(velocity_.grid.ndim))
    throw std::invalid_argument("speeds: expected one per axis (" +
                                std::to_string(velocity_.grid.ndim) + "), got " +
                                std::to_string(bounds.speeds.size()));
  const std::lock_guard<std::mutex> lock(mutex_);
  speed_bounds_ = std::move(bounds);
}

double AdvectionOp::bound_of_move(int axis, const Interval& interval) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const double end = interval.begin + interval.duration;
  if (!speed_bounds_ || std::min(interval.begin, end) < speed_bounds_->begin ||
      std::max(interval.begin, end) > speed_bounds_->end)
    return std::numeric_limits<double>::infinity();
  return speed_bounds_->speeds[axis] * std::abs(interval.duration) / velocity_.grid.spacing[axis];
}

Extremes AdvectionOp::extremes_of_level(int axis, size_t level, double time) {
  auto& measured = axes_.at(axis).levels[level].measured;
  const Field* field = velocity_.is_formula() ? nullptr : velocity_.fields[level].get();
  const int64_t version = field ? field->version() : velocity_.version_of_formula();
  const double relevant_time = velocity_.depends_on_time && !field ? time : 0;
  const bool known = measured && measured->version == version && measured->time == relevant_time &&
                     !(field && field->is_shared());
  if (!known) measured = Measured{version, relevant_time, measure(axis, level, relevant_time)};
  return measured->extremes;
}

Extremes AdvectionOp::measure(int axis, size_t level, double time) {
  Axis& own = axes_[axis];
  const LinePlan& plan = own.plan;
  MotionCopy& copy = velocity_.is_series() ? own.levels[level].copy : own.copy;
  const Motion motion =
      copy.of(velocity_.is_formula() ? own.kind : motion_of_levels(axis, level, 1));
  const double spacing = velocity_.grid.spacing[axis];
  Launch launch(own.strain);
  launch.buffer("out", *own.partial);
  plan.add_to(launch, context_->device());
  motion.add_to(launch, plan, Interval{time, spacing});  // scale 1
  context_->queue().launch(
      launch.range(plan.range(context_->device())).moves(motion.bytes() * velocity_.grid.points()));
  const size_t count = kMeasured * own.work_items;
  const std::vector<double> partial = read_reals(*own.partial, dtype_, count);
  // Along a line, where particles are, the cubic exceeds its nodes by a quarter at most: the
  // weights' absolute values add up to 5/4 half-way between two nodes, and to less elsewhere.
  const double beyond_nodes = velocity_.rule.interpolation == "cubic" ? 1.25 : 1;
  return {beyond_nodes * greatest(partial, 0), greatest(partial, 1) / spacing,
          greatest(partial, 2)};
}

}  // namespace particles
