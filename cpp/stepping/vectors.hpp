// SPDX-License-Identifier: BSD-3-Clause
// How work-groups share vectors of neighbouring particles or points, as stepping/vectors.cl has it.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/context.hpp"

namespace particles {

// Groups of one work-item on CPUs.
struct VectorShares {
  int64_t group = 1, each = 1, groups = 1;

  Range range() const;
  std::string options() const { return " -DGROUP=" + std::to_string(group); }
};

VectorShares shares_of_vectors(const Device& device, int64_t vectors);

}  // namespace particles
