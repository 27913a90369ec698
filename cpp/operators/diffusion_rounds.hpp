// SPDX-License-Identifier: BSD-3-Clause
// Weights of which diffusion along a line is made.
#pragma once

#include <cstdint>
#include <vector>

#include "fields/field.hpp"

namespace particles {

// Weights on either side of a node, at most; and numbers with room for them.
constexpr int kTapsAtMost = 72, kRoomForTaps = 80;

// What a round makes of a line; numbers as in diffusion.cl.
enum class RoundKind {
  mean = 0,  // means of a node and of those `apart`, 2 apart, ... nodes away on either side
  map = 1,   // other nodes: means of those around their places
};

// Means at other places: `to` nodes for every `from`.
struct NodeMap {
  int from, to;
  int taps;                     // on either side
  double scale;                 // of sums
  std::vector<double> weights;  // before the place of each of `to` nodes, from the nearest on, and
                                // as many after it, which are the same if there is one node
};

// Of every `from` nodes of a line `to` are left while most is done: a power of two, so that weights
// can be rounded to what adds up to one for the nodes of either line.
struct Thinning {
  int from, to;
  double spacing;  // of the line before, in that of the whole line
  double enough;   // spread which tells waves apart
  double spread;   // of either map
  NodeMap thin, refill;
};

// One after the other, as far as a line has nodes to leave out and can spread; of so many lines.
std::vector<Thinning> thinnings_of(const Ends& ends, int64_t nodes, int64_t lines, DType dtype);

struct DiffusionRound {
  RoundKind kind;
  double spread;   // half its variance, in squares of the nodes' distance: viscosity * duration
  double spacing;  // of the nodes it reads
  int64_t apart;   // of a mean, in these
  std::vector<double> weights;  // of a mean: positive, from the nearest on
  const NodeMap* map;           // else: one of the thinnings'
};

// What makes exp(spread L) of the three-point Laplacian L of a line of `nodes`, as exact as numbers
// of a dtype are worth it. A line that has come to rest takes no more: of greater spreads rounds
// are what is left to do of the last part.
std::vector<DiffusionRound> diffusion_rounds(double spread, const Ends& ends, int64_t nodes,
                                             DType dtype, const std::vector<Thinning>& thinnings);

}  // namespace particles
