// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/bandwidth.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "runtime/buffer.hpp"
#include "runtime/kernel_source.hpp"

namespace particles {

namespace {

// Bytes of one array: beyond the cache, within a small part of the memory. They are larger on a
// GPU, so that the time of a launch itself counts little.
size_t array_bytes(const Device& device) {
  constexpr size_t kLeast = size_t{1} << 26, kLeastOfGpu = kLeast << 2,
                   kWorkGroups = size_t{1} << 16;
  const size_t least = device.is_gpu() ? kLeastOfGpu : kLeast;
  const size_t wanted = std::max<size_t>(least, 4 * device.cache_size);
  const size_t allowed = std::min(device.largest_allocation, device.global_memory / 16);
  return std::min(wanted, allowed) / kWorkGroups * kWorkGroups;
}

// Of a kernel that reads two numbers of such arrays and writes one, for each of their elements.
double measure(const std::shared_ptr<Context>& context, const char* name,
               const std::vector<const char*>& arrays) {
  constexpr int kRuns = 10;
  constexpr float kFactor = 2, kInitial = 1;
  const size_t bytes = array_bytes(context->device());
  const Kernel kernel = context->kernel(kernel_source("runtime/bandwidth.cl"), "", name);
  Launch launch(kernel);
  launch.add("s", kFactor);
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (const char* array : arrays) {
    buffers.push_back(std::make_unique<Buffer>(context, bytes, "measuring the bandwidth"));
    buffers.back()->fill(&kInitial, sizeof(kInitial), 0, bytes);
    launch.buffer(array, *buffers.back());
  }
  Range range;
  range.global[0] = bytes / sizeof(cl_float4);
  launch.range(range).traffic(3.0 * bytes);
  context->queue().finish();
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    context->queue().launch(launch);
    context->queue().finish();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    best = std::max(best, 3.0 * bytes / spent.count());
  }
  return best;
}

}  // namespace

double measure_triad(const std::shared_ptr<Context>& context) {
  return measure(context, "triad", {"a", "b", "c"});
}

double measure_axpy(const std::shared_ptr<Context>& context) {
  return measure(context, "axpy", {"b", "a"});
}

}  // namespace particles
