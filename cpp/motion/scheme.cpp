// SPDX-License-Identifier: BSD-3-Clause
#include "motion/scheme.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

namespace particles {
namespace {

using Ratios = std::vector<Ratio>;

constexpr std::array<const char*, kInstants.size()> kInstantNames{"AT_BEGIN", "AT_MIDDLE",
                                                                  "AT_END"};

int common_denominator(const Ratios& ratios) {
  int common = 1;
  for (const Ratio& ratio : ratios) common = std::lcm(common, ratio.denominator);
  return common;
}

std::vector<int> numerators(const Ratios& ratios) {
  const int common = common_denominator(ratios);
  std::vector<int> result;
  for (const Ratio& ratio : ratios) result.push_back(ratio.numerator * common / ratio.denominator);
  return result;
}

// What the sum of weighted slopes is to be multiplied by to have these shares of the same slopes.
int multiple_of(const std::vector<int>& weights, const std::vector<int>& shares, size_t count) {
  int multiple = 0;
  for (size_t k = 0; k < count; k++)
    if (shares[k] != 0 && weights[k] != 0) multiple = shares[k] / weights[k];
  for (size_t k = 0; k < count; k++)
    if (shares[k] != multiple * weights[k])
      throw std::logic_error("a stage needs more than one sum of slopes");
  return multiple;
}

std::string number(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "REAL(%#.20g)", value);
  return text.data();
}

std::string divided(int divisor) {
  return divisor == 1 ? "(scale)" : "(" + number(1.0 / divisor) + " * (scale))";
}

// `sums` times the sum, 1, 0 or -1, and `slopes` times the slope.
std::string added(int sums, int slopes) {
  if (sums == 0) return slopes == 1 ? "(slope)" : "(" + number(slopes) + " * (slope))";
  if (sums == 1 && slopes == 1) return "((sum) + (slope))";
  return "MAD((V)(" + number(slopes) + "), slope, " + (sums < 0 ? "-(sum)" : "sum") + ")";
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
  const std::vector<int> weighted = numerators(weights);
  const std::vector<double> instants = times();
  std::string text = "#define STAGES " + std::to_string(weights.size()) + "\n#define LOOKS " +
                     std::to_string(reach()) + "\n";
  bool has_sum = false;
  for (size_t stage = 0; stage < weights.size(); stage++) {
    const bool is_last = stage + 1 == weights.size();
    const Ratios& next = is_last ? weights : places[stage];
    const std::vector<int> shares = numerators(next);
    const std::string number_of_stage = std::to_string(stage + 1);
    const auto instant = std::find(kInstants.begin(), kInstants.end(), instants[stage]);
    if (instant == kInstants.end()) throw std::logic_error("a stage has no instant of its own");
    text += "#define TIME_" + number_of_stage + " " + kInstantNames[instant - kInstants.begin()] +
            "\n#define AFTER_" + number_of_stage +
            "(scale, slope, sum, place) place = " + divided(common_denominator(next)) + " * " +
            added(multiple_of(weighted, shares, stage), shares[stage]);
    if (!is_last && weighted[stage] != 0) {
      text += ", sum = " + added(has_sum ? 1 : 0, weighted[stage]);
      has_sum = true;
    }
    text += "\n";
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
