/* SPDX-License-Identifier: BSD-3-Clause */
/* Where lines lie, and how LANES of them are read and written row by row.
 *
 * A line runs along one axis of an array. Lines that do not fit into a work-item's memory, and
 * lines that are too few to fill the lanes, are cut into segments. Lines are numbered along the
 * lane axis first, then along the outer axis.
 *
 * A tile is LANES lines, or the same segment of LANES lines, that are neighbours in memory: row p
 * is one vector. When ALONG_MEMORY is defined it is the nodes of a line that are neighbours: then
 * the lanes of a tile are any LANES segments, each counted with its line, and blocks of LANES x
 * LANES are transposed in registers. With LANES == 1 both are plain strided reads.
 *
 * Rows are counted from the first node of the segment: row p of a lane is node first + p of its
 * line. Whole lines begin at 0. */
#include "common.cl"
#ifdef ALONG_MEMORY
#include "transpose.cl"
#endif

#ifndef LINE_CAPACITY
#define LINE_CAPACITY 4096 /* rows of a line, or of a segment, that fit in private memory */
#endif

/* What the tile to come needs is fetched while one is worked on. Of longer lines two tiles do not
 * fit in the cache: there it is what comes some rows later. */
#define NODES_AHEAD 2048
#define ROWS_AHEAD 64

/* Which axis runs along the line, across its lanes, and further across; COORDINATE picks what
 * belongs to an axis from `row`, `lane` and `outer`. */
#ifndef ROW_AXIS
#define ROW_AXIS 0
#define LANE_AXIS 1
#define OUTER_AXIS 2
#endif
#define COORDINATE(axis) (ROW_AXIS == axis ? row : LANE_AXIS == axis ? lane : outer)

/* Distances in elements: along the line, across its lanes, and further across. */
typedef struct {
  long row, lane, outer;
} Strides;

/* i modulo n, for any i; the test keeps the division out of the usual case */
INLINE int wrap(const int i, const int n) {
  if ((uint)i < (uint)n) return i;
  const int m = i % n;
  return m < 0 ? m + n : m;
}

/* How the lines of a grid are divided. */
typedef struct {
  int n;             /* nodes of a line */
  int lines, outers; /* how many along the lane axis, and along the outer axis */
  int segment;       /* nodes of a segment; the last of a line may be shorter */
} Division;

#define DIVISION_PARAMETERS \
  const int n, const int lines, const int outers, const int segment, const int tiles_each
#define DECLARE_DIVISION const Division division = {n, lines, outers, segment}

INLINE int segments_of(const Division d) {
#ifdef SEGMENT
  return (d.n + d.segment - 1) / d.segment;
#else
  return 1;
#endif
}

#ifdef ALONG_MEMORY

typedef struct {
  int lane[LANES], outer[LANES], first[LANES];
  int live; /* lanes in use; the rest repeat the last one and are never stored */
  int least_first, greatest_first;
} Tile;

INLINE long tiles_of(const Division d) {
  return ((long)d.lines * d.outers * segments_of(d) + LANES - 1) / LANES;
}

