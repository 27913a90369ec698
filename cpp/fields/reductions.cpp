// SPDX-License-Identifier: BSD-3-Clause
#include "fields/reductions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "opencl/kernel_source.hpp"

namespace particles {

namespace {

constexpr int64_t kBlock = 256, kMostItems = 4096, kGroup = 64;
constexpr double kNoBound = std::numeric_limits<double>::quiet_NaN();

// What the work-items leave: a value for each lane, and what rounding took from it.
struct Partials {
  std::vector<double> values, rests;
};

int64_t items_for(const Region& region) {
  const int64_t rows = region.count[0] * region.count[1] * region.count[2];
  const int64_t blocks = rows * ((region.count[3] + kBlock - 1) / kBlock);
  return std::min(kMostItems, (blocks + kGroup - 1) / kGroup * kGroup);
}

template <class T>
Partials read_partials(const opencl::Buffer& buffer, int64_t items, int64_t lanes) {
  std::vector<T> raw(static_cast<size_t>(2 * items * lanes));
  opencl::Box box;
  box.region[0] = raw.size() * sizeof(T);
  buffer.read(raw.data(), box);
  Partials partials;
  for (auto it = raw.begin(); it != raw.end(); it += 2 * lanes) {
    partials.values.insert(partials.values.end(), it, it + lanes);
    partials.rests.insert(partials.rests.end(), it + lanes, it + 2 * lanes);
  }
  return partials;
}

Partials run(const Field& field, const std::string& action, const std::string& term,
             double lower = kNoBound, double upper = kNoBound) {
  const Region region = region_of(field.grid(), field.layout(), field.components(),
                                  everything(field.grid(), field.components()));
  const auto& context = field.context();
  const auto& device = context->device();
  const auto lanes = static_cast<int64_t>(device.vector_bytes() / size_of(field.dtype()));
  std::string options = dtype_options(field.dtype()) + " -DLANES=" + std::to_string(lanes) +
                        " -DACTION=" + action + " -DTERM=" + term +
                        " -DBLOCK=" + std::to_string(kBlock);
  if (region.stride[3] == 1) options += " -DUNIT_STRIDE";

  const auto kernel = context->kernel(opencl::kernel_source("reduce.cl"), options, "reduce");
  const int64_t items = items_for(region);
  const auto bytes = static_cast<size_t>(2 * items * lanes) * size_of(field.dtype());
  opencl::Buffer buffer(context, bytes, "partial results of a reduction");

  std::vector<opencl::Argument> arguments{&field.buffer(), cl_long{region.offset}};
  for (int64_t stride : region.stride) arguments.emplace_back(cl_long{stride});
  for (int64_t count : region.count) arguments.emplace_back(cl_long{count});
  arguments.push_back(real_argument(field.dtype(), lower));
  arguments.push_back(real_argument(field.dtype(), upper));
  arguments.emplace_back(&buffer);

  opencl::Range range;
  range.global[0] = static_cast<size_t>(items);
  // Vectors in a group of several work-items are more than some CPU compilers bear.
  range.local = {device.is_cpu() ? 1 : std::min<size_t>(kGroup, device.largest_work_group), 1, 1};
  context->launch(kernel, range, arguments,
                  static_cast<double>(region.points()) * size_of(field.dtype()));
  return field.dtype() == DType::float64 ? read_partials<double>(buffer, items, lanes)
                                         : read_partials<float>(buffer, items, lanes);
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
    case Reduction::max_abs:
      return largest(run(field, "LARGEST", "MAGNITUDE"));
  }
  throw std::logic_error("unknown reduction");
}

int64_t count_between(const Field& field, double lower, double upper) {
  return std::llround(total(run(field, "ADD", "INSIDE", lower, upper)));
}

}  // namespace particles
