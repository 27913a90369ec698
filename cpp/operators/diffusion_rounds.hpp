// SPDX-License-Identifier: BSD-3-Clause
// Weights of which diffusion along a line is made.
#pragma once

#include <cstdint>
#include <vector>

#include "fields/field.hpp"

namespace particles {

// Weights of a round on either side, at most.
constexpr int kTapsAtMost = 64;

// A mean of a node and of those `apart`, 2 apart, ... nodes away on either side.
struct DiffusionRound {
  double spread;  // half its variance, in squares of the nodes' distance: viscosity * duration
  int64_t apart;
  std::vector<double> weights;  // positive, from the nearest on
};

// What makes exp(spread L) of the three-point Laplacian L of a line of `nodes`, as exact as numbers
// of a dtype are worth it. A line that has come to rest takes no more: of greater spreads rounds
// are what is left to do of the last part.
std::vector<DiffusionRound> diffusion_rounds(double spread, const Ends& ends, int64_t nodes,
                                             DType dtype);

}  // namespace particles
