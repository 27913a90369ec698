/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of motion that lies in memory. Rows and nodes are the velocity's own, which may be coarser
 * than the particles'. Images are read node by node: the hardware's own interpolation knows only
 * 256 places between two. */
#include "motion/interpolation.cl"
#include "motion/motion_held.cl"

#ifdef ALONG_MEMORY

/* A node of the lines of a level. */
INLINE V node_of_lines(MOTION_PARAMETER, const int level, const int node) {
  const Level* l = &m->level[level];
  V value;
  for (int j = 0; j < LANES; j++)
    ((__private real*)&value)[j] = l->from[l->place.start[j] - m->tile.first[j] + node];
  return value;
}

/* Row i of a level, which may be beyond the ends of the line. */
INLINE V stored_row(MOTION_PARAMETER, const int level, const int i) {
  V row;
  for (int j = 0; j < LANES; j++) {
    const int first = m->tile.first[j];
    const Level* l = &m->level[level];
    const real row_of_lane = l->from[l->place.start[j] - first + STORED_NODE(first + i, m->n)];
    ((__private real*)&row)[j] = AS_CONTINUED(row_of_lane, REAL(-1.0), first + i, m->n);
  }
  return row;
}

INLINE V as_wide_as_lines(const Motion* m, const V row) { return row; }

#else

/* Row i as it is counted on the line itself. */
INLINE int row_of(const Motion* m, const int i) {
  return STORED_NODE(m->tile.first + i, m->n) - m->tile.first;
}

/* Row i of the line itself. */
INLINE V row_on_line(MOTION_PARAMETER, const int level, const int i) {
#ifdef MOTION_IN_IMAGE
  const sampler_t nodes = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
  const int row = m->tile.first + i, lane = m->tile.lane, outer = m->tile.outer;
  const int4 place = (int4)(COORDINATE(2), COORDINATE(1), COORDINATE(0), 0);
#if LEVELS == 2
  if (level == 1) return read_imagef(later_image, nodes, place).x;
#endif
  return read_imagef(image, nodes, place).x;
#else
  return read_row(m->level[level].from, &m->level[level].place, m->level[level].strides, i);
#endif
}

INLINE V stored_row(MOTION_PARAMETER, const int level, const int i) {
  const V row = row_on_line(MOTION_ARGUMENT, level, row_of(m, i));
  return AS_CONTINUED(row, REAL(-1.0), m->tile.first + i, m->n);
}

/* A node of the lines of a level. */
INLINE V node_of_lines(MOTION_PARAMETER, const int level, const int node) {
  return row_on_line(MOTION_ARGUMENT, level, node - m->tile.first);
}

/* The padding moves as lane 0 does: no lane strays further than the lines themselves. */
INLINE V as_wide_as_lines(const Motion* m, const V row) {
  return LANES == 1 || m->tile.live == LANES
             ? row
             : SELECT((I)(LANE_NUMBERS) < (I)((lane_int)m->tile.live), row, (V)(FIRST(row)));
}

#endif

#ifdef COPY_MOTION

/* Row i, of which there may be no copy. */
#ifdef WHOLE_LINES
INLINE V row_afar(MOTION_PARAMETER, const int level, const int i) {
  const V row = m->level[level].rows[STORED_NODE(i, m->n) - m->low];
  return AS_CONTINUED(row, REAL(-1.0), i, m->n);
}
#else
#define row_afar stored_row
#endif

/* Rows i .. i+COUNT-1 of a level. */
#ifdef SEGMENT
#define READ_LEVEL(which, i, COUNT, to)                                                    \
  {                                                                                        \
    const int read_from = (i) - m->low;                                                    \
    if (read_from >= 0 && (i) + COUNT <= m->high) {                                        \
      UNROLL                                                                               \
      for (int j = 0; j < COUNT; j++) (to)[j] = m->level[which].rows[read_from + j];       \
    } else {                                                                               \
      for (int j = 0; j < COUNT; j++) (to)[j] = row_afar(MOTION_ARGUMENT, which, (i) + j); \
    }                                                                                      \
  }
#else
#define READ_LEVEL(which, i, COUNT, to)                                            \
  {                                                                                \
    const int read_from = wrap(i, m->n);                                           \
    UNROLL                                                                         \
    for (int j = 0; j < COUNT; j++) (to)[j] = m->level[which].rows[read_from + j]; \
  }
#endif

INLINE void copy_rows(MOTION_PARAMETER, const int level, __private V* rows, const int first) {
#if defined(ALONG_MEMORY) && (!defined(SEGMENT) || defined(WHOLE_LINES))
  read_block(rows, m->level[level].from, &m->level[level].place, first);
#elif defined(ALONG_MEMORY) && !defined(COARSE)
  read_continued_block(rows, m->level[level].from, &m->tile, &m->level[level].place, m->n, first,
                       INT_MIN, INT_MAX, REAL(-1.0));
#else /* segments of a coarse line begin anywhere, not on whole vectors */
  for (int k = 0; k < LANES; k++) rows[k] = stored_row(MOTION_ARGUMENT, level, first + k);
#endif
}

INLINE void copy_level(MOTION_PARAMETER, const int level) {
  __private V* rows = m->level[level].rows;
#ifdef WHOLE_LINES
  for (int first = 0; first < m->n; first += LANES)
    copy_rows(MOTION_ARGUMENT, level, rows + first - m->low, first);
  for (int i = m->low; i < 0; i++) rows[i - m->low] = row_afar(MOTION_ARGUMENT, level, i);
  for (int i = m->n; i < m->high; i++) rows[i - m->low] = row_afar(MOTION_ARGUMENT, level, i);
#elif defined(SEGMENT)
  for (int first = m->low; first < m->high; first += LANES)
    copy_rows(MOTION_ARGUMENT, level, rows + first - m->low, first);
#else
  for (int first = 0; first < m->n; first += LANES)
    copy_rows(MOTION_ARGUMENT, level, rows + first, first);
  for (int j = 0; j < ROWS_READ(POINTS); j++) rows[m->n + j] = rows[j % m->n];
#endif
}

