// SPDX-License-Identifier: BSD-3-Clause
#include "motion/flow.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace particles {
namespace {

// No sums are held, only perhaps a copy of a line: lanes, or single lines.
LinePlan plan_without_sums(const Device& device, const Motion& motion, const Form& form) {
  LineRequest request{device, motion.grid(), motion.axis(), motion.dtype()};
  request.padded = motion.is_padded();
  request.in_place = true;
  request.form = form;
  const bool in_lanes = lanes_for(form, device, motion.dtype()) > 1;
  request.form.kind = in_lanes ? LineKind::lanes : LineKind::private_lines;
  return plan_lines(request);
}

}  // namespace

Flow::Flow(std::shared_ptr<Context> context, Velocity velocity, DType dtype, Form form)
    : context_(std::move(context)), velocity_(std::move(velocity)), dtype_(dtype), form_(form) {
  const int ndim = velocity_.grid.ndim;
  for (const auto& field : velocity_.fields)
    if (field->components() != ndim)
      throw std::invalid_argument("velocity: expected a component per axis (" +
                                  std::to_string(ndim) + "), got " +
                                  std::to_string(field->components()));
  check_form(form_, context_->device(), dtype_);
  for (int axis = 0; axis < ndim; axis++) make_axis(axis);
}

void Flow::make_axis(int axis) {
  Axis& own = axes_[axis];
  if (velocity_.is_formula()) {
    own.levels.emplace_back();
    own.kind = own.kind_at_level = Motion::by_formula(velocity_, axis, dtype_);
  } else {
    for (const auto& field : velocity_.fields) {
      Level level;
      level.refined = std::make_unique<Refined>(field->component(axis), velocity_.grid, axis,
                                                options_of(velocity_.rule));
      own.levels.push_back(std::move(level));
    }
    own.kind_at_level = motion_of_levels(axis, 0, 1, 0);
    own.kind = velocity_.is_series() ? motion_of_levels(axis, 0, 2, 0) : own.kind_at_level;
  }
  own.plan = plan_without_sums(context_->device(), own.kind, form_);
  own.copy = MotionCopy(context_, own.kind, own.plan);
  if (velocity_.is_series())
    for (Level& level : own.levels) level.copy = MotionCopy(context_, own.kind_at_level, own.plan);
}

// Neighbours are asked once, until they are forgotten or more rows are needed: all parts do so at
// once, as they agree on either.
std::shared_ptr<Field> Flow::extended(Level& level, int axis, int64_t rows_beyond) {
  const auto& own = level.refined->field();
  if (rows_beyond > level.rows_beyond) {
    level.extended.reserve(*own, axis, own->dtype(), rows_beyond, rows_beyond);
    level.extended.field()->copy_from(*own);
    level.extended.fetch(own, rows_beyond, rows_beyond);
    level.rows_beyond = rows_beyond;
  }
  return level.extended.field();
}

void Flow::forget() {
  const std::lock_guard<std::mutex> lock(mutex_);
  times_forgotten_++;
  for (Axis& axis : axes_)
    for (Level& level : axis.levels) {
      level.rows_beyond = 0;
      if (level.refined) level.refined->forget();
    }
}

Motion Flow::motion_of_levels(int axis, size_t first, size_t count, int64_t rows_beyond) {
  const bool is_cut = velocity_.grid.is_cut(axis) && rows_beyond > 0;
  std::vector<std::shared_ptr<Field>> fields;
  std::array<double, 2> times{};
  if (is_cut) {
    constexpr int64_t kAround = 6;  // rows that a place is interpolated between, and some more
    const Grid& coarse = velocity_.fields.front()->grid();
    const int64_t ratio = velocity_.grid.whole_along(axis) / coarse.whole_along(axis);
    if (ratio > 1)
      rows_beyond = rows_beyond / ratio + kAround + rows_apart(coarse, velocity_.grid, axis);
  }
  for (size_t k = 0; k < count; k++) {
    Level& level = axes_[axis].levels[first + k];
    level.refined->update();
    fields.push_back(is_cut ? extended(level, axis, rows_beyond) : level.refined->field());
    if (velocity_.is_series()) times[k] = velocity_.times[first + k];
  }
  return Motion::by_fields(velocity_, axis, std::move(fields), times);
}

Motion Flow::motion_at(int axis, const Interval& interval, int64_t rows_beyond) {
  if (velocity_.is_formula()) return axes_.at(axis).kind;
  if (!velocity_.is_series()) return motion_of_levels(axis, 0, 1, rows_beyond);
  const size_t level = velocity_.level_at(interval.begin + interval.duration / 2);
  return motion_of_levels(axis, level, 2, rows_beyond);
}

Motion Flow::motion(int axis, const Interval& interval, int64_t rows_beyond) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return motion_at(axis, interval, rows_beyond);
}

Motion Flow::read_by_plan(int axis, const Interval& interval, int64_t rows_beyond) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return axes_.at(axis).copy.of(motion_at(axis, interval, rows_beyond));
}

Motion Flow::level_by_plan(int axis, size_t level) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Axis& own = axes_.at(axis);
  return own.levels.at(level).copy.of(motion_of_levels(axis, level, 1));
}

}  // namespace particles
