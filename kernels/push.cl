/* SPDX-License-Identifier: BSD-3-Clause */
/* Pushes the particles of a line: how many cells particle p of every lane moves in one sweep.
 *
 * A particle starts on node p and is held as whole cells plus an offset in [0,1), never as an
 * absolute coordinate.
 *
 * MOTION   GRID     midpoint rule with the velocity on the nodes of the line, linear between them
 *          FORMULA  midpoint rule with velocity_formula() at the exact places and times
 *          GIVEN    the displacements themselves are read: another kernel has pushed the particles
 *
 * The lanes' whole cells are written as common + shift, common a scalar, so that every address is a
 * scalar; the shift, small and different in every lane, is resolved by selects: there is neither
 * gather nor scatter. */
#include "lines.cl"
#include "trigonometry.cl"
#include "formula.cl"

#define GRID 0
#define FORMULA 1
#define GIVEN 2
#ifndef MOTION
#define MOTION GRID
#endif
#ifndef LINE_CAPACITY
#define LINE_CAPACITY 4096 /* rows of a line that fit in private memory */
#endif

/* i modulo n, for any i; the test keeps the division out of the usual case */
INLINE int wrap(const int i, const int n) {
  if ((uint)i < (uint)n) return i;
  const int m = i % n;
  return m < 0 ? m + n : m;
}

typedef struct {
  V offset;    /* in [0,1) */
  I whole;     /* cells */
  I shift;     /* whole - common */
  int common;  /* what the lanes share: the least of both ends, which is the least of all when cells
                  are in order */
  int uniform; /* every shift is 0 or 1 */
} Cells;

INLINE Cells cells_of(const V displacement) {
  Cells c;
  const V whole = FLOOR(displacement);
  c.offset = displacement - whole;
  c.whole = TO_INT(whole);
  const lane_int common = min(FIRST(c.whole), LAST(c.whole));
  c.common = (int)common;
  c.shift = c.whole - common;
  c.uniform = LANES == 1 || !ANY(AS_UNSIGNED(c.shift) > (U)(1));
  return c;
}

/* The lanes for which a pass over shifts 0..7 is right; the rest is left for another pass from the
 * least of theirs. */
#define SHIFTS 8
INLINE I lanes_in_reach(const Cells* c, const I left) {
  return left & (AS_UNSIGNED(c->shift) < (U)(SHIFTS));
}

INLINE void next_pass(Cells* c, const I left) {
#ifdef REAL_IS_DOUBLE
  const I far = (I)(0x7fffffffffffffffL);
#else
  const I far = (I)(0x7fffffff);
#endif
  const lane_int common = LEAST(SELECT(left != 0, c->whole, far));
  c->common = (int)common;
  c->shift = c->whole - common;
}

/* The three bits of a shift in 0..7, as plain comparisons. */
#define SHIFT_HAS_1(s) ((s == 1) | (s == 3) | (s == 5) | (s == 7))
#define SHIFT_HAS_2(s) ((s == 2) | (s == 3) | (s > 5))
#define SHIFT_HAS_4(s) (s > 3)

#if MOTION != FORMULA
typedef struct {
  __global const real* at; /* lane 0's first node */
  Strides strides;
  real scale; /* cells per unit of what is stored */
  int n, live;
#ifdef ALONG_MEMORY
  __private V* rows; /* scaled copy of the n rows; VELOCITY_MARGIN more repeat the first ones */
#endif
} Motion;

#define VELOCITY_MARGIN SHIFTS

/* Row i+j for 0 <= i < n and 0 <= j <= SHIFTS. */
INLINE V motion_row(const Motion* m, const int i, const int j) {
#ifdef ALONG_MEMORY
  return m->rows[i + j];
#else
  return m->scale * without_padding(read_row(m->at, m->strides, wrap(i + j, m->n)), m->live);
#endif
}

#ifdef ALONG_MEMORY
INLINE void copy_rows(Motion* m, const Tile t) {
  for (int first = 0; first < m->n; first += LANES) {
    V block[LANES];
    read_block(block, m->at, t, m->strides, first);
    UNROLL
    for (int j = 0; j < LANES; j++) m->rows[first + j] = m->scale * block[j];
  }
  for (int j = 0; j <= VELOCITY_MARGIN; j++) m->rows[m->n + j] = m->rows[wrap(j, m->n)];
}
#endif

#define BY_BITS(s1, s2, s4, r)                                           \
  SELECT(s4, SELECT(s2, SELECT(s1, r[7], r[6]), SELECT(s1, r[5], r[4])), \
         SELECT(s2, SELECT(s1, r[3], r[2]), SELECT(s1, r[1], r[0])))

