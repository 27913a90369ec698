// SPDX-License-Identifier: BSD-3-Clause
// One kernel built, run and compared with what the host computes.
#pragma once

#include <memory>
#include <string>

#include "runtime/context.hpp"

namespace particles {

// Throws DeviceError when the numbers are wrong, or as building and running do.
// Other `options` make it another program to whoever keeps programs.
void run_self_test(const std::shared_ptr<Context>& context, const std::string& options);

}  // namespace particles
