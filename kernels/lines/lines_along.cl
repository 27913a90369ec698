/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines whose nodes are neighbours in memory. The lanes of a tile are any LANES segments, each
 * counted with its line; blocks of LANES x LANES are transposed in registers. */
#ifndef LANES
#define LANES 4
#endif
#include "lines/division.cl"
#include "common/transpose.cl"

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

#define prefetch_row(from, ...) prefetch_numbers(NUMBERS_OF(from), __VA_ARGS__)
INLINE void prefetch_numbers(NUMBERS, const Place* next, const Strides s, const int first,
                             const int k) {
  PREFETCH((__global const char*)from + (next->start[k] + first) * number_bytes);
}

/* Rows first .. first+LANES-1 of lanes that have them. Lines are padded to whole vectors, so the
 * last block may be read and written whole. */
#define read_block(rows, from, ...) read_block_of(rows, NUMBERS_OF(from), __VA_ARGS__)
INLINE void read_block_of(__private V* rows, NUMBERS, const Place* place, const int first) {
  V block[LANES];
  UNROLL
  for (int j = 0; j < LANES; j++)
    block[j] = load_numbers(from, number_bytes, place->start[j] + first);
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

#ifdef BOUNDED
#if LANES == 16
#define REVERSED(x) SHUFFLE(x, x, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#elif LANES == 8
#define REVERSED(x) SHUFFLE(x, x, 7, 6, 5, 4, 3, 2, 1, 0)
#else
#define REVERSED(x) SHUFFLE(x, x, 3, 2, 1, 0)
#endif
typedef V LooseV __attribute__((aligned(sizeof(real))));

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
#define read_continued_block(rows, from, ...) \
  read_continued_block_of(rows, NUMBERS_OF(from), __VA_ARGS__)
INLINE void read_continued_block_of(__private V* rows, NUMBERS, const Tile* t, const Place* place,
                                    const int n, const int first, const int low, const int high,
                                    const real image) {
  if (t->least_first + first >= max(low, 0) && t->greatest_first + first + LANES <= min(high, n)) {
    read_block_of(rows, from, number_bytes, place, first);
    return;
  }
  V block[LANES];
  for (int j = 0; j < LANES; j++) {
    const int node = t->first[j] + first;
    const long line = place->start[j] - t->first[j];
    block[j] = node >= max(low, 0) && node + LANES <= min(high, n)
                   ? load_numbers(from, number_bytes, line + node)
                   : read_beyond(from, number_bytes, line, node, n, low, high, image);
  }
  transpose_block(block);
  UNROLL
  for (int j = 0; j < LANES; j++) rows[j] = block[j];
}

INLINE void write_block(__private const V* rows, __global stored* to, const Tile* t,
                        const Place* place, const int n, const int first) {
  V block[LANES];
  UNROLL
  for (int j = 0; j < LANES; j++) block[j] = rows[j];
  transpose_block(block);
  if (t->live == LANES && t->greatest_first + first < n) {
    UNROLL
    for (int j = 0; j < LANES; j++) STORE(block[j], to + place->start[j] + first);
  } else {
    for (int j = 0; j < t->live; j++)
      if (t->first[j] + first < n) STORE(block[j], to + place->start[j] + first);
  }
}

INLINE Place rows_ahead(Place place, const Strides s) {
  for (int j = 0; j < LANES; j++) place.start[j] += ROWS_AHEAD;
  return place;
}

#ifdef SEGMENT
INLINE void copy_ends(__global const stored* from, __global stored* to, const Tile* t,
                      const Place* place, const Strides s, const int n, const int segment,
                      const int reach) {
  for (int j = 0; j < t->live; j++) {
    const int count = min(segment, n - t->first[j]), near = min(reach, count);
    for (int p = 0; p < near; p++)
      STORE_ONE(LOAD_ONE(from + place->start[j] + p), to + place->start[j] + p);
    for (int p = max(count - reach, near); p < count; p++)
      STORE_ONE(LOAD_ONE(from + place->start[j] + p), to + place->start[j] + p);
  }
}
#endif
