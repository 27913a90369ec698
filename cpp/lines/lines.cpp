// SPDX-License-Identifier: BSD-3-Clause
#include "lines/lines.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace particles {
namespace {

// Enough jobs for every thread several times over, few enough that starting one costs nothing.
constexpr int64_t kJobsPerUnit = 16;
constexpr int kJobsAtMost = 64;
// Work-items of a group where they share nothing.
constexpr int kGroup = 64;

// Nodes of a segment: enough that the particles of neighbours, which it reads as well, are few; and
// so few that what belongs to a tile stays in a fast cache.
constexpr int kShortestSegment = 128, kSegmentAlongMemory = 1024, kSegmentAcross = 2048;

// So few that lanes would not be worth another launch for the edges of segments.
constexpr int64_t kFewParticles = 1 << 14;

int nodes_along(const Grid& grid, int axis) {
  if (axis < 0) return 1;
  if (grid.shape[axis] > kNodesAtMost)
    throw std::invalid_argument("grid: expected at most 2**29 points along axis " +
                                std::to_string(axis) + ", got " + std::to_string(grid.shape[axis]));
  return static_cast<int>(grid.shape[axis]);
}

// Work-items per group and the rows each may hold. Whole lines first, as long as enough neighbours
// share a group for coalesced access; else segments that are worth their margins.
void fit_into_local_memory(const Device& device, size_t row_bytes, const Form& form,
                           LinePlan& plan) {
  constexpr int kCoalesced = 16, kWorthwhileRows = 256;
  const int extra = 2 * plan.margin + 1;
  const auto largest_group = [&](int rows, int least) {
    int group = kGroup;
    while ((group > least && device.local_memory < row_bytes * group * (rows + extra)) ||
           static_cast<size_t>(group) > device.largest_work_group)
      group /= 2;
    return group;
  };
  const int rows = std::min(plan.nodes, form.capacity.value_or(plan.nodes));
  if (!form.group) plan.group = largest_group(rows, kCoalesced);
  if (!form.group && device.local_memory < row_bytes * plan.group * (rows + extra))
    plan.group = largest_group(std::min(rows, kWorthwhileRows), 1);
  const auto rows_that_fit = static_cast<int64_t>(device.local_memory / (row_bytes * plan.group));
  plan.segment = static_cast<int>(std::clamp<int64_t>(rows_that_fit - extra, 1, rows));
}

// Whole vectors, and an odd number of them: lanes that lie a power of two apart share cache sets.
int odd_vectors(int rows, int lanes) { return ((std::max(rows / lanes, 1) - 1) | 1) * lanes; }

bool without_lanes(LinePlan& plan) {
  plan.lanes = 1;
  plan.along_memory = false;
  return false;
}

// Whether lanes can be filled; then how. They need padded rows; along the memory they take
// segments where whole lines are too few, unless even these are too short.
bool plan_lanes(const Device& device, int lanes, bool along_memory, bool padded, int capacity,
                LinePlan& plan) {
  if (lanes == 1 || !padded) return false;
  plan.lanes = lanes;
  plan.along_memory = along_memory;
  const int64_t all_lines = int64_t{plan.lines} * plan.outers;
  const bool whole = plan.nodes <= capacity;
  if (whole && (!along_memory || all_lines >= plan.lanes)) {
    plan.segment = plan.nodes;
    return true;
  }
  if (whole && all_lines * plan.nodes < kFewParticles) return without_lanes(plan);
  int wanted = kSegmentAcross;
  if (along_memory) {
    const int64_t tiles = kJobsPerUnit * std::max<int64_t>(1, device.compute_units);
    wanted = static_cast<int>(std::clamp<int64_t>(plan.nodes * all_lines / (tiles * plan.lanes),
                                                  kShortestSegment, kSegmentAlongMemory));
  }
  plan.segment = odd_vectors(std::min(wanted, capacity), plan.lanes);
  return plan.segmented() || without_lanes(plan);
}

}  // namespace

LineAxes axes_of_lines(const Grid& grid, int axis) {
  const int last = grid.ndim - 1;
  const int lane = axis != last ? last : last - 1;
  int outer = -1;
  for (int k = 0; k < grid.ndim; k++)
    if (k != axis && k != lane) outer = k;
  return {axis, lane, outer};
}

LineStrides strides_of(const Layout& layout, const LineAxes& axes) {
  const auto stride = [&](int axis) { return axis < 0 ? 0 : layout.stride[axis]; };
  return {stride(axes.row), stride(axes.lane), stride(axes.outer)};
}

void add_strides(Launch& launch, const Name& before, const LineStrides& strides) {
  launch.int64(before + "row_stride", strides.row)
      .int64(before + "lane_stride", strides.lane)
      .int64(before + "outer_stride", strides.outer);
}

