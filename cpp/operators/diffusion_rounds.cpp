// SPDX-License-Identifier: BSD-3-Clause
#include "operators/diffusion_rounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace particles {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Spread of one round whose neighbours lie side by side: about as many weights as pay.
constexpr double kFirstSpread = 8;
// A lesser one changes no value, not even of double; weights divide by it.
constexpr double kLeastSpread = 1e-20;
// By how much a round makes the whole spread grow, at least where there are several, and at most.
constexpr double kLeastGrowth = 4, kGrowth = 16;
// One node of so many is left, the first of these that divides a line: the more, the less is to do,
// and the greater a spread is needed.
constexpr std::array<int, 5> kThinnedBy{4, 5, 3, 7, 2};
// Logarithm of how often weights of a tail, with the squares of their distances, count for one.
constexpr double kTail = 6;

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

// The heat kernel of a line without ends, exp(-2 spread) I_x(2 spread), at distances of (m + shift)
// apart for m = 0 .. most; between nodes it is the sum of the same waves. Few waves have not faded,
// and a sum over evenly spaced ones is exact but for what reaches round their common period.
std::vector<double> heat_kernel_of_waves(double spread, double apart, double shift, int most) {
  constexpr double kFaded = 45;
  const double reach = (most + shift) * apart + 2 * std::sqrt(kFaded * spread) + 20;
  const double period = 2 * std::ceil(reach / 2) + 1;
  std::vector<double> weights(static_cast<size_t>(most) + 1, 1 / period);
  for (double wave = 1; wave < period / 2; wave++) {
    const double angle = 2 * kPi * wave / period, faded = spread * fading(angle);
    if (faded > kFaded) break;
    for (int m = 0; m <= most; m++)
      weights[m] += 2 / period * std::exp(-faded) * std::cos(angle * (m + shift) * apart);
  }
  for (double& weight : weights) weight = std::max(weight, 0.0);
  return weights;
}

// The same on nodes 0 .. most, right to the last digits even where it is next to nothing. The
// recurrence is stable downwards (Miller), and the sum of all is one.
std::vector<double> heat_kernel_of_small(double spread, int most) {
  const auto start =
      static_cast<size_t>(most) + 40 + static_cast<size_t>(9 * std::sqrt(2 * spread));
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
  weights.resize(static_cast<size_t>(most) + 1);
  return weights;
}

// How many of the weights on either side matter: what is left out is little of the values, and of
// the spread.
int taps_of(const std::vector<double>& weights, double spread, double apart, double shift,
            double accuracy) {
  double rest = 0;
  int taps = kTapsAtMost;
  while (taps > 1 && (rest += 2 * apart * weights[taps] *
                              (1 + std::pow((taps + shift) * apart, 2) / spread)) < accuracy)
    taps--;
  return taps;
}

// As many weights of the heat kernel as matter, taken at every apart-th node of a line whose nodes
// lie `spacing` apart, and scaled so that their spread is exact. They sum up to less than one: the
// rest is the node's own.
DiffusionRound mean_of(double spread, int64_t spacing, int64_t apart, double accuracy) {
  const auto distance = static_cast<double>(spacing * apart);
  const std::vector<double> kernel = spread <= kFirstSpread
                                         ? heat_kernel_of_small(spread, kTapsAtMost)
                                         : heat_kernel_of_waves(spread, distance, 0, kTapsAtMost);
  const int taps = taps_of(kernel, spread, distance, 0, accuracy);
  DiffusionRound round{RoundKind::mean, spread, spacing, apart, {}};
  double squares = 0;
  for (int m = 1; m <= taps; m++) {
    round.weights.push_back(kernel[m]);
    squares += std::pow(m * distance, 2) * kernel[m];
  }
  for (double& weight : round.weights) weight *= spread / squares;
  return round;
}

// Means of nodes that lie apart take waves that turn by nearly 2 pi from one to the next for ones
// that hardly turn. Whether these have faded, where so much is spread otherwise.
bool are_told_apart(double otherwise, double spread, int64_t apart, double least) {
  constexpr int kAngles = 64;
  for (int k = 0; k <= kAngles; k++) {
    const double off = kPi / static_cast<double>(apart) * k / kAngles;
    const double wave = 2 * kPi / static_cast<double>(apart) - off;
    if (otherwise * fading(wave) + spread * fading(off) < least) return false;
  }
  return true;
}

// Spread of the round that thins a line, and of the one that refills it, of a whole spread: as
// little as tells waves apart. A third each is the most, as rounds between them must do so, too.
// The middles of an even number lie between nodes, where weights have a long tail as high as what
// is left of the shortest wave.
std::optional<double> spread_of_thinning(double spread, int thinned, double least) {
  const double shortest = thinned % 2 == 0 ? least + kTail : 0;
  const auto is_enough = [&](double first) {
    return first * fading(kPi) >= shortest && are_told_apart(first, spread - first, thinned, least);
  };
  double low = 0, high = std::min(spread / 3, least * thinned * thinned);
  if (thinned == 1 || !is_enough(high)) return std::nullopt;
  for (int k = 0; k < 20; k++) {
    const double middle = (low + high) / 2;
    (is_enough(middle) ? high : low) = middle;
  }
  return high;
}

