/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves particles, each of which is in a cell, at an offset from 0 to 1 along each axis. Numbers of
 * cells count along the last axis first.
 *
 * Only the fraction of a cell that a particle moves by meets its offset; whole cells are added to
 * the cell: what is lost does not depend on how long the box is.
 *
 * REAL_IS_DOUBLE   the wider one of offsets and moves is double
 * AXES             of the box
 * CELL             a signed integer
 * OFFSET, MOVED    types of offsets and of moves
 * WITH_TURNS       how often each went round is counted */
#ifndef AXES
#define AXES 1
#endif
#ifndef CELL
#define CELL int
#endif
#ifndef OFFSET
#define OFFSET float
#endif
#ifndef MOVED
#define MOVED float
#endif
#include "arrays/group.cl"
#include "common/common.cl"
#include "common/regions.cl"
#include "sets/ends.cl"

/* One instruction, where the function of PoCL's library takes a call. */
#if defined REAL_IS_DOUBLE || !__has_builtin(__builtin_rintf)
#define TO_NEAREST(x) rint(x)
#else
#define TO_NEAREST(x) __builtin_rintf(x)
#endif

/* A group counts what has left through the low and the high end of axes 1, 2, 3, what goes
 * to nowhere known, and the number of the first of these. */
#define LEFT 6
#define COUNTS_OF_GROUP (LEFT + 2)
#define MOST_CELLS REAL(1e9)

/* A place along one axis; whether it is beyond an open end, 1 or 2, says `left`. */
typedef struct {
  long cell, turn;
  real offset;
  int left;
} AxisPlace;

/* An offset as it is stored, which may be rounded up to 1. */
INLINE AxisPlace as_stored(AxisPlace place) {
  place.offset = (real)(OFFSET)place.offset;
  if (place.offset >= 1) {
    place.offset = 0;
    place.cell++;
  }
  return place;
}

/* The mirror image of a place at that cell's low end. */
INLINE AxisPlace mirrored(AxisPlace place, const long mirror) {
  place.cell = 2 * mirror - place.cell - (place.offset > 0 ? 1 : 0);
  place.offset = place.offset > 0 ? 1 - place.offset : 0;
  return as_stored(place);
}

INLINE bool is_above(const AxisPlace place, const long n) {
  return place.cell > n || (place.cell == n && place.offset > 0);
}

INLINE AxisPlace within(AxisPlace place, const long n, const int ends) {
  if (ends & ENDS_MEET) {
    if (place.cell < 0 || place.cell >= n) {
      const long cell = modulo_of(place.cell, n);
      place.turn = (place.cell - cell) / n;
      place.cell = cell;
    }
    return place;
  }
  const bool has_two_walls = !(ends & (LOW_IS_OPEN | HIGH_IS_OPEN));
  if (has_two_walls && (place.cell < 0 || place.cell > n))
    place.cell = modulo_of(place.cell, 2 * n);
  if (!(ends & LOW_IS_OPEN) && place.cell < 0) place = mirrored(place, 0);
  if (!(ends & HIGH_IS_OPEN) && is_above(place, n)) place = mirrored(place, n);
  if (place.cell < 0) place.left = 1;
  if (is_above(place, n)) place.left = 2;
  if (place.cell == n) {
    place.cell = n - 1;
    place.offset = 1;
  }
  return place;
}

KERNEL void move(__global const CELL* cells, __global const OFFSET* offsets,
                 __global const int* turns, __global const MOVED* moves, __global CELL* new_cells,
                 __global OFFSET* new_offsets, __global int* new_turns, __global int* gone,
                 const long n, const long n1, const long n2, const long n3, const real cells1,
                 const real cells2, const real cells3, const int ends1, const int ends2,
                 const int ends3, __global long* counts) {
  const long shape[] = {n1, n2, n3};
  const real cells_of_length[] = {cells1, cells2, cells3};
  const int ends[] = {ends1, ends2, ends3};
  long mine[COUNTS_OF_GROUP];
  for (int k = 0; k < COUNTS_OF_GROUP; k++) mine[k] = 0;
  mine[LEFT + 1] = LONG_MAX;
  const Share share = share_of(n);
  /* Particles in the same row of cells as the one before, as sorted ones are, need no division. */
  CELL row = 0, row_begin = -1 - (CELL)shape[AXES - 1], of_row[AXES];
  for (long i = share.first + (long)get_local_id(0); i < share.last; i += GROUP) {
    CELL rest = cells[i];
    if (rest < row_begin || rest >= row_begin + (CELL)shape[AXES - 1]) {
      row = rest / (CELL)shape[AXES - 1];
      row_begin = row * (CELL)shape[AXES - 1];
      CELL rows = row;
      for (int axis = AXES - 2; axis >= 0; axis--) {
        const CELL before = rows / (CELL)shape[axis];
        of_row[axis] = rows - before * (CELL)shape[axis];
        rows = before;
      }
    }
    of_row[AXES - 1] = rest - row_begin;
    long number = 0, stride = 1;
    int left = 0;
    bool is_known = true;
    UNROLL
    for (int axis = AXES - 1; axis >= 0; axis--) {
      const long at = i * AXES + axis, length = shape[axis];
      const real moved = (real)moves[at] * cells_of_length[axis], whole = TO_NEAREST(moved);
      const bool is_counted = fabs(moved) <= MOST_CELLS;
      AxisPlace place = {of_row[axis], 0, (real)offsets[at], 0};
      if (is_counted) {
        const real offset = place.offset + (moved - whole);
        const real over = SELECT(offset < 0, REAL(-1.0), SELECT(offset >= 1, REAL(1.0), REAL(0.0)));
        place.cell += (long)(whole + over);
        place.offset = offset - over;
        place = within(as_stored(place), length, ends[axis]);
      }
      is_known = is_known && is_counted;
      if (place.left) left = 2 * axis + place.left;
      number += stride * clamp(place.cell, (long)0, length - 1);
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