/* The stored motion, linear between nodes, `displacement` cells after node p. */
INLINE V motion_at(const Motion* m, const int p, const V displacement) {
  Cells c = cells_of(displacement);
  V before, after;
  if (c.uniform) {
    const int i = wrap(p + c.common, m->n);
    const V middle = motion_row(m, i, 1);
#if LANES == 1
    before = motion_row(m, i, 0), after = middle;
#else
    const I moved = c.shift > 0;
    before = SELECT(moved, middle, motion_row(m, i, 0));
    after = SELECT(moved, motion_row(m, i, 2), middle);
#endif
  } else {
    before = after = 0;
    I left = (I)(-1);
    while (1) {
      const int i = wrap(p + c.common, m->n);
      const I take = lanes_in_reach(&c, left);
      const I s1 = SHIFT_HAS_1(c.shift), s2 = SHIFT_HAS_2(c.shift), s4 = SHIFT_HAS_4(c.shift);
      V row[SHIFTS + 1];
      UNROLL
      for (int j = 0; j <= SHIFTS; j++) row[j] = motion_row(m, i, j);
      const V* next = row + 1;
      before = SELECT(take != 0, BY_BITS(s1, s2, s4, row), before);
      after = SELECT(take != 0, BY_BITS(s1, s2, s4, next), after);
      left &= ~take;
      if (!ANY(left)) break;
      next_pass(&c, left);
    }
  }
  return MAD(c.offset, after - before, before);
}

#define MOTION_PARAMETERS                                                               \
  __global const real *motion, const ulong motion_offset, const long motion_row_stride, \
      const long motion_lane_stride, const long motion_outer_stride, const real scale, const int n

/* Declares Motion m from the kernel's parameters. */
#ifdef ALONG_MEMORY
#define DECLARE_MOTION                                                             \
  V copied_rows[LINE_CAPACITY + LANES + VELOCITY_MARGIN + 1];                      \
  Motion m = {0,     {motion_row_stride, motion_lane_stride, motion_outer_stride}, \
              scale, n,                                                            \
              LANES, copied_rows}
#else
#define DECLARE_MOTION \
  Motion m = {0, {motion_row_stride, motion_lane_stride, motion_outer_stride}, scale, n, LANES}
#endif

#ifdef ALONG_MEMORY
#define AIM_MOTION(tile)                                       \
  m.at = motion + motion_offset + tile_start(tile, m.strides); \
  m.live = tile.live;                                          \
  copy_rows(&m, tile)
#else
#define AIM_MOTION(tile)                                       \
  m.at = motion + motion_offset + tile_start(tile, m.strides); \
  m.live = tile.live
#endif
#endif

#if MOTION == GRID
INLINE V node_velocity(const Motion* m, const int p) { return motion_row(m, p, 0); }

INLINE V displacement_of(const Motion* m, const int p) {
  return motion_at(m, p, REAL(0.5) * motion_row(m, p, 0));
}
#elif MOTION == GIVEN
INLINE V displacement_of(const Motion* m, const int p) { return motion_row(m, p, 0); }
#else

/* Which coordinate runs along the line, across its lanes, and further across: 0, 1, 2 for x, y, z.
 */
#ifndef ROW_AXIS
#define ROW_AXIS 0
#define LANE_AXIS 1
#define OUTER_AXIS 2
#endif
#define COORDINATE(axis) (ROW_AXIS == axis ? row : LANE_AXIS == axis ? m->lane : m->outer)

typedef struct {
  V lane, outer;        /* coordinates across the line */
  real origin, spacing; /* along the line */
  real time, middle_time;
  real scale; /* cells per unit of velocity: duration / spacing */
  int n;
} Motion;

/* The velocity `displacement` cells after node p, wrapped into the box: the formula is continued
 * periodically. */
INLINE V motion_at(const Motion* m, const int p, const V displacement, const real time) {
  const V place = (real)p + displacement;
  const V cells = place - (real)m->n * FLOOR(place * (REAL(1.0) / (real)m->n));
  const V row = MAD((V)(m->spacing), cells, (V)(m->origin));
  return velocity_formula(COORDINATE(0), COORDINATE(1), COORDINATE(2), time);
}

/* Lanes beyond the last line repeat it: a formula is asked for no place that the grid does not
 * have. */
INLINE V lines_of_lanes(const Tile tile) {
  const V last = (V)((real)(tile.live - 1)), lane = (V)(LANE_NUMBERS);
  return SELECT(lane < last, lane, last);
}

INLINE V node_velocity(const Motion* m, const int p) {
  return motion_at(m, p, (V)(REAL(0.0)), m->time);
}

INLINE V displacement_of(const Motion* m, const int p) {
  const V middle = REAL(0.5) * m->scale * node_velocity(m, p);
  return m->scale * motion_at(m, p, middle, m->middle_time);
}

#define MOTION_PARAMETERS                                                                         \
  const real row_origin, const real row_spacing, const real lane_origin, const real lane_spacing, \
      const real outer_origin, const real outer_spacing, const real time, const real middle_time, \
      const real scale, const int n
#define DECLARE_MOTION Motion m = {0, 0, row_origin, row_spacing, time, middle_time, scale, n}
#define AIM_MOTION(tile)                                                          \
  m.lane = lane_origin + lane_spacing * ((real)tile.lane + lines_of_lanes(tile)); \
  m.outer = (V)(outer_origin + outer_spacing * (real)tile.outer)
#endif
