/* SPDX-License-Identifier: BSD-3-Clause */
/* Which particles, in an order of places, are not at the place of the next one: 1 or 0.
 *
 * CELL, BITS  unsigned integers as wide as cells and offsets
 * AXES        of the box
 * INDEX       a signed integer for particles */
#ifndef CELL
#define CELL uint
#endif
#ifndef BITS
#define BITS uint
#endif
#ifndef AXES
#define AXES 2
#endif
#ifndef INDEX
#define INDEX int
#endif
#include "arrays/group.cl"
#include "common/common.cl"
#include "common/regions.cl"

KERNEL void apart_from_next(__global const CELL* cells, __global const BITS* offsets,
                            __global const INDEX* order, const long n, __global INDEX* apart) {
  const Share share = share_of(n);
  for (long i = share.first + (long)get_local_id(0); i < share.last; i += GROUP) {
    const bool is_last = i + 1 == n;
    const long one = order[i], next = order[is_last ? i : i + 1];
    bool differs = is_last || cells[one] != cells[next];
    for (int axis = 0; axis < AXES; axis++)
      differs |= offsets[one * AXES + axis] != offsets[next * AXES + axis];
    apart[i] = differs ? 1 : 0;
  }
}
