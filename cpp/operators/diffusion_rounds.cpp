// SPDX-License-Identifier: BSD-3-Clause
#include "operators/diffusion_rounds.hpp"

#include <algorithm>
#include <cmath>

namespace particles {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Spread of one round whose neighbours lie side by side: about as many weights as pay.
constexpr double kFirstSpread = 8;
// A lesser one changes no value, not even of double; weights divide by it.
constexpr double kLeastSpread = 1e-20;
// By how much a round makes the whole spread grow, at least where there are several, and at most.
constexpr double kLeastGrowth = 4, kGrowth = 16;

// Shares of what there is that may be left out.
double accuracy_of(DType dtype) { return dtype == DType::float64 ? 1e-12 : 1e-8; }

// Eigenvalues of the Laplacian: a wave that turns by an angle from node to node fades by this.
double fading(double angle) { return 4 * std::pow(std::sin(angle / 2), 2); }

// Of the slowest wave that fades at all.
double least_fading(const Ends& ends, int64_t nodes) {
  const auto n = static_cast<double>(nodes);
  if (ends.periodic()) return nodes == 1 ? 0 : fading(2 * kPi / n);
  const bool low = ends.low == Boundary::inflow, high = ends.high == Boundary::inflow;
  if (low != high) return fading(kPi / (2 * n));
  return nodes == 1 && !low ? 0 : fading(kPi / n);
}

// exp(-2 spread) I_k(2 spread), k = 0 .. most: exp(spread L) of a line without ends takes that of
// the k-th neighbour. The recurrence is stable downwards (Miller), and the sum of all is one.
std::vector<double> heat_kernel(double spread, size_t most) {
  const auto start = most + 40 + static_cast<size_t>(9 * std::sqrt(2 * spread));
  std::vector<double> weights(start + 2, 0.0);
  weights[start] = 1e-300;
  double sum = weights[start];
  for (size_t k = start; k > 0; k--) {
    weights[k - 1] = weights[k + 1] + static_cast<double>(k) / spread * weights[k];
    sum += weights[k - 1];
    if (weights[k - 1] < 1e200) continue;
    for (size_t j = k - 1; j <= start; j++) weights[j] *= 1e-200;
    sum *= 1e-200;
  }
  const double all = 2 * sum - weights[0];
  for (double& weight : weights) weight /= all;
  weights.resize(most + 1);
  return weights;
}

// As many weights of the heat kernel as matter, taken at every apart-th neighbour, and scaled so
// that their spread is exact. They sum up to less than one: the rest is the node's own.
DiffusionRound round_of(double spread, int64_t apart, double accuracy) {
  const std::vector<double> kernel =
      heat_kernel(spread, static_cast<size_t>(apart) * (kTapsAtMost + 1));
  const auto at = [&](int m) { return kernel[static_cast<size_t>(m * apart)]; };
  const auto squared = [&](int m) { return std::pow(static_cast<double>(m * apart), 2); };
  // What is left out is little of the values, and of the spread.
  double rest = 0;
  int taps = kTapsAtMost;
  while (taps > 1 && (rest += 2 * apart * at(taps) * (1 + squared(taps) / spread)) < accuracy)
    taps--;
  DiffusionRound round{spread, apart, {}};
  double squares = 0;
  for (int m = 1; m <= taps; m++) {
    round.weights.push_back(at(m));
    squares += squared(m) * at(m);
  }
  for (double& weight : round.weights) weight *= spread / squares;
  return round;
}

// Means of nodes that lie apart take waves that turn by nearly 2 pi from one to the next for ones
// that hardly turn. Whether these have faded before.
bool are_told_apart(double before, double spread, int64_t apart, double least) {
  constexpr int kAngles = 64;
  for (int k = 0; k <= kAngles; k++) {
    const double off = kPi / static_cast<double>(apart) * k / kAngles;
    const double wave = 2 * kPi / static_cast<double>(apart) - off;
    if (before * fading(wave) + spread * fading(off) < least) return false;
  }
  return true;
}

}  // namespace

std::vector<DiffusionRound> diffusion_rounds(double spread, const Ends& ends, int64_t nodes,
                                             DType dtype) {
  const double accuracy = accuracy_of(dtype), least = -std::log(accuracy);
  const double slowest = least_fading(ends, nodes);
  if (spread < kLeastSpread || slowest == 0) return {};
  const double all = std::min(spread, (least + 3) / slowest);
  if (all <= kFirstSpread) return {round_of(all, 1, accuracy)};
  const double more = std::ceil(std::log(all / kFirstSpread) / std::log(kGrowth));
  const double growth = std::max(std::pow(all / kFirstSpread, 1 / more), kLeastGrowth);
  double before = all / std::pow(growth, more);
  std::vector<DiffusionRound> rounds{round_of(before, 1, accuracy)};
  for (int k = 0; k < static_cast<int>(more); k++) {
    const double next = (growth - 1) * before;
    auto apart = static_cast<int64_t>(std::max(1.0, 2 * std::sqrt(before)));
    while (apart > 1 && !are_told_apart(before, next, apart, least)) apart--;
    rounds.push_back(round_of(next, apart, accuracy));
    before += next;
  }
  return rounds;
}

}  // namespace particles
