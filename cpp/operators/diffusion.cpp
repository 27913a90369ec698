// SPDX-License-Identifier: BSD-3-Clause
#include "operators/diffusion.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>

#include "arrays/ceiling.hpp"
#include "arrays/regions.hpp"
#include "fields/neighbours.hpp"
#include "runtime/kernel_source.hpp"

namespace particles {
namespace {

// Axes and spreads of which weights are kept, and rounds of each, at most: the longest lines take
// about 40.
constexpr size_t kSpreadsKept = 16, kRoundsAtMost = 48;

// Rows of vectors that a work-item holds of segments, with what lies around them.
constexpr int64_t kRowsOfSegment = kPrivateRows + 2 * kRoomForTaps;
// Nodes of which a segment consists at least, and where a line may be one, at most: so that few are
// held by several work-items.
constexpr int64_t kShortestSegment = 256, kWholeLine = 2048;

// Two numbers for either end: a sum, and what rounding took from it.
constexpr size_t kNumbersCounted = 4;

// As diffusion.cl has it.
template <class Real>
struct RoundOnDevice {
  cl_int kind, taps, apart, from, to, first;
  Real scale, spacing, begin, end, spread;
};

// How rounds are done on segments: of how many nodes, and how many on either side they take.
struct SegmentPlan {
  int64_t segment, around, nodes_after;
};

// Of rounds first .. first + count - 1 on lines of so many nodes; none where they do not fit, or
// are better done in parts. Segments are in blocks of `lanes`, and whole multiples of what maps
// take unless all lanes have the `same_segment`; `wanted`: nodes of which there are enough segments
// for all threads.
std::optional<SegmentPlan> plan_segments(const std::vector<DiffusionRound>& rounds, size_t first,
                                         size_t count, int64_t nodes, int lanes, bool same_segment,
                                         int64_t wanted) {
  // Segments on the target begin at a block, up to so many nodes later than on the source.
  int64_t after = nodes, around = 0;
  for (size_t k = first; k < first + count; k++)
    if (rounds[k].kind == RoundKind::map) after = after / rounds[k].map->from * rounds[k].map->to;
  if (same_segment) around = lanes + 1;
  for (size_t k = first + count; k > first; k--) {
    const DiffusionRound& round = rounds[k - 1];
    if (round.kind == RoundKind::map)
      around = ceiling(around * round.map->from, round.map->to) + round.map->taps + 1;
    else
      around += static_cast<int64_t>(round.weights.size()) * round.apart;
    if (2 * around >= kRowsOfSegment) return std::nullopt;
  }
  // After each round `units` nodes are left of `unit`, and so many are held around them at most.
  int64_t unit = 1, units = 1, beyond = around, most = kRowsOfSegment - 2 * around;
  for (size_t k = first; k < first + count; k++) {
    const DiffusionRound& round = rounds[k];
    if (round.kind == RoundKind::mean) {
      beyond -= static_cast<int64_t>(round.weights.size()) * round.apart;
      continue;
    }
    const int64_t from = round.map->from, to = round.map->to, more = from / std::gcd(units, from);
    unit *= more;
    units = units * more / from * to;
    beyond = (beyond - round.map->taps + 1) * to / from + 1;
    most = std::min(most, (kRowsOfSegment - 2 * beyond) * unit / units);
  }
  const SegmentPlan whole{nodes, around, after};
  if (nodes <= std::min(most, std::max(kWholeLine, wanted))) return whole;
  unit = (same_segment ? 1 : unit) * lanes;
  const int64_t least = std::max({kShortestSegment, count > 1 ? 2 * around : 1, unit}),
                longest = std::min(std::max(wanted, least), most) / unit * unit;
  if (longest >= least || (count == 1 && longest > 0)) {
    const int64_t segments = ceiling(nodes, longest), each = ceiling(nodes, segments);
    return SegmentPlan{ceiling(each, unit) * unit, around, after};
  }
  if (count == 1 && nodes <= most) return whole;
  return std::nullopt;
}

// Some lines along an axis of a part, which are whole, and lie along the first axis.
Grid grid_of_lines(const Grid& part, int axis, const std::array<int64_t, 2>& lines, int64_t all) {
  Grid grid;
  grid.ndim = 2;
  grid.shape = {part.whole[axis], lines[1], 1};
  grid.origin = {part.origin[axis], 0, 0};
  grid.spacing = {part.spacing[axis], 1, 1};
  grid.boundary[0] = part.boundary[axis];
  if (lines[1] < all) grid.begin[1] = lines[0], grid.whole[1] = all;
  return grid;
}

}  // namespace

Diffusion::Diffusion(Fields fields, std::vector<double> viscosities, Inflow inflow)
    : Diffusion(fields, std::move(viscosities), std::move(inflow),
                fields.empty() ? 0 : fields.front()->grid().ndim) {}

Diffusion::Diffusion(Fields fields, std::vector<double> viscosities, Inflow inflow, int axes)
    : fields_(std::move(fields)), inflow_(std::move(inflow)), axes_(axes) {
  check_alike(fields_);
  for (int axis = 0; axis < axes_; axis++)
    if (is_cut(axis)) along_cut_[axis] = along_cut(axis);
  set_viscosities(std::move(viscosities));
  bool all_held = true;
  int number = 0;
  for (const auto& field : fields_) {
    Part part{field, number, {}};
    for (int axis = 0; axis < axes_; axis++) {
      part.axes.push_back(is_cut(axis) ? Lines{} : lines_along(*field, axis, number));
      all_held = all_held && (is_cut(axis) || part.axes.back().held);
    }
    number += field->components();
    parts_.push_back(std::move(part));
  }
  const DType real = arithmetic(first().dtype());
  for (size_t k = 0; !all_held && k < (real == first().dtype() ? 1 : 2); k++)
    scratch_[k] =
        std::make_shared<Field>(first().context(), first().grid(), 1, real, "scratch of diffusion");
  const Grid& grid = first().grid();
  for (int axis = 0; axis < axes_; axis++) {
    maps_.push_back({{}, weights_of_maps_});
    if (is_cut(axis)) continue;
    maps_.back().thinnings =
        thinnings_of(grid.boundary[axis], grid.shape[axis], lines_of_whole(axis), first().dtype());
    for (const Thinning& thinning : maps_.back().thinnings)
      weights_of_maps_ += thinning.thin.weights.size() + thinning.refill.weights.size();
  }
  constexpr size_t kRounds = kSpreadsKept * kRoundsAtMost;
  on_device_ = std::make_unique<Buffer>(first().context(), kRounds * bytes_of_round(),
                                        "rounds of diffusion");
  weights_ = std::make_unique<Buffer>(
      first().context(), (weights_of_maps_ + kRounds * kRoomForTaps) * bytes_of_weight(),
      "weights of diffusion");
}

// Lines are divided anew among the parts of a grid, so that each has some of them whole.
std::unique_ptr<Diffusion> Diffusion::along_cut(int axis) const {
  const Grid& part = first().grid();
  const auto lines = part.neighbours->whole_lines(axis, part.points() / part.shape[axis]);
  if (lines[1] == 0) return nullptr;
  const Grid grid = grid_of_lines(part, axis, lines, lines_of_whole(axis));
  Fields whole;
  for (const auto& field : fields_)
    whole.push_back(std::make_shared<Field>(field->context(), grid, field->components(),
                                            field->dtype(), "whole lines of a field"));
  return std::unique_ptr<Diffusion>(new Diffusion(
      std::move(whole), std::vector<double>(static_cast<size_t>(components_of(fields_))),
      {inflow_[axis]}, 1));
}

int64_t Diffusion::lines_of_whole(int axis) const {
  const Grid& grid = first().grid();
  int64_t lines = 1;
  for (int k = 0; k < grid.ndim; k++)
    if (k != axis) lines *= grid.whole_along(k);
  return lines;
}

size_t Diffusion::bytes_of_weight() const { return size_of(arithmetic(first().dtype())); }

size_t Diffusion::bytes_of_round() const {
  return arithmetic(first().dtype()) == DType::float64 ? sizeof(RoundOnDevice<double>)
                                                       : sizeof(RoundOnDevice<float>);
}

std::vector<double> Diffusion::viscosities() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return viscosities_;
}

