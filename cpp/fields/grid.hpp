// SPDX-License-Identifier: BSD-3-Clause
// A box of points on equal distances: geometry only, no memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace particles {

class Neighbours;

enum class Boundary { periodic, wall, outflow, inflow };

// What is beyond the first and the last point of an axis: both ends are periodic, or none.
struct Ends {
  Boundary low = Boundary::periodic, high = Boundary::periodic;

  bool periodic() const { return low == Boundary::periodic; }
  bool operator==(const Ends& other) const { return low == other.low && high == other.high; }
};

// Entries 0 .. ndim - 1 of each array are used; the others keep their defaults, so that == is
// memberwise.
struct Grid {
  int ndim = 1;
  std::array<int64_t, 3> shape{1, 1, 1};
  std::array<double, 3> origin{}, spacing{1, 1, 1};  // of the whole grid's first point
  std::array<Ends, 3> boundary{};                    // of the whole grid
  // Of axes that are cut: which node of the whole grid is the first, and how many that has; else 0.
  std::array<int64_t, 3> begin{}, whole{};
  std::shared_ptr<const Neighbours> neighbours = nullptr;  // who have the rest; null for a whole

  int64_t points() const { return shape[0] * shape[1] * shape[2]; }
  bool is_cut(int axis) const { return whole[axis] > 0; }
  int64_t whole_along(int axis) const { return is_cut(axis) ? whole[axis] : shape[axis]; }

  bool operator==(const Grid& other) const {
    return ndim == other.ndim && shape == other.shape && origin == other.origin &&
           spacing == other.spacing && boundary == other.boundary && begin == other.begin &&
           whole == other.whole;
  }
  bool operator!=(const Grid& other) const { return !(*this == other); }
};

}  // namespace particles
