/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines whose nodes are neighbours in memory. The lanes of a tile are any LANES segments, each
 * counted with its line; blocks of LANES x LANES are transposed in registers. */
#ifndef LANES
#define LANES 4
#endif
#include "division.cl"
#include "transpose.cl"

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

/* LANES nodes of a line from `node` on, one by one; 0 for those outside low .. high-1, and images
 * times `image`. */
INLINE V read_singly(__global const real* line, const int node, const int n, const int low,
                     const int high, const real image) {
  V nodes;
  for (int k = 0; k < LANES; k++) {
    const int at = node + k;
    const real value = line[STORED_NODE(at, n)];
    ((__private real*)&nodes)[k] =
        at >= low && at < high ? AS_CONTINUED(value, image, at, n) : REAL(0.0);
  }
  return nodes;
}

#ifdef BOUNDED
#if LANES == 16
#define REVERSED(x) SHUFFLE(x, x, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#elif LANES == 8
#define REVERSED(x) SHUFFLE(x, x, 7, 6, 5, 4, 3, 2, 1, 0)
#else
#define REVERSED(x) SHUFFLE(x, x, 3, 2, 1, 0)
#endif
typedef V UnalignedV __attribute__((aligned(sizeof(real))));

/* The same, all of them at once where they follow one another, or are all the last node. */
INLINE V read_beyond(__global const real* line, const int node, const int n, const int low,
                     const int high, const real image) {
  const V zero = 0;
  const int last = node + LANES - 1;
  if (last < low || node >= high) return zero;
  if (node >= 0 && node < n && high <= n) {
    const I is_here = (I)(LANE_NUMBERS) < (I)((lane_int)(high - node));
    return SELECT(is_here, *(__global const V*)(line + node), zero);
  }
  const int from = SOURCE_OF(last, n), to = SOURCE_OF(node, n);
  if (node >= low && last < high) {
    if (from >= 0 && to < n && to - from == LANES - 1)
      return image * REVERSED(*(__global const UnalignedV*)(line + from));
    if ((from < 0 && to < 0) || (from >= n && to >= n))
      return (V)(AS_CONTINUED(line[STORED_NODE(node, n)], image, node, n));
  }
  return read_singly(line, node, n, low, high, image);
}
#else
#define read_beyond read_singly
#endif

/* The same as read_block for nodes that may lie beyond the ends of a line. Rows of nodes outside
 * low .. high-1, counted on beyond the ends, are 0; images are multiplied by `image`. */
INLINE void read_continued_block(__private V* rows, __global const real* from, const Tile* t,
                                 const Place* place, const int n, const int first, const int low,
                                 const int high, const real image) {
  if (t->least_first + first >= max(low, 0) && t->greatest_first + first + LANES <= min(high, n)) {
    read_block(rows, from, place, first);
    return;
  }
  V block[LANES];
  for (int j = 0; j < LANES; j++) {
    const int node = t->first[j] + first;
    __global const real* line = from + (place->start[j] - t->first[j]);
    block[j] = node >= max(low, 0) && node + LANES <= min(high, n)
                   ? *(__global const V*)(line + node)
                   : read_beyond(line, node, n, low, high, image);
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