void Diffusion::set_viscosities(std::vector<double> viscosities) {
  if (viscosities.size() != static_cast<size_t>(components_of(fields_)))
    throw std::invalid_argument("viscosity: expected one for each component, got " +
                                std::to_string(viscosities.size()));
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& other : along_cut_)
    if (other) other->set_viscosities(viscosities);
  viscosities_ = std::move(viscosities);
}

bool Diffusion::takes_in(int axis) const {
  const Ends& ends = first().grid().boundary[axis];
  return ends.low == Boundary::inflow || ends.high == Boundary::inflow;
}

Diffusion::Lines Diffusion::lines_along(const Field& field, int axis, int number) const {
  const auto& context = field.context();
  const Grid& grid = field.grid();
  const DType real = arithmetic(field.dtype());
  Lines lines;
  LineRequest request{context->device(), grid, axis, real};
  request.padded = field.layout().padded;
  lines.plan = plan_lines(request);
  lines.held = context->device().is_cpu() && !lines.plan.segmented();
  const bool along = axis == grid.ndim - 1;
  const auto options_for = [&](int lanes, DType dtype) {
    return kernel_options(context->device(), dtype) + " -DLANES=" + std::to_string(lanes) +
           " -DLEAST_MARGIN=" + std::to_string(kRoomForTaps) + (along ? " -DALONG" : "") +
           end_options(grid.boundary[axis]);
  };
  std::map<std::string, std::string> files;
  std::vector<size_t> numbers(static_cast<size_t>(field.components()));
  std::iota(numbers.begin(), numbers.end(), static_cast<size_t>(number));
  if (takes_in(axis)) files["generated/inflow.cl"] = inflow_source(numbers, inflow_[axis]);
  const auto kernel = [&](const std::string& file, const std::string& options,
                          const std::string& name) {
    return context->kernel(kernel_source("operators/" + file + ".cl", files), options, name);
  };
  const int lanes =
      field.layout().padded ? static_cast<int>(field.workspace().lanes(size_of(real))) : 1;
  lines.segments = context->device().is_cpu() && !lines.held;
  lines.range = range_for_rows(context->device(), field.component(0)->everything_along(axis));
  const std::string along_memory = lines.plan.along_memory ? " -DALONG_MEMORY" : "";
  if (lines.held) {
    lines.of_held =
        kernel("diffusion_lines", options_for(lines.plan.lanes, field.dtype()) + along_memory,
               "diffusion_lines");
  } else {
    lines.of_rows[0] = kernel("diffusion_rows", options_for(lanes, real), "diffusion_mean");
    if (lines.segments)
      lines.of_segments = kernel("diffusion_segments",
                                 options_for(lines.plan.lanes, real) + along_memory +
                                     " -DROWS_AT_MOST=" + std::to_string(kRowsOfSegment),
                                 "diffusion_segments");
    else
      lines.of_rows[1] = kernel("diffusion_rows", options_for(lanes, real), "diffusion_map");
  }
  if (!takes_in(axis)) return lines;
  lines.range_of_moments = lines.held ? lines.plan.range(context->device()) : lines.range;
  lines.lanes_of_moments = lines.held ? lines.plan.lanes : lanes;
  if (!lines.held)
    lines.moments =
        kernel("diffusion_moments", options_for(lanes, field.dtype()), "diffusion_moments");
  const size_t bytes = lines.range_of_moments.global[0] * numbers.size() * kNumbersCounted *
                       static_cast<size_t>(lines.lanes_of_moments) * size_of(real);
  lines.crossed = std::make_unique<Buffer>(context, bytes, "mass that diffuses in");
  const char zero = 0;
  lines.crossed->fill(&zero, sizeof zero, 0, bytes);
  return lines;
}

