// SPDX-License-Identifier: BSD-3-Clause
// The memory bandwidth a device reaches: what the speed of kernels is compared with.
#pragma once

#include <memory>

#include "runtime/context.hpp"

namespace particles {

// Bytes per second of c = a + s b on arrays of floats well beyond the caches, the best of several
// runs; waits for the device.
double measure_triad(const std::shared_ptr<Context>& context);

// The same of a += s b, which moves as many bytes and writes nothing that it has not read: a store
// elsewhere may cost a load.
double measure_axpy(const std::shared_ptr<Context>& context);

}  // namespace particles