// What makes of `thinned` nodes around a middle one that lies there; transposed it makes all nodes
// of these. weights[i] is that of a node i + 1/2 to either side for an even number, i for an odd
// one, times the number. A middle's weights for the nearest nodes, and a node's for its own middle,
// are what the others leave. So each mean's weights sum up to one exactly, and those with which a
// node enters into all means do, if its rounded ones for other middles and its own one do: those
// are multiples of a power of two.
DiffusionRound thinning_of(double spread, int thinned, DType dtype, double accuracy) {
  const double shift = thinned % 2 == 0 ? 0.5 : 0;
  std::vector<double> weights = heat_kernel_of_waves(spread, 1, shift, kTapsAtMost);
  const int taps = taps_of(weights, spread, 1, shift, accuracy);
  const double least = dtype == DType::float64 ? std::ldexp(1, -53) : std::ldexp(1, -25);
  weights.resize(static_cast<size_t>(taps) + 1);
  for (double& weight : weights) weight = std::round(weight * thinned / least) * least;
  const auto at = [&](int i) { return i <= taps ? weights[static_cast<size_t>(i)] : 0; };
  for (int i = 1; i <= (thinned - 1) / 2; i++) {
    const int place = (thinned - 1) / 2 - i;
    double others = 0;
    for (int m = taps / thinned + 1; m > 0; m--)
      others += at(thinned * m - place + (thinned - 1) / 2) + at(thinned * m + place - thinned / 2);
    weights[static_cast<size_t>(i)] = 1 - others;
  }
  double sum = 0, squares = 0;
  for (int i = 1; i <= taps; i++) sum += at(i), squares += at(i) * std::pow(i + shift, 2);
  const double nearest = 0.5 * thinned - sum;
  squares += nearest * shift * shift;
  return {RoundKind::thin, squares / thinned, 1, 1, weights};
}

// Adds rounds that make a spread grow from that of what came before to a whole one.
void add_means(std::vector<DiffusionRound>& rounds, double before, double all, int64_t spacing,
               double accuracy) {
  const double least = -std::log(accuracy);
  const double more = std::ceil(std::log(all / before) / std::log(kGrowth) - 1e-9);
  const double growth = std::pow(all / before, 1 / more);
  for (int k = 0; k < static_cast<int>(more); k++) {
    const double next = (growth - 1) * before;
    auto apart = std::max<int64_t>(
        1, static_cast<int64_t>(2 * std::sqrt(before) / static_cast<double>(spacing)));
    while (apart > 1 && !are_told_apart(before, next, apart * spacing, least))
      apart -= 1 + apart / 64;
    rounds.push_back(mean_of(next, spacing, apart, accuracy));
    before += next;
  }
}

}  // namespace

int thinned_by(int64_t nodes) {
  const auto* const found = std::find_if(kThinnedBy.begin(), kThinnedBy.end(),
                                         [&](int number) { return nodes % number == 0; });
  return found == kThinnedBy.end() ? 1 : *found;
}

std::vector<DiffusionRound> diffusion_rounds(double spread, const Ends& ends, int64_t nodes,
                                             DType dtype) {
  const double accuracy = accuracy_of(dtype), least = -std::log(accuracy);
  const double slowest = least_fading(ends, nodes);
  if (spread < kLeastSpread || slowest == 0) return {};
  const double all = std::min(spread, (least + 3) / slowest);
  if (all <= kFirstSpread) return {mean_of(all, 1, 1, accuracy)};
  const int thinned = thinned_by(nodes);
  std::vector<DiffusionRound> rounds;
  if (const auto thinning = spread_of_thinning(all, thinned, least)) {
    rounds.push_back(thinning_of(*thinning, thinned, dtype, accuracy));
    DiffusionRound refill = rounds.front();
    refill.kind = RoundKind::refill;
    refill.spacing = thinned;
    add_means(rounds, refill.spread, all - refill.spread, thinned, accuracy);
    rounds.push_back(refill);
    return rounds;
  }
  const double more = std::ceil(std::log(all / kFirstSpread) / std::log(kGrowth));
  const double growth = std::max(std::pow(all / kFirstSpread, 1 / more), kLeastGrowth);
  const double before = all / std::pow(growth, more);
  rounds.push_back(mean_of(before, 1, 1, accuracy));
  add_means(rounds, before, all, 1, accuracy);
  return rounds;
}

}  // namespace particles
