/* SPDX-License-Identifier: BSD-3-Clause */
/* Motion that lies in memory: the velocity on the nodes, linear between them, or displacements.
 *
 * COPY_MOTION      rows are copied to private memory before they are used; ALONG_MEMORY always does
 * MOTION_IN_IMAGE  it lies in an image, not in a buffer: for lanes of one. Nodes are read as they
 *                  are, for the hardware's own interpolation knows only 256 places between two */
#include "cells.cl"
#include "lines.cl"

#if defined(ALONG_MEMORY) && !defined(COPY_MOTION)
#define COPY_MOTION
#endif

typedef struct {
  __global const real* from; /* unless in an image */
  Place place, next;         /* of the tile, and of the one to come */
  Strides strides;
  real scale; /* cells per unit of what is stored */
  Tile tile;
  int n;
#ifdef COPY_MOTION
  __private V* rows; /* copies of the line, or of rows low .. high-1 of segments */
  int low, high;
#endif
} Motion;

#ifdef COPY_MOTION
#ifdef SEGMENT
#define MOTION_MARGIN 256 /* rows beyond either end of a segment that may be copied */
#else
#define MOTION_MARGIN 32 /* the first rows of a line again, past its end */
#endif
#define DECLARE_COPIES                              \
  V copied_rows[LINE_CAPACITY + 2 * MOTION_MARGIN]; \
  m->rows = copied_rows
#else
#define DECLARE_COPIES
#endif

#ifdef MOTION_IN_IMAGE
#define MOTION_PARAMETERS __read_only image3d_t image, const real scale
#define MOTION_PARAMETER Motion *m, __read_only image3d_t image
#define MOTION_ARGUMENT m, image /* an image can be in no struct */
#define MOTION_FROM 0
#define MOTION_STRIDES {0, 0, 0}
#else
#define MOTION_PARAMETERS                                                               \
  __global const real *motion, const ulong motion_offset, const long motion_row_stride, \
      const long motion_lane_stride, const long motion_outer_stride, const real scale
#define MOTION_PARAMETER Motion* m
#define MOTION_ARGUMENT m
#define MOTION_FROM motion + motion_offset
#define MOTION_STRIDES {motion_row_stride, motion_lane_stride, motion_outer_stride}
#endif

#define DECLARE_MOTION                                                            \
  Motion held_motion, *const m = &held_motion;                                    \
  const Strides motion_strides = MOTION_STRIDES;                                  \
  m->from = MOTION_FROM, m->strides = motion_strides, m->scale = scale, m->n = n; \
  DECLARE_COPIES

#ifdef ALONG_MEMORY

/* Row i, which may be beyond the ends of the line. */
INLINE V stored_row(MOTION_PARAMETER, const int i) {
  V row;
  for (int j = 0; j < LANES; j++) {
    const int first = m->tile.first[j];
    ((__private real*)&row)[j] = m->from[m->place.start[j] - first + wrap(first + i, m->n)];
  }
  return row;
}

INLINE V as_wide_as_lines(const Motion* m, const V row) { return row; }

#else

/* Row i as it is counted on the line itself. */
INLINE int row_of(const Motion* m, const int i) {
  return wrap(m->tile.first + i, m->n) - m->tile.first;
}

/* Row i of the line itself. */
INLINE V row_on_line(MOTION_PARAMETER, const int i) {
#ifdef MOTION_IN_IMAGE
  const sampler_t nodes = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
  const int row = m->tile.first + i, lane = m->tile.lane, outer = m->tile.outer;
  return read_imagef(image, nodes, (int4)(COORDINATE(2), COORDINATE(1), COORDINATE(0), 0)).x;
#else
  return read_row(m->from, &m->place, m->strides, i);
#endif
}

INLINE V stored_row(MOTION_PARAMETER, const int i) {
  return row_on_line(MOTION_ARGUMENT, row_of(m, i));
}

/* The padding moves as lane 0 does: no lane strays further than the lines themselves. */
INLINE V as_wide_as_lines(const Motion* m, const V row) {
  return LANES == 1 || m->tile.live == LANES
             ? row
             : SELECT((I)(LANE_NUMBERS) < (I)((lane_int)m->tile.live), row, (V)(FIRST(row)));
}

#endif

#ifdef COPY_MOTION

