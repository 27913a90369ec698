// SPDX-License-Identifier: BSD-3-Clause
#include "operators/diffusion_rounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
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
constexpr std::array<int64_t, 3> kThinnedBy{4, 5, 3};
// Else, of as many as the least divisor, one of about four. Long lines are cut into segments: few
// of them where maps begin anew, as lanes are segments of one line.
constexpr int64_t kLongestMap = 1 << 14, kLongestMapOfFewLines = 64;
constexpr int64_t kLongLine = 4096, kFewLines = 16;
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

// The heat kernel of a line without ends, exp(-2 spread) I_x(2 spread) at a distance x; between
// nodes it is the sum of the same waves. Few waves have not faded, and a sum over evenly spaced
// ones is exact but for what reaches round their common period.
class HeatKernel {
 public:
  HeatKernel(double spread, double farthest) {
    constexpr double kFaded = 45;
    const double reach = farthest + 2 * std::sqrt(kFaded * spread) + 20;
    period_ = 2 * std::ceil(reach / 2) + 1;
    for (double wave = 1; wave < period_ / 2; wave++) {
      const double faded = spread * fading(2 * kPi * wave / period_);
      if (faded > kFaded) break;
      heights_.push_back(2 / period_ * std::exp(-faded));
    }
  }

  double operator()(double distance) const {
    double sum = 1 / period_, wave = 0;
    for (const double height : heights_)
      sum += height * std::cos(2 * kPi * ++wave / period_ * distance);
    return std::max(sum, 0.0);
  }

 private:
  double period_;
  std::vector<double> heights_;
};

// The same at distances 0 .. most, right to the last digits even where it is next to nothing. The
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
// the spread. `distance` of one from the next.
int taps_of(const std::vector<double>& weights, double spread, double distance, double accuracy) {
  double rest = 0;
  int taps = kTapsAtMost;
  while (taps > 1 && (rest += 2 * distance * weights[taps] *
                              (1 + std::pow(taps * distance, 2) / spread)) < accuracy)
    taps--;
  return taps;
}

std::vector<double> heat_kernel(double spread, double distance) {
  if (spread <= kFirstSpread && distance == 1) return heat_kernel_of_small(spread, kTapsAtMost);
  const HeatKernel kernel(spread, kTapsAtMost * distance);
  std::vector<double> weights;
  for (int m = 0; m <= kTapsAtMost; m++) weights.push_back(kernel(m * distance));
  return weights;
}

