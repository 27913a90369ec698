/* SPDX-License-Identifier: BSD-3-Clause */
/* Motion that lies in memory: the velocity on the nodes, linear between them, or displacements. */
#include "cells.cl"
#include "lines.cl"

typedef struct {
  __global const real* from;
  Place place, next; /* of the tile, and of the one to come */
  Strides strides;
  real scale; /* cells per unit of what is stored */
  Tile tile;
  int n;
#ifdef ALONG_MEMORY
  __private V* rows; /* copies of the line, or of rows low .. high-1 of segments */
  int low, high;
#endif
} Motion;

#define MOTION_PARAMETERS                                                               \
  __global const real *motion, const ulong motion_offset, const long motion_row_stride, \
      const long motion_lane_stride, const long motion_outer_stride, const real scale

#ifdef ALONG_MEMORY
#ifdef SEGMENT
#define MOTION_MARGIN 256 /* rows beyond either end of a segment that may be copied */
#else
#define MOTION_MARGIN 32 /* the first rows of a line again, past its end */
#endif

/* Rows i .. i+COUNT-1. */
#ifdef SEGMENT
#define READ_MOTION(m, i, COUNT, to)                                    \
  {                                                                     \
    const int at = (i) - (m)->low;                                      \
    if (at >= 0 && (i) + COUNT <= (m)->high) {                          \
      UNROLL                                                            \
      for (int j = 0; j < COUNT; j++) (to)[j] = (m)->rows[at + j];      \
    } else {                                                            \
      for (int j = 0; j < COUNT; j++) (to)[j] = gather_row(m, (i) + j); \
    }                                                                   \
  }

/* A row that has not been copied. */
INLINE V gather_row(const Motion* m, const int i) {
  V row;
  for (int j = 0; j < LANES; j++) {
    const int first = m->tile.first[j];
    ((__private real*)&row)[j] = m->from[m->place.start[j] - first + wrap(first + i, m->n)];
  }
  return row;
}
#else
#define READ_MOTION(m, i, COUNT, to)                             \
  {                                                              \
    const int at = wrap(i, (m)->n);                              \
    UNROLL                                                       \
    for (int j = 0; j < COUNT; j++) (to)[j] = (m)->rows[at + j]; \
  }
#endif

#define DECLARE_MOTION(n)                                                 \
  V copied_rows[LINE_CAPACITY + 2 * MOTION_MARGIN];                       \
  Motion m;                                                               \
  m.rows = copied_rows;                                                   \
  m.from = motion + motion_offset, m.scale = scale, m.n = n;              \
  m.strides.row = motion_row_stride, m.strides.lane = motion_lane_stride; \
  m.strides.outer = motion_outer_stride

/* `reach`: no particle of interest is further from the tile's rows, 0 .. rows-1. */
INLINE void aim_motion(Motion* m, const Tile* tile, const Tile* next, const int rows,
                       const int reach) {
  m->tile = *tile;
  m->place = place_of(tile, m->strides);
  m->next = place_of(next, m->strides);
#ifdef SEGMENT
  const int margin = min((reach + reach / 2 + MANY_SHIFTS + LANES) / LANES * LANES, MOTION_MARGIN);
  m->low = -margin;
  m->high = (rows + LANES - 1) / LANES * LANES + margin;
  for (int first = m->low; first < m->high; first += LANES)
    read_periodic_block(m->rows + first - m->low, m->from, tile, &m->place, m->n, first, INT_MIN,
                        INT_MAX);
#else
  for (int first = 0; first < m->n; first += LANES)
    read_block(m->rows + first, m->from, &m->place, first);
  for (int j = 0; j <= MANY_SHIFTS; j++) m->rows[m->n + j] = m->rows[j % m->n];
#endif
}

INLINE V as_wide_as_lines(const Motion* m, const V row) { return row; }

#else

/* Row i and those after it, as far as the line goes. */
INLINE int row_of(const Motion* m, const int i) {
  return wrap(m->tile.first + i, m->n) - m->tile.first;
}

#define READ_MOTION(m, i, COUNT, to)                                                 \
  {                                                                                  \
    const int at = row_of(m, i);                                                     \
    if (at + COUNT <= (m)->n - (m)->tile.first) {                                    \
      UNROLL                                                                         \
      for (int j = 0; j < COUNT; j++)                                                \
        (to)[j] = read_row((m)->from, &(m)->place, (m)->strides, at + j);            \
    } else {                                                                         \
      for (int j = 0; j < COUNT; j++)                                                \
        (to)[j] = read_row((m)->from, &(m)->place, (m)->strides, row_of(m, at + j)); \
    }                                                                                \
  }

#define DECLARE_MOTION(n)                                                 \
  Motion m;                                                               \
  m.from = motion + motion_offset, m.scale = scale, m.n = n;              \
  m.strides.row = motion_row_stride, m.strides.lane = motion_lane_stride; \
  m.strides.outer = motion_outer_stride

INLINE void aim_motion(Motion* m, const Tile* tile, const Tile* next, const int rows,
                       const int reach) {
  m->tile = *tile;
  m->place = place_of(tile, m->strides);
  m->next = place_of(next, m->strides);
}

/* The padding moves as lane 0 does: no lane strays further than the lines themselves. */
INLINE V as_wide_as_lines(const Motion* m, const V row) {
  return LANES == 1 || m->tile.live == LANES
             ? row
             : SELECT((I)(LANE_NUMBERS) < (I)((lane_int)m->tile.live), row, (V)(FIRST(row)));
}
#endif

INLINE void prefetch_motion(const Motion* m, const int first, const int k) {
  prefetch_row(m->from, &m->next, m->strides, first, k);
}

/* What is stored for node p. */
INLINE V motion_of_node(const Motion* m, const int p) {
  V row;
  READ_MOTION(m, p, 1, &row);
  return as_wide_as_lines(m, row);
}

#define AMONG_4(b1, b2, r) SELECT(b2, SELECT(b1, (r)[3], (r)[2]), SELECT(b1, (r)[1], (r)[0]))
#define AMONG_8(b1, b2, b4, r) SELECT(b4, AMONG_4(b1, b2, (r) + 4), AMONG_4(b1, b2, r))

/* What is stored, linear between nodes, `displacement` cells after node p. */
INLINE V motion_at(const Motion* m, const int p, const V displacement) {
  Cells c = cells_of(displacement);
  V before, after;
#if LANES == 1
  V row[2];
  READ_MOTION(m, p + c.common, 2, row);
  before = row[0], after = row[1];
#else
  if (c.uniform) {
    V row[3];
    READ_MOTION(m, p + c.common, 3, row);
    const I moved = c.shift > 0;
    before = SELECT(moved, row[1], row[0]);
    after = SELECT(moved, row[2], row[1]);
  } else if (all_shifts_below(&c, FEW_SHIFTS)) {
    V row[FEW_SHIFTS + 1];
    READ_MOTION(m, p + c.common, (FEW_SHIFTS + 1), row);
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
      READ_MOTION(m, p + c.common, (MANY_SHIFTS + 1), row);
      before = SELECT(take != 0, AMONG_8(b1, b2, b4, row), before);
      after = SELECT(take != 0, AMONG_8(b1, b2, b4, row + 1), after);
      left &= ~take;
      if (!ANY(left)) break;
      next_pass(&c, left);
    }
  }
#endif
  return as_wide_as_lines(m, MAD(c.offset, after - before, before));
}
