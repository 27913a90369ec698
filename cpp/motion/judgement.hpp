// SPDX-License-Identifier: BSD-3-Clause
// What pushes do to particles: looked at where their schemes look, measured together, and judged.
#pragma once

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "motion/advection_op.hpp"

namespace particles {

// Along an axis.
struct Push {
  int axis;
  Interval interval;
};

// What goes through walls across an axis, as a share of what the flow carries across the box.
struct Leak {
  double share;
  int axis;
  double instant;

  bool operator>(const Leak& o) const {
    return std::tie(share, axis, instant) > std::tie(o.share, o.axis, o.instant);
  }
};

// A look at what cannot be borne; along no axis where particles move along all of them at once, and
// the strain is what is wrong.
struct Wrong {
  std::optional<int> axis;
  double speed, strain, instant, duration;
};

// In unit time.
struct Judged {
  double strain = 0;           // by the looks with their weights
  double instant = 0;          // when that is most
  double cells = 0;            // that particles cross at most
  std::optional<Leak> leak;    // if it is too much
  std::optional<Wrong> wrong;  // the first
};

// When a velocity is looked at, in shares of a push, each time once, and with what weight.
std::vector<std::pair<double, double>> looks_of(const Velocity& velocity);

// A push, and stages of it, must move particles by less than two to the power of so many cells.
int bits_of_moves(const Scheme& scheme);

// And by no more lengths of a line that has ends: every one that particles come from beyond costs
// as much as the line.
constexpr int kMostLengths = 1000;

// Whether particles can be moved along an axis for so long.
bool is_borne(const Flow& flow, int axis, double speed, double strain, double duration);

// Measures all in one call, which waits once; where something goes through walls, in two. Throws
// std::invalid_argument for what is beyond the times of a series.
std::vector<Judged> judge(AdvectionOp& advection, const std::vector<Push>& pushes);

}  // namespace particles
