// SPDX-License-Identifier: BSD-3-Clause
// Drivers that the loader does not know of, because no .icd file names them.
#pragma once

#include <string>
#include <vector>

#include "runtime/entry_points.hpp"

namespace particles {

// Opens the driver at `path`; its platforms are listed after those of the loader, whose functions
// work on them too. Throws DeviceError saying why it cannot be used.
void add_driver(const std::string& path);

std::vector<cl_platform_id> platforms_of_added_drivers();

}  // namespace particles
