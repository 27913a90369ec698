// SPDX-License-Identifier: BSD-3-Clause
#include "operators/velocity.hpp"

namespace particles {

std::string kernel_options(const opencl::Device& device, DType dtype) {
  return dtype_options(dtype) + (device.has_vector_fma() ? " -DUSE_FMA" : "");
}

Motion Motion::along(const Velocity& velocity, int axis, DType dtype) {
  Motion motion;
  motion.kind_ = velocity.is_formula() ? Kind::formula : Kind::grid;
  motion.grid_ = velocity.grid;
  motion.axis_ = axis;
  motion.dtype_ = dtype;
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

std::string Motion::options() const {
  if (kind_ == Kind::grid) return " -DMOTION=GRID";
  if (kind_ == Kind::given) return " -DMOTION=GIVEN";
  const LineAxes axes = axes_of_lines(grid_, axis_);
  return " -DMOTION=FORMULA -DROW_AXIS=" + std::to_string(axes.row) +
         " -DLANE_AXIS=" + std::to_string(axes.lane) +
         " -DOUTER_AXIS=" + std::to_string(axes.outer);
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
    arguments.push_back(real(interval.begin));
    arguments.push_back(real(interval.begin + interval.duration / 2));
  } else {
    const LineStrides strides = strides_of(field_->layout(), plan.axes);
    arguments.push_back(&field_->buffer());
    arguments.push_back(static_cast<cl_ulong>(field_->layout().offset));
    for (const int64_t stride : {strides.row, strides.lane, strides.outer})
      arguments.push_back(static_cast<cl_long>(stride));
  }
  arguments.push_back(real(scale));
}

}  // namespace particles
