// SPDX-License-Identifier: BSD-3-Clause
#include "operators/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "opencl/kernel_source.hpp"

namespace particles {
namespace {

// Components that one launch carries: their sums share a work-item's memory.
size_t slots_at_most(int nodes) {
  constexpr int kMost = 4;
  return static_cast<size_t>(std::clamp(kPrivateRows / nodes, 1, kMost));
}

std::string fields_source(size_t components) {
  std::string parameters, from, to;
  for (size_t c = 0; c < components; c++) {
    const std::string u = "u" + std::to_string(c), out = "out" + std::to_string(c);
    const std::string comma = c == 0 ? "" : ", ";
    parameters += comma + "__global const real *" + u + ", const ulong " + u +
                  "_offset, __global real *" + out + ", const ulong " + out + "_offset";
    from += comma + u + " + " + u + "_offset";
    to += comma + out + " + " + out + "_offset";
  }
  return "#define COMPONENTS " + std::to_string(components) + "\n#define FIELD_PARAMETERS " +
         parameters + "\n#define FIELD_POINTERS {" + from + "}\n#define OUT_POINTERS {" + to +
         "}\n";
}

// One component whose lines along the last axis lie side by side in memory.
std::shared_ptr<Field> transposed_field(const std::shared_ptr<opencl::Context>& context,
                                        const Motion& motion, const char* name) {
  const Grid& grid = motion.grid();
  const int last = grid.ndim - 1;
  Grid turned = grid;
  std::swap(turned.shape[last], turned.shape[last - 1]);
  Layout layout = pitched_layout(turned, 1);
  const auto elements = static_cast<size_t>(pitched_elements(layout, 1));
  auto memory = std::make_shared<opencl::Buffer>(context, elements * size_of(motion.dtype()), name);
  std::swap(layout.stride[last], layout.stride[last - 1]);
  layout.padded = false;
  return std::make_shared<Field>(context, grid, 1, motion.dtype(), name, memory, layout);
}

void append_strides(std::vector<opencl::Argument>& arguments, const LineStrides& strides) {
  for (const int64_t stride : {strides.row, strides.lane, strides.outer})
    arguments.push_back(static_cast<cl_long>(stride));
}

}  // namespace

Sweep::Sweep(std::shared_ptr<opencl::Context> context, const Motion& motion, const Fields& fields,
             const RemeshingKernel& kernel, const LineLimits& limits)
    : context_(std::move(context)), stencil_(kernel.stencil) {
  const LineAxes axes = axes_of_lines(motion.grid(), motion.axis());
  const auto alike = [&](const Slot& a, const Slot& b) {
    const Layout &one = a.home->layout(), &other = b.home->layout();
    return one.padded == other.padded && strides_of(one, axes) == strides_of(other, axes);
  };
  const size_t most = slots_at_most(static_cast<int>(motion.grid().shape[motion.axis()]));
  std::vector<std::vector<Slot>> sets;
  for (const auto& field : fields)
    for (int c = 0; c < field->components(); c++) {
      const auto component = field->component(c);
      const Slot slot{component, component, component};
      const auto set = std::find_if(sets.begin(), sets.end(), [&](const auto& candidates) {
        return candidates.size() < most && alike(candidates.front(), slot);
      });
      if (set == sets.end())
        sets.push_back({slot});
      else
        set->push_back(slot);
    }
  for (auto& slots : sets) add_group(motion, std::move(slots), kernel, limits);
}

void Sweep::add_group(const Motion& motion, std::vector<Slot> slots, const RemeshingKernel& kernel,
                      const LineLimits& limits) {
  const auto& device = context_->device();
  const bool padded = motion.is_padded() && slots.front().home->layout().padded;
  Group group;
  group.plan = plan_lines(device, motion.grid(), motion.axis(), motion.dtype(),
                          static_cast<int>(slots.size()), padded, limits);
  const auto scratch = [&](const char* name) {
    return group.plan.transposed
               ? transposed_field(context_, motion, name)
               : std::make_shared<Field>(context_, motion.grid(), 1, motion.dtype(), name);
  };
  for (Slot& slot : slots) {
    if (group.plan.transposed) slot.from = slot.to = scratch("transposed field");
    // Segments read particles of their neighbours: not in place.
    if (group.plan.segmented()) slot.to = scratch("result of a sweep");
  }
  if (group.plan.transposed && !motion.is_formula()) group.motion = scratch("transposed velocity");
  auto files = motion.generated_files();
  files["weights.cl"] = kernel.source;
  files["fields.cl"] = fields_source(slots.size());
  group.kernel = context_->kernel(
      opencl::kernel_source("sweep.cl", files),
      kernel_options(device, motion.dtype()) + group.plan.options() + motion.options(), "sweep");
  group.slots = std::move(slots);
  groups_.push_back(std::move(group));
}

bool Sweep::is_segmented() const {
  return std::any_of(groups_.begin(), groups_.end(),
                     [](const Group& group) { return group.plan.segmented(); });
}

void Sweep::apply(const Motion& motion, const Interval& interval, double greatest_move) {
  for (Group& group : groups_) {
    for (const Slot& slot : group.slots)
      if (slot.from != slot.home) slot.from->copy_from(*slot.home);
    launch(group, transposed(group, motion), interval, greatest_move);
    for (const Slot& slot : group.slots) {
      if (slot.to != slot.home) slot.home->copy_from(*slot.to);
      slot.home->touch();
    }
  }
}

// The same motion, read from a transposed copy where the plan asks for it; a velocity is copied
// anew only when it has changed.
Motion Sweep::transposed(Group& group, const Motion& motion) {
  if (!group.motion) return motion;
  const Field& original = motion.field();
  const bool kept = !motion.is_given() && !original.is_shared();
  if (!kept || group.motion_version != original.version()) {
    group.motion->copy_from(original);
    group.motion_version = original.version();
  }
  return motion.read_from(group.motion);
}

void Sweep::launch(const Group& group, const Motion& motion, const Interval& interval,
                   double greatest_move) {
  const LinePlan& plan = group.plan;
  std::vector<opencl::Argument> arguments;
  for (const Slot& slot : group.slots)
    for (const auto& field : {slot.from, slot.to}) {
      arguments.push_back(&field->buffer());
      arguments.push_back(static_cast<cl_ulong>(field->layout().offset));
    }
  append_strides(arguments, strides_of(group.slots.front().from->layout(), plan.axes));
  append_strides(arguments, strides_of(group.slots.front().to->layout(), plan.axes));
  arguments.push_back(static_cast<cl_int>(plan.lines));
  arguments.push_back(static_cast<cl_long>(plan.tiles));
  arguments.push_back(static_cast<cl_int>(plan.jobs_each(context_->device())));
  motion.append_arguments(arguments, plan, interval);
  if (plan.segmented()) {
    const double reach = std::ceil(greatest_move) + stencil_ / 2 + 1;
    const bool within = reach < plan.nodes;  // false for NaN as well
    arguments.push_back(static_cast<cl_int>(plan.segment));
    arguments.push_back(within ? static_cast<cl_int>(reach) : plan.nodes);
  }
  if (plan.form == Form::local_lines) {
    const size_t rows = static_cast<size_t>(plan.segment) + 1;
    const size_t bytes = rows * plan.group * group.slots.size() * size_of(motion.dtype());
    arguments.push_back(opencl::LocalMemory{bytes});
    arguments.push_back(static_cast<cl_int>(rows));
  }
  const double bytes = motion.bytes() + 2.0 * group.slots.size() * size_of(motion.dtype());
  context_->launch(group.kernel, plan.range(context_->device()), arguments,
                   bytes * motion.grid().points());
}

}  // namespace particles