// As many weights of the heat kernel as matter, taken at every apart-th node of a line whose nodes
// lie `spacing` apart, and scaled so that their spread is exact. They sum up to less than one: the
// rest is the node's own.
DiffusionRound mean_of(double spread, double spacing, int64_t apart, double accuracy) {
  const double distance = spacing * static_cast<double>(apart);
  const std::vector<double> kernel = heat_kernel(spread, distance);
  const int taps = taps_of(kernel, spread, distance, accuracy);
  DiffusionRound round{RoundKind::mean, spread, spacing, apart, {}, nullptr};
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
bool are_told_apart(double otherwise, double spread, double apart, double least) {
  constexpr int kAngles = 64;
  for (int k = 0; k <= kAngles; k++) {
    const double off = kPi / apart * k / kAngles, wave = 2 * kPi / apart - off;
    if (otherwise * fading(wave) + spread * fading(off) < least) return false;
  }
  return true;
}

// Spread of the round that thins a line to nodes so far apart, and of the one that refills it,
// where as much is spread between: as little as tells waves apart. Places between nodes have
// weights with a long tail, as high as what is left of the shortest wave.
double spread_of_thinning(double apart, bool between_nodes, double least) {
  const double shortest = between_nodes ? (least + kTail) / fading(kPi) : 0;
  double low = 0, high = least * apart * apart;
  for (int k = 0; k < 40; k++) {
    const double middle = (low + high) / 2;
    (are_told_apart(middle, 2 * middle, apart, least) ? high : low) = middle;
  }
  return std::max(high, shortest);
}

int64_t floor_of(int64_t numerator, int64_t denominator) {
  return numerator / denominator - (numerator % denominator < 0 ? 1 : 0);
}

// Weights of `to` means of `from` nodes, and so on without end, in whole units. Those of a mean sum
// up to from / to, those that a node has in all means to one.
class ThinningWeights {
 public:
  // `kernel`: of a distance in nodes.
  template <class Kernel>
  ThinningWeights(int from, int to, int taps, int64_t one, const Kernel& kernel)
      : from_(from), to_(to), one_(one) {
    for (int64_t m = 0; m < to; m++) {
      const int64_t place = (2 * m + 1) * from - to;  // in 2 to-th parts of a node
      first_.push_back(floor_of(place, 2 * to) - taps + 1);
      const int64_t last = -floor_of(-place, 2 * to) + taps - 1;
      of_.emplace_back();
      if (2 * m >= to && to > 1) {  // an image of one before
        const auto& image = of_[static_cast<size_t>(to - 1 - m)];
        of_.back().assign(image.rbegin(), image.rend());
        continue;
      }
      for (int64_t j = first_.back(); j <= last; j++)
        of_.back().push_back(
            std::llround(static_cast<double>(one) * from / to * kernel(distance(m, j))));
    }
    make_nodes_whole();
    make_means_whole();
  }

  double distance(int64_t m, int64_t j) const {
    return static_cast<double>((2 * j + 1) * to_ - (2 * m + 1) * from_) /
           static_cast<double>(2 * to_);
  }

  // Of a node j in a mean m, any of both.
  double at(int64_t m, int64_t j) const {
    const int64_t turns = floor_of(m, to_), own = m - turns * to_;
    const int64_t place = j - turns * from_ - first_[static_cast<size_t>(own)];
    const auto& weights = of_[static_cast<size_t>(own)];
    if (place < 0 || place >= static_cast<int64_t>(weights.size())) return 0;
    return static_cast<double>(weights[static_cast<size_t>(place)]) / static_cast<double>(one_);
  }

  // Half the variance of a mean, in squares of the nodes' distance.
  double spread() const {
    double squares = 0;
    for (int64_t m = 0; m < to_; m++)
      for (size_t k = 0; k < of_[static_cast<size_t>(m)].size(); k++) {
        const int64_t j = first_[static_cast<size_t>(m)] + static_cast<int64_t>(k);
        squares += at(m, j) * std::pow(distance(m, j), 2);
      }
    return squares / (2.0 * static_cast<double>(from_));
  }

 private:
  int64_t& weight(int64_t m, int64_t j) {
    return of_[static_cast<size_t>(m)][static_cast<size_t>(j - first_[static_cast<size_t>(m)])];
  }

  // What rounding took from a node goes into the mean that is nearest, or into both.
  void make_nodes_whole() {
    std::vector<int64_t> rests(static_cast<size_t>(from_), one_);
    for (size_t m = 0; m < of_.size(); m++)
      for (size_t k = 0; k < of_[m].size(); k++) {
        const int64_t j = first_[m] + static_cast<int64_t>(k);
        rests[static_cast<size_t>(j - floor_of(j, from_) * from_)] -= of_[m][k];
      }
    for (int64_t j = 0; j < from_; j++) {
      const int64_t place = (2 * j + 1) * to_, nearest = place / (2 * from_);
      const int64_t rest = rests[static_cast<size_t>(j)];
      if (place % (2 * from_) != 0) {
        weight(nearest, j) += rest;
      } else {  // of nodes that are each other's images, so an even number
        weight(nearest, j) += rest / 2;
        weight(nearest - 1, j) += rest / 2;
      }
    }
  }

  // What a mean has too much goes to the next one, at the last node that is nearest to it. From
  // both ends inwards: so those in the middle become whole, too.
  void make_means_whole() {
    for (int64_t m = 0; m < to_ / 2 - 1; m++) {
      const auto& weights = of_[static_cast<size_t>(m)];
      const int64_t rest =
          one_ / to_ * from_ - std::accumulate(weights.begin(), weights.end(), int64_t{0});
      const int64_t end = 2 * (m + 1) * from_;
      int64_t j = (end / to_ - 1) / 2;
      if ((2 * j + 1) * to_ >= end) j--;
      weight(m, j) += rest, weight(m + 1, j) -= rest;
      weight(to_ - 1 - m, from_ - 1 - j) += rest, weight(to_ - 2 - m, from_ - 1 - j) -= rest;
    }
  }

  int64_t from_, to_, one_;
  std::vector<int64_t> first_;            // node of each mean
  std::vector<std::vector<int64_t>> of_;  // from it on
};

// `weight(i, k)`: of what is read at k for what is written at i; `most` of them matter on either
// side.
template <class Weight>
NodeMap map_of(int from, int to, int most, double scale, const Weight& weight) {
  std::vector<double> all;
  int taps = 1;
  for (int64_t i = 0; i < to; i++) {
    const int64_t place = (2 * i + 1) * from - to;
    const int64_t before = floor_of(place, 2 * to), after = -floor_of(-place, 2 * to);
    const auto add = [&](int64_t nearest, int step) {
      for (int k = 0; k < most; k++) {
        all.push_back(before == after && k == 0 ? 0 : weight(i, nearest + step * k));
        if (all.back() > 0) taps = std::max(taps, k + 1);
      }
    };
    add(before, -1);
    if (to > 1) add(after, 1);
  }
  NodeMap map{from, to, taps, scale, {}};
  for (size_t k = 0; k < all.size(); k++)
    if (static_cast<int>(k % static_cast<size_t>(most)) < taps) map.weights.push_back(all[k]);
  return map;
}

Thinning thinning_of(int from, int to, double spacing, DType dtype) {
  const double accuracy = accuracy_of(dtype), least = -std::log(accuracy);
  const double enough =
      spread_of_thinning(spacing * from / to, spacing == 1 && (to > 1 || from % 2 == 0), least);
  const std::vector<double> at_nodes = heat_kernel(enough, spacing);
  const int taps = std::min(taps_of(at_nodes, enough, spacing, accuracy) + 1, kTapsAtMost);
  const HeatKernel kernel(enough, (taps + 1) * spacing);
  const int64_t one = int64_t{1} << (dtype == DType::float64 ? 53 : 25);
  const ThinningWeights weights(from, to, taps, one, [&](double distance) {
    return spacing * kernel(std::abs(distance) * spacing);
  });
  const int taps_of_refill = (taps + 1) * to / from + 2;
  const double ratio = static_cast<double>(to) / from;
  return {
      from,
      to,
      spacing,
      enough,
      weights.spread() * spacing * spacing,
      map_of(from, to, taps, ratio, [&](int64_t m, int64_t j) { return weights.at(m, j); }),
      map_of(to, from, taps_of_refill, 1, [&](int64_t j, int64_t m) { return weights.at(m, j); })};
}

// Of how many nodes some are left; none where a line cannot be thinned.
std::optional<int64_t> thinned_from(int64_t nodes, int64_t lines) {
  const auto* const found = std::find_if(kThinnedBy.begin(), kThinnedBy.end(),
                                         [&](int64_t number) { return nodes % number == 0; });
  if (found != kThinnedBy.end()) return *found;
  const bool is_few = nodes > kLongLine && lines < kFewLines;
  const int64_t longest = is_few ? kLongestMapOfFewLines : kLongestMap;
  for (int64_t number = 7; number <= std::min(nodes, longest); number += 2)
    if (nodes % number == 0) return number;
  return nodes % 2 == 0 ? std::optional<int64_t>(2) : std::nullopt;
}

// Adds rounds that make a spread grow from that of what came before to a whole one.
void add_means(std::vector<DiffusionRound>& rounds, double before, double all, double spacing,
               double accuracy) {
  const double least = -std::log(accuracy);
  const double more = std::ceil(std::log(all / before) / std::log(kGrowth) - 1e-9);
  const double growth = std::pow(all / before, 1 / more);
  for (int k = 0; k < static_cast<int>(more); k++) {
    const double next = (growth - 1) * before;
    auto apart = std::max<int64_t>(1, static_cast<int64_t>(2 * std::sqrt(before) / spacing));
    while (apart > 1 && !are_told_apart(before, next, static_cast<double>(apart) * spacing, least))
      apart -= 1 + apart / 64;
    rounds.push_back(mean_of(next, spacing, apart, accuracy));
    before += next;
  }
}

DiffusionRound round_of(const NodeMap& map, double spread, double spacing) {
  return {RoundKind::map, spread, spacing, 1, {}, &map};
}

// Of greater spreads all has come to rest.
double greatest_spread(const Ends& ends, int64_t nodes, DType dtype) {
  return (3 - std::log(accuracy_of(dtype))) / least_fading(ends, nodes);
}

}  // namespace

