/* SPDX-License-Identifier: BSD-3-Clause */
/* Where particles are: each in a cell, at an offset from 0 to 1 along each axis; and where they
 * come to be when they move. Numbers of cells count along the last axis first.
 *
 * Only the fraction of a cell that a particle moves by meets its offset; whole cells are added to
 * the cell: what is lost does not depend on how long the box is.
 *
 * AXES     of the box
 * CELL     a signed integer
 * OFFSET   the type of offsets */
#ifndef AXES
#define AXES 1
#endif
#ifndef CELL
#define CELL int
#endif
#ifndef OFFSET
#define OFFSET float
#endif
#include "common/common.cl"
#include "sets/ends.cl"

/* One instruction, where the function of PoCL's library takes a call. */
#if defined REAL_IS_DOUBLE || !__has_builtin(__builtin_rintf)
#define TO_NEAREST(x) rint(x)
#else
#define TO_NEAREST(x) __builtin_rintf(x)
#endif

/* No particle moves by more at once. */
#define MOST_CELLS REAL(1e9)

/* Through how many ends of axes 1, 2, 3, low and high, something may leave: counts of it. */
#define LEFT 6

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

/* A place from which a particle moves by so many cells, at most MOST_CELLS. */
INLINE AxisPlace moved_place(const long cell, const real offset, const real moved, const long n,
                             const int ends) {
  const real whole = TO_NEAREST(moved), rest = offset + (moved - whole);
  const real over = SELECT(rest < 0, REAL(-1.0), SELECT(rest >= 1, REAL(1.0), REAL(0.0)));
  const AxisPlace place = {cell + (long)(whole + over), 0, rest - over, 0};
  return within(as_stored(place), n, ends);
}

#if LANES == 1
#define NEAREST_OF_LANES TO_NEAREST
#else
/* Added and taken away again, it leaves no fraction; numbers as large as it have none. */
#ifdef REAL_IS_DOUBLE
#define NO_FRACTION 4503599627370496.0
#else
#define NO_FRACTION 8388608.0f
#endif
INLINE V NEAREST_OF_LANES(const V x) {
  const V whole = SELECT(x < 0, (x - NO_FRACTION) + NO_FRACTION, (x + NO_FRACTION) - NO_FRACTION);
  return SELECT((x < NO_FRACTION) & (x > -NO_FRACTION), whole, x);
}
#endif

/* Where lanes come to be, as moved_place() has it, if that is within the box; cells are so few that
 * lanes can count them. */
INLINE I moved_lanes(const I cell, const V offset, const V moved, __private V* end) {
  V stored;
  const V whole = NEAREST_OF_LANES(moved);
  const V one = REAL(1.0), none = REAL(0.0), rest = offset + (moved - whole);
  const V over = SELECT(rest < none, -one, SELECT(rest >= one, one, none));
  const V place = rest - over;
  for (int lane = 0; lane < LANES; lane++)
    REAL_OF(stored, lane) = (real)(OFFSET)REAL_OF(place, lane);
  const I is_next = stored >= one;
  *end = SELECT(is_next, none, stored);
  return cell + TO_INT(whole + over) + SELECT(is_next, (I)(1), (I)(0));
}

/* The cells that lanes are in, along each axis, of numbers that are exact: where a quotient is not
 * whole, it is further from the next whole number than it is rounded by. */
INLINE void cells_of_lanes(V number, const long* shape, __private V* along) {
  UNROLL
  for (int axis = AXES - 1; axis > 0; axis--) {
    const real n = (real)shape[axis];
    const V before = FLOOR(number / n);
    along[axis] = number - before * n;
    number = before;
  }
  along[0] = number;
}

/* The cell that a particle is in, along each axis. Particles in the same row of cells as the one
 * before, as sorted ones are, need no division. */
typedef struct {
  CELL row_begin, along[AXES];
} CellOfParticle;

/* Before the first particle. */
INLINE CellOfParticle no_cell(const long* shape) {
  CellOfParticle cell = {-1 - (CELL)shape[AXES - 1], {0}};
  return cell;
}

INLINE void find_cell(CellOfParticle* cell, const CELL number, const long* shape) {
  const CELL of_row = (CELL)shape[AXES - 1];
  if (number < cell->row_begin || number >= cell->row_begin + of_row) {
    CELL rows = number / of_row;
    cell->row_begin = rows * of_row;
    for (int axis = AXES - 2; axis >= 0; axis--) {
      const CELL before = rows / (CELL)shape[axis];
      cell->along[axis] = rows - before * (CELL)shape[axis];
      rows = before;
    }
  }
  cell->along[AXES - 1] = number - cell->row_begin;
}
