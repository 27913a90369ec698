// SPDX-License-Identifier: BSD-3-Clause
// The cells of a grid, in which particles are: integers say which cell, a real number from 0 to 1
// along each axis where in it. So they are as exact in a long box as in a short one.
#pragma once

#include <array>
#include <cstdint>

#include "arrays/dtype.hpp"
#include "fields/grid.hpp"

namespace particles {

// Which planes there are across the first axis: so many as an axis of `whole` planes has from
// `first` on, behind the last of which comes plane 0; all where `whole` is 0.
struct Part {
  int64_t first = 0, whole = 0;
};

// Cell i of an axis reaches from low + i * spacing to low + (i + 1) * spacing. Offsets are less
// than 1, but for a particle that stands on the high end of an axis that is not periodic: that one
// is in the last cell.
struct Cells {
  int ndim = 1;
  std::array<int64_t, 3> shape{1, 1, 1};
  std::array<double, 3> low{}, high{}, spacing{1, 1, 1};
  std::array<Ends, 3> ends{};
  Part part{};  // of the planes of the box; these are counted from its first one on

  int64_t cells() const { return shape[0] * shape[1] * shape[2]; }
  // Of the numbers of cells, which count along the last axis first.
  DType cell_dtype() const;
};

// Lines of cells along the last axis are cut into rows of at most kCellsOfRow cells, the last one
// of a line shorter where these do not divide it.
constexpr int64_t kCellsOfRow = 256;  // as sets/cell_rows.cl has it
int64_t rows_of(const Cells& box);
int64_t cells_of_line(const Cells& box);

// As sets/ends.cl has it.
int bits_of(const Ends& ends);

// Host memory in which places are, axes of a particle side by side.
struct HostPlaces {
  void* cells;
  void* offsets;
  int32_t* turns;
  DType cell, offset;
};

// Cells, offsets and turns of positions on the host. Along a periodic axis a position may be
// anywhere; `turns` say how many boxes away. Returns the number of the first particle that is not
// finite, beyond an end or too far away to count, and -1 where there is none.
int64_t split(const Cells& box, int64_t count, const double* positions, const HostPlaces& places);

// The positions, within the box; turns are not read.
void join(const Cells& box, int64_t count, const HostPlaces& places, double* positions);

}  // namespace particles
