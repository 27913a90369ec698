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

/* Shifts of 0..3 take one pass of two selects a row. Any others take passes of three selects: each
 * is right for the lanes with shifts 0..7, and leaves the rest to another one from the least of
 * theirs. */
#define FEW_SHIFTS 4
#define MANY_SHIFTS 8
INLINE int all_shifts_below(const Cells* c, const lane_int limit) {
  return !ANY(AS_UNSIGNED(c->shift) >= (U)(limit));
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

/* The bits of a shift, as plain comparisons. */
#define BIT_1_OF_FEW(s) (((s) == 1) | ((s) == 3))
#define BIT_2_OF_FEW(s) ((s) > 1)
#define BIT_1(s) (((s) == 1) | ((s) == 3) | ((s) == 5) | ((s) == 7))
#define BIT_2(s) (((s) == 2) | ((s) == 3) | ((s) > 5))
#define BIT_4(s) ((s) > 3)

#if MOTION != FORMULA
typedef struct {
  __global const real* at;   /* lane 0's first node */
  __global const real* next; /* that of the tile to come */
  Strides strides;
  real scale; /* cells per unit of what is stored */
  int n, live;
#ifdef ALONG_MEMORY
  __private V* rows; /* copy of the n rows; VELOCITY_MARGIN more repeat the first ones */
#endif
} Motion;

/* Rows i .. i+COUNT-1, for 0 <= i < n. */
#ifdef ALONG_MEMORY
#define VELOCITY_MARGIN MANY_SHIFTS
#define READ_MOTION(m, i, COUNT, to) \
  UNROLL                             \
  for (int j = 0; j < COUNT; j++) (to)[j] = (m)->rows[(i) + j];

INLINE void copy_rows(Motion* m, const Tile t) {
  for (int first = 0; first < m->n; first += LANES) {
    V block[LANES];
    read_block(block, m->at, t, m->strides, first);
    UNROLL
    for (int j = 0; j < LANES; j++) m->rows[first + j] = block[j];
  }
  for (int j = 0; j <= VELOCITY_MARGIN; j++) m->rows[m->n + j] = m->rows[wrap(j, m->n)];
}
#else
#define READ_MOTION(m, i, COUNT, to)                                               \
  if ((i) + COUNT <= (m)->n) {                                                     \
    UNROLL                                                                         \
    for (int j = 0; j < COUNT; j++) (to)[j] = read_row((m)->at, (m)->strides, (i) + j); \
  } else {                                                                         \
    for (int j = 0; j < COUNT; j++)                                                \
      (to)[j] = read_row((m)->at, (m)->strides, wrap((i) + j, (m)->n));              \
  }
#endif

INLINE V motion_row(const Motion* m, const int i) {
#ifdef ALONG_MEMORY
  return m->rows[i];
#else
  return read_row(m->at, m->strides, i);
#endif
}

#define AMONG_4(b1, b2, r) SELECT(b2, SELECT(b1, (r)[3], (r)[2]), SELECT(b1, (r)[1], (r)[0]))
#define AMONG_8(b1, b2, b4, r) SELECT(b4, AMONG_4(b1, b2, (r) + 4), AMONG_4(b1, b2, r))

/* The stored motion, linear between nodes, `displacement` cells after node p. */
INLINE V motion_at(const Motion* m, const int p, const V displacement) {
  Cells c = cells_of(displacement);
  V before, after;
  int i = wrap(p + c.common, m->n);
#if LANES == 1
  V row[2];
  READ_MOTION(m, i, 2, row);
  before = row[0], after = row[1];
#else
  if (c.uniform) {
    V row[3];
    READ_MOTION(m, i, 3, row);
    const I moved = c.shift > 0;
    before = SELECT(moved, row[1], row[0]);
    after = SELECT(moved, row[2], row[1]);
  } else if (all_shifts_below(&c, FEW_SHIFTS)) {
    V row[FEW_SHIFTS + 1];
    READ_MOTION(m, i, (FEW_SHIFTS + 1), row);
    const I b1 = BIT_1_OF_FEW(c.shift), b2 = BIT_2_OF_FEW(c.shift);
    before = AMONG_4(b1, b2, row);
    after = AMONG_4(b1, b2, row + 1);
  } else {
    before = after = 0;
    I left = (I)(-1);
    while (1) {
      const I take = left & (AS_UNSIGNED(c.shift) < (U)(MANY_SHIFTS));
      const I b1 = BIT_1(c.shift), b2 = BIT_2(c.shift), b4 = BIT_4(c.shift);
      V row[MANY_SHIFTS + 1];
      READ_MOTION(m, i, (MANY_SHIFTS + 1), row);
      before = SELECT(take != 0, AMONG_8(b1, b2, b4, row), before);
      after = SELECT(take != 0, AMONG_8(b1, b2, b4, row + 1), after);
      left &= ~take;
      if (!ANY(left)) break;
      next_pass(&c, left);
      i = wrap(p + c.common, m->n);
    }
  }
#endif
  return MAD(c.offset, after - before, before);
}

#define MOTION_PARAMETERS                                                               \
  __global const real *motion, const ulong motion_offset, const long motion_row_stride, \
      const long motion_lane_stride, const long motion_outer_stride, const real scale, const int n

/* Declares Motion m from the kernel's parameters. */
#ifdef ALONG_MEMORY
#define DECLARE_MOTION                                                             \
  V copied_rows[LINE_CAPACITY + LANES + VELOCITY_MARGIN + 1];                      \
  Motion m = {0,     0,  {motion_row_stride, motion_lane_stride, motion_outer_stride}, \
              scale, n,                                                            \
              LANES, copied_rows}
#else
#define DECLARE_MOTION \
  Motion m = {0, 0, {motion_row_stride, motion_lane_stride, motion_outer_stride}, scale, n, LANES}
#endif

#ifdef ALONG_MEMORY
#define AIM_MOTION(tile, next_tile)                                 \
  m.at = motion + motion_offset + tile_start(tile, m.strides);      \
  m.next = motion + motion_offset + tile_start(next_tile, m.strides); \
  m.live = tile.live;                                               \
  copy_rows(&m, tile)
#else
#define AIM_MOTION(tile, next_tile)                                 \
  m.at = motion + motion_offset + tile_start(tile, m.strides);      \
  m.next = motion + motion_offset + tile_start(next_tile, m.strides); \
  m.live = tile.live
#endif

/* The padding moves as lane 0 does: no lane strays further than the lines themselves. */
INLINE V without_padding(const V row, const int live) {
#if LANES == 1 || defined(ALONG_MEMORY)
  return row;
#else
  return live == LANES
             ? row
             : SELECT((I)(LANE_NUMBERS) < (I)((lane_int)live), row, (V)(FIRST(row)));
#endif
}

INLINE void prefetch_motion(const Motion* m, const int first, const int k) {
#ifdef ALONG_MEMORY
  PREFETCH(m->next + k * m->strides.lane + first);
#else
  PREFETCH(m->next + (first + k) * m->strides.row);
#endif
}
#endif

#if MOTION == GRID
INLINE V node_velocity(const Motion* m, const int p) {
  return without_padding(motion_row(m, p), m->live);
}

/* Stage by stage: rows are independent of one another, stages are not, so this hides their latency.
 */
INLINE void displacements(const Motion* m, const int first, const int rows, __private V* moved) {
  const real half_scale = REAL(0.5) * m->scale;
  for (int k = 0; k < rows; k++) moved[k] = half_scale * node_velocity(m, first + k);
  for (int k = 0; k < rows; k++)
    moved[k] = m->scale * without_padding(motion_at(m, first + k, moved[k]), m->live);
}
#elif MOTION == GIVEN
INLINE void displacements(const Motion* m, const int first, const int rows, __private V* moved) {
  for (int k = 0; k < rows; k++) moved[k] = without_padding(motion_row(m, first + k), m->live);
}
#else

INLINE void prefetch_motion(const void* m, const int first, const int k) {}

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

INLINE void displacements(const Motion* m, const int first, const int rows, __private V* moved) {
  const real half_scale = REAL(0.5) * m->scale;
  for (int k = 0; k < rows; k++) moved[k] = half_scale * node_velocity(m, first + k);
  for (int k = 0; k < rows; k++)
    moved[k] = m->scale * motion_at(m, first + k, moved[k], m->middle_time);
}

#define MOTION_PARAMETERS                                                                         \
  const real row_origin, const real row_spacing, const real lane_origin, const real lane_spacing, \
      const real outer_origin, const real outer_spacing, const real time, const real middle_time, \
      const real scale, const int n
#define DECLARE_MOTION Motion m = {0, 0, row_origin, row_spacing, time, middle_time, scale, n}
#define AIM_MOTION(tile, next_tile)                                               \
  m.lane = lane_origin + lane_spacing * ((real)tile.lane + lines_of_lanes(tile)); \
  m.outer = (V)(outer_origin + outer_spacing * (real)tile.outer)
#endif
