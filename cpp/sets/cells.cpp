// SPDX-License-Identifier: BSD-3-Clause
#include "sets/cells.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "arrays/ceiling.hpp"

namespace particles {

namespace {

constexpr int64_t kMostTurns = std::numeric_limits<int32_t>::max();
constexpr double kMostCells = 4611686018427387904.0;  // 2^62

// Where along one axis.
struct Place {
  int64_t cell = 0, turn = 0;
  double offset = 0;
};

template <class Offset>
bool find(const Cells& box, int axis, double x, Place& place) {
  const bool is_periodic = box.ends[axis].periodic();
  const int64_t n = box.shape[axis];
  double cells = (x - box.low[axis]) / box.spacing[axis];
  if (!std::isfinite(x) || std::abs(cells) >= kMostCells) return false;
  if (!is_periodic) {
    if (x < box.low[axis] || x > box.high[axis]) return false;
    cells = std::clamp(cells, 0.0, static_cast<double>(n));
  }
  const double whole = std::floor(cells);
  place.cell = static_cast<int64_t>(whole);
  auto offset = static_cast<Offset>(cells - whole);
  if (offset >= 1) {
    offset = 0;
    ++place.cell;
  }
  place.offset = offset;
  if (is_periodic) {
    if (place.cell >= 0 && place.cell < n) return true;
    place.turn = place.cell / n - (place.cell % n < 0 ? 1 : 0);
    place.cell -= place.turn * n;
    return std::abs(place.turn) <= kMostTurns;
  }
  if (place.cell == n) {
    place.cell = n - 1;
    place.offset = 1;
  }
  return true;
}

template <class Cell, class Offset>
int64_t split_as(const Cells& box, int64_t count, const double* positions, Cell* cells,
                 Offset* offsets, int32_t* turns) {
  for (int64_t i = 0; i < count; ++i) {
    int64_t number = 0;
    for (int axis = 0; axis < box.ndim; ++axis) {
      const int64_t at = i * box.ndim + axis;
      Place place;
      if (!find<Offset>(box, axis, positions[at], place)) return i;
      number = number * box.shape[axis] + place.cell;
      offsets[at] = static_cast<Offset>(place.offset);
      turns[at] = static_cast<int32_t>(place.turn);
    }
    cells[i] = static_cast<Cell>(number);
  }
  return -1;
}

// Particles in the same row of cells as the one before, as sorted ones are, need no division.
template <class Cell, class Offset>
void join_as(const Cells& box, int64_t count, const Cell* cells, const Offset* offsets,
             double* positions) {
  const int last = box.ndim - 1;
  const auto of_row = static_cast<Cell>(box.shape[last]);
  std::array<Cell, 3> along{};
  std::array<double, 3> highest{};
  for (int axis = 0; axis <= last; ++axis) {
    const double high = box.high[axis];
    highest[axis] = box.ends[axis].periodic() ? std::nextafter(high, box.low[axis]) : high;
  }
  Cell row = -1;
  for (int64_t i = 0; i < count; ++i) {
    along[last] = row < 0 ? of_row : cells[i] - row * of_row;
    if (along[last] < 0 || along[last] >= of_row) {
      row = cells[i] / of_row;
      along[last] = cells[i] - row * of_row;
      Cell rest = row;
      for (int axis = last - 1; axis >= 0; --axis) {
        const auto n = static_cast<Cell>(box.shape[axis]);
        along[axis] = rest % n;
        rest /= n;
      }
    }
    for (int axis = 0; axis <= last; ++axis) {
      const int64_t at = i * box.ndim + axis;
      const double place = static_cast<double>(along[axis]) + offsets[at];
      const double x = box.low[axis] + place * box.spacing[axis];
      const bool is_at_end = offsets[at] == 1 && along[axis] == box.shape[axis] - 1;
      positions[at] = is_at_end ? highest[axis] : std::min(x, highest[axis]);
    }
  }
}

// Calls with pointers of the dtypes that places have.
template <class Call>
auto with_dtypes(const HostPlaces& places, Call call) {
  if (places.cell == DType::int64 && places.offset == DType::float64)
    return call(static_cast<int64_t*>(places.cells), static_cast<double*>(places.offsets));
  if (places.cell == DType::int64)
    return call(static_cast<int64_t*>(places.cells), static_cast<float*>(places.offsets));
  if (places.offset == DType::float64)
    return call(static_cast<int32_t*>(places.cells), static_cast<double*>(places.offsets));
  return call(static_cast<int32_t*>(places.cells), static_cast<float*>(places.offsets));
}

}  // namespace

DType Cells::cell_dtype() const {
  return cells() <= std::numeric_limits<int32_t>::max() ? DType::int32 : DType::int64;
}

int64_t rows_of(const Cells& box) {
  const int64_t line = cells_of_line(box);
  return box.cells() / line * ceiling(line, kCellsOfRow);
}

int64_t cells_of_line(const Cells& box) { return box.shape[box.ndim - 1]; }

int bits_of(const Ends& ends) {
  if (ends.periodic()) return 1;
  return (ends.low == Boundary::wall ? 0 : 2) | (ends.high == Boundary::wall ? 0 : 4);
}

int64_t split(const Cells& box, int64_t count, const double* positions, const HostPlaces& places) {
  return with_dtypes(places, [&](auto* cells, auto* offsets) {
    return split_as(box, count, positions, cells, offsets, places.turns);
  });
}

void join(const Cells& box, int64_t count, const HostPlaces& places, double* positions) {
  with_dtypes(places,
              [&](auto* cells, auto* offsets) { join_as(box, count, cells, offsets, positions); });
}

}  // namespace particles
