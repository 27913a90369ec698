// SPDX-License-Identifier: BSD-3-Clause
// A field on a finer or coarser grid of the same box.
#pragma once

#include "sweep/sweep.hpp"

namespace particles {

// Fills `target`, a field of the same components, dtype and context. Each axis is refined or
// coarsened by a factor of its own; throws std::invalid_argument where one is not whole. Enqueues.
void resample(const Field& source, Field& target, const RemeshingKernel& kernel);

}  // namespace particles
