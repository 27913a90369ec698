// SPDX-License-Identifier: BSD-3-Clause
#include "motion/scheme.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace particles {
namespace {

using Ratios = std::vector<Ratio>;

constexpr std::array<const char*, kInstants.size()> kInstantNames{"AT_BEGIN", "AT_MIDDLE",
                                                                  "AT_END"};

std::string number(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "REAL(%#.20g)", value);
  return text.data();
}

std::string scaled(double factor, const std::string& what) {
  return factor == 1 ? "(" + what + ")" : "(" + number(factor) + " * (" + what + "))";
}

// A share of a slope's way, and a multiple of what was found before.
std::string moved(double share, double multiple, const std::string& before) {
  const std::string scale = scaled(share, "scale");
  if (multiple == 0) return "(" + scale + " * (slope))";
  return "MAD((V)" + scale + ", slope, " + scaled(multiple, before) + ")";
}

// A sum with a share of a place.
std::string added(double share, bool has_sum) {
  if (share == 0) return "(sum)";
  return has_sum ? "MAD((V)(" + number(share) + "), place, sum)" : scaled(share, "place");
}

std::vector<double> values(const Ratios& ratios) {
  std::vector<double> result;
  for (const Ratio& ratio : ratios) result.push_back(ratio.value());
  return result;
}

// What the last of these places is to be multiplied by to have these shares of its slopes.
double multiple_of(const std::vector<double>& shares, const std::vector<double>& place) {
  const double multiple = shares[place.size() - 1] / place.back();
  for (size_t k = 0; k < place.size(); k++)
    if (shares[k] != multiple * place[k])
      throw std::logic_error("a stage needs more than the place before");
  return multiple;
}

// The end of a push is a sum of shares of all places, which are these, and of the last slope.
std::vector<double> shares_of_places(const std::vector<std::vector<double>>& places,
                                     std::vector<double> weights) {
  std::vector<double> shares(places.size());
  for (size_t s = places.size(); s-- > 0;) {
    shares[s] = weights[s] / places[s].back();
    for (size_t k = 0; k <= s; k++) weights[k] -= shares[s] * places[s][k];
  }
  return shares;
}

}  // namespace

std::vector<double> Scheme::times() const {
  std::vector<double> result{0};
  for (const Ratios& shares : places) {
    double time = 0;
    for (const Ratio& share : shares) time += share.value();
    result.push_back(time);
  }
  return result;
}

int Scheme::reach() const {
  double farthest = 1;
  for (const Ratios& shares : places) {
    double cells = 0;
    for (const Ratio& share : shares) cells += std::abs(share.value());
    farthest = std::max(farthest, cells);
  }
  return static_cast<int>(std::ceil(farthest));
}

std::string Scheme::source() const {
  const std::vector<double> instants = times();
  std::vector<std::vector<double>> before;
  for (const Ratios& shares : places) before.push_back(values(shares));
  const std::vector<double> shares = shares_of_places(before, values(weights));
  std::string text = "#define STAGES " + std::to_string(weights.size()) + "\n#define LOOKS " +
                     std::to_string(reach()) + "\n";
  bool has_sum = false;
  for (size_t stage = 0; stage < weights.size(); stage++) {
    const auto instant = std::find(kInstants.begin(), kInstants.end(), instants[stage]);
    if (instant == kInstants.end()) throw std::logic_error("a stage has no instant of its own");
    const std::string number_of_stage = std::to_string(stage + 1);
    text += "#define TIME_" + number_of_stage + " " + kInstantNames[instant - kInstants.begin()] +
            "\n#define PLACE_" + number_of_stage + "(scale, slope, place, sum) ";
    double share = 0;
    if (stage + 1 == weights.size()) {
      text += moved(weights[stage].value(), has_sum ? 1 : 0, "sum");
    } else {
      const double multiple = stage == 0 ? 0 : multiple_of(before[stage], before[stage - 1]);
      text += moved(before[stage].back(), multiple, "place");
      share = shares[stage];
    }
    text += "\n#define SUM_" + number_of_stage + "(sum, place) " + added(share, has_sum) + "\n";
    has_sum = has_sum || share != 0;
  }
  return text;
}

const std::vector<Scheme>& schemes() {
  // Never destroyed: a thread may be here when the process ends.
  static const auto& table = *new std::vector<Scheme>{
      {"euler", {}, {{1}}},
      {"rk2", {{{1, 2}}}, {{0}, {1}}},
      {"heun", {{{1}}}, {{1, 2}, {1, 2}}},
      {"rk3", {{{1, 2}}, {{-1}, {2}}}, {{1, 6}, {4, 6}, {1, 6}}},
      {"rk4", {{{1, 2}}, {{0}, {1, 2}}, {{0}, {0}, {1}}}, {{1, 6}, {2, 6}, {2, 6}, {1, 6}}},
  };
  return table;
}

const Scheme& scheme_of(const std::string& name) {
  std::string expected;
  for (const Scheme& scheme : schemes()) {
    if (scheme.name == name) return scheme;
    expected += (expected.empty() ? "" : ", ") + scheme.name;
  }
  throw std::invalid_argument("scheme: expected one of " + expected + ", got " + name);
}

}  // namespace particles
