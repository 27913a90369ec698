// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/regions.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "arrays/ceiling.hpp"

namespace particles {

namespace {

constexpr int64_t kCopyBlock = 1024, kTile = 32;
constexpr size_t kCopyGroup = 64, kTileRows = 8;
// Groups enough to keep a device busy, few enough that starting one costs nothing.
constexpr int64_t kGroupsPerCpuUnit = 16, kMostCopyGroups = 1 << 16;

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
                        " -DBLOCK=" + std::to_string(kCopyBlock) +
                        " -DTILE=" + std::to_string(kTile);
  if (unit_strides) options += " -DUNIT_STRIDES";
  return options + source_options(source);
}

// Groups for so many jobs: on CPUs, which run the work-items of a group one after the other, of
// one work-item.
Range range_for(const Device& device, int64_t jobs, size_t items, size_t rows) {
  const int64_t most = device.is_cpu()
                           ? kGroupsPerCpuUnit * std::max<int64_t>(1, device.compute_units)
                           : kMostCopyGroups;
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

Region packed(const Region& region) {
  Region result = region;
  result.offset = 0;
  result.stride[3] = 1;
  for (int k = 2; k >= 0; --k) result.stride[k] = result.stride[k + 1] * region.count[k + 1];
  return result;
}

int64_t end_of(const Region& region, size_t element_bytes) {
  int64_t last = region.offset, reach = 0, bytes = 0;
  bool fits = region.offset >= 0;
  for (int k = 0; k < 4 && fits; ++k) {
    if (region.count[k] == 1) continue;
    fits = region.stride[k] > 0 &&
           !__builtin_mul_overflow(region.count[k] - 1, region.stride[k], &reach) &&
           !__builtin_add_overflow(last, reach, &last);
  }
  if (!fits || __builtin_add_overflow(last, 1, &last) ||
      __builtin_mul_overflow(last, element_bytes, &bytes))
    throw std::invalid_argument(
        "array: expected an offset from 0 on, positive strides, and a size of less than 2**63 "
        "bytes");
  return last;
}

Range range_for_rows(const Device& device, const Region& region) {
  const auto& n = region.count;
  return range_for(device, n[0] * n[1] * n[2] * ceiling(n[3], kCopyBlock), kCopyGroup, 1);
}

void add_region(Launch& launch, const Name& name, const Name& strides, const Buffer& buffer,
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
  const Axis blocks = axes.size() > 2 ? axes[2] : Axis{1, 0};
  // A slice pitch that is not a whole number of rows is refused by some drivers.
  const bool regular = slices.stride % rows.stride == 0;
  const int64_t together = regular ? slices.count : 1;

  Transfer transfer;
  transfer.rectangle.region = {elements * element_bytes, static_cast<size_t>(rows.count),
                               static_cast<size_t>(together)};
  transfer.rectangle.device_row_pitch = rows.stride * element_bytes;
  transfer.rectangle.device_slice_pitch =
      (regular ? slices.stride : rows.count * rows.stride) * element_bytes;
  transfer.rectangle.host_row_pitch = elements * element_bytes;
  transfer.rectangle.host_slice_pitch = rows.count * elements * element_bytes;

  std::vector<Transfer> transfers;
  for (int64_t block = 0; block < blocks.count; ++block) {
    for (int64_t slice = 0; slice < slices.count; slice += together) {
      transfer.rectangle.device_origin =
          (region.offset + block * blocks.stride + slice * slices.stride) * element_bytes;
      transfer.host_offset = (block * slices.count + slice) * rows.count * elements * element_bytes;
      transfers.push_back(transfer);
    }
  }
  return transfers;
}

void copy_region(Workspace& workspace, const BufferRegion& source, const BufferRegion& target) {
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
  add_region(launch, "source", "s", source.buffer, copy.source);
  add_region(launch, "target", "t", target.buffer, copy.target);
  add_counts(launch, copy.target);
  const auto range = copy.transposes
                         ? range_for_tiles(device, copy.target, lanes > 1 ? lanes : kTile)
                         : range_for_rows(device, copy.target);
  workspace.context().queue().launch(launch.range(range).traffic(
      static_cast<double>(copy.target.points()) * (size_of(source.dtype) + size_of(target.dtype))));
}

void fill_region(Workspace& workspace, const BufferRegion& target, const Argument& value) {
  const Device& device = workspace.device();
  const Region region = reordered(target.region, by_stride(target.region));
  const int64_t lanes = workspace.lanes(size_of(arithmetic(target.dtype)));
  const auto kernel = workspace.kernel(
      "arrays/copy.cl", options_for(target.dtype, target.dtype, lanes, region.stride[3] == 1),
      "fill");
  Launch launch(kernel);
  add_region(launch, "target", "t", target.buffer, region);
  add_counts(launch, region);
  launch.add("value", value)
      .range(range_for_rows(device, region))
      .traffic(static_cast<double>(region.points()) * size_of(target.dtype));
  workspace.context().queue().launch(launch);
}

}  // namespace particles
