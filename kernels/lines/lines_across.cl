/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines that are neighbours in memory: a tile is LANES of them, or the same segment of each, and a
 * row is one vector. With LANES == 1 these are plain strided reads. */
#include "lines/division.cl"

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

#define prefetch_row(from, ...) prefetch_numbers(NUMBERS_OF(from), __VA_ARGS__)
INLINE void prefetch_numbers(NUMBERS, const Place* next, const Strides s, const int first,
                             const int k) {
  PREFETCH((__global const char*)from + (next->start + (first + k) * s.row) * number_bytes);
}

/* Row p. Lanes beyond the last line read what lies in the padding. */
#define read_row(from, ...) read_row_of(NUMBERS_OF(from), __VA_ARGS__)
INLINE V read_row_of(NUMBERS, const Place* place, const Strides s, const int p) {
  return load_numbers(from, number_bytes, place->start + p * s.row);
}

INLINE void write_row(const V row, __global stored* to, const Place* place, const Strides s,
                      const int p) {
  STORE(row, to + place->start + p * s.row);
}

INLINE Place rows_ahead(Place place, const Strides s) {
  place.start += ROWS_AHEAD * s.row;
  return place;
}

#ifdef SEGMENT
INLINE void copy_ends(__global const stored* from, __global stored* to, const Tile* t,
                      const Place* place, const Strides s, const int n, const int segment,
                      const int reach) {
  const int count = min(segment, n - t->first), near = min(reach, count);
  for (int p = 0; p < near; p++) write_row(read_row(from, place, s, p), to, place, s, p);
  for (int p = max(count - reach, near); p < count; p++)
    write_row(read_row(from, place, s, p), to, place, s, p);
}
#endif