void Diffusion::apply(const Interval& interval, std::optional<double> instant) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (interval.duration < 0)
    throw std::invalid_argument("dt: expected no step back, which diffusion cannot take");
  for (int axis = 0; axis < axes_;) {
    if (is_cut(axis)) {
      diffuse_along_cut(axis++, interval, instant);
      continue;
    }
    Axes axes{axis, axis + 1};  // as many as there are, so that values stay in caches
    while (axes.end < axes_ && !is_cut(axes.end)) axes.end++;
    for (const Part& part : parts_) {
      for (int c = 0; c < part.field->components(); c++) diffuse(part, c, axes, interval, instant);
      part.field->touch();
    }
    axis = axes.end;
  }
}

void Diffusion::diffuse_along_cut(int axis, const Interval& interval,
                                  std::optional<double> instant) {
  const auto& neighbours = *first().grid().neighbours;
  Diffusion* along = along_cut_[axis].get();
  const auto whole = [&](size_t k) { return along ? along->fields_[k] : nullptr; };
  for (size_t k = 0; k < fields_.size(); k++) neighbours.gather_lines(fields_[k], axis, whole(k));
  if (along) along->apply(interval, instant);
  for (size_t k = 0; k < fields_.size(); k++) neighbours.scatter_lines(whole(k), fields_[k], axis);
}

