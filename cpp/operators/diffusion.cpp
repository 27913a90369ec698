// SPDX-License-Identifier: BSD-3-Clause
#include "operators/diffusion.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>

#include "arrays/boxes.hpp"
#include "runtime/kernel_source.hpp"

namespace particles {
namespace {

// Axes and spreads of which weights are kept, and rounds of each, at most: of the longest lines, as
// each round makes the spread grow by 16.
constexpr size_t kSpreadsKept = 16, kRoundsAtMost = 20;

// Two numbers for either end: a sum, and what rounding took from it.
constexpr size_t kNumbersCounted = 4;

int components_of(const Fields& fields) {
  return std::accumulate(fields.begin(), fields.end(), 0,
                         [](int count, const auto& field) { return count + field->components(); });
}

// As diffusion.cl has it.
template <class Real>
struct RoundOnDevice {
  cl_int kind, taps, spacing, apart;
  Real begin, end, spread;
  std::array<Real, kRoomForTaps> weights;
};

// `spread`: of all of an interval, of which what is left of the rounds is done.
template <class Real>
std::vector<RoundOnDevice<Real>> as_on_device(const std::vector<DiffusionRound>& rounds,
                                              double spread) {
  double left = 0;
  for (const DiffusionRound& round : rounds) left += round.spread;
  std::vector<RoundOnDevice<Real>> all;
  for (const DiffusionRound& round : rounds) {
    RoundOnDevice<Real> own{};
    own.kind = static_cast<cl_int>(round.kind);
    own.taps = static_cast<cl_int>(round.weights.size());
    own.spacing = static_cast<cl_int>(round.spacing);
    own.apart = static_cast<cl_int>(round.apart);
    own.begin = static_cast<Real>(1 - left / spread);
    left = std::max(left - round.spread, 0.0);
    own.end = static_cast<Real>(1 - left / spread);
    own.spread = static_cast<Real>(round.spread);
    std::transform(round.weights.begin(), round.weights.end(), own.weights.begin(),
                   [](double weight) { return static_cast<Real>(weight); });
    all.push_back(own);
  }
  return all;
}

// The box of a field whose lines lie along its third axis, or along the last one where it is
// theirs; of one node for so many, at the beginning of each line.
Region region_along(const Field& field, int axis, int thinned = 1) {
  Region region = region_of(field.grid(), field.layout(), field.components(),
                            everything(field.grid(), field.components()));
  const int place = axis + 4 - field.grid().ndim;
  if (place != 3) {
    std::swap(region.count[place], region.count[2]);
    std::swap(region.stride[place], region.stride[2]);
  }
  region.count[place == 3 ? 3 : 2] /= thinned;
  return region;
}

}  // namespace

Diffusion::Diffusion(Fields fields, std::vector<double> viscosities, Inflow inflow)
    : fields_(std::move(fields)), inflow_(std::move(inflow)) {
  if (fields_.empty()) throw std::invalid_argument("fields: expected at least one, got none");
  for (const auto& field : fields_)
    if (field->grid() != first().grid() || field->dtype() != first().dtype() ||
        field->context() != first().context())
      throw std::invalid_argument("fields: expected one grid, dtype and device for all");
  set_viscosities(std::move(viscosities));
  bool all_held = true;
  int number = 0;
  for (const auto& field : fields_) {
    Part part{field, number, {}};
    for (int axis = 0; axis < field->grid().ndim; axis++) {
      part.axes.push_back(lines_along(*field, axis, number));
      all_held = all_held && part.axes.back().held;
    }
    number += field->components();
    parts_.push_back(std::move(part));
  }
  const DType real = arithmetic(first().dtype());
  for (size_t k = 0; !all_held && k < (real == first().dtype() ? 1 : 2); k++)
    scratch_[k] =
        std::make_shared<Field>(first().context(), first().grid(), 1, real, "scratch of diffusion");
  on_device_ = std::make_unique<Buffer>(
      first().context(), kSpreadsKept * kRoundsAtMost * bytes_of_round(), "weights of diffusion");
}

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
           " -DTHINNED=" + std::to_string(thinned_by(grid.shape[axis])) +
           " -DROOM_FOR_TAPS=" + std::to_string(kRoomForTaps) + (along ? " -DALONG" : "") +
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
  const Range rows = range_for_rows(context->device(), region_along(*field.component(0), axis));
  if (lines.held) {
    lines.range = lines.plan.range(context->device());
    lines.kernels[0] = kernel("diffusion_lines",
                              options_for(lines.plan.lanes, field.dtype()) +
                                  (lines.plan.along_memory ? " -DALONG_MEMORY" : ""),
                              "diffusion_lines");
  } else {
    lines.range = rows;
    const auto of_rows = [&](const std::string& name) {
      return kernel("diffusion_rows", options_for(lanes, real), name);
    };
    lines.kernels = {of_rows("diffusion_mean"), of_rows("diffusion_thin"),
                     of_rows("diffusion_refill")};
  }
  if (!takes_in(axis)) return lines;
  lines.range_of_moments = rows;
  lines.lanes_of_moments = lanes;
  lines.moments =
      kernel("diffusion_moments", options_for(lanes, field.dtype()), "diffusion_moments");
  const size_t bytes = rows.global[0] * numbers.size() * kNumbersCounted *
                       static_cast<size_t>(lanes) * size_of(real);
  lines.crossed = std::make_unique<Buffer>(context, bytes, "mass that diffuses in");
  const char zero = 0;
  lines.crossed->fill(&zero, sizeof zero, 0, bytes);
  return lines;
}

