/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves particles.
 *
 * REAL_IS_DOUBLE   the wider one of offsets and moves is double
 * MOVED            type of moves
 * WITH_TURNS       how often each went round is counted */
#ifndef MOVED
#define MOVED float
#endif
#include "arrays/group.cl"
#include "common/common.cl"
#include "common/regions.cl"
#include "sets/ends.cl"
#include "sets/places.cl"

/* A group counts what has left through the low and the high end of axes 1, 2, 3, what goes
 * to nowhere known, and the number of the first of these. */
#define COUNTS_OF_GROUP (LEFT + 2)

/* A place from which a particle moves by so many cells, but for an error of rounding: what is
 * beyond an end by less is on that end. */
INLINE AxisPlace rounded_place(const long cell, const real offset, const real moved,
                               const real rounding, const long n, const int ends) {
  const AxisPlace place = moved_place(cell, offset, moved, n, ends);
  if (rounding > 0 && place.left) {
    const bool is_low = place.left == 1;
    const real back = is_low ? rounding : -rounding;
    const AxisPlace end = {is_low ? 0 : n - 1, 0, is_low ? 0 : 1, 0};
    if (!moved_place(cell, offset, moved + back, n, ends).left) return end;
  }
  if (rounding > 0 && (ends & ENDS_MEET)) {
    const AxisPlace further = moved_place(cell, offset, moved + rounding, n, ends);
    const AxisPlace begin = {0, further.turn, 0, 0};
    if (place.turn != further.turn) return begin;
  }
  return place;
}

KERNEL void move(__global const CELL* cells, __global const OFFSET* offsets,
                 __global const int* turns, __global const MOVED* moves, __global CELL* new_cells,
                 __global OFFSET* new_offsets, __global int* new_turns, __global int* gone,
                 const long n, const long n1, const long n2, const long n3, const real cells1,
                 const real cells2, const real cells3, const real rounding1, const real rounding2,
                 const real rounding3, const int ends1, const int ends2, const int ends3,
                 __global long* counts) {
  const long shape[] = {n1, n2, n3};
  const real cells_of_length[] = {cells1, cells2, cells3};
  const real rounding[] = {rounding1, rounding2, rounding3};
  const int ends[] = {ends1, ends2, ends3};
  long mine[COUNTS_OF_GROUP];
  for (int k = 0; k < COUNTS_OF_GROUP; k++) mine[k] = 0;
  mine[LEFT + 1] = LONG_MAX;
  const Share share = share_of(n);
  CellOfParticle cell = no_cell(shape);
  for (long i = share.first + (long)get_local_id(0); i < share.last; i += GROUP) {
    find_cell(&cell, cells[i], shape);
    long number = 0, stride = 1;
    int left = 0;
    bool is_known = true;
    UNROLL
    for (int axis = AXES - 1; axis >= 0; axis--) {
      const long at = i * AXES + axis, length = shape[axis];
      const real moved = (real)moves[at] * cells_of_length[axis];
      const bool is_counted = moved >= -MOST_CELLS && moved <= MOST_CELLS;
      AxisPlace place = {cell.along[axis], 0, (real)offsets[at], 0};
      if (is_counted)
        place = rounded_place(place.cell, place.offset, moved, rounding[axis], length, ends[axis]);
      is_known = is_known && is_counted;
      if (place.left) left = 2 * axis + place.left;
      number += stride * WITHIN(place.cell, 0, length - 1);
      stride *= length;
      new_offsets[at] = (OFFSET)place.offset;
#ifdef WITH_TURNS
      const long turn = turns[at] + place.turn;
      is_known = is_known && turn == (int)turn;
      new_turns[at] = (int)turn;
#endif
    }
    new_cells[i] = (CELL)number;
    gone[i] = left > 0;
    if (left) mine[left - 1]++;
    if (!is_known) {
      mine[LEFT]++;
      mine[LEFT + 1] = min(mine[LEFT + 1], i);
    }
  }
#if GROUP > 1
  __local long shared[GROUP];
  for (int k = 0; k < COUNTS_OF_GROUP; k++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    shared[get_local_id(0)] = mine[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) > 0) continue;
    for (int item = 1; item < GROUP; item++)
      mine[k] = k == LEFT + 1 ? min(mine[k], shared[item]) : mine[k] + shared[item];
  }
  if (get_local_id(0) > 0) return;
#endif
  for (int k = 0; k < COUNTS_OF_GROUP; k++) counts[get_group_id(0) * COUNTS_OF_GROUP + k] = mine[k];
}
