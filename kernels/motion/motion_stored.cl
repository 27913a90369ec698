/* SPDX-License-Identifier: BSD-3-Clause */
/* Motion that lies in memory: the velocity on nodes, or displacements. Rows and nodes are the
 * velocity's own, which may be coarser than the particles'. Images are read node by node: the
 * hardware's own interpolation knows only 256 places between two.
 *
 * LEVELS           2: the velocity at two times
 * COARSE           cells of the particles to a cell of the velocity, along the line
 * COPY_MOTION      rows are copied to private memory before they are used; ALONG_MEMORY always does
 * MOTION_IN_IMAGE  it lies in an image, not in a buffer: for lanes of one */
#include "common/common.cl"
#include "lines/boundary.cl"
#include "lines/form.cl"
#include "lines/lines.cl"
#include "lines/shifts.cl"
#include "motion/continued.cl"
#include "motion/cubic.cl"
#include "motion/interpolation.cl"
#include "motion/motion_kinds.cl"
#include "motion/scheme.cl"

#if MOTION != FORMULA

#ifndef LEVELS
#define LEVELS 1
#endif
#define INSTANTS (LEVELS == 2 ? 3 : 1) /* of a scheme */
#define INSTANT_OF(when) (LEVELS == 2 ? (when) : AT_BEGIN)

#ifndef COPY_MOTION
#define COPY_MOTION ALONG_MEMORY
#endif
#ifndef MOTION_IN_IMAGE
#define MOTION_IN_IMAGE 0
#endif
#ifndef COARSE
#define COARSE 1
#endif

typedef struct {
  __global const real* from; /* unless in an image */
  LaneStarts starts, next;   /* of the tile, and of the one to come */
  Strides strides;
  __private V* rows; /* copies of the line, or of rows low .. high-1 of segments */
} Level;

typedef struct {
  Level level[LEVELS];
  real scale; /* cells of the particles per unit of what is stored */
  Tile tile;
  int n; /* nodes of a line of the velocity */
  Habit habits[STAGES_AT_MOST];
  int low, high;  /* rows that are copied of segments */
  real shares[3]; /* of the later level, at the times of a scheme */
  real shift;     /* from the velocity's first node to the particles', in cells of the particles */
  V phase;        /* from row 0 of a COARSE velocity to that of the particles */
  I first;        /* node of row 0, of the velocity */
  Cubic beyond[2][INSTANTS]; /* the ends, through the velocity's first nodes from there */
} Motion;

/* Rows beyond either end of a segment that may be copied, or the first rows of a line again, past
 * its end. */
#define MOTION_MARGIN (SEGMENT ? 256 : 32)
#define COPIED_ROWS (LINE_CAPACITY + 2 * MOTION_MARGIN + (SEGMENT ? LANES : 0))
#if COPY_MOTION
#define DECLARE_COPIES                         \
  V copied_rows[LEVELS * COPIED_ROWS];         \
  for (int level = 0; level < LEVELS; level++) \
    m->level[level].rows = copied_rows + level * COPIED_ROWS;
#else
#define DECLARE_COPIES
#endif

/* `meets_ends`: whether some place that is looked at may lie beyond the ends. It is a constant
 * wherever that counts: what else is done there would slow down all that is far from them. */
#if MOTION_IN_IMAGE /* an image can be in no struct */
#if LEVELS == 2
#define LEVEL_PARAMETERS __read_only image3d_t image, __read_only image3d_t later_image,
#define MOTION_STATE \
  Motion *m, __read_only image3d_t image, __read_only image3d_t later_image, const int meets_ends
#define MOTION_WHICH(meets) m, image, later_image, meets
#else
#define LEVEL_PARAMETERS __read_only image3d_t image,
#define MOTION_STATE Motion *m, __read_only image3d_t image, const int meets_ends
#define MOTION_WHICH(meets) m, image, meets
#endif
#define DECLARE_LEVELS                                        \
  for (int level = 0; level < LEVELS; level++) {              \
    const Strides none = {0, 0, 0};                           \
    m->level[level].from = 0, m->level[level].strides = none; \
  }