const Diffusion::Rounds& Diffusion::rounds(int axis, double spread) {
  const auto known = rounds_.find({axis, spread});
  if (known != rounds_.end()) return known->second;
  if (rounds_.size() == kSpreadsKept) rounds_.clear();
  const Grid& grid = first().grid();
  Rounds rounds{diffusion_rounds(spread, grid.boundary[axis], grid.shape[axis], first().dtype(),
                                 maps_[static_cast<size_t>(axis)].thinnings),
                rounds_.size() * kRoundsAtMost};
  if (arithmetic(first().dtype()) == DType::float64)
    write_rounds<double>(rounds, axis, spread);
  else
    write_rounds<float>(rounds, axis, spread);
  return rounds_[{axis, spread}] = std::move(rounds);
}

size_t Diffusion::first_weight(const Maps& maps, const NodeMap& map) const {
  size_t first = maps.first_weight;
  for (const Thinning& thinning : maps.thinnings)
    for (const NodeMap* each : {&thinning.thin, &thinning.refill}) {
      if (each == &map) return first;
      first += each->weights.size();
    }
  return first;
}

template <class Real>
void Diffusion::write_maps() {
  std::vector<Real> weights;
  for (const Maps& maps : maps_)
    for (const Thinning& thinning : maps.thinnings)
      for (const NodeMap* map : {&thinning.thin, &thinning.refill})
        std::transform(map->weights.begin(), map->weights.end(), std::back_inserter(weights),
                       [](double weight) { return static_cast<Real>(weight); });
  if (!weights.empty()) {
    Rectangle rectangle;
    rectangle.region[0] = weights.size() * sizeof(Real);
    weights_->write(weights.data(), rectangle);
  }
  maps_are_written_ = true;
}

// `spread`: of all of an interval, of which what remains of the rounds is done.
template <class Real>
void Diffusion::write_rounds(const Rounds& rounds, int axis, double spread) {
  if (rounds.of.empty()) return;
  if (rounds.of.size() > kRoundsAtMost)
    throw std::logic_error("diffusion in more rounds than there is room for");
  if (!maps_are_written_) write_maps<Real>();
  double remaining = 0;
  for (const DiffusionRound& round : rounds.of) remaining += round.spread;
  std::vector<RoundOnDevice<Real>> all;
  std::vector<Real> weights(rounds.of.size() * kRoomForTaps);
  const size_t first_of_means = weights_of_maps_ + rounds.first * kRoomForTaps;
  for (const DiffusionRound& round : rounds.of) {
    RoundOnDevice<Real> own{};
    own.kind = static_cast<cl_int>(round.kind);
    size_t first = first_of_means + all.size() * kRoomForTaps;
    if (round.kind == RoundKind::map) {
      const NodeMap& map = *round.map;
      first = first_weight(maps_[static_cast<size_t>(axis)], map);
      own.taps = map.taps, own.from = map.from, own.to = map.to;
      own.scale = static_cast<Real>(map.scale);
    } else {
      own.taps = static_cast<cl_int>(round.weights.size());
      std::transform(round.weights.begin(), round.weights.end(),
                     weights.begin() + static_cast<std::ptrdiff_t>(all.size() * kRoomForTaps),
                     [](double weight) { return static_cast<Real>(weight); });
    }
    own.first = static_cast<cl_int>(first);
    own.apart = static_cast<cl_int>(round.apart);
    own.spacing = static_cast<Real>(round.spacing);
    own.begin = static_cast<Real>(1 - remaining / spread);
    remaining = std::max(remaining - round.spread, 0.0);
    own.end = static_cast<Real>(1 - remaining / spread);
    own.spread = static_cast<Real>(round.spread);
    all.push_back(own);
  }
  Rectangle rectangle;
  rectangle.region[0] = all.size() * sizeof(RoundOnDevice<Real>);
  rectangle.device_origin = rounds.first * sizeof(RoundOnDevice<Real>);
  on_device_->write(all.data(), rectangle);
  rectangle.region[0] = weights.size() * sizeof(Real);
  rectangle.device_origin = first_of_means * sizeof(Real);
  weights_->write(weights.data(), rectangle);
}

