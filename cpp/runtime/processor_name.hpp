// SPDX-License-Identifier: BSD-3-Clause
// What a driver that does not know the processor may be told: the name of one that it knows.
#pragma once

#include <string>

#include "runtime/device.hpp"

namespace particles {

// The library that a device's driver is.
std::string library_of(const Device& device);

// Where a known library keeps what it compiles for, in bytes.
struct DriverLayout {
  size_t processor;   // in a device: the name of the processor, a `const char *`
  size_t operations;  // in a device: a table of functions, by its address
  size_t build_hash;  // in that table: the function whose text tells cached programs apart
  size_t compilers;  // in the library: how many it has set up, a `size_t`; each keeps its processor
};

// Tells a device's driver which processor to compile for, in this process alone, in place of
// "generic" or of the name at the end of its version. `hash` tells its programs from others' in the
// driver's cache. The layout must be that of `library_of(device)`. Throws DeviceError where it
// compiles for another one, as it was told, or has compiled already.
void tell_processor(const Device& device, const DriverLayout& layout, const std::string& name,
                    const std::string& hash);

}  // namespace particles