#else

/* Rows i .. i+COUNT-1 of a level, read from row FIRST_READ(i) on if that and others are on the line
 * itself. */
#ifdef BOUNDED
#define FIRST_READ(i) (i)
#define IS_ON_LINE(row) ((row) >= -m->tile.first)
#else
#define FIRST_READ(i) row_of(m, i)
#define IS_ON_LINE(row) 1
#endif
#define READ_LEVEL(which, i, COUNT, to)                                                            \
  {                                                                                                \
    const int read_from = FIRST_READ(i);                                                           \
    if (IS_ON_LINE(read_from) && read_from + COUNT <= m->n - m->tile.first) {                      \
      UNROLL                                                                                       \
      for (int j = 0; j < COUNT; j++)                                                              \
        (to)[j] = row_on_line(MOTION_ARGUMENT, which, read_from + j);                              \
    } else {                                                                                       \
      for (int j = 0; j < COUNT; j++) (to)[j] = stored_row(MOTION_ARGUMENT, which, read_from + j); \
    }                                                                                              \
  }

#endif

/* The same at one of the times of a stage. */
#if LEVELS == 2
#define MOMENT_OF(when) (when)
INLINE V blended(const Motion* m, const int when, const V row, const V later) {
  return MAD((V)(m->shares[when]), later - row, row);
}
#define READ_LEVELS(i, COUNT, to, when)                                            \
  {                                                                                \
    V later[COUNT];                                                                \
    READ_LEVEL(0, i, COUNT, to)                                                    \
    READ_LEVEL(1, i, COUNT, later)                                                 \
    UNROLL                                                                         \
    for (int j = 0; j < COUNT; j++) (to)[j] = blended(m, when, (to)[j], later[j]); \
  }
#else
#define MOMENT_OF(when) AT_BEGIN
#define READ_LEVELS(i, COUNT, to, when) READ_LEVEL(0, i, COUNT, to)
#endif

#ifdef COARSE
#define LOOKED_AROUND (POINTS * COARSE)
#else
#define LOOKED_AROUND POINTS
#endif

#ifndef CONTINUED
#define READ_MOTION READ_LEVELS
#else

/* Row i, which is `row` if all ends are as those for outflow. */
INLINE V with_inflow(const Motion* m, const int i, const int when, V row) {
  const lane_int n = m->n;
  if (m->tile.least_first + i >= 0 && m->tile.greatest_first + i < n) return row;
  const I node = m->first + (lane_int)i, source = SOURCE_OF(node, n);
  const V sign = SELECT(IS_IMAGE(node, n), (V)(REAL(-1.0)), (V)(REAL(1.0)));
#if LOW_END == INFLOW
  const V low = continued(&m->beyond[LOW][MOMENT_OF(when)], TO_REAL(source));
  row = SELECT(source < 0, sign * low, row);
#endif
#if HIGH_END == INFLOW
  const V high = continued(&m->beyond[HIGH][MOMENT_OF(when)], TO_REAL(n - 1 - source));
  row = SELECT(source >= n, sign * high, row);
#endif
  return row;
}

#define READ_MOTION(i, COUNT, to, when)                                                 \
  {                                                                                     \
    READ_LEVELS(i, COUNT, to, when)                                                     \
    if (meets_ends)                                                                     \
      for (int j = 0; j < COUNT; j++) (to)[j] = with_inflow(m, (i) + j, when, (to)[j]); \
  }

INLINE void continue_beyond(MOTION_PARAMETER, const int end) {
  V at[LEVELS][PLACES];
  for (int level = 0; level < LEVELS; level++)
    for (int k = 0; k < PLACES; k++) {
      const int place = min(k, m->n - 1), node = end == LOW ? place : m->n - 1 - place;
      at[level][k] = node_of_lines(MOTION_ARGUMENT, level, node);
    }
#if LEVELS == 2
  for (int when = 0; when < MOMENTS; when++) {
    V now[PLACES];
    for (int k = 0; k < PLACES; k++) now[k] = blended(m, when, at[0][k], at[1][k]);
    m->beyond[end][when] = cubic_through(now, m->n);
  }
#else
  m->beyond[end][AT_BEGIN] = cubic_through(at[0], m->n);
#endif
}
#endif

/* `reach`: no particle of interest is further from the tile's rows, 0 .. rows-1. */
INLINE void aim_motion(MOTION_PARAMETER, const Tile* tile, const Tile* next, const int rows,
                       const int reach) {
  aim_levels(m, tile, next);
#ifdef CONTINUED
  m->first = FIRST_NODES(m->tile);
#endif
#if defined(CONTINUED) && LOW_END == INFLOW
  continue_beyond(MOTION_ARGUMENT, LOW);
#endif
#if defined(CONTINUED) && HIGH_END == INFLOW
  continue_beyond(MOTION_ARGUMENT, HIGH);
#endif
#if defined(COPY_MOTION) && defined(SEGMENT)
  const int margin =
      min((reach + reach / 2 + FEW_SHIFTS + LANES - 1) / LANES * LANES, MOTION_MARGIN);
  m->low = -margin;
  m->high = (COARSE_ROW(rows - 1) + LANES) / LANES * LANES + margin;
#endif
#ifdef COPY_MOTION
  for (int level = 0; level < LEVELS; level++) copy_level(MOTION_ARGUMENT, level);
#endif
}