// Rounds go to and fro between the field and a scratch, but for lines that are held.
void Diffusion::diffuse(const Part& part, int component, const Axes& axes, const Interval& interval,
                        std::optional<double> instant) {
  const auto home = part.field->component(component);
  const Grid& grid = home->grid();
  const DType real = arithmetic(home->dtype());
  Field *here = home.get(), *there = scratch_[0].get();
  const auto leave = [&] {
    if (here != home.get() || real == home->dtype()) return;
    here = scratch_[1].get();
    here->copy_from(*home);
  };
  const auto come_home = [&] {
    if (here == home.get()) return;
    home->copy_from(*here);
    here = home.get(), there = scratch_[0].get();
  };
  for (int axis = axes.begin; axis < axes.end; axis++) {
    const Lines& lines = part.axes[axis];
    const double spread = viscosities_[part.first + component] * interval.duration;
    if (spread == 0) continue;  // also where the square of a spacing is 0
    const Rounds& rounds = this->rounds(axis, spread / std::pow(grid.spacing[axis], 2));
    if (rounds.of.empty()) continue;
    const Task task{rounds, component, instant ? Interval{*instant, 0} : interval};
    if (lines.held || lines.crossed) come_home();
    if (lines.held) {
      diffuse_held(lines, *home, task);
      continue;
    }
    if (lines.crossed) count(lines, axis, *home, -1, task);
    leave();
    int64_t nodes = grid.shape[axis];
    for (size_t k = 0; k < rounds.of.size();) {
      const Done done = lines.segments ? do_segments(lines, *here, *there, task, k, nodes)
                                       : do_round(lines, axis, *here, *there, task, k, nodes);
      k += done.rounds, nodes = done.nodes;
      std::swap(here, there);
    }
    if (real != home->dtype()) come_home();
    if (lines.crossed) come_home(), count(lines, axis, *home, 1, task);
  }
  come_home();
}

void Diffusion::add_task(Launch& launch, const Lines& lines, const Task& task, const char* name,
                         size_t number, size_t first) const {
  launch.int32("first_round", static_cast<int64_t>(task.rounds.first + first))
      .int32(name, static_cast<int64_t>(number));
  if (!lines.crossed) return;
  const DType real = arithmetic(this->first().dtype());
  launch.int32("component", task.component)
      .add("time", real_argument(real, task.interval.begin))
      .add("duration", real_argument(real, task.interval.duration));
}

void Diffusion::diffuse_held(const Lines& lines, Field& field, const Task& task) const {
  Context& context = *field.context();
  Launch launch(lines.of_held);
  launch.buffer("u", field.buffer()).uint64("u_offset", field.layout().offset);
  add_strides(launch, "", strides_of(field.layout(), lines.plan.axes));
  lines.plan.add_to(launch, context.device());
  launch.buffer("rounds", *on_device_).buffer("all_weights", *weights_);
  add_task(launch, lines, task, "count", task.rounds.of.size());
  if (lines.crossed) launch.buffer("moments", *lines.crossed);
  context.queue().launch(launch.range(lines.plan.range(context.device()))
                             .traffic(2.0 * size_of(field.dtype()) * field.points()));
}

