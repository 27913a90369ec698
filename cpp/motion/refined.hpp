// SPDX-License-Identifier: BSD-3-Clause
// A velocity on a coarse grid, on the lines of a finer one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "fields/extended.hpp"
#include "fields/field.hpp"
#include "lines/lines.hpp"

namespace particles {

// How a coarse grid lies in a finer one of the same box, along one axis.
struct Coarseness {
  int ratio = 1;     // cells of the fine grid to one of the coarse
  double shift = 0;  // from the coarse grid's first point to the fine one's, in cells of the latter
};

// Throws std::invalid_argument where the fine grid does not divide every cell of the coarse one.
std::array<Coarseness, 3> coarseness(const Grid& coarse, const Grid& fine);

// Of parts of both, by how many rows of the coarse grid their beginnings and ends may differ along
// an axis.
int64_t rows_apart(const Grid& coarse, const Grid& fine, int axis);

// One component of a velocity, interpolated across the lines along an axis onto the fine grid;
// along these lines it stays coarse, which is where particles interpolate it.
class Refined {
 public:
  // `options`: how it is interpolated.
  Refined(std::shared_ptr<Field> coarse, const Grid& fine, int axis, const std::string& options);

  // The component itself where there is nothing to refine across the lines.
  const std::shared_ptr<Field>& field() const { return field_; }

  // Enqueues, when the velocity has changed; of a part of a grid, when it has been forgotten.
  void update();
  void forget() { is_forgotten_ = true; }

 private:
  bool is_cut_across(int axis) const { return axis >= 0 && rows_beyond_[axis] > 0; }

  std::shared_ptr<Field> coarse_, field_;
  LineAxes axes_;
  std::array<Coarseness, 3> coarseness_;
  Kernel kernel_;
  int64_t version_ = -1;
  // Across cut axes neighbours are asked for nodes that points of this part are between.
  std::array<int64_t, 3> rows_beyond_{};
  std::array<Extended, 3> extended_;
  bool is_forgotten_ = true;
};

}  // namespace particles