LinePlan plan_lines(const Device& device, const Grid& grid, int axis, DType dtype, int sums,
                    int margin, bool padded, const Form& form) {
  LinePlan plan;
  plan.sums = sums;
  plan.margin = margin;
  plan.axes = axes_of_lines(grid, axis);
  plan.nodes = nodes_along(grid, axis);
  plan.ends = grid.boundary[axis];
  plan.lines = nodes_along(grid, plan.axes.lane);
  plan.outers = nodes_along(grid, plan.axes.outer);
  // Where a GPU keeps private rows, those of all work-items at once take memory.
  const int rows = device.is_cpu() ? kPrivateRows : (plan.nodes + kGroup - 1) / kGroup * kGroup;
  plan.capacity = std::min(kPrivateRows / sums, rows);
  const int capacity = std::min(form.capacity.value_or(plan.capacity), plan.capacity);
  const int lanes = lanes_for(form, device, dtype);
  plan.kind = kind_for(form, device);
  const bool is_last = axis == grid.ndim - 1, has_neighbours = plan.axes.lane >= 0;
  plan.transposed =
      is_last && has_neighbours && form.transposed.value_or(plan.kind == Kind::local_lines);
  const bool along_memory = is_last && !plan.transposed, vectors = padded || plan.transposed;

  if (plan.kind == Kind::lanes && !plan_lanes(device, lanes, along_memory, vectors, capacity, plan))
    plan.kind = Kind::private_lines;
  // A CPU runs the work-items of a group one after the other, each with private memory of its own:
  // more than one would multiply the stack.
  const int group =
      device.is_cpu() ? 1 : std::min<int>(kGroup, static_cast<int>(device.largest_work_group));
  plan.group = form.group.value_or(group);
  if (plan.kind == Kind::private_lines) {
    plan.segment = std::min(plan.nodes, capacity);
  } else if (plan.kind == Kind::local_lines) {
    fit_into_local_memory(device, size_of(dtype) * sums, form, plan);
  } else if (plan.kind == Kind::global_lines) {
    plan.segment = plan.nodes;
    plan.lanes = vectors && has_neighbours && !along_memory ? lanes : 1;
  }
  plan.copied = plan.along_memory || (form.copied.value_or(false) && plan.segment <= capacity);
  plan.images = form.images.value_or(false);
  plan.tiles = form.tiles;
  return plan;
}

std::shared_ptr<Field> transposed_field(const std::shared_ptr<Context>& context, const Grid& grid,
                                        DType dtype, const char* name) {
  const int last = grid.ndim - 1;
  Grid turned = grid;
  std::swap(turned.shape[last], turned.shape[last - 1]);
  Layout layout = pitched_layout(turned, 1, most_elements(*context, dtype));
  const size_t bytes = layout.component_stride * size_of(dtype);
  auto memory = std::make_shared<Buffer>(context, bytes, name);
  std::swap(layout.stride[last], layout.stride[last - 1]);
  layout.padded = false;
  return std::make_shared<Field>(context, grid, 1, dtype, name, memory, layout);
}

int64_t LinePlan::jobs() const {
  const int64_t segments = (nodes + segment - 1) / segment;
  const auto tiles = [&](int64_t places) { return (places + lanes - 1) / lanes; };
  return along_memory ? tiles(int64_t{lines} * outers * segments)
                      : tiles(lines) * outers * segments;
}

void LinePlan::add_to(Launch& launch, const Device& device) const {
  launch.int32("n", nodes)
      .int32("lines", lines)
      .int32("outers", outers)
      .int32("segment", segment)
      .int32("tiles_each", jobs_each(device));
}

int LinePlan::jobs_each(const Device& device) const {
  if (tiles || !device.is_cpu()) return tiles.value_or(1);
  const int64_t wanted = jobs() / (kJobsPerUnit * std::max<int64_t>(1, device.compute_units));
  return static_cast<int>(std::clamp<int64_t>(wanted, 1, kJobsAtMost));
}

Range LinePlan::range(const Device& device) const {
  const auto items = static_cast<size_t>((jobs() + jobs_each(device) - 1) / jobs_each(device));
  const auto each = static_cast<size_t>(group);
  Range range;
  range.global[0] = (items + each - 1) / each * each;
  range.local = {each, 1, 1};
  return range;
}

std::string end_options(const Ends& ends) {
  if (ends.periodic()) return "";
  return " -DLOW_END=" + std::to_string(static_cast<int>(ends.low)) +
         " -DHIGH_END=" + std::to_string(static_cast<int>(ends.high));
}

std::string LinePlan::options() const {
  std::string text = " -DLANES=" + std::to_string(lanes);
  text += " -DLINE_CAPACITY=" + std::to_string(capacity);
  if (along_memory) text += " -DALONG_MEMORY";
  if (segmented() || !ends.periodic()) text += " -DSEGMENT";
  if (!segmented() && !ends.periodic()) text += " -DWHOLE_LINES";
  text += end_options(ends);
  if (kind == Kind::local_lines) text += " -DLINES_IN_LOCAL";
  if (kind == Kind::global_lines) text += " -DLINES_IN_GLOBAL";
  if (copied) text += " -DCOPY_MOTION";
  if (images) text += " -DMOTION_IN_IMAGE";
  return text;
}

}  // namespace particles