void Diffusion::apply(const Interval& interval, std::optional<double> moment) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (interval.duration < 0)
    throw std::invalid_argument("dt: expected no step back, which diffusion cannot take");
  for (const Part& part : parts_) {
    for (int c = 0; c < part.field->components(); c++) diffuse(part, c, interval, moment);
    part.field->touch();
  }
}

const Diffusion::Rounds& Diffusion::rounds(int axis, double spread) {
  const auto known = rounds_.find({axis, spread});
  if (known != rounds_.end()) return known->second;
  if (rounds_.size() == kSpreadsKept) rounds_.clear();
  const Grid& grid = first().grid();
  Rounds rounds{diffusion_rounds(spread, grid.boundary[axis], grid.shape[axis], first().dtype()),
                rounds_.size() * kRoundsAtMost};
  if (!rounds.of.empty()) {
    Box box;
    box.region[0] = rounds.of.size() * bytes_of_round();
    box.device_origin = rounds.first * bytes_of_round();
    if (arithmetic(first().dtype()) == DType::float64)
      on_device_->write(as_on_device<double>(rounds.of, spread).data(), box);
    else
      on_device_->write(as_on_device<float>(rounds.of, spread).data(), box);
  }
  return rounds_[{axis, spread}] = std::move(rounds);
}

// Rounds go to and fro between the field and a scratch, but for lines that are held.
void Diffusion::diffuse(const Part& part, int component, const Interval& interval,
                        std::optional<double> moment) {
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
  for (int axis = 0; axis < grid.ndim; axis++) {
    const Lines& lines = part.axes[axis];
    const Rounds& rounds =
        this->rounds(axis, viscosities_[part.first + component] * interval.duration /
                               std::pow(grid.spacing[axis], 2));
    if (rounds.of.empty()) continue;
    const Task task{rounds, component, moment ? Interval{*moment, 0} : interval};
    if (lines.held || lines.crossed) come_home();
    if (lines.crossed) count(lines, axis, *home, -1, task);
    if (lines.held) {
      diffuse_held(lines, *home, task);
    } else {
      leave();
      for (size_t k = 0; k < rounds.of.size(); k++) {
        do_round(lines, axis, *here, *there, task, k);
        std::swap(here, there);
      }
      if (real != home->dtype()) come_home();
    }
    if (lines.crossed) come_home(), count(lines, axis, *home, 1, task);
  }
  come_home();
}

void Diffusion::add_task(Launch& launch, const Lines& lines, const Task& task, const char* name,
                         size_t number) const {
  launch.buffer("rounds", *on_device_)
      .int32("first_round", static_cast<int64_t>(task.rounds.first))
      .int32(name, static_cast<int64_t>(number));
  if (!lines.crossed) return;
  const DType real = arithmetic(first().dtype());
  launch.int32("component", task.component)
      .add("time", real_argument(real, task.interval.begin))
      .add("duration", real_argument(real, task.interval.duration));
}

void Diffusion::diffuse_held(const Lines& lines, Field& field, const Task& task) const {
  Context& context = *field.context();
  Launch launch(lines.kernels[0]);
  launch.buffer("u", field.buffer()).uint64("u_offset", field.layout().offset);
  add_strides(launch, "", strides_of(field.layout(), lines.plan.axes));
  lines.plan.add_to(launch, context.device());
  add_task(launch, lines, task, "count", task.rounds.of.size());
  context.queue().launch(
      launch.range(lines.range).moves(2.0 * size_of(field.dtype()) * field.points()));
}

void Diffusion::do_round(const Lines& lines, int axis, const Field& source, Field& target,
                         const Task& task, size_t number) const {
  const DiffusionRound& round = task.rounds.of[number];
  // What has been thinned, on either side of the round.
  const auto thinned = round.kind == RoundKind::thin ? thinned_by(source.grid().shape[axis])
                                                     : static_cast<int>(round.spacing);
  Launch launch(lines.kernels[static_cast<size_t>(round.kind)]);
  add_place(launch, "source", "s", source.buffer(), region_along(source, axis));
  add_place(launch, "target", "t", target.buffer(), region_along(target, axis));
  add_counts(launch, region_along(target, axis, thinned));
  add_task(launch, lines, task, "number", number);
  source.context()->queue().launch(
      launch.range(lines.range).moves(2.0 * size_of(source.dtype()) * source.points()));
}

void Diffusion::count(const Lines& lines, int axis, const Field& field, double factor,
                      const Task& task) const {
  const Region region = region_along(field, axis);
  Launch launch(lines.moments);
  add_place(launch, "source", "s", field.buffer(), region);
  add_counts(launch, region);
  launch.add("factor", real_argument(arithmetic(field.dtype()), factor))
      .buffer("moments", *lines.crossed);
  add_task(launch, lines, task, "count", task.rounds.of.size());
  field.context()->queue().launch(
      launch.range(lines.range_of_moments).moves(1.0 * size_of(field.dtype()) * field.points()));
}

std::vector<std::array<double, 2>> Diffusion::crossed(int axis) const {
  const std::lock_guard<std::mutex> lock(mutex_);
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
