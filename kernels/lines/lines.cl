/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of a grid: how they are counted, where they lie, and how LANES of them are read and
 * written row by row.
 *
 * A line runs along one axis of an array. Lines are numbered along the lane axis first, then along
 * the outer axis. They are cut into segments where they do not fit into a work-item's memory or are
 * too few to fill the lanes.
 *
 * Rows are counted from the first node of the segment: row p of a lane is node first + p of its
 * line. Whole lines begin at 0.
 *
 * ROW_AXIS, LANE_AXIS, OUTER_AXIS  run along the line, across its lanes, and further across; sweeps
 *                                  of a chain run along any axis, and their motion knows which */
#include "common/common.cl"
#include "common/transpose.cl"
#include "lines/boundary.cl"
#include "lines/form.cl"

/* What the tile to come needs is fetched while one is worked on. Of longer lines two tiles do not
 * fit in the cache: there it is what comes some rows later. */
#define NODES_AHEAD 2048
#define ROWS_AHEAD 64

/* COORDINATE picks what belongs to an axis from `row`, `lane` and `outer`. */
#ifdef CHAINED
#define ROW_AXIS m->row_axis
#define LANE_AXIS m->lane_axis
#define OUTER_AXIS m->outer_axis
#elif !defined ROW_AXIS
#define ROW_AXIS 0
#define LANE_AXIS 1
#define OUTER_AXIS 2
#endif
#define COORDINATE(axis) (ROW_AXIS == axis ? row : LANE_AXIS == axis ? lane : outer)

/* Distances in elements: along the line, across its lanes, and further across. */
typedef struct {
  long row, lane, outer;
} Strides;

/* The lines of a grid, and how they are cut. */
typedef struct {
  int n;             /* nodes of a line */
  int lines, outers; /* how many along the lane axis, and along the outer axis */
  int segment;       /* nodes of a segment; the last of a line may be shorter */
  int begin, end;    /* of a PART: nodes that are here, begin .. end - 1 */
} Lines;

/* Behind `tiles_each` in a kernel that knows parts, and behind the segment in its Lines; and where
 * it reads rows of others, `kept` with them, by how much further its outer lines are apart there.
 */
#if PART
#define PART_PARAMETERS , const int part_begin, const int part_end
#define PART_NODES , part_begin, part_end
#define KEPT_PARAMETERS , const long kept_outer_stride
#define KEPT_FURTHER (kept_outer_stride - outer_stride)
#else
#define PART_PARAMETERS
#define PART_NODES
#define KEPT_PARAMETERS
#define KEPT_FURTHER 0
#endif

INLINE int segments_of(const Lines grid) {
  const int nodes = PART ? grid.end - grid.begin : grid.n;
  return SEGMENT ? (nodes + grid.segment - 1) / grid.segment : 1;
}

/* Rows of a tile's segment, of a PART no more than are here. */
#define OWN_ROWS(tile, grid) \
  (PART ? min((grid).segment, (grid).end - (tile).least_first) : (grid).segment)

#if ALONG_MEMORY

/* Lines whose nodes are neighbours in memory. The lanes of a tile are any LANES segments, each
 * counted with its line; blocks of LANES x LANES are transposed in registers. */
typedef struct {
  int lane[LANES], outer[LANES], first[LANES];
  int live; /* lanes in use; the rest repeat the last one and are never stored */
  int least_first, greatest_first;
} Tile;

INLINE long tiles_of(const Lines grid) {
  return ((long)grid.lines * grid.outers * segments_of(grid) + LANES - 1) / LANES;
}

INLINE Tile tile_at(const long tile, const Lines grid) {
  const int segments = segments_of(grid);
  const long all = (long)grid.lines * grid.outers * segments;
  Tile t;
  t.live = (int)min((long)LANES, all - tile * LANES);
  t.least_first = grid.n, t.greatest_first = 0;
  for (int j = 0; j < LANES; j++) {
    const long place = tile * LANES + min(j, t.live - 1), line = place / segments;
    t.first[j] = (int)(place % segments) * grid.segment;
    t.lane[j] = (int)(line % grid.lines);
    t.outer[j] = (int)(line / grid.lines);
    t.least_first = min(t.least_first, t.first[j]);
    t.greatest_first = max(t.greatest_first, t.first[j]);
  }
  return t;
}

INLINE I ints_of(const int* lanes) {
  I ints;
  for (int j = 0; j < LANES; j++) ((__private lane_int*)&ints)[j] = lanes[j];
  return ints;
}
#define LANE_LINES(t) ints_of((t).lane)
#define OUTER_LINES(t) ints_of((t).outer)
#define FIRST_NODES(t) ints_of((t).first)

/* Where row 0 of every lane is. */
typedef struct {
  long start[LANES];
} LaneStarts;

INLINE LaneStarts lane_starts(const Tile* t, const Strides s) {
  LaneStarts starts;
  for (int j = 0; j < LANES; j++)
    starts.start[j] = t->outer[j] * s.outer + t->lane[j] * s.lane + t->first[j];
  return starts;
}

