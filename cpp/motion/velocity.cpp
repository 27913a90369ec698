// SPDX-License-Identifier: BSD-3-Clause
#include "motion/velocity.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace particles {
namespace {

// Of an image of one component with its padding, which lies in one piece.
std::array<size_t, 3> image_size(const Grid& grid, const Layout& layout) {
  const auto row = static_cast<size_t>(layout.stride[std::max(grid.ndim - 2, 0)]);
  const auto points = [&](int axis) { return static_cast<size_t>(grid.shape[axis]); };
  if (grid.ndim == 1) return {points(0), 1, 1};
  if (grid.ndim == 2) return {row, points(0), 1};
  return {row, static_cast<size_t>(layout.stride[0]) / row, points(0)};
}

std::string axis_options(const LineAxes& axes, int first) {
  const auto place = [&](int axis) { return std::to_string(axis < 0 ? axis : axis + first); };
  return " -DROW_AXIS=" + place(axes.row) + " -DLANE_AXIS=" + place(axes.lane) +
         " -DOUTER_AXIS=" + place(axes.outer);
}

}  // namespace

std::string options_of(const Rule& rule) {
  if (rule.interpolation == "linear") return " -DINTERPOLATION=LINEAR";
  if (rule.interpolation == "cubic") return " -DINTERPOLATION=CUBIC";
  throw std::invalid_argument("interpolation: expected one of linear, cubic, got " +
                              rule.interpolation);
}

std::string kernel_options(const Device& device, DType dtype) {
  return dtype_options(dtype) + (device.has_vector_fma() ? " -DUSE_FMA" : "");
}

Motion Motion::by_formula(const Velocity& velocity, int axis, DType dtype) {
  Motion motion;
  motion.kind_ = Kind::formula;
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
  motion.kind_ = Kind::grid;
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
  motion.kind_ = Kind::given;
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
  if (is_formula())
    return std::string(" -DMOTION=FORMULA") + (steady_ ? " -DSTEADY" : "") + options_of(rule_) +
           axis_options(plan.axes, 0);
  std::string text =
      kind_ == Kind::given ? " -DMOTION=GIVEN" : " -DMOTION=GRID" + options_of(rule_);
  if (fields_.size() == 2) text += " -DLEVELS=2";
  if (coarseness_.ratio > 1) text += " -DCOARSE=" + std::to_string(coarseness_.ratio);
  // An image has three axes, and the grid's last one runs along its rows.
  return plan.images ? text + axis_options(plan.axes, 3 - grid_.ndim) : text;
}

std::map<std::string, std::string> Motion::generated_files() const {
  if (is_given()) return {};
  std::map<std::string, std::string> files{
      {"generated/scheme.cl", scheme_of(rule_.scheme).source()}};
  if (is_formula()) files["generated/velocity_formula.cl"] = formula_;
  return files;
}

void Motion::add_levels(Launch& launch, const LinePlan& plan) const {
  const char* const image_names[] = {"image", "later_image"};
  for (size_t level = 0; level < images_.size(); level++)
    launch.image(image_names[level], *images_[level]);
  if (!images_.empty()) return;
  const char* const names[] = {"motion", "later_motion"};
  for (size_t level = 0; level < fields_.size(); level++) {
    const Field& field = *fields_[level];
    const Name name = names[level];
    launch.buffer(name, field.buffer()).uint64(name + "_offset", field.layout().offset);
    add_strides(launch, name + "_", strides_of(field.layout(), plan.axes));
  }
}

void Motion::add_to(Launch& launch, const LinePlan& plan, const Interval& interval) const {
  const auto add_real = [&](const Name& name, double value) {
    launch.add(name, real_argument(dtype_, value));
  };
  const auto times = moments_of(interval);
  const char* const stages[] = {"begin", "middle", "end"};
  add_levels(launch, plan);
  if (is_formula()) {
    const auto add_axis = [&](const Name& name, int axis) {
      add_real(name + "_origin", axis < 0 ? 0 : grid_.origin[axis]);
      add_real(name + "_spacing", axis < 0 ? 0 : grid_.spacing[axis]);
    };
    add_axis("row", plan.axes.row);
    add_axis("lane", plan.axes.lane);
    add_axis("outer", plan.axes.outer);
    for (size_t k = 0; k < times.size(); k++) add_real(Name(stages[k]) + "_time", times[k]);
    if (parameters_) parameters_->add_to(launch, dtype_);
  }
  if (fields_.size() == 2)
    for (size_t k = 0; k < times.size(); k++)
      add_real(Name(stages[k]) + "_share", (times[k] - times_[0]) / (times_[1] - times_[0]));
  if (coarseness_.ratio > 1) add_real("shift", coarseness_.shift);
  add_real("scale", kind_ == Kind::given ? 1 : interval.duration / grid_.spacing[axis_]);
}

MotionCopy::MotionCopy(const std::shared_ptr<Context>& context, const Motion& motion,
                       const LinePlan& plan) {
  if (!plan.images && !plan.transposed) return;
  for (const auto& original : motion.fields()) {
    const Grid& grid = original->grid();
    Copy copy;
    if (plan.images) {
      if (!motion.is_padded())
        copy.field = std::make_shared<Field>(context, grid, 1, motion.dtype(), "packed velocity");
      const Layout layout = copy.field ? copy.field->layout() : original->layout();
      copy.image = std::make_shared<Image>(context, image_size(grid, layout), "velocity");
    } else {
      copy.field = transposed_field(context, grid, motion.dtype(), "transposed velocity");
    }
    copies_.push_back(std::move(copy));
  }
}

Motion MotionCopy::of(const Motion& motion) {
  if (copies_.empty()) return motion;
  std::vector<std::shared_ptr<Field>> fields;
  std::vector<std::shared_ptr<Image>> images;
  for (size_t level = 0; level < copies_.size(); level++) {
    Copy& copy = copies_[level];
    update(copy, motion.fields()[level], !motion.is_given());
    fields.push_back(copy.field);
    if (copy.image) images.push_back(copy.image);
  }
  return images.empty() ? motion.read_from(fields) : motion.read_from(images);
}

void MotionCopy::update(Copy& copy, const std::shared_ptr<Field>& original, bool is_kept) {
  const int64_t version = original->version();  // before copying: a later write makes it stale
  if (is_kept && !original->is_shared() && copy.original == original && copy.version == version)
    return;
  if (copy.field) copy.field->copy_from(*original);
  if (copy.image) {
    const Field& padded = copy.field ? *copy.field : *original;
    copy.image->copy_from(padded.buffer(), padded.layout().offset * size_of(padded.dtype()));
  }
  copy.original = original;
  copy.version = version;
}

}  // namespace particles
