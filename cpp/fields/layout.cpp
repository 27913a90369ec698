// SPDX-License-Identifier: BSD-3-Clause
#include "fields/layout.hpp"

#include <stdexcept>
#include <string>

#include "arrays/ceiling.hpp"

namespace particles {

namespace {

// Whether some plane lies so near a multiple of a power of two behind another that the lines of the
// grid crowd into a few sets of a cache: 257 rows of 17 vectors do, as 15 such planes are 2^16 - 1.
bool planes_collide(int64_t pitch) {
  constexpr int64_t kPower = 8192 * kVector, kNear = 4 * kVector, kPlanes = 32;
  for (int64_t distance = pitch; distance <= kPlanes * pitch; distance += pitch)
    if (distance > kNear && (distance + kNear) % kPower <= 2 * kNear) return true;
  return false;
}

int64_t rows_of_plane(int64_t rows, int64_t pitch) {
  constexpr int64_t kMore = 16;
  for (int64_t odd = rows | 1; odd < rows + kMore; odd += 2)
    if (!planes_collide(odd * pitch)) return odd;
  return rows | 1;
}

// `odd` is 1 or 0: pitches are odd numbers of vectors, or of any number.
Layout padded_layout(const Grid& grid, int components, int64_t odd) {
  const int last = grid.ndim - 1;
  const auto vectors = [&](int64_t elements) {
    return (ceiling(elements, kVector) | odd) * kVector;
  };
  Layout layout;
  layout.padded = true;
  int64_t pitch = vectors(grid.shape[last]);
  for (int axis = last - 1; axis >= 0; --axis) {
    layout.stride[axis] = pitch;
    const int64_t rows = grid.shape[axis];
    pitch *= axis > 0 && odd ? rows_of_plane(rows, pitch) : rows;
  }
  layout.component_stride = components > 1 ? vectors(pitch) : pitch;
  return layout;
}

}  // namespace

Layout pitched_layout(const Grid& grid, int components, int64_t most_elements) {
  const Layout layout = padded_layout(grid, components, 1);
  return layout.component_stride * components <= most_elements ? layout
                                                               : padded_layout(grid, components, 0);
}

Selection everything(const Grid& grid, int components) {
  Selection all;
  all.count[0] = components;
  for (int axis = 0; axis < grid.ndim; ++axis) all.count[axis + 1] = grid.shape[axis];
  return all;
}

Region region_of(const Grid& grid, const Layout& layout, int components,
                 const Selection& selection) {
  Region region;
  region.offset = layout.offset;
  for (int k = 0; k <= grid.ndim; ++k) {
    const int64_t length = k == 0 ? components : grid.shape[k - 1];
    const int64_t stride = k == 0 ? layout.component_stride : layout.stride[k - 1];
    const int64_t start = selection.start[k], count = selection.count[k], step = selection.step[k];
    if (start < 0 || count < 1 || step < 1 || start + (count - 1) * step >= length) {
      throw std::out_of_range("selection: expected elements of an axis of length " +
                              std::to_string(length) + ", got " + std::to_string(count) + " from " +
                              std::to_string(start) + " in steps of " + std::to_string(step));
    }
    const int place = k == 0 ? 0 : k + 3 - grid.ndim;
    region.count[place] = count;
    region.stride[place] = stride * step;
    region.offset += stride * start;
  }
  return region;
}

}  // namespace particles
