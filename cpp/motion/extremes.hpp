// SPDX-License-Identifier: BSD-3-Clause
// How fast and how strained a velocity is: measured on the device, or bounded.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "motion/flow.hpp"
#include "motion/measured.hpp"
#include "motion/partial_maxima.hpp"

namespace particles {

// Along one axis, over the whole grid.
struct Extremes {
  double speed = 0;    // greatest |a| that particles may meet
  double strain = 0;   // greatest |difference of neighbouring nodes| / spacing
  double on_wall = 0;  // greatest |a| on a wall across the axis
};

// Along an axis, at the beginning of an interval, or all over it for a series.
struct Look {
  int axis;
  Interval interval;
};

// Between two times, per axis: nothing is faster. Infinity where nobody knows.
struct SpeedBounds {
  double begin, end;
  std::vector<double> speeds;
};

class ExtremesOp {
 public:
  explicit ExtremesOp(std::shared_ptr<Flow> flow);

  // Measures what is not known, and waits once where that has room. Of a part of a grid, those of
  // all parts.
  std::vector<Extremes> measure(const std::vector<Look>& looks);

  // Of a formula that depends on time, so that a move within these times need not be measured.
  void bound_speeds(SpeedBounds bounds);

  // How fast a component is at a time at most; infinity where nobody knows.
  double bound_of_speed(int axis, double time) const;

  // How many cells particles move during an interval at most; infinity where nobody knows.
  double bound_of_move(int axis, const Interval& interval) const;

  void forget();

 private:
  using Key = std::tuple<int, size_t, double>;  // axis, level of a series, time of a formula
  std::vector<Key> keys_of(const Look& look) const;
  std::optional<Extremes> known(const Key& key) const;
  void launch(const Key& key);

  std::shared_ptr<Flow> flow_;
  std::array<Kernel, 3> kernels_;
  std::optional<PartialMaxima> partial_;
  std::map<std::pair<int, size_t>, Measured<Extremes>> measured_;  // by axis and level
  std::optional<SpeedBounds> bounds_;
  mutable std::mutex mutex_;  // one caller at a time
};

}  // namespace particles
