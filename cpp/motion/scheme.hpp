// SPDX-License-Identifier: BSD-3-Clause
// The Runge-Kutta schemes that there are: the one table of them.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace particles {

// Of whole numbers.
struct Ratio {
  int numerator, denominator = 1;
  double value() const { return static_cast<double>(numerator) / denominator; }
};

// An explicit scheme for the path of a particle, by Butcher's tableau. Where a stage leads is a
// share of its slope and a multiple of the place that the stage was at; the end is a share of the
// last slope and a sum of all places.
struct Scheme {
  std::string name;
  std::vector<std::vector<Ratio>> places;  // of the stages behind the first: shares of the slopes
  std::vector<Ratio> weights;              // of all slopes, in the push

  // When its stages look at a velocity, in shares of a push.
  std::vector<double> times() const;
  // How many times as far as the greatest speed brings a particle a stage looks at most.
  int reach() const;
  // The kernels' macros.
  std::string source() const;
};

const std::vector<Scheme>& schemes();

// Throws std::invalid_argument for a name that is none.
const Scheme& scheme_of(const std::string& name);

// The shares of a push at which any scheme looks at a velocity: what kernels are given.
constexpr std::array<double, 3> kInstants{0, 0.5, 1};

}  // namespace particles
