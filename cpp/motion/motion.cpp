// SPDX-License-Identifier: BSD-3-Clause
#include "motion/motion.hpp"

#include <algorithm>
#include <utility>

#include "runtime/kernel_source.hpp"

namespace particles {
namespace {

std::string axis_options(const LineAxes& axes, int first) {
  const auto place = [&](int axis) { return std::to_string(axis < 0 ? axis : axis + first); };
  return " -DROW_AXIS=" + place(axes.row) + " -DLANE_AXIS=" + place(axes.lane) +
         " -DOUTER_AXIS=" + place(axes.outer);
}

}  // namespace

Motion Motion::by_formula(const Velocity& velocity, int axis, DType dtype) {
  Motion motion;
  motion.kind_ = MotionKind::formula;
  motion.grid_ = velocity.grid;
  motion.axis_ = axis;
  motion.dtype_ = dtype;
  motion.rule_ = velocity.rule;
  motion.formula_ = velocity.formulas.at(axis);
  motion.steady_ = !velocity.depends_on_time;
  motion.parameters_ = velocity.parameters;
  return motion;
}

Motion Motion::by_fields(const Velocity& velocity, int axis,
                         std::vector<std::shared_ptr<Field>> fields,
                         const std::array<double, 2>& times) {
  Motion motion;
  motion.kind_ = MotionKind::grid;
  motion.grid_ = velocity.grid;
  motion.axis_ = axis;
  motion.dtype_ = fields.front()->dtype();
  motion.rule_ = velocity.rule;
  motion.coarseness_ = coarseness(velocity.fields.front()->grid(), velocity.grid)[axis];
  motion.fields_ = std::move(fields);
  motion.times_ = times;
  return motion;
}

Motion Motion::given(std::shared_ptr<Field> displacements, int axis) {
  Motion motion;
  motion.kind_ = MotionKind::given;
  motion.grid_ = displacements->grid();
  motion.axis_ = axis;
  motion.dtype_ = displacements->dtype();
  motion.fields_ = {std::move(displacements)};
  return motion;
}

Motion Motion::read_from(std::vector<std::shared_ptr<Field>> copies) const {
  Motion moved = *this;
  moved.fields_ = std::move(copies);
  return moved;
}

Motion Motion::read_from(std::vector<std::shared_ptr<Image>> images) const {
  Motion moved = *this;
  moved.images_ = std::move(images);
  return moved;
}

bool Motion::is_padded() const {
  return std::all_of(fields_.begin(), fields_.end(),
                     [](const auto& field) { return field->layout().padded; });
}

double Motion::bytes() const {
  return static_cast<double>(fields_.size() * size_of(dtype_)) / coarseness_.ratio;
}

std::string Motion::options(const LinePlan& plan) const {
  const std::string text = options_along_any_axis();
  if (is_formula()) return text + axis_options(plan.axes, 0);
  // An image has three axes, and the grid's last one runs along its rows.
  return plan.images ? text + axis_options(plan.axes, 3 - grid_.ndim) : text;
}

std::string Motion::options_along_any_axis() const {
  if (is_formula())
    return std::string(" -DMOTION=FORMULA") + (steady_ ? " -DSTEADY" : "") + options_of(rule_);
  std::string text =
      kind_ == MotionKind::given ? " -DMOTION=GIVEN" : " -DMOTION=GRID" + options_of(rule_);
  if (fields_.size() == 2) text += " -DLEVELS=2";
  if (coarseness_.ratio > 1) text += " -DCOARSE=" + std::to_string(coarseness_.ratio);
  return text;
}

int Motion::looks() const {
  if (is_formula()) return 0;
  return is_given() ? 1 : static_cast<int>(scheme_of(rule_.scheme).weights.size());
}

std::map<std::string, std::string> Motion::generated_files() const {
  if (is_given()) return {};
  std::map<std::string, std::string> files{
      {"generated/scheme.cl", scheme_of(rule_.scheme).source()}};
  if (is_formula()) files["generated/velocity_formula.cl"] = formula_;
  return files;
}

void Motion::add_levels(Launch& launch, const LinePlan& plan, const Name& level,
                        const Name& later) const {
  for (size_t k = 0; k < fields_.size(); k++) {
    const Field& field = *fields_[k];
    const Name& name = k == 0 ? level : later;
    // Of a part of a coarse one, rows are counted from the one that the part's first node is in.
    const int64_t from = coarseness_.ratio > 1 && grid_.is_cut(axis_)
                             ? grid_.begin[axis_] / coarseness_.ratio - field.grid().begin[axis_]
                             : 0;
    const int64_t offset = from * field.layout().stride[axis_];
    launch.buffer(name, field.buffer())
        .uint64(name + "_offset", field.layout().offset + static_cast<size_t>(offset));
    add_strides(launch, name + "_", strides_of(field.layout(), plan.axes));
  }
}

void Motion::add_parameters(Launch& launch) const {
  if (parameters_) parameters_->add_to(launch, dtype_);
}

double Motion::scale(const Interval& interval) const {
  return kind_ == MotionKind::given ? 1 : interval.duration / grid_.spacing[axis_];
}

std::array<double, 5> Motion::numbers(const Interval& interval) const {
  std::array<double, 5> numbers{scale(interval), coarseness_.shift};
  const auto times = instants_of(interval);
  if (fields_.size() == 2)
    for (size_t k = 0; k < times.size(); k++) numbers[2 + k] = share(times[k]);
  if (is_formula()) std::copy(times.begin(), times.end(), numbers.begin() + 2);
  return numbers;
}

void Motion::add_to(Launch& launch, const LinePlan& plan, const Interval& interval) const {
  const auto add_real = [&](const Name& name, double value) {
    launch.add(name, real_argument(dtype_, value));
  };
  const auto times = instants_of(interval);
  const char* const stages[] = {"begin", "middle", "end"};
  const char* const image_names[] = {"image", "later_image"};
  for (size_t level = 0; level < images_.size(); level++)
    launch.buffer(image_names[level], *images_[level]);
  if (images_.empty()) add_levels(launch, plan, "motion", "later_motion");
  if (is_formula()) {
    const auto begin_of = [&](int axis) { return axis < 0 ? 0 : grid_.begin[axis]; };
    launch.int32("lane_begin", begin_of(plan.axes.lane));
    launch.int32("outer_begin", begin_of(plan.axes.outer));
    const auto add_axis = [&](const Name& name, int axis) {
      add_real(name + "_origin", axis < 0 ? 0 : grid_.origin[axis]);
      add_real(name + "_spacing", axis < 0 ? 0 : grid_.spacing[axis]);
    };
    add_axis("row", plan.axes.row);
    add_axis("lane", plan.axes.lane);
    add_axis("outer", plan.axes.outer);
    for (size_t k = 0; k < times.size(); k++) add_real(Name(stages[k]) + "_time", times[k]);
    add_parameters(launch);
  }
  if (fields_.size() == 2)
    for (size_t k = 0; k < times.size(); k++) add_real(Name(stages[k]) + "_share", share(times[k]));
  if (coarseness_.ratio > 1) add_real("shift", coarseness_.shift);
  add_real("scale", scale(interval));
}

Kernel kernel_of(const char* name, Context& context, const Motion& motion, const LinePlan& plan,
                 const std::string& options) {
  return context.kernel(
      kernel_source(std::string("motion/") + name + ".cl", motion.generated_files()),
      kernel_options(context.device(), motion.dtype()) + plan.options() + motion.options(plan) +
          options,
      name);
}

}  // namespace particles