#else
#define LEVEL_PARAMETERS_OF(name)                                                     \
  __global const real *name, const ulong name##_offset, const long name##_row_stride, \
      const long name##_lane_stride, const long name##_outer_stride,
#define DECLARE_LEVEL(number, name)                                                            \
  const Strides name##_strides = {name##_row_stride, name##_lane_stride, name##_outer_stride}; \
  m->level[number].from = name + name##_offset, m->level[number].strides = name##_strides;
#if LEVELS == 2
#define LEVEL_PARAMETERS LEVEL_PARAMETERS_OF(motion) LEVEL_PARAMETERS_OF(later_motion)
#define DECLARE_LEVELS DECLARE_LEVEL(0, motion) DECLARE_LEVEL(1, later_motion)
#else
#define LEVEL_PARAMETERS LEVEL_PARAMETERS_OF(motion)
#define DECLARE_LEVELS DECLARE_LEVEL(0, motion)
#endif
#define MOTION_STATE Motion *m, const int meets_ends
#define MOTION_WHICH(meets) m, meets
#endif
#define MOTION_ARGUMENT MOTION_WHICH(meets_ends)

#if LEVELS == 2
#define SHARE_PARAMETERS const real begin_share, const real middle_share, const real end_share,
#define DECLARE_SHARES                                                    \
  m->shares[AT_BEGIN] = begin_share, m->shares[AT_MIDDLE] = middle_share, \
  m->shares[AT_END] = end_share;
#else
#define SHARE_PARAMETERS
#define DECLARE_SHARES
#endif

#if COARSE > 1
#define SHIFT_PARAMETERS const real shift,
#define DECLARE_SHIFT m->shift = shift;
#else
#define SHIFT_PARAMETERS
#define DECLARE_SHIFT
#endif

#define MOTION_PARAMETERS LEVEL_PARAMETERS SHARE_PARAMETERS SHIFT_PARAMETERS const real scale

#define DECLARE_MOTION                         \
  Motion held_motion, *const m = &held_motion; \
  m->scale = scale, m->n = n / COARSE;         \
  forget_runs(m);                              \
  DECLARE_LEVELS DECLARE_SHARES DECLARE_SHIFT DECLARE_COPIES const int meets_ends = 1

INLINE void forget_runs(Motion* m) {
  const Habit none = {LANES, 0};
  for (int s = 0; s < STAGES_AT_MOST; s++) m->habits[s] = none;
}

/* The row of the velocity that the particles' row p is in or after. */
#define COARSE_ROW(p) (((p) < 0 ? (p) - (COARSE - 1) : (p)) / COARSE)

/* The tile of the velocity that begins where a tile of particles does, or just before. */
INLINE Tile coarse_tile(Tile t) {
  if (COARSE == 1) return t;
#if ALONG_MEMORY
  for (int j = 0; j < LANES; j++) t.first[j] /= COARSE;
#else
  t.first /= COARSE, t.begin /= COARSE;
#endif
  t.least_first /= COARSE, t.greatest_first /= COARSE;
  return t;
}

INLINE void aim_levels(Motion* m, const Tile* tile, const Tile* next) {
  m->tile = coarse_tile(*tile);
  const Tile own_next = coarse_tile(*next);
  for (int level = 0; level < LEVELS; level++) {
    m->level[level].starts = lane_starts(&m->tile, m->level[level].strides);
    m->level[level].next = lane_starts(&own_next, m->level[level].strides);
  }
  if (COARSE > 1) m->phase = TO_REAL(FIRST_NODES(*tile) - FIRST_NODES(m->tile) * COARSE);
}

#if ALONG_MEMORY

/* A node of the lines of a level. */
INLINE V node_of_lines(MOTION_STATE, const int level, const int node) {
  const Level* l = &m->level[level];
  V value;
  for (int j = 0; j < LANES; j++)
    ((__private real*)&value)[j] = l->from[l->starts.start[j] - m->tile.first[j] + node];
  return value;
}