Diffusion::Done Diffusion::do_segments(const Lines& lines, const Field& source, Field& target,
                                       const Task& task, size_t first, int64_t nodes) const {
  Context& context = *source.context();
  LinePlan plan = lines.plan;
  const std::vector<DiffusionRound>& rounds = task.rounds.of;
  const int64_t tiles = 4 * std::max<int64_t>(1, context.device().compute_units),
                wanted = nodes * plan.lines * plan.outers / (tiles * plan.lanes);
  // As the kernel has it.
  const bool same_segment =
      !plan.along_memory || int64_t{plan.lines} * plan.outers >= int64_t{plan.lanes};
  std::optional<SegmentPlan> segments;
  size_t count = 0;
  // What comes in is continued beyond the ends anew before each round.
  const size_t at_most = lines.crossed ? 1 : rounds.size() - first;
  for (size_t more = 1; more <= at_most; more++)
    if (const auto found = plan_segments(rounds, first, more, nodes,
                                         plan.along_memory ? plan.lanes : 1, same_segment, wanted))
      segments = found, count = more;
  if (!segments) return do_round(lines, plan.axes.row, source, target, task, first, nodes);
  plan.nodes = static_cast<int>(nodes);
  plan.segment = static_cast<int>(segments->segment);
  Launch launch(lines.of_segments);
  launch.buffer("source", source.buffer()).uint64("source_offset", source.layout().offset);
  add_strides(launch, "source_", strides_of(source.layout(), plan.axes));
  launch.buffer("target", target.buffer()).uint64("target_offset", target.layout().offset);
  add_strides(launch, "target_", strides_of(target.layout(), plan.axes));
  plan.add_to(launch, context.device());
  launch.int32("n_to", segments->nodes_after)
      .int32("around", segments->around)
      .buffer("rounds", *on_device_)
      .buffer("all_weights", *weights_);
  add_task(launch, lines, task, "count", count, first);
  Range range = plan.range(context.device());
  if (plan.along_memory && same_segment) {
    const int64_t whole = ceiling(int64_t{plan.lines} * plan.outers, plan.lanes),
                  jobs = whole * ceiling(nodes, plan.segment),
                  each = plan.jobs_each(context.device());
    range.global[0] = static_cast<size_t>(ceiling(jobs, each));
  }
  context.queue().launch(
      launch.range(range).traffic(2.0 * size_of(source.dtype()) * source.points()));
  return {count, segments->nodes_after};
}

Diffusion::Done Diffusion::do_round(const Lines& lines, int axis, const Field& source,
                                    Field& target, const Task& task, size_t number,
                                    int64_t nodes) const {
  const DiffusionRound& round = task.rounds.of[number];
  if (round.kind == RoundKind::map) nodes = nodes / round.map->from * round.map->to;
  Region region = target.everything_along(axis);
  region.count[axis == target.grid().ndim - 1 ? 3 : 2] = nodes;
  Launch launch(lines.of_rows[static_cast<size_t>(round.kind)]);
  add_region(launch, "source", "s", source.buffer(), source.everything_along(axis));
  add_region(launch, "target", "t", target.buffer(), region);
  add_counts(launch, region);
  launch.buffer("rounds", *on_device_).buffer("all_weights", *weights_);
  add_task(launch, lines, task, "number", number);
  source.context()->queue().launch(
      launch.range(lines.range).traffic(2.0 * size_of(source.dtype()) * source.points()));
  return {1, nodes};
}

void Diffusion::count(const Lines& lines, int axis, const Field& field, double factor,
                      const Task& task) const {
  const Region region = field.everything_along(axis);
  Launch launch(lines.moments);
  add_region(launch, "source", "s", field.buffer(), region);
  add_counts(launch, region);
  launch.add("factor", real_argument(arithmetic(field.dtype()), factor))
      .buffer("moments", *lines.crossed)
      .buffer("rounds", *on_device_);
  add_task(launch, lines, task, "count", task.rounds.of.size());
  field.context()->queue().launch(
      launch.range(lines.range_of_moments).traffic(1.0 * size_of(field.dtype()) * field.points()));
}

std::vector<std::array<double, 2>> Diffusion::crossed(int axis) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (along_cut_[axis]) return along_cut_[axis]->crossed(0);
  std::vector<std::array<double, 2>> sums(static_cast<size_t>(components_of(fields_)));
  const Ends& ends = first().grid().boundary[axis];
  for (const Part& part : parts_) {
    const Lines& lines = part.axes[axis];
    if (!lines.crossed) continue;
    const DType real = arithmetic(first().dtype());
    const std::vector<double> values =
        read_reals(*lines.crossed, real, lines.crossed->bytes() / size_of(real));
    const size_t each = values.size() / static_cast<size_t>(part.field->components());
    const bool at_both = ends.low == ends.high, at_high = ends.low != Boundary::inflow;
    for (size_t i = 0; i < values.size(); i++) {
      auto& [low, high] = sums[static_cast<size_t>(part.first) + i / each];
      const bool is_moment = i / static_cast<size_t>(lines.lanes_of_moments) / 2 % 2 == 1;
      if (is_moment && at_both) low += values[i], high -= values[i];
      if (!is_moment) (at_high ? high : low) -= values[i];
    }
  }
  return sums;
}

}  // namespace particles
