// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/triad.hpp"

#include <algorithm>
#include <chrono>

#include "runtime/buffer.hpp"
#include "runtime/kernel_source.hpp"

namespace particles {

namespace {

// Bytes of one of the three arrays: beyond the cache, within a small part of the memory.
size_t array_bytes(const Device& device) {
  constexpr size_t kLeast = size_t{1} << 26, kWorkGroups = size_t{1} << 16;
  const size_t wanted = std::max<size_t>(kLeast, 4 * device.cache_size);
  const size_t allowed = std::min(device.largest_allocation, device.global_memory / 16);
  return std::min(wanted, allowed) / kWorkGroups * kWorkGroups;
}

}  // namespace

double measure_triad(const std::shared_ptr<Context>& context) {
  constexpr int kRuns = 10;
  constexpr float kFactor = 2, kInitial = 1;
  const size_t bytes = array_bytes(context->device());
  Buffer a(context, bytes, "the triad"), b(context, bytes, "the triad"),
      c(context, bytes, "the triad");
  for (Buffer* buffer : {&a, &b, &c}) buffer->fill(&kInitial, sizeof(kInitial), 0, bytes);

  const Kernel triad = context->kernel(kernel_source("runtime/triad.cl"), "", "triad");
  Range range;
  range.global[0] = bytes / sizeof(cl_float4);
  context->queue().finish();
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    context->queue().launch(Launch(triad)
                                .add("s", kFactor)
                                .buffer("a", a)
                                .buffer("b", b)
                                .buffer("c", c)
                                .range(range)
                                .moves(3.0 * bytes));
    context->queue().finish();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    best = std::max(best, 3.0 * bytes / spent.count());
  }
  return best;
}

}  // namespace particles