/* Row i of a level, which may be beyond the ends of the line. */
INLINE V stored_row(MOTION_STATE, const int level, const int i) {
  V row;
  for (int j = 0; j < LANES; j++) {
    const int first = m->tile.first[j];
    const Level* l = &m->level[level];
    const real row_of_lane = l->from[l->starts.start[j] - first + STORED_NODE(first + i, m->n)];
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
INLINE V row_on_line(MOTION_STATE, const int level, const int i) {
#if MOTION_IN_IMAGE
  const sampler_t nodes = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
  const int row = m->tile.first + i, lane = m->tile.lane, outer = m->tile.outer;
  const int4 place = (int4)(COORDINATE(2), COORDINATE(1), COORDINATE(0), 0);
#if LEVELS == 2
  if (level == 1) return read_imagef(later_image, nodes, place).x;
#endif
  return read_imagef(image, nodes, place).x;
#else
  return read_row(m->level[level].from, &m->level[level].starts, m->level[level].strides, i);
#endif
}

INLINE V stored_row(MOTION_STATE, const int level, const int i) {
  const V row = row_on_line(MOTION_ARGUMENT, level, row_of(m, i));
  return AS_CONTINUED(row, REAL(-1.0), m->tile.first + i, m->n);
}

/* A node of the lines of a level. */
INLINE V node_of_lines(MOTION_STATE, const int level, const int node) {
  return row_on_line(MOTION_ARGUMENT, level, node - m->tile.first);
}

/* The padding moves as lane 0 does: no lane strays further than the lines themselves. */
INLINE V as_wide_as_lines(const Motion* m, const V row) {
  return LANES == 1 || m->tile.live == LANES
             ? row
             : SELECT((I)(LANE_NUMBERS) < (I)((lane_int)m->tile.live), row, (V)(FIRST(row)));
}

#endif

/* Row i, of which there may be no copy. */
INLINE V row_afar(MOTION_STATE, const int level, const int i) {
  if (!WHOLE_LINES) return stored_row(MOTION_ARGUMENT, level, i);
  const V row = m->level[level].rows[STORED_NODE(i, m->n) - m->low];
  return AS_CONTINUED(row, REAL(-1.0), i, m->n);
}

INLINE void copy_rows(MOTION_STATE, const int level, __private V* rows, const int first) {
#if ALONG_MEMORY && (!SEGMENT || WHOLE_LINES)
  read_block(rows, m->level[level].from, &m->level[level].starts, first);
#elif ALONG_MEMORY && COARSE == 1
  read_continued_block(rows, m->level[level].from, &m->tile, &m->level[level].starts, m->n, first,
                       INT_MIN, INT_MAX, REAL(-1.0));
#else /* segments of a coarse line begin anywhere, not on whole vectors */
  for (int k = 0; k < LANES; k++) rows[k] = stored_row(MOTION_ARGUMENT, level, first + k);
#endif
}

INLINE void copy_level(MOTION_STATE, const int level) {
  __private V* rows = m->level[level].rows;
  const int low = SEGMENT ? m->low : 0;
  const int begin = SEGMENT && !WHOLE_LINES ? m->low : 0;
  const int end = SEGMENT && !WHOLE_LINES ? m->high : m->n;
  for (int first = begin; first < end; first += LANES)
    copy_rows(MOTION_ARGUMENT, level, rows + first - low, first);
  if (WHOLE_LINES) {
    for (int i = low; i < 0; i++) rows[i - low] = row_afar(MOTION_ARGUMENT, level, i);
    for (int i = m->n; i < m->high; i++) rows[i - low] = row_afar(MOTION_ARGUMENT, level, i);
  } else if (!SEGMENT) {
    for (int j = 0; j < ROWS_AROUND(LANES, POINTS); j++) rows[m->n + j] = rows[j % m->n];
  }
}

/* READ_LEVEL reads rows i .. i+COUNT-1 of a level: of copies, or where they lie, one by one where
 * they may be beyond the ends. */
#if COPY_MOTION
#define READ_LEVEL(which, i, COUNT, to)                                                    \
  {                                                                                        \
    const int read_from = SEGMENT ? (i) - m->low : wrap(i, m->n);                          \
    if (!SEGMENT || (read_from >= 0 && (i) <= m->high - COUNT)) {                          \
      UNROLL                                                                               \
      for (int j = 0; j < COUNT; j++) (to)[j] = m->level[which].rows[read_from + j];       \
    } else {                                                                               \
      for (int j = 0; j < COUNT; j++) (to)[j] = row_afar(MOTION_ARGUMENT, which, (i) + j); \
    }                                                                                      \
  }
#else
#define READ_LEVEL(which, i, COUNT, to)                                                            \
  {                                                                                                \
    const int read_from = BOUNDED ? (i) : row_of(m, i);                                            \
    const int is_on_line = !BOUNDED || read_from >= -m->tile.first;                                \
    if (is_on_line && read_from <= m->n - m->tile.first - COUNT) {                                 \
      UNROLL                                                                                       \
      for (int j = 0; j < COUNT; j++)                                                              \
        (to)[j] = row_on_line(MOTION_ARGUMENT, which, read_from + j);                              \
    } else {                                                                                       \
      for (int j = 0; j < COUNT; j++) (to)[j] = stored_row(MOTION_ARGUMENT, which, read_from + j); \
    }                                                                                              \
  }
#endif

/* The same at one of the times of a stage. */
INLINE V blended(const Motion* m, const int when, const V row, const V later) {
  return MAD((V)(m->shares[when]), later - row, row);
}

#define READ_LEVELS(i, COUNT, to, when)                                              \
  {                                                                                  \
    READ_LEVEL(0, i, COUNT, to)                                                      \
    if (LEVELS == 2) {                                                               \
      V later[COUNT];                                                                \
      READ_LEVEL(LEVELS - 1, i, COUNT, later)                                        \
      UNROLL                                                                         \
      for (int j = 0; j < COUNT; j++) (to)[j] = blended(m, when, (to)[j], later[j]); \
    }                                                                                \
  }

#define LOOKED_AROUND (POINTS * COARSE)

#if !CONTINUED
#define READ_MOTION READ_LEVELS
#else

/* Row i, which is `row` if all ends are as those for outflow. */
INLINE V with_inflow(const Motion* m, const int i, const int when, V row) {
  const lane_int n = m->n;
  if (m->tile.least_first + i >= 0 && m->tile.greatest_first + i < n) return row;
  const I node = m->first + (lane_int)i, source = SOURCE_OF(node, n);
  const V sign = SELECT(IS_IMAGE(node, n), (V)(REAL(-1.0)), (V)(REAL(1.0)));
  if (LOW_END == INFLOW && ANY(source < 0)) {
    const V low = continued(&m->beyond[LOW][INSTANT_OF(when)], TO_REAL(source));
    row = SELECT(source < 0, sign * low, row);
  }
  if (HIGH_END == INFLOW && ANY(source >= n)) {
    const V high = continued(&m->beyond[HIGH][INSTANT_OF(when)], TO_REAL(n - 1 - source));
    row = SELECT(source >= n, sign * high, row);
  }
  return row;
}

#define READ_MOTION(i, COUNT, to, when)                                                 \
  {                                                                                     \
    READ_LEVELS(i, COUNT, to, when)                                                     \
    if (meets_ends)                                                                     \
      for (int j = 0; j < COUNT; j++) (to)[j] = with_inflow(m, (i) + j, when, (to)[j]); \
  }
#endif

/* Of a PART, whether a tile is so near to an end that particles from beyond may come, or be looked
 * at: only there are the nodes at the end known. */
INLINE int is_near(const Motion* m, const int end, const int rows, const int reach) {
  const int near = 4 + 2 * min(reach, INT_MAX / 8) / COARSE, first = m->tile.greatest_first;
  return end == LOW ? m->tile.least_first <= near : m->n - first - rows / COARSE <= near;
}

INLINE void continue_beyond(MOTION_STATE, const int end) {
  V at[LEVELS][CUBIC_PLACES];
  for (int level = 0; level < LEVELS; level++)
    for (int k = 0; k < CUBIC_PLACES; k++) {
      const int place = min(k, m->n - 1), node = end == LOW ? place : m->n - 1 - place;
      at[level][k] = node_of_lines(MOTION_ARGUMENT, level, node);
    }
  for (int when = 0; when < INSTANTS; when++) {
    V now[CUBIC_PLACES];
    for (int k = 0; k < CUBIC_PLACES; k++)
      now[k] = LEVELS == 2 ? blended(m, when, at[0][k], at[LEVELS - 1][k]) : at[0][k];
    m->beyond[end][when] = cubic_through(now, m->n);
  }
}

/* `reach`: no particle of interest is further from the tile's rows, 0 .. rows-1. */
INLINE void aim_motion(MOTION_STATE, const Tile* tile, const Tile* next, const int rows,
                       const int reach) {
  aim_levels(m, tile, next);
  if (CONTINUED) m->first = FIRST_NODES(m->tile);
  if (CONTINUED && LOW_END == INFLOW && (!PART || is_near(m, LOW, rows, reach)))
    continue_beyond(MOTION_ARGUMENT, LOW);
  if (CONTINUED && HIGH_END == INFLOW && (!PART || is_near(m, HIGH, rows, reach)))
    continue_beyond(MOTION_ARGUMENT, HIGH);
  if (SEGMENT) {
    const int margin =
        min((reach + reach / 2 + WIDE + 1 + LANES - 1) / LANES * LANES, MOTION_MARGIN);
    m->low = -margin;
    m->high = (COARSE_ROW(rows - 1) + LANES) / LANES * LANES + margin;
  }
  if (COPY_MOTION)
    for (int level = 0; level < LEVELS; level++) copy_level(MOTION_ARGUMENT, level);
}

/* What is stored, interpolated between nodes, so many cells after its row i. */
INLINE V motion_after(MOTION_STATE, const int i, const Shifts shifts, const int when) {
  V at[POINTS];
#define READ_NOW(i, COUNT, to) READ_MOTION(i, COUNT, to, when)
  READ_SHIFTED(READ_NOW, i - POINTS_BEFORE, shifts, POINTS, at)
  return as_wide_as_lines(m, between(at, shifts.offset));
}

/* What is stored in row i of the line. */
INLINE V motion_of_row(MOTION_STATE, const int i, const int when) {
  V row;
  READ_MOTION(i, 1, &row, when);
  return as_wide_as_lines(m, row);
}

/* Where a place is, `displacement` cells of the particles after particle p: so many whole rows
 * after row COARSE_ROW(p), and an offset. Which of the COARSE particles to a row it is does not
 * depend on where its segment begins, so that this is rounded alike everywhere. */
INLINE V rows_moved(const Motion* m, const int p, const V displacement, __private V* offset) {
  V place = displacement, beyond = 0;
  if (COARSE > 1) {
    V cell = (real)(p - COARSE_ROW(p) * COARSE);
    if (SEGMENT) {
      cell += m->phase;
      const I is_beyond = cell >= (V)(REAL(1.0) * COARSE);
      beyond = SELECT(is_beyond, (V)(REAL(1.0)), beyond);
      cell = SELECT(is_beyond, cell - COARSE, cell);
    }
    place = ((cell + m->shift) + displacement) * (REAL(1.0) / COARSE);
  }
  const V whole = FLOOR(place);
  *offset = place - whole;
  return COARSE > 1 && SEGMENT ? whole + beyond : whole;
}

INLINE V motion_at(MOTION_STATE, const int p, const V displacement, const int when) {
  V offset;
  const V whole = rows_moved(m, p, displacement, &offset);
  return motion_after(MOTION_ARGUMENT, COARSE_ROW(p), shifts_at(whole, offset), when);
}

INLINE V motion_of_node(MOTION_STATE, const int p) {
  if (COARSE == 1) return motion_of_row(MOTION_ARGUMENT, p, AT_BEGIN);
  if (SEGMENT) return motion_at(MOTION_ARGUMENT, p, (V)(REAL(0.0)), AT_BEGIN);
  /* Whole periodic lines begin at a node of the coarse grid in all lanes. */
  const int i = COARSE_ROW(p);
  const real place = (real)(p - i * COARSE) * (REAL(1.0) / COARSE);
  V at[POINTS];
  READ_MOTION(i - POINTS_BEFORE, POINTS, at, AT_BEGIN);
  return as_wide_as_lines(m, between(at, (V)(place)));
}

/* Rows i .. i+count-1, one after the other: copies that there are, or `own` ones. */
INLINE __private const V* rows_of_motion(MOTION_STATE, const int i, const int count, const int when,
                                         __private V* own) {
#if LEVELS == 1 && !MOTION_IN_IMAGE
  const Level* l = &m->level[0];
  const int row = SEGMENT ? i : wrap(i, m->n);
  const int are_on_line =
      !SEGMENT || (PART && !BOUNDED) ||
      (row >= -m->tile.least_first && row <= m->n - m->tile.greatest_first - count);
  if (are_on_line && (ALONG_MEMORY || m->tile.live == LANES)) {
#if COPY_MOTION
    if (!SEGMENT || (row >= m->low && row <= m->high - count))
      return l->rows + (SEGMENT ? row - m->low : row);
#else
    __global const real* const line = l->from + l->starts.start;
    for (int j = 0, at = row; j < count; at = 0) {
      const int line_end = j + m->n - at, end = SEGMENT ? count : LEAST_OF(count, line_end);
      __global const real* from = line + at * l->strides.row;
      for (; j < end; j++, from += l->strides.row) own[j] = *(__global const V*)from;
    }
    return own;
#endif
  }
#endif
  for (int j = 0; j < count; j++) own[j] = motion_of_row(MOTION_ARGUMENT, i + j, when);
  return own;
}

/* Rows of the velocity that the particles of a run may be between. */
#define ROWS_PASSED ((LANES - 1 + COARSE - 1) / COARSE + 1)
#define ROWS_OF_RUN ROWS_AROUND(ROWS_PASSED, POINTS)

/* The run of particles first+begin on where they look in a stage, so far from their nodes. */
INLINE Run next_motion_run(const Motion* m, Groups* groups, Habit* habit, const Extent* extent,
                           const int first, const int begin, const int end,
                           __private const V* displacement) {
  if (COARSE == 1) return next_run(groups, habit, extent, displacement, begin, end);
  V whole[LANES], offset;
  for (int k = begin; k < end; k++) whole[k] = rows_moved(m, first + k, displacement[k], &offset);
  return run_of_places(groups, habit, whole, begin, end);
}

/* The rows of the velocity around a run of particles p .. last. */
INLINE __private const V* rows_around(MOTION_STATE, const Groups* groups, const Run* run,
                                      const int p, const int last, const int when,
                                      __private V* own) {
  const int from = COARSE_ROW(p), passed = COARSE_ROW(last) - from + 1;
  const int count = passed + POINTS - 1 + run->spread;
  for (int g = 0; g < groups->count; g++) {
    __private const V* rows = rows_of_motion(
        MOTION_ARGUMENT, from + groups->cell[g] - POINTS_BEFORE, count, when, own + ROWS_OF_RUN);
    if (groups->count == 1) return rows;
    add_group(groups, g, count, rows, own);
  }
  return own;
}

/* At a particle p of a run that begins with particle `begin`. */
INLINE V motion_in_run(const Motion* m, const Run* run, __private const V* rows, const int begin,
                       const int p, const V displacement, const int spread) {
  V offset, shift, at[POINTS];
  if (COARSE > 1) {
    shift = rows_moved(m, p, displacement, &offset) - run->cell;
  } else {
    offset = displacement - cells_in_run(run, displacement, spread, &shift);
  }
  PICK_ROWS(rows + (COARSE_ROW(p) - COARSE_ROW(begin)), shift, spread, POINTS, at)
  return between(at, offset);
}

/* For the tile to come; k counts rows or lanes, as they are read. */
INLINE void prefetch_motion(const Motion* m, const int first, const int k) {
  UNROLL
  for (int level = 0; level < LEVELS; level++) {
    const Level* l = &m->level[level];
#if ALONG_MEMORY
    prefetch_row(l->from, &l->next, l->strides, COARSE_ROW(first), k);
#else
    prefetch_row(l->from, &l->next, l->strides, COARSE_ROW(first + k), 0);
#endif
  }
}

#endif
