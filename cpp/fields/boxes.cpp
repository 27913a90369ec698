// SPDX-License-Identifier: BSD-3-Clause
#include "fields/boxes.hpp"

#include <algorithm>
#include <string>

#include "opencl/kernel_source.hpp"

namespace particles {

namespace {

constexpr int64_t kGroup = 64, kMostRows = 32768;

std::string options_for(DType source, DType target) {
  const auto c_name = [](DType dtype) { return dtype == DType::float64 ? "double" : "float"; };
  std::string options = std::string("-DSOURCE=") + c_name(source) + " -DTARGET=" + c_name(target);
  if (source == DType::float64 || target == DType::float64) options += " -DUSE_DOUBLE";
  return options;
}

opencl::Range range_for(const opencl::Context& context, const Region& region) {
  const auto group =
      static_cast<int64_t>(std::min<size_t>(kGroup, context.device().largest_work_group));
  opencl::Range range;
  range.global = {static_cast<size_t>((region.count[3] + group - 1) / group * group),
                  static_cast<size_t>(std::min(region.count[2], kMostRows)),
                  static_cast<size_t>(std::min(region.count[1], kMostRows))};
  range.local = {static_cast<size_t>(group), 1, 1};
  return range;
}

// Offset and strides of one component.
void append_place(std::vector<opencl::Argument>& arguments, const Place& place, int64_t component) {
  const auto& [buffer, dtype, region] = place;
  arguments.emplace_back(&buffer);
  arguments.emplace_back(cl_long{region.offset + component * region.stride[0]});
  for (int k = 1; k < 4; ++k) arguments.emplace_back(cl_long{region.stride[k]});
}

void append_counts(std::vector<opencl::Argument>& arguments, const Region& region) {
  for (int k = 1; k < 4; ++k) arguments.emplace_back(cl_long{region.count[k]});
}

// What the launch for one component has to move.
double component_bytes(const Region& region, size_t element_bytes) {
  return static_cast<double>(region.points() / region.count[0]) * element_bytes;
}

}  // namespace

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
  const bool regular =
      slices.stride % rows.stride == 0 && slices.stride >= rows.count * rows.stride;
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

void copy_box(const Place& source, const Place& target) {
  const auto& context = target.buffer.context();
  const auto kernel = context->kernel(opencl::kernel_source("copy.cl"),
                                      options_for(source.dtype, target.dtype), "copy");
  const opencl::Range range = range_for(*context, target.region);
  const double bytes =
      component_bytes(target.region, size_of(source.dtype) + size_of(target.dtype));
  for (int64_t component = 0; component < target.region.count[0]; ++component) {
    std::vector<opencl::Argument> arguments;
    append_place(arguments, source, component);
    append_place(arguments, target, component);
    append_counts(arguments, target.region);
    context->launch(kernel, range, arguments, bytes);
  }
}

void fill_box(const Place& target, double value) {
  const auto& context = target.buffer.context();
  const auto kernel = context->kernel(opencl::kernel_source("copy.cl"),
                                      options_for(target.dtype, target.dtype), "fill");
  const opencl::Range range = range_for(*context, target.region);
  const double bytes = component_bytes(target.region, size_of(target.dtype));
  for (int64_t component = 0; component < target.region.count[0]; ++component) {
    std::vector<opencl::Argument> arguments;
    append_place(arguments, target, component);
    append_counts(arguments, target.region);
    arguments.push_back(real_argument(target.dtype, value));
    context->launch(kernel, range, arguments, bytes);
  }
}

}  // namespace particles
