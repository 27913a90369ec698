// SPDX-License-Identifier: BSD-3-Clause
#include "sweep/sweep_kind.hpp"

#include <algorithm>
#include <cmath>

namespace particles {
namespace {

// Beyond the ends of a segment: what is further away is read where it lies. Rows of lanes are
// private memory, which costs nothing that is not used.
constexpr int kRowsBeyond = 16, kRowsBeyondOfLanes = 256;

// Nodes beyond an end where particles are looked for: more than moves of 2**30 cells, in 32 bits.
constexpr double kReachAtMost = 1.25 * (1 << 30);

SweepKind common_kind(const std::string& name, const RemeshingKernel& kernel) {
  const char* const limiters[] = {"", " -DLIMITER=POSITIVE", " -DLIMITER=MONOTONE"};
  SweepKind kind;
  kind.kernel = name;
  kind.options = limiters[static_cast<int>(kernel.limiter)];
  kind.reach = kernel.stencil / 2 + 1;
  return kind;
}

SweepKind depositing(const RemeshingKernel& kernel) {
  SweepKind kind = common_kind("sweep", kernel);
  if (kernel.is_limited()) {
    kind.rows = 2;
    kind.margin = 2;
  }
  kind.window = kernel.stencil;
  kind.weights = kernel.is_limited() ? kernel.stencil + 1 : kernel.stencil;
  kind.reach += kind.margin;
  return kind;
}

SweepKind gathering(const RemeshingKernel& kernel) {
  SweepKind kind = common_kind("gather", kernel);
  kind.margin = std::max(kRowsBeyond, kernel.stencil);
  kind.window = kernel.stencil;
  kind.adds_up = false;
  kind.follows_back = true;
  return kind;
}

}  // namespace

SweepKind kind_of(const RemeshingKernel& kernel) {
  return kernel.conservative ? depositing(kernel) : gathering(kernel);
}

// The moves of particles are rounded a few times, in their own dtype, on the way from the speed.
int64_t SweepKind::reach_of(double greatest_move) const {
  constexpr double kRounded = 1 + 1e-6;
  const double cells = std::ceil(kRounded * greatest_move) + reach;
  return cells < kReachAtMost ? static_cast<int64_t>(cells) : -1;  // for NaN as well
}

Interval SweepKind::push_of(const Interval& sweep) const {
  return follows_back ? Interval{sweep.begin + sweep.duration, -sweep.duration} : sweep;
}

std::string SweepKind::options_for(const LinePlan& plan) const {
  if (adds_up) return options;
  const int beyond = plan.lanes > 1 ? kRowsBeyondOfLanes : margin;
  return options + " -DROWS_BEYOND=" + std::to_string(beyond);
}

}  // namespace particles
