// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/self_test.hpp"

#include <vector>

#include "runtime/buffer.hpp"
#include "runtime/error.hpp"
#include "runtime/kernel_source.hpp"

namespace particles {

void run_self_test(const std::shared_ptr<Context>& context, const std::string& options) {
  constexpr size_t kCount = 1000;
  constexpr float kFactor = 2;
  std::vector<float> x(kCount), y(kCount), result(kCount);
  for (size_t i = 0; i < kCount; ++i) {  // small whole numbers: every result is exact
    x[i] = static_cast<float>(i);
    y[i] = static_cast<float>(i % 7);
  }
  Rectangle everything;
  everything.region[0] = kCount * sizeof(float);
  Buffer device_x(context, everything.region[0], "the self-test");
  Buffer device_y(context, everything.region[0], "the self-test");
  device_x.write(x.data(), everything);
  device_y.write(y.data(), everything);

  const Kernel saxpy = context->kernel(kernel_source("runtime/selftest.cl"), options, "saxpy");
  Range range;
  range.global[0] = kCount;
  context->queue().launch(Launch(saxpy)
                              .add("a", kFactor)
                              .buffer("x", device_x)
                              .buffer("y", device_y)
                              .range(range)
                              .traffic(3.0 * everything.region[0]));
  device_y.read(result.data(), everything);

  for (size_t i = 0; i < kCount; ++i) {
    const float expected = kFactor * x[i] + y[i];
    if (result[i] == expected) continue;
    throw DeviceError("the self-test failed on " + context->device().name + ": number " +
                      std::to_string(i) + " should be " + std::to_string(expected) + " and is " +
                      std::to_string(result[i]));
  }
}

}  // namespace particles
