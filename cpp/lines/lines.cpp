// SPDX-License-Identifier: BSD-3-Clause
#include "lines/lines.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "arrays/ceiling.hpp"

namespace particles {
namespace {

// Enough jobs for every thread several times over, few enough that starting one costs nothing.
constexpr int64_t kJobsPerUnit = 16;
constexpr int kJobsAtMost = 64;
// Work-items of a group where they share nothing.
constexpr int kGroup = 64;

// Nodes of a segment: enough that the particles of neighbours, which it reads as well, are few; and
// so few that what belongs to a tile stays in a fast cache.
constexpr int kShortestSegment = 128, kSegmentAlongMemory = 1024;
// Across the memory each row lies in a page of its own, of the particles and of what moves them. A
// CPU remembers where 1500 to 3000 pages are, and neighbouring tiles need the same ones: longer
// lines are cut. Where particles must be moved to know how far they come, all are moved twice,
// which takes longer than to look for pages: only lines that do not fit are cut.
constexpr int kSegmentAcross = 1024, kWholeAcross = 1535, kSegmentOfUnknownReach = 2048;

// Bytes of local memory that a team has besides, and work-items of a sub-group.
constexpr size_t kOfItsOwn = 64;
constexpr int kSubGroup = 32;

// So few that lanes would not be worth another launch for the edges of segments.
constexpr int64_t kFewParticles = 1 << 14;

int nodes_along(const Grid& grid, int axis) {
  if (axis < 0) return 1;
  const int64_t whole = grid.whole_along(axis);
  if (whole > kNodesAtMost)
    throw std::invalid_argument("grid: expected at most 2**29 points along axis " +
                                std::to_string(axis) + ", got " + std::to_string(whole));
  return static_cast<int>(grid.shape[axis]);
}

// The lines of a request, and what its device and form allow.
struct Task {
  const LineRequest& request;
  LineAxes axes;
  int nodes = 1;               // of a line
  int lines = 1, outers = 1;   // along the lane axis, and along the outer axis
  int room = 1, capacity = 1;  // nodes of which private memory can hold the rows, and may
  LineKind kind = LineKind::private_lines;
  int lanes = 1;              // of a vector, where one is filled
  bool transposed = false;    // lines are moved to where they lie side by side
  bool along_memory = false;  // neighbours on a line are neighbours in memory
  bool in_vectors = false;    // neighbouring lines may be read as one

