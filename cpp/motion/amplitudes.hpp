// SPDX-License-Identifier: BSD-3-Clause
// How fast and how strained a formula is at one time, known from what it was at another.
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <vector>

#include "motion/extremes.hpp"
#include "motion/time_formula.hpp"

namespace particles {

// A component that is a function of the place times one of the time, its amplitude, is measured
// once. Others are measured whenever that is asked for.
class Amplitudes {
 public:
  // Those of the first axes, where there are any; no formula for none.
  using OfAxes = std::vector<std::optional<TimeFormula>>;
  explicit Amplitudes(OfAxes of_axes) : of_axes_(std::move(of_axes)) {}

  std::vector<Extremes> extremes(ExtremesOp& op, const Velocity& velocity,
                                 const std::vector<Look>& looks);

 private:
  // What a component is at a time, with its amplitude then.
  struct Unit {
    int64_t version;
    double amplitude;
    Extremes extremes;
  };
  const Unit* unit(ExtremesOp& op, const Look& look, double amplitude, int64_t version);

  OfAxes of_axes_;
  std::array<std::optional<Unit>, 3> units_;
  std::mutex mutex_;  // one caller at a time
};

}  // namespace particles
