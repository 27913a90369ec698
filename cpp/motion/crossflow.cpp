// SPDX-License-Identifier: BSD-3-Clause
#include "motion/crossflow.hpp"

#include "arrays/ceiling.hpp"
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

double middle_of(const Interval& interval) { return interval.begin + interval.duration / 2; }

}  // namespace

Crossflow::Crossflow(const Flow& flow, int axis, const std::array<bool, 2>& ends,
                     std::optional<size_t> instants)
    : context_(flow.context()),
      grid_(flow.velocity().grid),
      axes_(axes_of_lines(grid_, axis)),
      ends_(ends),
      dtype_(flow.dtype()),
      lines_(static_cast<size_t>(grid_.points() / grid_.shape[axis])) {
  for (const int across : {axes_.lane, axes_.outer}) {
    if (across < 0) continue;
    const Motion& motion = flow.kind(across);
    Other other{plan_of_lines(context_->device(), motion), {}};
    other.kernel =
        kernel_of("crossflow", *context_, motion, other.plan, instants ? " -DMANY_INSTANTS=1" : "");
    others_.push_back(std::move(other));
  }
  rates_ = std::make_unique<Buffer>(context_,
                                    instants.value_or(1) * rates_of_instant() * size_of(dtype_),
                                    "strain across inflow");
}

void Crossflow::update(Flow& flow, const Interval& interval) {
  const Velocity& velocity = flow.velocity();
  const bool is_part = grid_.neighbours != nullptr;  // all parts measure at once
  const int64_t version = is_part ? flow.times_forgotten() : velocity.version();  // before reading
  const bool may_change = velocity.depends_on_time || velocity.is_shared();
  if (version_ == version && !may_change) return;
  measure(flow, interval, {});
  if (grid_.is_cut(axes_.row))
    dtype_ == DType::float64 ? tell_others<double>() : tell_others<float>();
  version_ = version;
}

void Crossflow::update(Flow& flow, const std::vector<Interval>& intervals, const Buffer& table) {
  measure(flow, intervals.front(), Instants{intervals, table});
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

// Times, or shares of a later level: whatever is told of each to a kernel.
void Crossflow::write(const Instants& instants, const Motion& motion) const {
  if (context_->is_dry()) return;
  for (size_t k = 0; k < instants.intervals.size(); k++) {
    const double instant = motion.numbers({middle_of(instants.intervals[k]), 0})[2];
    if (dtype_ == DType::float64)
      static_cast<double*>(instants.table.host_address())[k] = instant;
    else
      static_cast<float*>(instants.table.host_address())[k] = static_cast<float>(instant);
  }
}

// In the middle of one interval, or of many.
void Crossflow::measure(Flow& flow, const Interval& interval,
                        const std::optional<Instants>& instants) {
  for (size_t which = 0; which < others_.size(); which++) {
    const Motion motion = flow.motion(others_[which].plan.axes.row, interval);
    if (instants && which == 0) write(*instants, motion);
    for (size_t end = 0; end < ends_.size(); end++)
      if (ends_[end]) launch(which, end, motion, interval, instants);
  }
}

void Crossflow::launch(size_t which, size_t end, const Motion& motion, const Interval& interval,
                       const std::optional<Instants>& instants) {
  const Other& other = others_[which];
  const LineAxes& axes = other.plan.axes;
  const auto points = [&](int axis) { return axis < 0 ? 1 : grid_.shape[axis]; };
  const auto step = [&](int axis) { return axis == axes_.lane ? 1 : points(axes_.lane); };
  const bool is_lane = axes.lane == axes_.row;
  const int along_face = is_lane ? axes.outer : axes.lane;
  Launch launch(other.kernel);
  launch.buffer("rates", *rates_)
      .uint64("rates_offset", (end * others_.size() + which) * lines_)
      .int64("row_step", step(axes.row))
      .int64("line_step", step(along_face))
      .int32("is_lane", is_lane)
      .int32("face", end == 0 ? 0 : points(axes_.row) - 1)
      .add("per_difference", real_argument(motion.dtype(), 0.5 / grid_.spacing[axes.row]));
  other.plan.add_to(launch, context_->device());
  if (instants)
    launch.buffer("instants", instants->table)
        .int64("instant_step", static_cast<int64_t>(rates_of_instant()));
  motion.add_to(launch, other.plan, Interval{middle_of(interval), 0});
  const size_t times = instants ? instants->intervals.size() : 1;
  Range range;
  range.global = {static_cast<size_t>(points(along_face)),
                  ceiling(static_cast<size_t>(other.plan.nodes), kRowsEach), times};
  if (instants) range.local = {1, 1, 1};  // PoCL compiles anew for each size that it chooses
  const double bytes = (motion.bytes() + size_of(motion.dtype())) * static_cast<double>(lines_);
  context_->queue().launch(launch.range(range).traffic(bytes * static_cast<double>(times)));
}

}  // namespace particles
