// SPDX-License-Identifier: BSD-3-Clause
#include "operators/velocity.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
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

// The macro for one of some names, as a kernel spells it.
std::string choice(const char* macro, const char* what, const std::string& name,
                   std::initializer_list<const char*> names) {
  std::string expected;
  for (const char* one : names) {
    if (name == one) {
      std::string spelled = name;
      for (char& letter : spelled) letter = static_cast<char>(std::toupper(letter));
      return std::string(" -D") + macro + "=" + spelled;
    }
    expected += (expected.empty() ? "" : ", ") + std::string(one);
  }
  throw std::invalid_argument(std::string(what) + ": expected one of " + expected + ", got " +
                              name);
}

}  // namespace

std::string options_of(const Rule& rule) {
  return choice("SCHEME", "scheme", rule.scheme, {"euler", "rk2", "heun", "rk3", "rk4"}) +
         choice("INTERPOLATION", "interpolation", rule.interpolation, {"linear", "cubic"});
}

std::string kernel_options(const opencl::Device& device, DType dtype) {
  return dtype_options(dtype) + (device.has_vector_fma() ? " -DUSE_FMA" : "");
}

Motion Motion::along(const Velocity& velocity, int axis, DType dtype) {
  Motion motion;
  motion.kind_ = velocity.is_formula() ? Kind::formula : Kind::grid;
  motion.grid_ = velocity.grid;
  motion.axis_ = axis;
  motion.dtype_ = dtype;
  motion.rule_ = options_of(velocity.rule);
  if (velocity.is_formula())
    motion.formula_ = velocity.formulas.at(axis);
  else
    motion.field_ = velocity.field->component(axis);
  return motion;
}

Motion Motion::given(std::shared_ptr<Field> displacements, int axis) {
  Motion motion;
  motion.kind_ = Kind::given;
  motion.grid_ = displacements->grid();
  motion.axis_ = axis;
  motion.dtype_ = displacements->dtype();
  motion.field_ = std::move(displacements);
  return motion;
}

Motion Motion::read_from(std::shared_ptr<Field> copy) const {
  Motion moved = *this;
  moved.field_ = std::move(copy);
  return moved;
}

Motion Motion::read_from(std::shared_ptr<opencl::Image> image) const {
  Motion moved = *this;
  moved.image_ = std::move(image);
  return moved;
}

std::string Motion::options(const LinePlan& plan) const {
  if (is_formula()) return " -DMOTION=FORMULA" + rule_ + axis_options(plan.axes, 0);
  const std::string kind = kind_ == Kind::given ? " -DMOTION=GIVEN" : " -DMOTION=GRID" + rule_;
  // An image has three axes, and the grid's last one runs along its rows.
  return plan.images ? kind + axis_options(plan.axes, 3 - grid_.ndim) : kind;
}

std::map<std::string, std::string> Motion::generated_files() const {
  if (!is_formula()) return {};
  return {{"formula.cl", formula_}};
}

void Motion::append_arguments(std::vector<opencl::Argument>& arguments, const LinePlan& plan,
                              const Interval& interval) const {
  const auto real = [&](double value) { return real_argument(dtype_, value); };
  const double scale = kind_ == Kind::given ? 1 : interval.duration / grid_.spacing[axis_];
  if (is_formula()) {
    for (const int axis : {plan.axes.row, plan.axes.lane, plan.axes.outer}) {
      arguments.push_back(real(axis < 0 ? 0 : grid_.origin[axis]));
      arguments.push_back(real(axis < 0 ? 0 : grid_.spacing[axis]));
    }
    for (const double share : {0.0, 0.5, 1.0})
      arguments.push_back(real(interval.begin + share * interval.duration));
  } else if (image_) {
    arguments.push_back(image_.get());
  } else {
    const LineStrides strides = strides_of(field_->layout(), plan.axes);
    arguments.push_back(&field_->buffer());
    arguments.push_back(static_cast<cl_ulong>(field_->layout().offset));
    for (const int64_t stride : {strides.row, strides.lane, strides.outer})
      arguments.push_back(static_cast<cl_long>(stride));
  }
  arguments.push_back(real(scale));
}

MotionCopy::MotionCopy(const std::shared_ptr<opencl::Context>& context, const Motion& motion,
                       const LinePlan& plan) {
  if (motion.is_formula()) return;
  const Grid& grid = motion.grid();
  if (plan.images) {
    if (!motion.is_padded())
      field_ = std::make_shared<Field>(context, grid, 1, motion.dtype(), "packed velocity");
    const Layout layout = field_ ? field_->layout() : motion.field().layout();
    image_ = std::make_shared<opencl::Image>(context, image_size(grid, layout), "velocity");
  } else if (plan.transposed) {
    field_ = transposed_field(context, grid, motion.dtype(), "transposed velocity");
  }
}

Motion MotionCopy::of(const Motion& motion) {
  if (!field_ && !image_) return motion;
  const Field& original = motion.field();
  const bool is_kept = !motion.is_given() && !original.is_shared();
  const int64_t version = original.version();  // before copying: a later write makes it stale
  if (!is_kept || version_ != version) copy(original);
  version_ = version;
  return image_ ? motion.read_from(image_) : motion.read_from(field_);
}

void MotionCopy::copy(const Field& original) {
  if (field_) field_->copy_from(original);
  if (!image_) return;
  const Field& padded = field_ ? *field_ : original;
  image_->copy_from(padded.buffer(), padded.layout().offset * size_of(padded.dtype()));
}

}  // namespace particles
