// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/boxes.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace particles {

namespace {

constexpr int64_t kBlock = 1024, kTile = 32;
constexpr size_t kGroup = 64, kTileRows = 8;
// Groups enough to keep a device busy, few enough that starting one costs nothing.
constexpr int64_t kGroupsPerCpuUnit = 16, kMostGroups = 1 << 16;

int64_t ceiling(int64_t number, int64_t part) { return (number + part - 1) / part; }

// The region whose axis k is axis order[k] of this one.
Region reordered(const Region& region, const std::array<int, 4>& order) {
  Region result = region;
  for (int k = 0; k < 4; ++k) {
    result.count[k] = region.count[order[k]];
    result.stride[k] = region.stride[order[k]];
  }
  return result;
}

// Axes by their strides, the one of neighbours last; those of one entry come first.
std::array<int, 4> by_stride(const Region& region) {
  std::array<int, 4> order{0, 1, 2, 3};
  std::stable_sort(order.begin(), order.end(), [&region](int a, int b) {
    const bool one = region.count[a] == 1, other = region.count[b] == 1;
    return one != other ? one : !one && region.stride[a] > region.stride[b];
  });
  return order;
}

// A copy with its axes in the order of the target's strides.
struct Copy {
  Region source, target;
  bool transposes = false;  // neighbours of the source lie along the last axis but one
};

Copy arranged(const Region& source, const Region& target) {
  std::array<int, 4> order = by_stride(target);
  const int source_axis = by_stride(source)[3];
  const bool transposes = source_axis != order[3];
  if (transposes) {
    const auto place = std::find(order.begin(), order.end(), source_axis);
    std::rotate(place, place + 1, order.begin() + 3);
  }
  return {reordered(source, order), reordered(target, order), transposes};
}

std::string options_for(DType source, DType target, int64_t lanes, bool unit_strides) {
  std::string options = dtype_options(target) + " -DLANES=" + std::to_string(lanes) +
                        " -DBLOCK=" + std::to_string(kBlock) + " -DTILE=" + std::to_string(kTile);
  if (unit_strides) options += " -DUNIT_STRIDES";
  return options + source_options(source);
}

// Groups for so many jobs: on CPUs, which run the work-items of a group one after the other, of
// one work-item.
Range range_for(const Device& device, int64_t jobs, size_t items, size_t rows) {
  const int64_t most = device.is_cpu()
                           ? kGroupsPerCpuUnit * std::max<int64_t>(1, device.compute_units)
                           : kMostGroups;
  const auto groups = static_cast<size_t>(std::min(jobs, most));
  Range range;
  range.local = {1, 1, 1};
  if (!device.is_cpu()) {
    range.local[0] = std::min(items, device.largest_work_group);
    range.local[1] = std::min(rows, device.largest_work_group / range.local[0]);
  }
  range.global = {groups * range.local[0], range.local[1], 1};
  return range;
}

Range range_for_tiles(const Device& device, const Region& region, int64_t side) {
  const auto& n = region.count;
  return range_for(device, n[0] * n[1] * ceiling(n[2], side) * ceiling(n[3], side), kTile,
                   kTileRows);
}

}  // namespace

Range range_for_rows(const Device& device, const Region& region) {
  const auto& n = region.count;
  return range_for(device, n[0] * n[1] * n[2] * ceiling(n[3], kBlock), kGroup, 1);
}

void add_place(Launch& launch, const Name& name, const Name& strides, const Buffer& buffer,
               const Region& region) {
  launch.buffer(name, buffer).int64(strides + "_offset", region.offset);
  for (int k = 0; k < 4; ++k) launch.int64(strides + k, region.stride[k]);
}

void add_counts(Launch& launch, const Region& region) {
  for (int k = 0; k < 4; ++k) launch.int64({"n", k}, region.count[k]);
}

bool has_whole_rows(const Region& region) {
  return region.count[3] == 1 ? region.points() == 1 : region.stride[3] == 1;
}

