// SPDX-License-Identifier: BSD-3-Clause
#include "motion/crossflow.hpp"

#include "arrays/dtype.hpp"
#include "fields/neighbours.hpp"

namespace particles {
namespace {

constexpr size_t kRowsEach = 64;  // of a work-item

// One line per work-item, read where it lies.
LinePlan plan_of_lines(const Device& device, const Motion& motion) {
  LineRequest request{device, motion.grid(), motion.axis(), motion.dtype()};
  request.padded = motion.is_padded();
  request.in_place = true;
  request.form.kind = LineKind::private_lines;
  request.form.lanes = 1;
  return plan_lines(request);
}

}  // namespace

Crossflow::Crossflow(const Flow& flow, int axis, const std::array<bool, 2>& ends)
    : context_(flow.context()),
      grid_(flow.velocity().grid),
      axes_(axes_of_lines(grid_, axis)),
      ends_(ends),
      dtype_(flow.dtype()) {
  for (const int across : {axes_.lane, axes_.outer}) {
    if (across < 0) continue;
    const Motion& motion = flow.kind(across);
    Other other{plan_of_lines(context_->device(), motion), {}};
    other.kernel = kernel_of("crossflow", *context_, motion, other.plan);
    others_.push_back(std::move(other));
  }
  const auto lines = static_cast<size_t>(grid_.points() / grid_.shape[axis]);
  rates_ = std::make_unique<Buffer>(context_,
                                    ends_.size() * others_.size() * lines * size_of(flow.dtype()),
                                    "strain across inflow");
}

void Crossflow::update(Flow& flow, const Interval& interval) {
  const Velocity& velocity = flow.velocity();
  const bool is_part = grid_.neighbours != nullptr;  // all parts measure at once
  const int64_t version = is_part ? flow.times_forgotten() : velocity.version();  // before reading
  const bool may_change = velocity.depends_on_time || velocity.is_shared();
  if (version_ == version && !may_change) return;
  const double middle = interval.begin + interval.duration / 2;
  for (size_t which = 0; which < others_.size(); which++) {
    const Other& other = others_[which];
    const Motion motion = flow.motion(other.plan.axes.row, interval);
    for (size_t end = 0; end < ends_.size(); end++)
      if (ends_[end]) launch(other, which, end, motion, middle);
  }
  if (grid_.is_cut(axes_.row))
    dtype_ == DType::float64 ? tell_others<double>() : tell_others<float>();
  version_ = version;
}

// The part that has an end knows what is there.
template <class Real>
void Crossflow::tell_others() {
  const size_t half = rates_->bytes() / sizeof(Real) / ends_.size();
  const std::vector<double> own = read_reals(*rates_, dtype_, half * ends_.size());
  for (size_t end = 0; end < ends_.size(); end++) {
    if (!ends_[end]) continue;
    const auto first = own.begin() + static_cast<std::ptrdiff_t>(end * half);
    const std::vector<double> found = grid_.neighbours->told_at_end(
        {first, first + static_cast<std::ptrdiff_t>(half)}, axes_.row, static_cast<int>(end));
    const std::vector<Real> rates(found.begin(), found.end());
    Rectangle rectangle;
    rectangle.region[0] = half * sizeof(Real);
    rectangle.device_origin = end * half * sizeof(Real);
    rates_->write(rates.data(), rectangle);
  }
}

void Crossflow::launch(const Other& other, size_t which, size_t end, const Motion& motion,
                       double time) {
  const LineAxes& axes = other.plan.axes;
  const auto points = [&](int axis) { return axis < 0 ? 1 : grid_.shape[axis]; };
  const auto step = [&](int axis) { return axis == axes_.lane ? 1 : points(axes_.lane); };
  const bool is_lane = axes.lane == axes_.row;
  const int along_face = is_lane ? axes.outer : axes.lane;
  const int64_t lines = points(axes_.lane) * points(axes_.outer);
  Launch launch(other.kernel);
  launch.buffer("rates", *rates_)
      .uint64("rates_offset", (end * others_.size() + which) * lines)
      .int64("row_step", step(axes.row))
      .int64("line_step", step(along_face))
      .int32("is_lane", is_lane)
      .int32("face", end == 0 ? 0 : points(axes_.row) - 1)
      .add("per_difference", real_argument(motion.dtype(), 0.5 / grid_.spacing[axes.row]));
  other.plan.add_to(launch, context_->device());
  motion.add_to(launch, other.plan, Interval{time, 0});
  Range range;
  range.global = {static_cast<size_t>(points(along_face)),
                  (static_cast<size_t>(other.plan.nodes) + kRowsEach - 1) / kRowsEach, 1};
  const double bytes = (motion.bytes() + size_of(motion.dtype())) * lines;
  context_->queue().launch(launch.range(range).traffic(bytes));
}

}  // namespace particles
