// SPDX-License-Identifier: BSD-3-Clause
// Regions of memory: as rectangular transfers, and as work for kernels, which copy and fill them.
// All numbers count elements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "arrays/dtype.hpp"
#include "arrays/workspace.hpp"
#include "runtime/buffer.hpp"

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

// Whether a region is worth moving as it lies, without packing it on the device first.
bool has_whole_rows(const Region& region);

// One transfer of a region with whole rows, and where its elements begin in C-ordered host memory.
struct Transfer {
  Rectangle rectangle;
  size_t host_offset = 0;  // bytes
};
std::vector<Transfer> transfers_of(const Region& region, size_t element_bytes);

// Groups that go through the rows of a region block by block, as regions.cl has it.
Range range_for_rows(const Device& device, const Region& region);

// Arguments STRIDES(strides) of regions.cl, behind their buffer, and COUNTS.
void add_region(Launch& launch, const Name& name, const Name& strides, const Buffer& buffer,
                const Region& region);
void add_counts(Launch& launch, const Region& region);

// Where in memory elements are, and what they are.
struct BufferRegion {
  const Buffer& buffer;
  DType dtype;
  Region region;
};

// Both are enqueued; the regions' counts are the same, none of them 0. Axes may lie in any order in
// memory. Integers are copied to the same dtype only.
void copy_region(Workspace& workspace, const BufferRegion& source, const BufferRegion& target);
void fill_region(Workspace& workspace, const BufferRegion& target, const Argument& value);

}  // namespace particles
