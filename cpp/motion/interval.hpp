// SPDX-License-Identifier: BSD-3-Clause
// A share of time.
#pragma once

#include <array>

#include "motion/scheme.hpp"

namespace particles {

// Back in time where the duration is negative.
struct Interval {
  double begin, duration;
};

// The times within an interval at which a push may look at a velocity.
inline std::array<double, kInstants.size()> instants_of(const Interval& interval) {
  std::array<double, kInstants.size()> times{};
  for (size_t k = 0; k < times.size(); k++)
    times[k] = interval.begin + kInstants[k] * interval.duration;
  return times;
}

}  // namespace particles
