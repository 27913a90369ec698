// SPDX-License-Identifier: BSD-3-Clause
// Boxes of elements in the device's memory: as rectangular transfers, and as work for the kernels
// of copy.cl.
#pragma once

#include <vector>

#include "arrays/dtype.hpp"
#include "arrays/region.hpp"
#include "arrays/workspace.hpp"
#include "runtime/buffer.hpp"

namespace particles {

// Whether a region is worth moving as it lies, without packing it on the device first.
bool has_whole_rows(const Region& region);

// One transfer of a region with whole rows, and where its elements begin in C-ordered host memory.
struct Transfer {
  Box box;
  size_t host_offset = 0;  // bytes
};
std::vector<Transfer> transfers_of(const Region& region, size_t element_bytes);

// Groups that go through the rows of a region block by block, as boxes.cl has it.
Range range_for_rows(const Device& device, const Region& region);

// Arguments STRIDES(strides) of boxes.cl, behind their buffer, and COUNTS.
void add_place(Launch& launch, const Name& name, const Name& strides, const Buffer& buffer,
               const Region& region);
void add_counts(Launch& launch, const Region& region);

struct Place {
  const Buffer& buffer;
  DType dtype;
  Region region;
};

// Both are enqueued; the regions' counts are the same, none of them 0. Axes may lie in any order in
// memory. Integers are copied to the same dtype only.
void copy_box(Workspace& workspace, const Place& source, const Place& target);
void fill_box(Workspace& workspace, const Place& target, const Argument& value);

}  // namespace particles