/* Rows i .. i+COUNT-1. */
#ifdef SEGMENT
#define READ_MOTION(i, COUNT, to)                                                     \
  {                                                                                   \
    const int at = (i) - m->low;                                                      \
    if (at >= 0 && (i) + COUNT <= m->high) {                                          \
      UNROLL                                                                          \
      for (int j = 0; j < COUNT; j++) (to)[j] = m->rows[at + j];                      \
    } else {                                                                          \
      for (int j = 0; j < COUNT; j++) (to)[j] = stored_row(MOTION_ARGUMENT, (i) + j); \
    }                                                                                 \
  }
#else
#define READ_MOTION(i, COUNT, to)                              \
  {                                                            \
    const int at = wrap(i, m->n);                              \
    UNROLL                                                     \
    for (int j = 0; j < COUNT; j++) (to)[j] = m->rows[at + j]; \
  }
#endif

INLINE void copy_rows(MOTION_PARAMETER, __private V* rows, const int first) {
#if defined(ALONG_MEMORY) && defined(SEGMENT)
  read_periodic_block(rows, m->from, &m->tile, &m->place, m->n, first, INT_MIN, INT_MAX);
#elif defined(ALONG_MEMORY)
  read_block(rows, m->from, &m->place, first);
#else
  for (int k = 0; k < LANES; k++) rows[k] = stored_row(MOTION_ARGUMENT, first + k);
#endif
}

#else

/* Rows i .. i+COUNT-1. */
#define READ_MOTION(i, COUNT, to)                                                     \
  {                                                                                   \
    const int at = row_of(m, i);                                                      \
    if (at + COUNT <= m->n - m->tile.first) {                                         \
      UNROLL                                                                          \
      for (int j = 0; j < COUNT; j++) (to)[j] = row_on_line(MOTION_ARGUMENT, at + j); \
    } else {                                                                          \
      for (int j = 0; j < COUNT; j++) (to)[j] = stored_row(MOTION_ARGUMENT, at + j);  \
    }                                                                                 \
  }

#endif

/* `reach`: no particle of interest is further from the tile's rows, 0 .. rows-1. */
INLINE void aim_motion(MOTION_PARAMETER, const Tile* tile, const Tile* next, const int rows,
                       const int reach) {
  m->tile = *tile;
  m->place = place_of(tile, m->strides);
  m->next = place_of(next, m->strides);
#if defined(COPY_MOTION) && defined(SEGMENT)
  const int margin = min((reach + reach / 2 + MANY_SHIFTS + LANES) / LANES * LANES, MOTION_MARGIN);
  m->low = -margin;
  m->high = (rows + LANES - 1) / LANES * LANES + margin;
  for (int first = m->low; first < m->high; first += LANES)
    copy_rows(MOTION_ARGUMENT, m->rows + first - m->low, first);
#elif defined(COPY_MOTION)
  for (int first = 0; first < m->n; first += LANES)
    copy_rows(MOTION_ARGUMENT, m->rows + first, first);
  for (int j = 0; j <= MANY_SHIFTS; j++) m->rows[m->n + j] = m->rows[j % m->n];
#endif
}

INLINE void prefetch_motion(const Motion* m, const int first, const int k) {
  prefetch_row(m->from, &m->next, m->strides, first, k);
}

/* What is stored for node p. */
INLINE V motion_of_node(MOTION_PARAMETER, const int p) {
  V row;
  READ_MOTION(p, 1, &row);
  return as_wide_as_lines(m, row);
}

#define AMONG_4(b1, b2, r) SELECT(b2, SELECT(b1, (r)[3], (r)[2]), SELECT(b1, (r)[1], (r)[0]))
#define AMONG_8(b1, b2, b4, r) SELECT(b4, AMONG_4(b1, b2, (r) + 4), AMONG_4(b1, b2, r))

/* What is stored, linear between nodes, `displacement` cells after node p. */
INLINE V motion_at(MOTION_PARAMETER, const int p, const V displacement, const int when) {
  Cells c = cells_of(displacement);
  V before, after;
#if LANES == 1
  V row[2];
  READ_MOTION(p + c.common, 2, row);
  before = row[0], after = row[1];
#else
  if (c.uniform) {
    V row[3];
    READ_MOTION(p + c.common, 3, row);
    const I moved = c.shift > 0;
    before = SELECT(moved, row[1], row[0]);
    after = SELECT(moved, row[2], row[1]);
  } else if (all_shifts_below(&c, FEW_SHIFTS)) {
    V row[FEW_SHIFTS + 1];
    READ_MOTION(p + c.common, (FEW_SHIFTS + 1), row);
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
      READ_MOTION(p + c.common, (MANY_SHIFTS + 1), row);
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
