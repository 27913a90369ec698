// SPDX-License-Identifier: BSD-3-Clause
#include "operators/diffusion.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>

#include "arrays/boxes.hpp"
#include "opencl/kernel_source.hpp"

namespace particles {
namespace {

// Axes and spreads of which weights are kept.
constexpr size_t kRoundsKept = 64;

// Two numbers for either end: a sum, and what rounding took from it.
constexpr size_t kNumbersCounted = 4;

int components_of(const Fields& fields) {
  return std::accumulate(fields.begin(), fields.end(), 0,
                         [](int count, const auto& field) { return count + field->components(); });
}

template <class Real>
opencl::Struct struct_of(const std::vector<double>& numbers) {
  std::array<Real, kTapsAtMost> reals{};
  std::transform(numbers.begin(), numbers.end(), reals.begin(),
                 [](double number) { return static_cast<Real>(number); });
  opencl::Struct bytes(sizeof reals);
  std::memcpy(bytes.data(), reals.data(), sizeof reals);
  return bytes;
}

// The box of a field whose lines lie along its third axis, or along the last one where it is
// theirs.
Region region_along(const Field& field, int axis) {
  Region region = region_of(field.grid(), field.layout(), field.components(),
                            everything(field.grid(), field.components()));
  const int place = axis + 4 - field.grid().ndim;
  if (place != 3) {
    std::swap(region.count[place], region.count[2]);
    std::swap(region.stride[place], region.stride[2]);
  }
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
  if (!all_held)
    scratch_ = std::make_shared<Field>(first().context(), first().grid(), 1, first().dtype(),
                                       "scratch of diffusion");
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
  lines.plan = plan_lines(context->device(), grid, axis, real, 1, 0, field.layout().padded, Form{});
  lines.held = context->device().is_cpu() && !lines.plan.segmented();
  const bool along = axis == grid.ndim - 1;
  std::string options = kernel_options(context->device(), field.dtype());
  if (lines.held) {
    lines.lanes = lines.plan.lanes;
    lines.range = lines.plan.range(context->device());
    if (lines.plan.along_memory) options += " -DALONG_MEMORY";
  } else {
    const bool in_vectors = field.layout().padded && !(along && takes_in(axis));
    lines.lanes = in_vectors ? static_cast<int>(field.workspace().lanes(size_of(real))) : 1;
    lines.range = range_for_rows(context->device(), region_along(*field.component(0), axis));
    if (along) options += " -DALONG";
  }
  options += " -DLANES=" + std::to_string(lines.lanes) + " -DTAPS=" + std::to_string(kTapsAtMost) +
             end_options(grid.boundary[axis]);
  std::map<std::string, std::string> files;
  if (takes_in(axis)) {
    std::vector<size_t> numbers(static_cast<size_t>(field.components()));
    std::iota(numbers.begin(), numbers.end(), static_cast<size_t>(number));
    files["inflow.cl"] = inflow_source(numbers, inflow_[axis]);
    const size_t bytes = lines.range.global[0] * numbers.size() * kNumbersCounted *
                         static_cast<size_t>(lines.lanes) * size_of(real);
    lines.crossed = std::make_unique<opencl::Buffer>(context, bytes, "mass that diffuses in");
    const char zero = 0;
    lines.crossed->fill(&zero, sizeof zero, 0, bytes);
  }
  const std::string name = lines.held ? "diffusion_lines" : "diffusion_rows";
  lines.kernel = context->kernel(opencl::kernel_source(name + ".cl", files), options, name);
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

const std::vector<DiffusionRound>& Diffusion::rounds(int axis, double spread) {
  const auto known = rounds_.find({axis, spread});
  if (known != rounds_.end()) return known->second;
  if (rounds_.size() == kRoundsKept) rounds_.clear();
  const Grid& grid = first().grid();
  return rounds_[{axis, spread}] =
             diffusion_rounds(spread, grid.boundary[axis], grid.shape[axis], first().dtype());
}

// Rounds go to and fro between the field and the scratch, but for lines that are held.
void Diffusion::diffuse(const Part& part, int component, const Interval& interval,
                        std::optional<double> moment) {
  const auto home = part.field->component(component);
  const Grid& grid = home->grid();
  Field *here = home.get(), *there = scratch_.get();
  const auto come_home = [&] {
    if (here == home.get()) return;
    home->copy_from(*here);
    std::swap(here, there);
  };
  for (int axis = 0; axis < grid.ndim; axis++) {
    const Lines& lines = part.axes[axis];
    const double spread =
        viscosities_[part.first + component] * interval.duration / std::pow(grid.spacing[axis], 2);
    const auto& all = rounds(axis, spread);
    double left = 0;
    for (const DiffusionRound& round : all) left += round.spread;
    for (const DiffusionRound& round : all) {
      const double end = interval.begin + interval.duration;
      const Interval own = moment ? Interval{*moment, 0}
                                  : Interval{end - interval.duration * (left / spread),
                                             interval.duration * (round.spread / spread)};
      left -= round.spread;
      if (lines.held) {
        come_home();
        launch(part, component, axis, round, own, *home, *home);
      } else {
        launch(part, component, axis, round, own, *here, *there);
        std::swap(here, there);
      }
    }
  }
  come_home();
}

void Diffusion::launch(const Part& part, int component, int axis, const DiffusionRound& round,
                       const Interval& interval, Field& source, Field& target) {
  const Lines& lines = part.axes[axis];
  opencl::Context& context = *source.context();
  const DType real = arithmetic(source.dtype());
  std::vector<opencl::Argument> arguments;
  if (lines.held) {
    const LineStrides strides = strides_of(source.layout(), lines.plan.axes);
    arguments.emplace_back(&source.buffer());
    arguments.emplace_back(static_cast<cl_ulong>(source.layout().offset));
    for (const int64_t stride : {strides.row, strides.lane, strides.outer})
      arguments.emplace_back(cl_long{stride});
    lines.plan.append_arguments(arguments, context.device());
  } else {
    const Region to = region_along(target, axis);
    append_place(arguments, source.buffer(), region_along(source, axis));
    append_place(arguments, target.buffer(), to);
    append_counts(arguments, to);
  }
  arguments.emplace_back(real == DType::float64 ? struct_of<double>(round.weights)
                                                : struct_of<float>(round.weights));
  arguments.emplace_back(static_cast<cl_int>(round.weights.size()));
  arguments.emplace_back(cl_long{round.apart});
  if (lines.crossed) {
    arguments.emplace_back(lines.crossed.get());
    arguments.emplace_back(static_cast<cl_int>(component));
    for (const double number : {interval.begin, interval.begin + interval.duration, round.spread})
      arguments.push_back(real_argument(real, number));
  }
  context.launch(lines.kernel, lines.range, arguments,
                 2.0 * size_of(source.dtype()) * source.points());
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
    for (size_t i = 0; i < values.size(); i++) {
      // Images on the side of a wall stand for what has come in at the other end.
      const bool is_high = i / static_cast<size_t>(lines.lanes) / 2 % 2 == 1;
      const bool through_high =
          ends.low != Boundary::inflow || (is_high && ends.high == Boundary::inflow);
      sums[static_cast<size_t>(part.first) + i / each][through_high] += values[i];
    }
  }
  return sums;
}

}  // namespace particles
