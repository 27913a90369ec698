// SPDX-License-Identifier: BSD-3-Clause
#include "operators/advection_op.hpp"

#include <cmath>
#include <stdexcept>

#include "opencl/kernel_source.hpp"

namespace particles {
namespace {

// Displacing and measuring hold no sums, only perhaps a copy of a line: lanes, or single lines.
LinePlan plan_without_sums(const opencl::Device& device, const Motion& motion, const Form& form) {
  Form own = form;
  const bool in_lanes = lanes_for(form, device, motion.dtype()) > 1;
  own.kind = in_lanes ? Kind::lanes : Kind::private_lines;
  LinePlan plan = plan_lines(device, motion.grid(), motion.axis(), motion.dtype(), 1, 0,
                             motion.is_padded(), own);
  if (plan.along_memory) return plan;
  plan.copied = plan.copied && !plan.segmented();
  plan.segment = plan.nodes;  // rows are read where they lie
  return plan;
}

double greatest(const std::vector<double>& partial, size_t first) {
  double result = 0;
  for (size_t i = first; i < partial.size(); i += 2)
    if (partial[i] > result || std::isnan(partial[i])) result = partial[i];
  return result;
}

template <class Real>
std::vector<double> read_partial(const opencl::Buffer& buffer, size_t count) {
  std::vector<Real> values(count);
  opencl::Box box;
  box.region[0] = count * sizeof(Real);
  buffer.read(values.data(), box);
  return {values.begin(), values.end()};
}

}  // namespace

AdvectionOp::AdvectionOp(std::shared_ptr<opencl::Context> context, Velocity velocity, DType dtype,
                         Form form)
    : context_(std::move(context)), velocity_(std::move(velocity)), dtype_(dtype), form_(form) {
  if (!velocity_.is_formula() && velocity_.field->components() != velocity_.grid.ndim)
    throw std::invalid_argument("velocity: expected a component per axis (" +
                                std::to_string(velocity_.grid.ndim) + "), got " +
                                std::to_string(velocity_.field->components()));
  check_form(form_, context_->device(), dtype_);
  for (int axis = 0; axis < velocity_.grid.ndim; axis++) {
    motions_.push_back(Motion::along(velocity_, axis, dtype_));
    compile(axis);
  }
}

void AdvectionOp::compile(int axis) {
  Axis& own = axes_[axis];
  const Motion& motion = this->motion(axis);
  const auto& device = context_->device();
  const auto kernel = [&](const char* name, const LinePlan& plan) {
    return context_->kernel(
        opencl::kernel_source(std::string(name) + ".cl", motion.generated_files()),
        kernel_options(device, dtype_) + plan.options() + motion.options(plan), name);
  };
  own.plan = plan_without_sums(device, motion, form_);
  own.copy = MotionCopy(context_, motion, own.plan);
  if (own.plan.transposed)
    own.displacements =
        transposed_field(context_, motion.grid(), dtype_, "transposed displacements");
  own.displace = kernel("advect", own.plan);
  own.strain = kernel("strain", own.plan);
  own.work_items = own.plan.range(device).global[0];
  own.partial = std::make_unique<opencl::Buffer>(context_, 2 * own.work_items * size_of(dtype_),
                                                 "partial results of the strain");
}

void AdvectionOp::displace(int axis, const Interval& interval, Field& displacements) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Axis& own = axes_.at(axis);
  const LinePlan& plan = own.plan;
  Field& written = own.displacements ? *own.displacements : displacements;
  const LineStrides strides = strides_of(written.layout(), plan.axes);
  std::vector<opencl::Argument> arguments{
      &written.buffer(), static_cast<cl_ulong>(written.layout().offset),
      static_cast<cl_long>(strides.row), static_cast<cl_long>(strides.lane),
      static_cast<cl_long>(strides.outer)};
  plan.append_arguments(arguments, context_->device());
  const Motion motion = own.copy.of(this->motion(axis));
  motion.append_arguments(arguments, plan, interval);
  const double bytes = (motion.bytes() + size_of(dtype_)) * velocity_.grid.points();
  context_->launch(own.displace, plan.range(context_->device()), arguments, bytes);
  if (own.displacements) displacements.copy_from(written);
  displacements.touch();
}

Extremes AdvectionOp::extremes(int axis, double time) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Axis& own = axes_.at(axis);
  const Field* field = velocity_.field.get();
  const int64_t version = field ? field->version() : 0;
  const double relevant_time = velocity_.depends_on_time ? time : 0;
  const bool known = own.measured && own.measured->version == version &&
                     own.measured->time == relevant_time && !(field && field->is_shared());
  if (!known) own.measured = Measured{version, relevant_time, measure(axis, relevant_time)};
  return own.measured->extremes;
}

Extremes AdvectionOp::measure(int axis, double time) {
  Axis& own = axes_[axis];
  const LinePlan& plan = own.plan;
  const Motion motion = own.copy.of(this->motion(axis));
  const double spacing = velocity_.grid.spacing[axis];
  std::vector<opencl::Argument> arguments{own.partial.get()};
  plan.append_arguments(arguments, context_->device());
  motion.append_arguments(arguments, plan, Interval{time, spacing});  // scale 1
  context_->launch(own.strain, plan.range(context_->device()), arguments,
                   motion.bytes() * velocity_.grid.points());
  const size_t count = 2 * own.work_items;
  const std::vector<double> partial = dtype_ == DType::float64
                                          ? read_partial<double>(*own.partial, count)
                                          : read_partial<float>(*own.partial, count);
  return {greatest(partial, 0), greatest(partial, 1) / spacing};
}

}  // namespace particles
