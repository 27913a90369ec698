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

/* Cells that lanes can count along an axis, whatever is added to them. */
#define MOST_COUNTED (1 << 30)

/* How many cells from an end a particle may be on the other side of it, but for rounding. */
INLINE lane_int lanes_near_end(const real rounding) {
  return rounding > 0 ? (lane_int)LEAST_OF(rounding, MOST_CELLS) + 1 : 0;
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
  const bool are_few = n1 <= MOST_COUNTED && n2 <= MOST_COUNTED && n3 <= MOST_COUNTED;
  const Share share = share_of(n);
  CellOfParticle at = no_cell(shape);
  for (long i = share.first + (long)get_local_id(0) * LANES; i < share.last; i += GROUP * LANES) {
    const int count = (int)min((long)LANES, share.last - i);
    I cell[AXES], end[AXES], is_within = (I)((lane_int)(are_few ? -1 : 0));
    V offset[AXES], moved[AXES], rest[AXES];
    for (int lane = 0; lane < LANES; lane++) {
      const long particle = i + LEAST_OF(lane, count - 1);
      find_cell(&at, cells[particle], shape);
      UNROLL
      for (int axis = 0; axis < AXES; axis++) {
        ((__private lane_int*)&cell[axis])[lane] = (lane_int)at.along[axis];
        REAL_OF(offset[axis], lane) = (real)offsets[particle * AXES + axis];
        REAL_OF(moved[axis], lane) = (real)moves[particle * AXES + axis];
      }
    }
    UNROLL
    for (int axis = 0; axis < AXES; axis++) {
      const lane_int near_end = lanes_near_end(rounding[axis]);
      moved[axis] *= cells_of_length[axis];
      const I is_counted = (moved[axis] >= -MOST_CELLS) & (moved[axis] <= MOST_CELLS);
      end[axis] = moved_lanes(cell[axis], offset[axis],
                              SELECT(is_counted, moved[axis], (V)(REAL(0.0))), &rest[axis]);
      is_within &= is_counted & (end[axis] >= (I)(near_end)) &
                   (end[axis] < (I)((lane_int)shape[axis] - near_end));
    }
    for (int lane = 0; lane < count; lane++) {
      const long particle = i + lane;
      if (INT_OF(is_within, lane) != 0) {
        CELL number = 0;
        UNROLL
        for (int axis = 0; axis < AXES; axis++) {
          number = number * (CELL)shape[axis] + (CELL)INT_OF(end[axis], lane);
          new_offsets[particle * AXES + axis] = (OFFSET)REAL_OF(rest[axis], lane);
#ifdef WITH_TURNS
          new_turns[particle * AXES + axis] = turns[particle * AXES + axis];
#endif
        }
        new_cells[particle] = number;
        gone[particle] = 0;
        continue;
      }
      long number = 0;
      int left = 0;
      bool is_known = true;
      find_cell(&at, cells[particle], shape);
      UNROLL
      for (int axis = 0; axis < AXES; axis++) {
        const long own = particle * AXES + axis, length = shape[axis];
        const real by = REAL_OF(moved[axis], lane);
        const bool is_counted = by >= -MOST_CELLS && by <= MOST_CELLS;
        AxisPlace place = {at.along[axis], 0, REAL_OF(offset[axis], lane), 0};
        if (is_counted)
          place = rounded_place(place.cell, place.offset, by, rounding[axis], length, ends[axis]);
        is_known = is_known && is_counted;
        if (place.left && !left) left = 2 * axis + place.left;
        number = number * length + WITHIN(place.cell, 0, length - 1);
        new_offsets[own] = (OFFSET)place.offset;
#ifdef WITH_TURNS
        const long turn = turns[own] + place.turn;
        is_known = is_known && turn == (int)turn;
        new_turns[own] = (int)turn;
#endif
      }
      new_cells[particle] = (CELL)number;
      gone[particle] = left > 0;
      if (left) mine[left - 1]++;
      if (!is_known) {
        mine[LEFT]++;
        mine[LEFT + 1] = LEAST_OF(mine[LEFT + 1], particle);
      }
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
