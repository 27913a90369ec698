// SPDX-License-Identifier: BSD-3-Clause
// Weights of which diffusion along a line is made.
#pragma once

#include <cstdint>
#include <vector>

#include "fields/field.hpp"

namespace particles {

// Weights of a round on either side, at most; and numbers with room for them, as zeros may follow.
constexpr int kTapsAtMost = 72, kRoomForTaps = 80;

// What a round makes of a line; numbers as in diffusion.cl.
enum class RoundKind {
  mean = 0,    // means of a node and of those `apart`, 2 apart, ... nodes away on either side
  thin = 1,    // a node for every few: the mean of what lies around their middle
  refill = 2,  // all nodes again: means of those that are left
};

struct DiffusionRound {
  RoundKind kind;
  double spread;    // half its variance, in squares of the nodes' distance: viscosity * duration
  int64_t spacing;  // of the nodes it reads
  int64_t apart;    // in these
  std::vector<double> weights;  // positive, from the nearest on
};

// Of how many nodes one is left while most is done, where a step spreads far: a divisor, or one.
int thinned_by(int64_t nodes);

// What makes exp(spread L) of the three-point Laplacian L of a line of `nodes`, as exact as numbers
// of a dtype are worth it. A line that has come to rest takes no more: of greater spreads rounds
// are what is left to do of the last part.
std::vector<DiffusionRound> diffusion_rounds(double spread, const Ends& ends, int64_t nodes,
                                             DType dtype);

}  // namespace particles
