// SPDX-License-Identifier: BSD-3-Clause
// What is done with particles in a box, on a device. What is known of them are arrays with a row
// for each, columns, which the caller owns; nothing here replaces one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "arrays/array.hpp"
#include "sets/cells.hpp"

namespace particles {

using Arrays = std::vector<std::shared_ptr<Array>>;

// Where particles are: cells of the box's dtype; offsets, float32 or float64, and turns, int32, of
// a component for each axis. There are no turns where no axis is periodic.
struct Places {
  std::shared_ptr<Array> cells, offsets, turns;
};

// What came of a move.
struct Moved {
  std::array<std::array<int64_t, 2>, 3> left{};   // through the low and the high end of each axis
  int64_t not_finite = 0, first_not_finite = -1;  // moves, or beyond 1e9 cells or 2^31 turns
};

// What is computed of each particle: OpenCL C that stands for results.cl, its numbers, and what all
// is computed in.
struct ParticleFormula {
  std::string text;
  std::vector<double> numbers;
  DType real = DType::float32;
  bool reads_places = false;
};

class ParticleSet {
 public:
  ParticleSet(std::shared_ptr<Context> context, const Cells& box);

  const Cells& box() const { return box_; }

  // Sets `to` to the places `from` after a move, whose components are lengths along the axes. At
  // walls it goes back; `gone`, int32, is 1 for what is beyond an open end, else 0, and its place
  // is somewhere in the box. `to` has memory of its own. Waits for the device.
  //
  // Moves along axes that are `differences` of places have their error of rounding: what they put
  // beyond an end by no more is put on it.
  Moved move(const Places& from, const Array& moves, const std::vector<bool>& differences,
             const Places& to, Array& gone);

  // Sets the components of the targets, one after the other, to the results of a formula of the
  // components of operands. A target may be an operand. Enqueued.
  void compute(const Places& places, const Arrays& operands, const Arrays& targets,
               const ParticleFormula& formula);

  // Sets `order` to the numbers of the particles by row of cells, or by cell; those that are in the
  // same one stay in their order. Enqueued, in memory that is kept for the next time.
  void sort(const Array& cells, bool by_row, Array& order);

  // Whether the rows of so many particles are counted at once, which is the faster way on CPUs
  // where there are not many more rows than particles.
  bool counts_rows(int64_t count) const;
  // Then: sets `places` to the place of each particle in the order of rows, `starts` as below.
  void place_in_rows(const Array& cells, Array& places, Array& starts);

  // Sets `order` as `sort` does by row, and `starts` as below.
  void sort_for_rows(const Array& cells, Array& order, Array& starts);

  // Sets `starts`, one integer more than there are rows, to the number of particles before each
  // row, and to that of all. Cells are in the order of their rows, or are in it by `order`.
  // Enqueued.
  void find_starts(const Array& cells, Array& starts, const Array* order = nullptr) const;

  // Sets `target` to the numbers that cells of the whole box have in this part of it, where they
  // are. Enqueued.
  void find_cells(const Array& cells, Array& target) const;

  // Bytes that are kept for sorting.
  int64_t bytes_to_sort() const;

 private:
  void check_places(const Places& places, int64_t count) const;
  std::string place_options(const Array& offsets) const;
  // In cells along an axis: the error of a difference of places.
  double rounding_along(int axis, DType dtype) const;
  void check_starts(const Array& starts) const;
  std::shared_ptr<Array> keys_for(const Array& cells);
  void count_rows(const Array& cells, bool wants_order, Array& result, Array& starts);
  Launch rows_launch(const char* name, const Array& cells, const Array& starts) const;

  mutable Workspace workspace_;
  std::shared_ptr<Context> context_;
  Cells box_;
  mutable std::mutex keys_mutex_;
  std::shared_ptr<Array> keys_, row_counts_;
  std::mutex counts_mutex_;
  std::unique_ptr<Array> counts_;  // of what a move leaves
};

}  // namespace particles