/* Parts along the memory have no outer lines. */
INLINE long further_in_kept(const Tile* t, const long further) { return 0; }

#define prefetch_row(from, next, s, first, k) prefetch_numbers(NUMBERS_OF(from), next, s, first, k)
INLINE void prefetch_numbers(NUMBERS, const LaneStarts* next, const Strides s, const int first,
                             const int k) {
  PREFETCH((__global const char*)from + (next->start[k] + first) * number_bytes);
}

/* Rows first .. first+LANES-1 of lanes that have them. Lines are padded to whole vectors, so the
 * last block may be read and written whole. */
#define read_block(rows, from, starts, first) read_block_of(rows, NUMBERS_OF(from), starts, first)
INLINE void read_block_of(__private V* rows, NUMBERS, const LaneStarts* starts, const int first) {
  V block[LANES];
  UNROLL
  for (int j = 0; j < LANES; j++)
    block[j] = load_numbers(from, number_bytes, starts->start[j] + first);
  transpose_block(block);
  UNROLL
  for (int j = 0; j < LANES; j++) rows[j] = block[j];
}

/* LANES nodes from `node` on of the line that begins at `line`, one by one; 0 for those outside
 * low .. high-1, and images times `image`. */
INLINE V read_singly(NUMBERS, const long line, const int node, const int n, const int low,
                     const int high, const real image) {
  V nodes;
  for (int k = 0; k < LANES; k++) {
    const int at = node + k;
    const real value = load_number(from, number_bytes, line + STORED_NODE(at, n));
    ((__private real*)&nodes)[k] =
        at >= low && at < high ? AS_CONTINUED(value, image, at, n) : REAL(0.0);
  }
  return nodes;
}

#if BOUNDED
#if LANES == 16
#define REVERSED(x) SHUFFLE(x, x, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#elif LANES == 8
#define REVERSED(x) SHUFFLE(x, x, 7, 6, 5, 4, 3, 2, 1, 0)
#else
#define REVERSED(x) SHUFFLE(x, x, 3, 2, 1, 0)
#endif

/* Numbers from anywhere in a line on, not only from a whole vector. */
INLINE V load_loose_numbers(NUMBERS, const long at) {
#ifdef STORED_IS_HALF
  if (number_bytes == sizeof(stored)) return LOAD((__global const stored*)from + at);
#endif
  return *(__global const LooseV*)((__global const real*)from + at);
}

/* The same, all of them at once where they follow one another, or are all the last node. */
INLINE V read_beyond(NUMBERS, const long line, const int node, const int n, const int low,
                     const int high, const real image) {
  const V zero = 0;
  const int last = node + LANES - 1;
  if (last < low || node >= high) return zero;
  if (node >= 0 && node < n && high <= n) {
    const I is_here = (I)(LANE_NUMBERS) < (I)((lane_int)(high - node));
    return SELECT(is_here, load_numbers(from, number_bytes, line + node), zero);
  }
  const int begin = SOURCE_OF(last, n), end = SOURCE_OF(node, n);
  if (node >= low && last < high) {
    if (begin >= 0 && end < n && end - begin == LANES - 1)
      return image * REVERSED(load_loose_numbers(from, number_bytes, line + begin));
    if ((begin < 0 && end < 0) || (begin >= n && end >= n)) {
      const real value = load_number(from, number_bytes, line + STORED_NODE(node, n));
      return (V)(AS_CONTINUED(value, image, node, n));
    }
  }
  return read_singly(from, number_bytes, line, node, n, low, high, image);
}
#else
#define read_beyond read_singly
#endif

/* The same as read_block for nodes that may lie beyond the ends of a line. Rows of nodes outside
 * low .. high-1, counted on beyond the ends, are 0; images are multiplied by `image`. */
#define read_continued_block(rows, from, t, starts, n, first, low, high, image) \
  read_continued_block_of(rows, NUMBERS_OF(from), t, starts, n, first, low, high, image)
INLINE void read_continued_block_of(__private V* rows, NUMBERS, const Tile* t,
                                    const LaneStarts* starts, const int n, const int first,
                                    const int low, const int high, const real image) {
  if (t->least_first + first >= max(low, 0) && t->greatest_first + first + LANES <= min(high, n)) {
    read_block_of(rows, from, number_bytes, starts, first);
    return;
  }
  V block[LANES];
  for (int j = 0; j < LANES; j++) {
    const int node = t->first[j] + first;
    const long line = starts->start[j] - t->first[j];
    block[j] = node >= max(low, 0) && node + LANES <= min(high, n)
                   ? load_numbers(from, number_bytes, line + node)
                   : read_beyond(from, number_bytes, line, node, n, low, high, image);
  }
  transpose_block(block);
  UNROLL
  for (int j = 0; j < LANES; j++) rows[j] = block[j];
}

