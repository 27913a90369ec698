/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of cells in a part of the planes of a box, of which the one behind the last is the
 * first one of the box.
 *
 * CELL       a signed integer for cells of the box
 * PART_CELL  for those of the part */
#ifndef CELL
#define CELL int
#endif
#ifndef PART_CELL
#define PART_CELL int
#endif
#include "arrays/group.cl"
#include "common/common.cl"
#include "common/regions.cl"

KERNEL void cells_of_part(__global const CELL* cells, const long cells_offset, const long n,
                          const long first, const long of_all, __global PART_CELL* target,
                          const long target_offset) {
  const Share share = share_of(n);
  for (long i = share.first + (long)get_local_id(0); i < share.last; i += GROUP) {
    const long number = (long)cells[cells_offset + i] - first;
    target[target_offset + i] = (PART_CELL)(number < 0 ? number + of_all : number);
  }
}
