// SPDX-License-Identifier: BSD-3-Clause
// How work-groups share an array, as arrays/group.cl has it.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/context.hpp"

namespace particles {

// Groups of one work-item on CPUs, which run the work-items of a group one after the other.
struct Shares {
  int64_t groups = 1, group = 1;

  Range range() const;
  std::string options() const;
};

// For so many elements, of which it is not worth to start a group for fewer than some;
// `local_bytes` is what a work-item needs of the local memory.
Shares shares_of(const Device& device, int64_t elements, size_t local_bytes);

}  // namespace particles
