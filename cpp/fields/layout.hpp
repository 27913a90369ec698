// SPDX-License-Identifier: BSD-3-Clause
// Where the elements of a field lie in its memory. All numbers count elements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "arrays/regions.hpp"
#include "fields/grid.hpp"

namespace particles {

// Rows start on, and may be read and written in, whole vectors of so many elements.
constexpr int64_t kVector = 16;

// Element (i0, i1, i2) of component c lies at offset + c * component_stride + sum of i_k *
// stride[k].
struct Layout {
  std::array<int64_t, 3> stride{1, 1, 1};  // entries 0 .. ndim - 1 are used
  int64_t offset = 0, component_stride = 0;
  bool padded = false;  // unit stride on the last axis, rows begin and end on whole vectors
};

// Our own storage, of component_stride elements for each component. Every pitch is an odd number of
// vectors: powers of two map whole columns of a field onto a few sets of a CPU's cache. The plane
// pitch is a whole number of rows as well, which rectangular transfers want. Where that would be
// more elements than one allocation may hold, pitches are as short as whole vectors allow.
Layout pitched_layout(const Grid& grid, int components, int64_t most_elements);

// Which components and points: component, then axis 0 .. ndim - 1. Steps are positive.
struct Selection {
  std::array<int64_t, 4> start{0, 0, 0, 0}, count{1, 1, 1, 1}, step{1, 1, 1, 1};
};

Selection everything(const Grid& grid, int components);

// Throws std::out_of_range when the selection leaves the field.
Region region_of(const Grid& grid, const Layout& layout, int components,
                 const Selection& selection);

}  // namespace particles