INLINE Tile tile_at(const long tile, const Division d) {
  const int segments = segments_of(d);
  const long all = (long)d.lines * d.outers * segments;
  Tile t;
  t.live = (int)min((long)LANES, all - tile * LANES);
  t.least_first = d.n, t.greatest_first = 0;
  for (int j = 0; j < LANES; j++) {
    const long place = tile * LANES + min(j, t.live - 1), line = place / segments;
    t.first[j] = (int)(place % segments) * d.segment;
    t.lane[j] = (int)(line % d.lines);
    t.outer[j] = (int)(line / d.lines);
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
} Place;

INLINE Place place_of(const Tile* t, const Strides s) {
  Place place;
  for (int j = 0; j < LANES; j++)
    place.start[j] = t->outer[j] * s.outer + t->lane[j] * s.lane + t->first[j];
  return place;
}

INLINE void prefetch_row(__global const real* from, const Place* next, const Strides s,
                         const int first, const int k) {
  PREFETCH(from + next->start[k] + first);
}

/* Rows first .. first+LANES-1 of lanes that have them. Lines are padded to whole vectors, so the
 * last block may be read and written whole. */
INLINE void read_block(__private V* rows, __global const real* from, const Place* place,
                       const int first) {
  V block[LANES];
  UNROLL
  for (int j = 0; j < LANES; j++) block[j] = *(__global const V*)(from + place->start[j] + first);
  transpose_block(block);
  UNROLL
  for (int j = 0; j < LANES; j++) rows[j] = block[j];
}

/* The same for nodes that may lie beyond the ends of a line, which is periodic. Rows of nodes
 * outside low .. high-1, counted on beyond the ends, are 0. */
INLINE void read_periodic_block(__private V* rows, __global const real* from, const Tile* t,
                                const Place* place, const int n, const int first, const int low,
                                const int high) {
  if (t->least_first + first >= max(low, 0) && t->greatest_first + first + LANES <= min(high, n)) {
    read_block(rows, from, place, first);
    return;
  }
  V block[LANES];
  for (int j = 0; j < LANES; j++) {
    const int node = t->first[j] + first;
    if (node >= max(low, 0) && node + LANES <= min(high, n)) {
      block[j] = *(__global const V*)(from + place->start[j] + first);
      continue;
    }
    for (int k = 0; k < LANES; k++) {
      const int within = wrap(node + k, n);
      ((__private real*)&block[j])[k] = node + k >= low && node + k < high
                                            ? from[place->start[j] - t->first[j] + within]
                                            : REAL(0.0);
    }
  }
  transpose_block(block);
  UNROLL
  for (int j = 0; j < LANES; j++) rows[j] = block[j];
}

INLINE void write_block(__private const V* rows, __global real* to, const Tile* t,
                        const Place* place, const int n, const int first) {
  V block[LANES];
  UNROLL
  for (int j = 0; j < LANES; j++) block[j] = rows[j];
  transpose_block(block);
  if (t->live == LANES && t->greatest_first + first < n) {
    UNROLL
    for (int j = 0; j < LANES; j++) *(__global V*)(to + place->start[j] + first) = block[j];
  } else {
    for (int j = 0; j < t->live; j++)
      if (t->first[j] + first < n) *(__global V*)(to + place->start[j] + first) = block[j];
  }
}

INLINE Place rows_ahead(Place place, const Strides s) {
  for (int j = 0; j < LANES; j++) place.start[j] += ROWS_AHEAD;
  return place;
}

#ifdef SEGMENT
INLINE void copy_ends(__global const real* from, __global real* to, const Tile* t,
                      const Place* place, const Strides s, const int n, const int segment,
                      const int reach) {
  for (int j = 0; j < t->live; j++) {
    const int count = min(segment, n - t->first[j]), near = min(reach, count);
    for (int p = 0; p < near; p++) to[place->start[j] + p] = from[place->start[j] + p];
    for (int p = max(count - reach, near); p < count; p++)
      to[place->start[j] + p] = from[place->start[j] + p];
  }
}
#endif

#else

typedef struct {
  int lane, outer, first; /* of lane 0 */
  int live;               /* lanes that are lines; the rest lies in the padding */
  int least_first, greatest_first;
} Tile;

/* Neighbouring tiles are neighbouring lines, so that what lies side by side is read together. */
INLINE long tiles_of(const Division d) {
  return (long)((d.lines + LANES - 1) / LANES) * d.outers * segments_of(d);
}

INLINE Tile tile_at(const long tile, const Division d) {
  const long across = (d.lines + LANES - 1) / LANES, all = across * d.outers, lines = tile % all;
  Tile t;
  t.first = t.least_first = t.greatest_first = (int)(tile / all) * d.segment;
  t.lane = (int)(lines % across) * LANES;
  t.outer = (int)(lines / across);
  t.live = min(LANES, d.lines - t.lane);
  return t;
}

/* Lanes beyond the last line repeat it: a formula is asked for no place that the grid lacks. */
#define LANE_LINES(t) (min((I)(LANE_NUMBERS), (I)((t).live - 1)) + (I)((t).lane))
#define OUTER_LINES(t) ((I)((t).outer))
#define FIRST_NODES(t) ((I)((t).first))

/* Where row 0 of lane 0 is. */
typedef struct {
  long start;
} Place;

INLINE Place place_of(const Tile* t, const Strides s) {
  Place place = {t->outer * s.outer + t->lane * s.lane + t->first * s.row};
  return place;
}

INLINE void prefetch_row(__global const real* from, const Place* next, const Strides s,
                         const int first, const int k) {
  PREFETCH(from + next->start + (first + k) * s.row);
}

/* Row p. Lanes beyond the last line read what lies in the padding. */
INLINE V read_row(__global const real* from, const Place* place, const Strides s, const int p) {
  return *(__global const V*)(from + place->start + p * s.row);
}

INLINE void write_row(const V row, __global real* to, const Place* place, const Strides s,
                      const int p) {
  *(__global V*)(to + place->start + p * s.row) = row;
}

INLINE Place rows_ahead(Place place, const Strides s) {
  place.start += ROWS_AHEAD * s.row;
  return place;
}

#ifdef SEGMENT
INLINE void copy_ends(__global const real* from, __global real* to, const Tile* t,
                      const Place* place, const Strides s, const int n, const int segment,
                      const int reach) {
  const int count = min(segment, n - t->first), near = min(reach, count);
  for (int p = 0; p < near; p++) write_row(read_row(from, place, s, p), to, place, s, p);
  for (int p = max(count - reach, near); p < count; p++)
    write_row(read_row(from, place, s, p), to, place, s, p);
}
#endif

#endif
