// SPDX-License-Identifier: BSD-3-Clause
#include "fields/reductions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fields/workspace.hpp"

namespace particles {

namespace {

// Groups enough for many compute units, yet few results for the host to combine: each leaves its
// lanes on CPUs and a single one on GPUs.
constexpr int64_t kBlock = 1024, kMostCpuGroups = 512, kMostGroups = 4096, kGroup = 64;
constexpr double kNoBound = std::numeric_limits<double>::quiet_NaN();

// What the groups leave: a value for each lane, and what rounding took from it.
struct Partials {
  std::vector<double> values, rests;
};

Partials read_partials(const opencl::Buffer& buffer, DType dtype, int64_t groups, int64_t lanes) {
  const std::vector<double> raw =
      read_reals(buffer, dtype, static_cast<size_t>(2 * groups * lanes));
  Partials partials;
  for (auto it = raw.begin(); it != raw.end(); it += 2 * lanes) {
    partials.values.insert(partials.values.end(), it, it + lanes);
    partials.rests.insert(partials.rests.end(), it + lanes, it + 2 * lanes);
  }
  return partials;
}

// Who goes through the elements: vectors of lanes on CPUs, groups of work-items on GPUs.
struct Workers {
  int64_t lanes = 1, group = 1, most_groups = kMostGroups;
};

Workers workers_for(const Workspace& workspace, DType dtype) {
  const opencl::Device& device = workspace.device();
  Workers workers;
  if (device.is_cpu()) {
    workers.lanes = workspace.lanes(size_of(arithmetic(dtype)));
    workers.most_groups = kMostCpuGroups;
  } else {
    while (workers.group < kGroup &&
           2 * static_cast<size_t>(workers.group) <= device.largest_work_group)
      workers.group *= 2;
  }
  return workers;
}

std::string options_for(const opencl::Device& device, DType dtype, const Workers& workers,
                        bool unit_stride) {
  std::string options = dtype_options(dtype) + " -DLANES=" + std::to_string(workers.lanes) +
                        " -DGROUP=" + std::to_string(workers.group) +
                        " -DBLOCK=" + std::to_string(kBlock);
  if (device.has_vector_fma()) options += " -DUSE_FMA";
  if (unit_stride) options += " -DUNIT_STRIDE";
  return options;
}

Partials run(const Field& field, const std::string& action, const std::string& term,
             double lower = kNoBound, double upper = kNoBound) {
  const Region region = region_of(field.grid(), field.layout(), field.components(),
                                  everything(field.grid(), field.components()));
  const DType dtype = field.dtype();
  Workspace& workspace = field.workspace();
  const Workers workers = workers_for(workspace, dtype);
  const auto kernel =
      workspace.kernel("reduce.cl",
                       options_for(workspace.device(), dtype, workers, region.stride[3] == 1) +
                           " -DACTION=" + action + " -DTERM=" + term,
                       "reduce");
  const int64_t blocks =
      region.points() / region.count[3] * ((region.count[3] + kBlock - 1) / kBlock);
  const int64_t groups = std::min(workers.most_groups, blocks);
  const auto partials = workspace.partials(static_cast<size_t>(2 * groups * workers.lanes) *
                                           size_of(arithmetic(dtype)));

  std::vector<opencl::Argument> arguments{&field.buffer(), cl_long{region.offset}};
  for (const int64_t stride : region.stride) arguments.emplace_back(cl_long{stride});
  for (const int64_t count : region.count) arguments.emplace_back(cl_long{count});
  arguments.push_back(real_argument(dtype, lower));
  arguments.push_back(real_argument(dtype, upper));
  arguments.emplace_back(&partials.buffer);

  opencl::Range range;
  range.global[0] = static_cast<size_t>(groups * workers.group);
  range.local = {static_cast<size_t>(workers.group), 1, 1};
  workspace.context().launch(kernel, range, arguments,
                             static_cast<double>(region.points()) * size_of(dtype));
  return read_partials(partials.buffer, dtype, groups, workers.lanes);
}

// Neumaier's sum. Infinities and NaN among the values make rests meaningless: then the plain sum
// says it all.
double total(const Partials& partials) {
  double sum = 0, rest = 0, plain = 0;
  const auto add = [&](double term) {
    const double next = sum + term;
    rest += std::abs(sum) >= std::abs(term) ? (sum - next) + term : (term - next) + sum;
    sum = next;
  };
  for (double value : partials.values) plain += value;
  if (!std::isfinite(plain)) return plain;
  for (double value : partials.values) add(value);
  for (double value : partials.rests) add(value);
  return sum + rest;
}

double largest(const Partials& partials) {
  double result = partials.values.front();
  for (double value : partials.values) {
    if (value > result || std::isnan(value)) result = value;
  }
  return result;
}

}  // namespace

double reduce(const Field& field, Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return total(run(field, "ADD", "VALUE"));
    case Reduction::sum_abs:
      return total(run(field, "ADD", "MAGNITUDE"));
    case Reduction::sum_squares:
      return total(run(field, "ADD_SQUARES", "VALUE"));
    case Reduction::min:
      return -largest(run(field, "LARGEST", "NEGATIVE"));
    case Reduction::max:
      return largest(run(field, "LARGEST", "VALUE"));
    default:
      return largest(run(field, "LARGEST", "MAGNITUDE"));
  }
}

int64_t count_between(const Field& field, double lower, double upper) {
  return std::llround(total(run(field, "ADD", "INSIDE", lower, upper)));
}

}  // namespace particles
