// SPDX-License-Identifier: BSD-3-Clause
#include "operators/resample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arrays/ceiling.hpp"
#include "arrays/regions.hpp"
#include "runtime/kernel_source.hpp"

namespace particles {
namespace {

// How the points of two grids lie to each other along an axis: those of the finer one in cells of
// the coarser one. Coarse point 0 lies `lag` halves of a fine cell after fine point 0.
struct Ratio {
  bool refines;
  int64_t factor, lag;
};

Ratio ratio_of(const Grid& source, const Grid& target, int axis) {
  const int64_t from = source.shape[axis], to = target.shape[axis];
  const auto [coarse, fine] = std::minmax(from, to);
  if (fine > kNodesAtMost)
    throw std::invalid_argument("grid: expected at most 2**29 points along axis " +
                                std::to_string(axis) + ", got " + std::to_string(fine));
  if (fine % coarse != 0 || fine / coarse > std::numeric_limits<int>::max() / 64)
    throw std::invalid_argument("grid: expected a whole multiple or fraction of " +
                                std::to_string(from) + " points along axis " +
                                std::to_string(axis) + ", got " + std::to_string(to));
  const Grid &finer = to > from ? target : source, &coarser = to > from ? source : target;
  const double apart = (coarser.origin[axis] - finer.origin[axis]) / finer.spacing[axis];
  return {to > from, fine / coarse, std::llround(2 * apart)};
}

// What a point of the target takes from the source: see resample.cl.
struct Taps {
  int64_t period, advance, lead, start, count;
};

Taps taps_for(const Ratio& ratio, int stencil) {
  const int64_t left = stencil / 2 - 1, lead = (ratio.lag + 1) / 2;
  if (ratio.refines) return {ratio.factor, 1, lead, -left, stencil};
  return {1, ratio.factor, 0, lead - (left + 1) * ratio.factor, stencil * ratio.factor};
}

// A group of a GPU goes through so many rows, as neighbours take from the same ones, and through so
// many elements of each at a time.
constexpr int64_t kRowsEach = 32, kElements = 256;

std::string options_for(const Field& source, const Field& target, int64_t lanes, bool along) {
  return kernel_options(source.context()->device(), target.dtype()) +
         source_options(source.dtype()) + " -DLANES=" + std::to_string(lanes) +
         (along ? " -DALONG" : "") + (lanes == 1 ? " -DBLOCK=" + std::to_string(kElements) : "");
}

// All weights of an axis, computed on the device.
std::unique_ptr<Buffer> weights_for(const Field& field, const Ratio& ratio,
                                    const RemeshingKernel& kernel, const std::string& source) {
  const auto factor = static_cast<int>(ratio.factor), stencil = kernel.stencil;
  const DType dtype = arithmetic(field.dtype());
  const size_t bytes = size_of(dtype) * factor * stencil;
  auto table = std::make_unique<Buffer>(field.context(), bytes, "weights of a resampling");
  const auto weigh =
      field.context()->kernel(source, kernel_options(field.context()->device(), dtype), "weigh");
  Range range;
  range.global[0] = static_cast<size_t>(factor);
  const bool refines = ratio.refines;
  field.context()->queue().launch(
      Launch(weigh)
          .buffer("table", *table)
          .int32("odd", ratio.lag % 2)
          .int32("phase_step", refines ? stencil : 1)
          .int32("node_step", refines ? 1 : -factor)
          .int32("first", refines ? 0 : (stencil - 1) * factor)
          .add("scale", real_argument(dtype, refines ? 1.0 : 1.0 / factor))
          .range(range)
          .traffic(static_cast<double>(bytes)));
  return table;
}

Range range_for_resampling(const Device& device, const Region& to, bool along) {
  Range range = range_for_rows(device, to);
  if (device.is_cpu() || along) return range;
  const auto& n = to.count;
  const int64_t jobs = n[0] * n[1] * n[2] * ceiling(n[3], kElements);
  const auto groups = static_cast<size_t>(std::max<int64_t>(1, jobs / kRowsEach));
  range.global[0] = std::min(range.global[0], groups * range.local[0]);
  return range;
}

// Along one axis; both grids are the same along the others.
void resample_axis(const Field& source, Field& target, int axis, const RemeshingKernel& kernel) {
  const Ratio ratio = ratio_of(source.grid(), target.grid(), axis);
  const Taps taps = taps_for(ratio, kernel.stencil);
  const auto text =
      kernel_source("operators/resample.cl", {{"generated/weights.cl", kernel.source}});
  const auto table = weights_for(source, ratio, kernel, text);

  const Region from = source.everything_along(axis), to = target.everything_along(axis);
  const bool along = axis == target.grid().ndim - 1;
  const bool in_vectors = !along && source.layout().padded && target.layout().padded;
  const int64_t lanes =
      in_vectors ? target.workspace().lanes(size_of(arithmetic(target.dtype()))) : 1;
  Context& context = *target.context();
  const auto run = context.kernel(
      text, options_for(source, target, lanes, along) + end_options(source.grid().boundary[axis]),
      "resample");
  Launch launch(run);
  add_region(launch, "source", "s", source.buffer(), from);
  add_region(launch, "target", "t", target.buffer(), to);
  add_counts(launch, to);
  launch.int64("points", source.grid().shape[axis])
      .int64("period", taps.period)
      .int64("advance", taps.advance)
      .int64("lead", taps.lead)
      .int64("start", taps.start)
      .buffer("table", *table)
      .int32("count", taps.count)
      .range(range_for_resampling(context.device(), to, along))
      .traffic(static_cast<double>(source.points() + target.points()) * size_of(target.dtype()));
  context.queue().launch(launch);
}

// The axes that change, in the order of least work: coarser ones first, and the last axis, whose
// points are not read in vectors, where the points are fewest.
std::vector<int> axes_to_change(const Grid& source, const Grid& target) {
  std::vector<int> axes;
  for (int axis = 0; axis < source.ndim; ++axis)
    if (target.shape[axis] < source.shape[axis]) axes.push_back(axis);
  for (int axis = source.ndim - 1; axis >= 0; --axis)
    if (target.shape[axis] > source.shape[axis]) axes.push_back(axis);
  return axes;
}

}  // namespace

void resample(const Field& source, Field& target, const RemeshingKernel& kernel) {
  if (source.context() != target.context() || source.grid().ndim != target.grid().ndim ||
      source.components() != target.components() || source.dtype() != target.dtype())
    throw std::invalid_argument("resample: expected one device, dtype and number of components");
  for (int axis = 0; axis < source.grid().ndim; ++axis)
    ratio_of(source.grid(), target.grid(), axis);
  const std::vector<int> axes = axes_to_change(source.grid(), target.grid());
  if (axes.empty()) return target.copy_from(source);
  std::shared_ptr<Field> last;
  for (const int axis : axes) {
    const Field& from = last ? *last : source;
    if (axis == axes.back()) {
      resample_axis(from, target, axis, kernel);
      continue;
    }
    Grid grid = from.grid();
    grid.shape[axis] = target.grid().shape[axis];
    grid.origin[axis] = target.grid().origin[axis];
    grid.spacing[axis] = target.grid().spacing[axis];
    auto next = std::make_shared<Field>(source.context(), grid, source.components(),
                                        arithmetic(target.dtype()), "part of a resampling");
    resample_axis(from, *next, axis, kernel);
    last = std::move(next);
  }
  target.touch();
}

}  // namespace particles