std::vector<Transfer> transfers_of(const Region& region, size_t element_bytes) {
  // Innermost first: runs of neighbouring elements grow as far as they go, axes of one entry
  // vanish.
  struct Axis {
    int64_t count, stride;
  };
  int64_t elements = region.count[3];
  std::vector<Axis> axes;
  for (int k = 2; k >= 0; --k) {
    if (region.count[k] == 1) continue;
    if (axes.empty() && region.stride[k] == elements) {
      elements *= region.count[k];
    } else {
      axes.push_back({region.count[k], region.stride[k]});
    }
  }
  const Axis rows = axes.size() > 0 ? axes[0] : Axis{1, elements};
  const Axis slices = axes.size() > 1 ? axes[1] : Axis{1, rows.count * rows.stride};
  const Axis boxes = axes.size() > 2 ? axes[2] : Axis{1, 0};
  // A slice pitch that is not a whole number of rows is refused by some drivers.
  const bool regular = slices.stride % rows.stride == 0;
  const int64_t together = regular ? slices.count : 1;

  Transfer transfer;
  transfer.box.region = {elements * element_bytes, static_cast<size_t>(rows.count),
                         static_cast<size_t>(together)};
  transfer.box.device_row_pitch = rows.stride * element_bytes;
  transfer.box.device_slice_pitch =
      (regular ? slices.stride : rows.count * rows.stride) * element_bytes;
  transfer.box.host_row_pitch = elements * element_bytes;
  transfer.box.host_slice_pitch = rows.count * elements * element_bytes;

  std::vector<Transfer> transfers;
  for (int64_t box = 0; box < boxes.count; ++box) {
    for (int64_t slice = 0; slice < slices.count; slice += together) {
      transfer.box.device_origin =
          (region.offset + box * boxes.stride + slice * slices.stride) * element_bytes;
      transfer.host_offset = (box * slices.count + slice) * rows.count * elements * element_bytes;
      transfers.push_back(transfer);
    }
  }
  return transfers;
}

void copy_box(Workspace& workspace, const Place& source, const Place& target) {
  const Device& device = workspace.device();
  const Copy copy = arranged(source.region, target.region);
  const bool unit_strides =
      copy.source.stride[copy.transposes ? 2 : 3] == 1 && copy.target.stride[3] == 1;
  const int64_t lanes = workspace.lanes(
      std::max(size_of(arithmetic(source.dtype)), size_of(arithmetic(target.dtype))));
  const auto kernel = workspace.kernel("arrays/copy.cl",
                                       options_for(source.dtype, target.dtype, lanes, unit_strides),
                                       copy.transposes ? "transpose" : "copy");
  Launch launch(kernel);
  add_place(launch, "source", "s", source.buffer, copy.source);
  add_place(launch, "target", "t", target.buffer, copy.target);
  add_counts(launch, copy.target);
  const auto range = copy.transposes
                         ? range_for_tiles(device, copy.target, lanes > 1 ? lanes : kTile)
                         : range_for_rows(device, copy.target);
  workspace.context().queue().launch(launch.range(range).moves(
      static_cast<double>(copy.target.points()) * (size_of(source.dtype) + size_of(target.dtype))));
}

void fill_box(Workspace& workspace, const Place& target, const Argument& value) {
  const Device& device = workspace.device();
  const Region region = reordered(target.region, by_stride(target.region));
  const int64_t lanes = workspace.lanes(size_of(arithmetic(target.dtype)));
  const auto kernel = workspace.kernel(
      "arrays/copy.cl", options_for(target.dtype, target.dtype, lanes, region.stride[3] == 1),
      "fill");
  Launch launch(kernel);
  add_place(launch, "target", "t", target.buffer, region);
  add_counts(launch, region);
  launch.add("value", value)
      .range(range_for_rows(device, region))
      .moves(static_cast<double>(region.points()) * size_of(target.dtype));
  workspace.context().queue().launch(launch);
}

}  // namespace particles
