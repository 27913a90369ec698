// SPDX-License-Identifier: BSD-3-Clause
#include "motion/judgement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>

namespace particles {
namespace {

// Bits of the cells that a stage may look at: they are counted in 32.
constexpr int kBitsOfCells = 30;

// What share of what the flow carries across the box may come to lie at a wall meanwhile.
constexpr double kLeakBorne = 1.0 / 50;

// Of moves that are far within all limits.
constexpr double kFewCells = 1 << 20;

double greatest_of(DType dtype) {
  return dtype == DType::float64 ? std::numeric_limits<double>::max()
                                 : static_cast<double>(std::numeric_limits<float>::max());
}

int bit_length(int number) {
  int bits = 0;
  for (; number > 0; number /= 2) bits++;
  return bits;
}

void check_instant(const Velocity& velocity, double instant) {
  const double begin = velocity.times.front(), end = velocity.times.back();
  const double rounded = velocity.rounding_of({instant, 0});
  if (begin - rounded <= instant && instant <= end + rounded) return;
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(),
                "time must be within the velocity's, %g to %g, not from %g to %g", begin, end,
                instant, instant);
  throw std::invalid_argument(text.data());
}

// All that a series is within half a duration of an instant.
Look look_at(const Velocity& velocity, int axis, double instant, double duration) {
  if (!velocity.is_series()) return {axis, {instant, 0}};
  const double half = std::abs(duration) / 2;
  const double begin = std::max(instant - half, velocity.times.front());
  const double end = std::min(instant + half, velocity.times.back());
  return {axis, {begin, std::max(0.0, end - begin)}};
}

// One look of a push.
struct Seen {
  int axis;
  double instant, duration, weight;
  bool is_known, is_right = true;
  Extremes extremes{};
  double leaking = 0;  // a share, where it is too much
};

// What goes through walls: while the fastest particles cross the box along some axis, the part of
// it that comes to a wall is the speed there times this time, by the length of the box across the
// wall. So it depends on neither steps nor spacing.
void look_for_leaks(AdvectionOp& advection, std::vector<Seen>& seen) {
  const Velocity& velocity = advection.flow().velocity();
  const Grid& grid = velocity.grid;
  std::vector<Seen*> suspicious;
  for (Seen& one : seen)
    if (one.is_known && one.is_right && one.extremes.on_wall > kLeakBorne * one.extremes.speed)
      suspicious.push_back(&one);
  if (suspicious.empty()) return;
  const auto extent = [&](int axis) { return grid.spacing[axis] * grid.whole_along(axis); };
  std::vector<double> crossings(suspicious.size(), 0.0);
  for (int axis = 0; axis < grid.ndim; axis++) {
    std::vector<Look> looks;
    for (const Seen* one : suspicious)
      looks.push_back(look_at(velocity, axis, one->instant, one->duration));
    const std::vector<Extremes> found = advection.extremes_at(looks);
    for (size_t k = 0; k < found.size(); k++)
      crossings[k] = std::max(crossings[k], found[k].speed / extent(axis));
  }
  for (size_t k = 0; k < suspicious.size(); k++) {
    Seen& one = *suspicious[k];
    const double share = one.extremes.on_wall / extent(one.axis) / crossings[k];
    if (share > kLeakBorne) one.leaking = share;
  }
}

}  // namespace

std::vector<std::pair<double, double>> looks_of(const Velocity& velocity) {
  if (velocity.is_series()) return {{0.5, 1.0}};  // all that it is from the beginning to the end
  if (!velocity.is_formula() || !velocity.depends_on_time) return {{0.0, 1.0}};
  const Scheme& scheme = scheme_of(velocity.rule.scheme);
  const std::vector<double> times = scheme.times();
  std::vector<std::pair<double, double>> looks;
  for (size_t stage = 0; stage < times.size(); stage++) {
    const auto same = std::find_if(looks.begin(), looks.end(),
                                   [&](const auto& look) { return look.first == times[stage]; });
    const double weight = scheme.weights[stage].value();
    if (same == looks.end())
      looks.emplace_back(times[stage], weight);
    else
      same->second += weight;
  }
  return looks;
}

int bits_of_moves(const Scheme& scheme) { return kBitsOfCells - bit_length(scheme.reach() - 1); }

bool is_borne(const Flow& flow, int axis, double speed, double strain, double duration) {
  const Grid& grid = flow.velocity().grid;
  const double time = std::abs(duration), cells = speed * time / grid.spacing[axis];
  const int bits = bits_of_moves(scheme_of(flow.velocity().rule.scheme));
  return time <= greatest_of(flow.dtype()) * grid.spacing[axis] && std::isfinite(speed) &&
         std::isfinite(strain) && cells < std::ldexp(1.0, bits) &&
         (grid.boundary[axis].periodic() ||
          cells <= kMostLengths * static_cast<double>(grid.whole_along(axis)));
}

std::vector<Judged> judge(AdvectionOp& advection, const std::vector<Push>& pushes) {
  const Velocity& velocity = advection.flow().velocity();
  const Grid& grid = velocity.grid;
  const auto looks_of_push = looks_of(velocity);
  const bool can_be_bounded = velocity.is_formula() && velocity.depends_on_time;
  std::vector<Seen> seen;
  std::vector<Look> looks;
  for (const Push& push : pushes) {
    const auto& [begin, duration] = push.interval;
    for (const auto& [share, weight] : looks_of_push) {
      const double instant = begin + share * duration;
      if (velocity.is_series()) check_instant(velocity, instant);
      // Where a stage only finds the place for the next, as the first of the midpoint rule does, a
      // known bound on the speed will do.
      bool is_known = true;
      if (can_be_bounded && !(weight > 0)) {
        const double cells = advection.extremes().bound_of_speed(push.axis, instant) *
                             std::abs(duration) / grid.spacing[push.axis];
        is_known =
            !(cells <= std::min(static_cast<double>(grid.whole_along(push.axis)), kFewCells));
      }
      seen.push_back({push.axis, instant, duration, weight, is_known});
      if (is_known) looks.push_back(look_at(velocity, push.axis, instant, duration));
    }
  }
  const std::vector<Extremes> found = advection.extremes_at(looks);
  auto next = found.begin();
  for (Seen& one : seen) {
    if (!one.is_known) continue;
    one.extremes = *next++;
    one.is_right =
        is_borne(advection.flow(), one.axis, one.extremes.speed, one.extremes.strain, one.duration);
  }
  look_for_leaks(advection, seen);
  std::vector<Judged> judged;
  auto one = seen.begin();
  for (const Push& push : pushes) {
    Judged what;
    std::pair<double, double> most{-1, 0};
    for (size_t k = 0; k < looks_of_push.size(); k++, ++one) {
      const auto& [speed, strain, on_wall] = one->extremes;
      what.strain += one->weight * strain;
      what.cells = std::max(what.cells, speed / grid.spacing[push.axis]);
      if (one->is_known) most = std::max(most, std::pair(one->weight * strain, one->instant));
      const Leak leak{one->leaking, push.axis, one->instant};
      if (leak.share > 0 && (!what.leak || leak > *what.leak)) what.leak = leak;
      if (!one->is_right && !what.wrong)
        what.wrong = Wrong{push.axis, speed, strain, one->instant, one->duration};
    }
    what.instant = most.second;
    judged.push_back(what);
  }
  return judged;
}

}  // namespace particles