std::vector<Thinning> thinnings_of(const Ends& ends, int64_t nodes, int64_t lines, DType dtype) {
  std::vector<Thinning> thinnings;
  const double greatest = greatest_spread(ends, nodes, dtype);
  double spacing = 1, done = 0;
  for (int64_t rest = nodes; rest > 1;) {
    const auto from = thinned_from(rest, lines);
    if (!from) break;
    int to = 1;
    while (static_cast<double>(*from) / to > 4 * std::sqrt(2)) to *= 2;
    Thinning next = thinning_of(static_cast<int>(*from), to, spacing, dtype);
    if (done + 3 * next.enough > greatest) break;
    done += 2 * next.spread;
    rest = rest / *from * to;
    spacing *= static_cast<double>(*from) / to;
    thinnings.push_back(std::move(next));
  }
  return thinnings;
}

std::vector<DiffusionRound> diffusion_rounds(double spread, const Ends& ends, int64_t nodes,
                                             DType dtype, const std::vector<Thinning>& thinnings) {
  const double accuracy = accuracy_of(dtype);
  if (spread < kLeastSpread || least_fading(ends, nodes) == 0) return {};
  const double all = std::min(spread, greatest_spread(ends, nodes, dtype));
  if (all <= kFirstSpread) return {mean_of(all, 1, 1, accuracy)};
  std::vector<DiffusionRound> rounds;
  double before = 0, spacing = 1;
  auto thinning = thinnings.begin();
  for (; thinning != thinnings.end() && all - 2 * before >= 3 * thinning->enough; ++thinning) {
    rounds.push_back(round_of(thinning->thin, thinning->spread, thinning->spacing));
    before += thinning->spread;
    spacing = thinning->spacing * thinning->from / thinning->to;
  }
  if (rounds.empty()) {
    const double more = std::ceil(std::log(all / kFirstSpread) / std::log(kGrowth));
    before = all / std::pow(std::max(std::pow(all / kFirstSpread, 1 / more), kLeastGrowth), more);
    rounds.push_back(mean_of(before, 1, 1, accuracy));
    add_means(rounds, before, all, 1, accuracy);
    return rounds;
  }
  add_means(rounds, before, all - before, spacing, accuracy);
  while (thinning != thinnings.begin()) {
    --thinning;
    rounds.push_back(round_of(thinning->refill, thinning->spread,
                              thinning->spacing * thinning->from / thinning->to));
  }
  return rounds;
}

}  // namespace particles