  bool has_neighbours() const { return axes.lane >= 0; }
  int64_t all_lines() const { return int64_t{lines} * outers; }
};

// What the kinds of a plan decide each in its own way.
struct Division {
  LineKind kind;
  int segment, group, lanes = 1;
  bool along_memory = false;
  int room = 0;
};

// What needs no more than a request and its division.
LinePlan plan_of(const LineRequest& request, int nodes, const Division& division) {
  LinePlan plan;
  plan.kind = division.kind;
  plan.own = nodes;
  plan.nodes = static_cast<int>(request.grid.whole_along(request.axis));
  plan.begin = static_cast<int>(request.grid.begin[request.axis]);
  plan.ends = request.grid.boundary[request.axis];
  plan.lanes = division.lanes;
  plan.sums = request.sums;
  plan.margin = request.margin;
  plan.laid_down = request.laid_down;
  plan.segment = division.segment;
  plan.along_memory = division.along_memory;
  plan.images = request.form.images.value_or(false);
  plan.group = division.group;
  plan.room = division.room;
  plan.tiles = request.form.tiles;
  plan.one_tile = plan.tiles ? *plan.tiles == 1 : !request.device.is_cpu();
  plan.by_nodes = request.by_nodes && division.kind == LineKind::registers;
  return plan;
}

size_t bytes_in_local(const LineRequest& request, int nodes, const Division& division) {
  return plan_of(request, nodes, division).numbers_in_local() * size_of(request.dtype);
}

// Of how many work-items a team may be: one for each node, in whole sub-groups, or 128, or 256. On
// an NVIDIA H100 a team of 128 takes 0.8 of the time that one of 256 takes for lines of 256 nodes,
// and one of 32 takes 1.15. With more members a kernel of many registers might not run at all.
std::vector<int> members_for(const LineRequest& request, int segment) {
  constexpr int kMembers = 128, kMostMembers = 256;
  if (request.form.group) return {*request.form.group};
  const int one_each = ceiling(segment, kSubGroup) * kSubGroup;
  const int most = std::min(one_each, static_cast<int>(request.device.largest_work_group));
  return {std::min(most, kMembers), std::min(most, kMostMembers)};
}

// So that half of the work-items that a compute unit may run fit into its local memory, if
// registers allow it: with all particles at once, or in portions, as a line's sums take less room
// than its particles. Pieces that are asked for are swept at once.
Division in_team(const LineRequest& request, int nodes, int segment) {
  constexpr size_t kHalfOfUnit = 1024;  // work-items
  Division division{LineKind::team, segment, 1};
  const auto fits = [&](int members, int room) {
    division.group = members;
    division.room = room;
    const size_t bytes = bytes_in_local(request, nodes, division) + kOfItsOwn;
    return bytes * (kHalfOfUnit / members) <= request.device.unit_memory;
  };
  const std::vector<int> some = members_for(request, segment);
  for (const int members : some)
    if (fits(members, std::max(segment, members))) return division;
  if (request.form.nodes) return division;
  for (const int members : some)
    for (const int room : {members, members - kSubGroup})
      if (room > 0 && fits(members, room)) return division;
  return division;
}

// Whole lines where they fit, else pieces of them, of which several do. None where there is too
// little local memory.
std::optional<Division> in_teams(const LineRequest& request, int nodes) {
  constexpr int kLongestWhole = 2048, kLongestPiece = 512, kShortestPiece = 8;
  if (request.laid_down == 0) return std::nullopt;
  const auto fits = [&](const Division& division) {
    return bytes_in_local(request, nodes, division) + kOfItsOwn <= request.device.local_memory;
  };
  const int capacity = std::min(nodes, request.form.nodes.value_or(kLongestWhole));
  const Division whole = in_team(request, nodes, nodes);
  if (capacity == nodes && fits(whole)) return whole;
  for (int most = std::min(capacity, kLongestPiece);; most /= 2) {
    const int pieces = ceiling(nodes, most);
    const Division division = in_team(request, nodes, ceiling(nodes, pieces));
    if (fits(division)) return division;
    if (most <= kShortestPiece) return std::nullopt;
  }
}

std::invalid_argument no_team(const LineRequest& request, int nodes) {
  return std::invalid_argument("form: expected no team along axis " + std::to_string(request.axis) +
                               " of " + std::to_string(nodes) + " points on " +
                               request.device.name + ", whose local memory of " +
                               std::to_string(request.device.local_memory) + " bytes is too small");
}

std::invalid_argument no_lanes(const LineRequest& request, int nodes) {
  const std::string axis = std::to_string(request.axis),
                    lanes = std::to_string(*request.form.lanes);
  return std::invalid_argument("form: expected no " + lanes + " lanes along axis " + axis + " of " +
                               std::to_string(nodes) +
                               " points, whose lines do not fill them or lie in no padded memory");
}

// What is asked for, unless it knows no parts of lines.
LineKind kind_of_part(const LineRequest& request) {
  const LineKind kind = kind_for(request.form, request.device);
  const LineKind of_gpus = request.window > 0 ? LineKind::registers : LineKind::local_lines;
  switch (kind) {
    case LineKind::lanes:
    case LineKind::private_lines:
    case LineKind::local_lines:
      return kind;
    case LineKind::registers:
      return of_gpus;
    default:
      return request.device.is_cpu() ? LineKind::lanes : of_gpus;
  }
}

// What is asked for. Else, on GPUs, lines along the memory have a team, or neighbours in local
// memory, and others registers.
LineKind kind_of(const LineRequest& request) {
  if (request.grid.is_cut(request.axis)) return kind_of_part(request);
  const LineKind kind = kind_for(request.form, request.device);
  const int nodes = nodes_along(request.grid, request.axis);
  const bool is_chosen = request.form.kind.has_value();
  if (kind == LineKind::team && !in_teams(request, nodes)) throw no_team(request, nodes);
  if (kind != LineKind::registers) return kind;
  const bool is_last = request.axis == request.grid.ndim - 1;
  if (is_last && !is_chosen && in_teams(request, nodes)) return LineKind::team;
  if (request.by_nodes) return kind;
  return request.window == 0 || (is_last && !is_chosen) ? LineKind::local_lines : kind;
}

Task task_of(const LineRequest& request) {
  const Device& device = request.device;
  const Form& form = request.form;
  Task task{request, axes_of_lines(request.grid, request.axis)};
  task.nodes = nodes_along(request.grid, request.axis);
  task.lines = nodes_along(request.grid, task.axes.lane);
  task.outers = nodes_along(request.grid, task.axes.outer);
  // Where a GPU keeps private rows, those of all work-items at once take memory.
  const int rows = device.is_cpu() ? kPrivateRows : ceiling(task.nodes, kGroup) * kGroup;
  task.room = std::min(kPrivateRows / request.sums, rows);
  task.capacity = std::min(form.nodes.value_or(task.room), task.room);
  task.lanes = lanes_for(form, device, request.dtype);
  task.kind = kind_of(request);
  const bool is_last = request.axis == request.grid.ndim - 1,
             is_local = task.kind == LineKind::local_lines;
  const bool has_wide_rows = task.kind == LineKind::global_lines && form.lanes.value_or(1) > 1;
  task.transposed =
      is_last && task.has_neighbours() && form.transposed.value_or(is_local || has_wide_rows);
  task.along_memory = is_last && !task.transposed;
  task.in_vectors = request.padded || task.transposed;
  return task;
}

// Work-items that share nothing. A CPU runs those of a group one after the other, each with private
// memory of its own: more than one would multiply the stack.
int group_of(const LineRequest& request) {
  const Device& device = request.device;
  const int group =
      device.is_cpu() ? 1 : std::min<int>(kGroup, static_cast<int>(device.largest_work_group));
  return request.form.group.value_or(group);
}

// Whole vectors, and an odd number of them: lanes that lie a power of two apart share cache sets.
int odd_vectors(int rows, int lanes) { return ((std::max(rows / lanes, 1) - 1) | 1) * lanes; }

// None where lanes cannot be filled. They need padded rows; along the memory they take segments
// where whole lines are too few, unless even these are too short.
std::optional<Division> in_lanes(const Task& task) {
  if (task.lanes == 1 || !task.in_vectors) return std::nullopt;
  Division division{LineKind::lanes, task.nodes, group_of(task.request), task.lanes,
                    task.along_memory};
  const bool knows_reach = task.request.knows_reach;
  const bool is_short = task.along_memory || !knows_reach || task.nodes <= kWholeAcross;
  const bool whole = is_short && task.nodes <= task.capacity;
  if (whole && (!task.along_memory || task.all_lines() >= task.lanes)) return division;
  const int64_t particles = task.all_lines() * task.nodes;
  if (whole && particles < kFewParticles && !task.request.form.lanes) return std::nullopt;
  int wanted = knows_reach ? kSegmentAcross : kSegmentOfUnknownReach;
  if (task.along_memory) {
    const int64_t tiles = kJobsPerUnit * std::max<int64_t>(1, task.request.device.compute_units);
    wanted = static_cast<int>(std::clamp<int64_t>(particles / (tiles * task.lanes),
                                                  kShortestSegment, kSegmentAlongMemory));
  }
  division.segment = odd_vectors(std::min(wanted, task.capacity), task.lanes);
  if (division.segment >= task.nodes) return std::nullopt;
  return division;
}

Division in_private_memory(const Task& task) {
  return {LineKind::private_lines, std::min(task.nodes, task.capacity), group_of(task.request)};
}

// Work-items per group and the rows each may hold. Whole lines first, as long as enough neighbours
// share a group for coalesced access; else segments that are worth their margins.
Division in_local_memory(const Task& task) {
  constexpr int kCoalesced = 16, kWorthwhileRows = 256;
  const LineRequest& request = task.request;
  const Device& device = request.device;
  const size_t row_bytes = size_of(request.dtype) * request.sums;
  const int extra = 2 * request.margin + 1;
  const auto fits = [&](int group, int rows) {
    return device.local_memory >= row_bytes * group * (rows + extra);
  };
  const auto largest_group = [&](int rows, int least) {
    int group = kGroup;
    while ((group > least && !fits(group, rows)) ||
           static_cast<size_t>(group) > device.largest_work_group)
      group /= 2;
    return group;
  };
  const int rows = std::min(task.nodes, request.form.nodes.value_or(task.nodes));
  int group = request.form.group.value_or(largest_group(rows, kCoalesced));
  if (!request.form.group && !fits(group, rows))
    group = largest_group(std::min(rows, kWorthwhileRows), 1);
  const auto rows_that_fit = static_cast<int64_t>(device.local_memory / (row_bytes * group));
  const auto segment = std::clamp<int64_t>(rows_that_fit - extra, 1, rows);
  return {LineKind::local_lines, static_cast<int>(segment), group};
}

Division in_global_memory(const Task& task) {
  const bool side_by_side = task.in_vectors && task.has_neighbours() && !task.along_memory;
  return {LineKind::global_lines, task.nodes, group_of(task.request),
          side_by_side ? task.lanes : 1};
}

// Whole lines, unless they are too few to fill the device. Pieces of a line that goes around are so
// short that a particle reaches each of them from one side. A formula must move all particles first
// to tell how far they come, and pieces read these moves: 16 bytes a particle instead of 8, so
// there must be several times as many work-items.
Division in_registers(const Task& task) {
  constexpr int64_t kItemsPerUnit = 1024, kPiecesWorthMoving = 4;
  constexpr int kShortestWalk = 64;
  const LineRequest& request = task.request;
  const int64_t items = kItemsPerUnit * std::max<int64_t>(1, request.device.compute_units);
  int64_t pieces = 1;
  if (request.by_nodes && task.along_memory)
    pieces = task.nodes;  // neighbours are read together
  else if (!request.device.is_cpu())
    pieces =
        std::clamp<int64_t>(items / task.all_lines(), 1, std::max(1, task.nodes / kShortestWalk));
  if (!request.knows_reach && !request.by_nodes && pieces < kPiecesWorthMoving) pieces = 1;
  if (request.form.nodes) pieces = ceiling(task.nodes, *request.form.nodes);
  const bool goes_around = request.grid.boundary[request.axis].periodic();
  if (goes_around && task.nodes <= 2 * request.window) pieces = 1;
  return {LineKind::registers, static_cast<int>(ceiling(task.nodes, pieces)), group_of(request)};
}

// Of equal length, as nearly as vectors allow, and no longer.
int equal_segments(const Task& task, const Division& division) {
  const int pieces = ceiling(task.nodes, division.segment);
  const int vectors = ceiling(ceiling(task.nodes, pieces), division.lanes);
  const int odd = division.lanes > 1 ? vectors | 1 : vectors;
  return std::min(division.segment, odd * division.lanes);
}

Division division_of(const Task& task) {
  switch (task.kind) {
    case LineKind::lanes:
      return in_lanes(task).value_or(in_private_memory(task));
    case LineKind::private_lines:
      return in_private_memory(task);
    case LineKind::local_lines:
      return in_local_memory(task);
    case LineKind::registers:
      return in_registers(task);
    case LineKind::team:
      return *in_teams(task.request, task.nodes);
    default:
      return in_global_memory(task);
  }
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

LinePlan plan_lines(const LineRequest& request) {
  const Task task = task_of(request);
  const Division division = division_of(task);
  const Form& form = request.form;
  if (form.lanes && division.lanes != *form.lanes) throw no_lanes(request, task.nodes);
  const bool whole = request.in_place && !division.along_memory;
  const bool is_held = division.segment <= task.capacity;
  const bool is_cut = division.segment < task.nodes;

  LinePlan plan = plan_of(request, task.nodes, division);
  plan.axes = task.axes;
  plan.lines = task.lines;
  plan.outers = task.outers;
  plan.segment = whole ? task.nodes : equal_segments(task, division);
  plan.transposed = task.transposed;
  plan.capacity = task.room;
  if (plan.is_part()) {
    plan.images = false;
    return plan;
  }
  const bool pays = request.looks_often && plan.kind == LineKind::lanes && !plan.images;
  plan.copied =
      plan.kind != LineKind::team && !plan.by_nodes &&
      (division.along_memory || (form.copied.value_or(pays) && is_held && !(whole && is_cut)));
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
  const int64_t segments = ceiling(own, segment);
  const auto tiles = [&](int64_t places) { return ceiling(places, lanes); };
  return along_memory ? tiles(int64_t{lines} * outers * segments)
                      : tiles(lines) * outers * segments;
}

void LinePlan::add_to(Launch& launch, const Device& device) const {
  launch.int32("n", nodes)
      .int32("lines", lines)
      .int32("outers", outers)
      .int32("segment", segment)
      .int32("tiles_each", jobs_each(device));
  if (is_part()) launch.int32("part_begin", begin).int32("part_end", begin + own);
}

int LinePlan::jobs_each(const Device& device) const {
  if (tiles || !device.is_cpu()) return tiles.value_or(1);
  const int64_t wanted = jobs() / (kJobsPerUnit * std::max<int64_t>(1, device.compute_units));
  return static_cast<int>(std::clamp<int64_t>(wanted, 1, kJobsAtMost));
}

size_t LinePlan::groups(const Device& device) const {
  const auto shares = static_cast<size_t>(ceiling(jobs(), jobs_each(device)));
  const auto each = kind == LineKind::team ? 1 : static_cast<size_t>(group);
  return ceiling(shares, each);
}

size_t LinePlan::numbers_in_local() const {
  const auto rows = static_cast<size_t>(segment + 2 * margin);
  if (kind == LineKind::local_lines) return (rows + 1) * group * sums;
  if (kind != LineKind::team) return 0;
  const bool are_held = segmented() || !ends.periodic() || margin > 0 || in_portions();
  return static_cast<size_t>(laid_down) * room + (are_held ? rows * sums : 0);
}

Range LinePlan::range(const Device& device) const {
  const auto each = static_cast<size_t>(group);
  Range range;
  range.global[0] = groups(device) * each;
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
  if (segmented() || !ends.periodic() || by_nodes) text += " -DSEGMENT";
  if (!segmented() && !ends.periodic() && !by_nodes) text += " -DWHOLE_LINES";
  if (is_part()) text += " -DPART";
  if (in_portions()) text += " -DIN_PORTIONS";
  text += end_options(ends);
  if (kind == LineKind::local_lines) text += " -DLINES_IN_LOCAL";
  if (kind == LineKind::global_lines) text += " -DLINES_IN_GLOBAL";
  if (copied) text += " -DCOPY_MOTION";
  if (images) text += " -DMOTION_IN_IMAGE";
  if (kind == LineKind::registers && one_tile) text += " -DONE_TILE";
  return text;
}

}  // namespace particles