INLINE void write_block(__private const V* rows, __global stored* to, const Tile* t,
                        const LaneStarts* starts, const int n, const int first) {
  V block[LANES];
  UNROLL
  for (int j = 0; j < LANES; j++) block[j] = rows[j];
  transpose_block(block);
  if (t->live == LANES && t->greatest_first + first < n) {
    UNROLL
    for (int j = 0; j < LANES; j++) STORE(block[j], to + starts->start[j] + first);
  } else {
    for (int j = 0; j < t->live; j++)
      if (t->first[j] + first < n) STORE(block[j], to + starts->start[j] + first);
  }
}

INLINE LaneStarts rows_ahead(LaneStarts starts, const Strides s) {
  for (int j = 0; j < LANES; j++) starts.start[j] += ROWS_AHEAD;
  return starts;
}

INLINE void copy_ends(__global const stored* from, __global stored* to, const Tile* t,
                      const LaneStarts* starts, const Strides s, const int n, const int segment,
                      const int reach) {
  for (int j = 0; j < t->live; j++) {
    const int count = min(segment, n - t->first[j]), near = min(reach, count);
    for (int p = 0; p < near; p++)
      STORE_ONE(LOAD_ONE(from + starts->start[j] + p), to + starts->start[j] + p);
    for (int p = max(count - reach, near); p < count; p++)
      STORE_ONE(LOAD_ONE(from + starts->start[j] + p), to + starts->start[j] + p);
  }
}

#else

/* Lines that are neighbours in memory: a tile is LANES of them, or the same segment of each, and a
 * row is one vector. With LANES == 1 these are plain strided reads. */
typedef struct {
  int lane, outer, first; /* of lane 0 */
  int begin;              /* of a PART: node that memory begins with */
  int live;               /* lanes that are lines; the rest lies in the padding */
  int least_first, greatest_first;
} Tile;

/* Neighbouring tiles are neighbouring lines, so that what lies side by side is read together. */
INLINE long tiles_of(const Lines grid) {
  return (long)((grid.lines + LANES - 1) / LANES) * grid.outers * segments_of(grid);
}

INLINE Tile tile_at(const long tile, const Lines grid) {
  const long across = (grid.lines + LANES - 1) / LANES, all = across * grid.outers,
             lines = tile % all;
  Tile t;
  t.begin = PART ? grid.begin : 0;
  t.first = t.least_first = t.greatest_first = t.begin + (int)(tile / all) * grid.segment;
  t.lane = (int)(lines % across) * LANES;
  t.outer = (int)(lines / across);
  t.live = min(LANES, grid.lines - t.lane);
  return t;
}

/* Lanes beyond the last line repeat it: a formula is asked for no place that the grid lacks. */
#define LANE_LINES(t) (min((I)(LANE_NUMBERS), (I)((t).live - 1)) + (I)((t).lane))
#define OUTER_LINES(t) ((I)((t).outer))
#define FIRST_NODES(t) ((I)((t).first))

/* Where row 0 of lane 0 is. */
typedef struct {
  long start;
} LaneStarts;

INLINE LaneStarts lane_starts(const Tile* t, const Strides s) {
  LaneStarts starts = {t->outer * s.outer + t->lane * s.lane +
                       (PART ? t->first - t->begin : t->first) * s.row};
  return starts;
}

/* How much further a tile begins in `kept`. */
INLINE long further_in_kept(const Tile* t, const long further) { return t->outer * further; }

#define prefetch_row(from, next, s, first, k) prefetch_numbers(NUMBERS_OF(from), next, s, first, k)
INLINE void prefetch_numbers(NUMBERS, const LaneStarts* next, const Strides s, const int first,
                             const int k) {
  PREFETCH((__global const char*)from + (next->start + (first + k) * s.row) * number_bytes);
}

/* Row p. Lanes beyond the last line read what lies in the padding. */
#define read_row(from, starts, s, p) read_row_of(NUMBERS_OF(from), starts, s, p)
INLINE V read_row_of(NUMBERS, const LaneStarts* starts, const Strides s, const int p) {
  return load_numbers(from, number_bytes, starts->start + p * s.row);
}

INLINE void write_row(const V row, __global stored* to, const LaneStarts* starts, const Strides s,
                      const int p) {
  STORE(row, to + starts->start + p * s.row);
}

INLINE LaneStarts rows_ahead(LaneStarts starts, const Strides s) {
  starts.start += ROWS_AHEAD * s.row;
  return starts;
}

INLINE void copy_ends(__global const stored* from, __global stored* to, const Tile* t,
                      const LaneStarts* starts, const Strides s, const int n, const int segment,
                      const int reach) {
  const int count = min(segment, n - t->first), near = min(reach, count);
  for (int p = 0; p < near; p++) write_row(read_row(from, starts, s, p), to, starts, s, p);
  for (int p = max(count - reach, near); p < count; p++)
    write_row(read_row(from, starts, s, p), to, starts, s, p);
}

#endif
