// SPDX-License-Identifier: BSD-3-Clause
#include "motion/advection_op.hpp"

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "fields/neighbours.hpp"

namespace particles {

AdvectionOp::AdvectionOp(std::shared_ptr<Context> context, Velocity velocity, DType dtype,
                         Form form, Amplitudes::OfAxes amplitudes)
    : flow_(std::make_shared<Flow>(std::move(context), std::move(velocity), dtype, form)),
      extremes_(std::make_unique<ExtremesOp>(flow_)),
      amplitudes_(std::make_unique<Amplitudes>(std::move(amplitudes))) {
  const Grid& grid = flow_->velocity().grid;
  for (int axis = 0; axis < grid.ndim; axis++)
    if (flow_->plan(axis).transposed)
      displacements_[axis] =
          transposed_field(flow_->context(), grid, dtype, "transposed displacements");
}

void AdvectionOp::prepare_to_displace(int axis) {
  const std::lock_guard<std::mutex> lock(mutex_);
  build(axis);
}

void AdvectionOp::build(int axis) {
  Kernel& kernel = kernels_.at(axis);
  if (!kernel)
    kernel = kernel_of("advect", *flow_->context(), flow_->kind(axis), flow_->plan(axis));
}

void AdvectionOp::prepare_to_find_farthest(int axis) {
  const std::lock_guard<std::mutex> lock(mutex_);
  build_farthest(axis);
}

void AdvectionOp::build_farthest(int axis) {
  const LinePlan& plan = flow_->plan(axis);
  if (partial_.at(axis)) return;
  farthest_[axis] = kernel_of("farthest", *flow_->context(), flow_->kind(axis), plan,
                              " -DGROUP=" + std::to_string(plan.group));
  partial_[axis].emplace(flow_->context(), flow_->dtype(), 1,
                         plan.groups(flow_->context()->device()));
}

double AdvectionOp::farthest(int axis, const Interval& interval) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Context& context = *flow_->context();
  const LinePlan& plan = flow_->plan(axis);
  build_farthest(axis);
  const auto unknown = [](int) { return std::optional<double>(); };
  const auto push = [&](int) {
    const Motion motion = flow_->read_by_plan(axis, interval);
    Launch launch(farthest_[axis]);
    partial_[axis]->add_to(launch, plan.groups(context.device()));
    plan.add_to(launch, context.device());
    motion.add_to(launch, plan, interval);
    const double bytes = motion.bytes() * flow_->velocity().grid.points();
    context.queue().launch(launch.range(plan.range(context.device())).traffic(bytes));
  };
  const auto of_all = [&](int, const std::vector<double>& most) {
    const auto& neighbours = flow_->velocity().grid.neighbours;
    return (neighbours ? neighbours->greatest(most) : most).front();
  };
  return partial_[axis]->measure<double>(std::vector<int>{axis}, unknown, push, of_all).at(axis);
}

// How many cells away stages of a push look at most; of whole lines the kernel need not know.
int64_t AdvectionOp::reach(int axis, const Interval& interval) const {
  constexpr int64_t kUsual = 64;
  const Velocity& velocity = flow_->velocity();
  if (velocity.is_formula() || !velocity.grid.is_cut(axis)) return kUsual;
  const double speed = extremes_->measure({{axis, interval}}).front().speed;
  const double cells = speed * std::abs(interval.duration) / velocity.grid.spacing[axis];
  return scheme_of(velocity.rule.scheme).reach() * (static_cast<int64_t>(std::ceil(cells)) + 1);
}

void AdvectionOp::displace(int axis, const Interval& interval, Field& displacements) {
  if (flow_->velocity().pieces_of(interval).size() > 1)
    throw std::invalid_argument(
        "dt: expected a push that passes no time of the velocity, got one from " +
        std::to_string(interval.begin) + " to " +
        std::to_string(interval.begin + interval.duration));
  const std::lock_guard<std::mutex> lock(mutex_);
  Context& context = *flow_->context();
  const LinePlan& plan = flow_->plan(axis);
  build(axis);
  constexpr int64_t kAround = 8;  // rows that a place is interpolated between, and some more
  const int64_t reach = this->reach(axis, interval);
  // Twice as far, so that blocks that may look beyond an end know the nodes there.
  const Motion motion = flow_->read_by_plan(axis, interval, kAround + 2 * reach);
  Field& written = displacements_[axis] ? *displacements_[axis] : displacements;
  Launch launch(kernels_[axis]);
  launch.buffer("out", written.buffer()).uint64("out_offset", written.layout().offset);
  add_strides(launch, "", strides_of(written.layout(), plan.axes));
  plan.add_to(launch, context.device());
  launch.int32("reach", reach);
  motion.add_to(launch, plan, interval);
  const double bytes = (motion.bytes() + size_of(flow_->dtype())) * flow_->velocity().grid.points();
  context.queue().launch(launch.range(plan.range(context.device())).traffic(bytes));
  if (displacements_[axis]) displacements.copy_from(written);
  displacements.touch();
}

}  // namespace particles
