// SPDX-License-Identifier: BSD-3-Clause
// Boxes of elements in a piece of memory. All numbers count elements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace particles {

// {components, slices, rows, elements of a row} of a field; axes that are not needed have count 1.
struct Region {
  std::array<int64_t, 4> count{1, 1, 1, 1}, stride{1, 1, 1, 1};
  int64_t offset = 0;

  int64_t points() const { return count[0] * count[1] * count[2] * count[3]; }
};

// The region's elements side by side in C order.
Region packed(const Region& region);

// How many elements memory must have for a region to lie in it, wherever its numbers come from.
// Throws std::invalid_argument where it begins before the memory, where a stride is not positive,
// or where the number of its bytes is none of 64 bits.
int64_t end_of(const Region& region, size_t element_bytes);

}  // namespace particles
