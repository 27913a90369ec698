/* SPDX-License-Identifier: BSD-3-Clause */
/* Diffusion of lines that a work-item holds in private memory through all rounds and then
 * overwrites.
 *
 * RACES. A work-item owns the lines of `tiles_each` consecutive tiles, which nobody else reads. */
#include "common/common.cl"
#include "lines/boundary.cl"
#include "lines/form.cl"
#include "lines/lines.cl"
#include "operators/diffusion.cl"

#define AT_ONCE 4 /* nodes whose sums do not wait for each other */

/* Images are held, too, as far as there is room; on either side at least for those that thinning
 * and refilling read. */
#define LEAST_MARGIN ROOM_FOR_TAPS
#define ROWS_WITH_IMAGES (LINE_CAPACITY + LANES + 2 * LEAST_MARGIN)

INLINE int margin_of(const int n) { return (ROWS_WITH_IMAGES - LANES - n) / 2; }

#define HELD(k) line[k]

/* Outwards, so that further images are made of nearer ones. */
INLINE void hold_images(__private V* line, const int reach, const LineEnds* ends) {
  const int n = ends->n;
  for (int k = 0; k < reach; k++) {
#if defined(TAKES_IN)
    const Origin low = origin_of(-1 - k, ends), high = origin_of(n + k, ends);
    line[-1 - k] = AS_MADE(HELD, low);
    line[n + k] = AS_MADE(HELD, high);
#elif LOW_END == PERIODIC
    line[-1 - k] = line[n - 1 - k];
    line[n + k] = line[k];
#else
    line[-1 - k] = line[k];
    line[n + k] = line[n - 1 - k];
#endif
  }
}

INLINE V held_or_image(__private const V* line, const long node, const LineEnds* ends) {
  const Origin o = origin_of(node, ends);
  return AS_MADE(HELD, o);
}
#define ANY_HELD(k) held_or_image(line, k, ends)

INLINE void mean_of_line(__private V* line, __private V* to, __global const Round* round,
                         const LineEnds* ends) {
  const int n = ends->n;
  const long apart = round->apart, reach = round->taps * apart;
  const int held = (int)min(reach, (long)margin_of(n));
  hold_images(line, held, ends);
  const int first = (int)min(reach - held, (long)n), end = max(n - first, first);
  int i = 0;
  for (; i < first; i++) ADD_MEAN(ANY_HELD, i, round, to[i])
  for (; i + AT_ONCE <= end; i += AT_ONCE) {
    V change[AT_ONCE], twice[AT_ONCE];
    UNROLL
    for (int j = 0; j < AT_ONCE; j++) change[j] = 0, twice[j] = line[i + j] + line[i + j];
    for (int m = round->taps; m > 0; m--) {
      const real weight = round->of[m - 1];
      ONE_BY_ONE(weight)
      __private const V *before = line + i - m * apart, *after = line + i + m * apart;
      UNROLL
      for (int j = 0; j < AT_ONCE; j++)
        change[j] = MAD((V)(weight), (before[j] + after[j]) - twice[j], change[j]);
    }
    UNROLL
    for (int j = 0; j < AT_ONCE; j++) to[i + j] = line[i + j] + change[j];
  }
  for (; i < end; i++) ADD_MEAN(HELD, i, round, to[i])
  for (; i < n; i++) ADD_MEAN(ANY_HELD, i, round, to[i])
}

INLINE void thin(__private V* line, __private V* to, __global const Round* round,
                 const LineEnds* ends) {
  hold_images(line, round->taps, ends);
  for (int j = 0; j < ends->n / THINNED; j++) ADD_THINNED(HELD, j, round, to[j])
}

INLINE void refill(__private V* line, __private V* to, __global const Round* round,
                   const LineEnds* ends) {
  hold_images(line, NEIGHBOURS_OF_REFILL(round), ends);
  for (int j = 0; j < ends->n; j++) ADD_REFILLED(HELD, j, round, to + THINNED * j)
}

KERNEL void diffusion_lines(__global stored* u, const ulong u_offset, const long row_stride,
                            const long lane_stride, const long outer_stride, const int n,
                            const int lines, const int outers, const int segment,
                            const int tiles_each, __global const Round* rounds,
                            const int first_round, const int count TIME_PARAMETERS) {
  const Lines grid = {n, lines, outers, segment};
  const Strides strides = {row_stride, lane_stride, outer_stride};
  __global stored* const field = u + u_offset;
  V rows_before[ROWS_WITH_IMAGES], rows_after[ROWS_WITH_IMAGES];
  const long begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles_of(grid)); job++) {
    const Tile tile = tile_at(job, grid);
    const Place place = place_of(&tile, strides);
    __private V *line = rows_before + margin_of(n), *other = rows_after;
#if ALONG_MEMORY
    for (int first = 0; first < n; first += LANES) read_block(line + first, field, &place, first);
#else
    for (int i = 0; i < n; i++) line[i] = read_row(field, &place, strides, i);
#endif
    int left = n;
    for (int k = 0; k < count; k++) {
      __global const Round* const round = rounds + first_round + k;
      const LineEnds ends = ends_of(left, round TIME_ARGUMENTS);
      left = round->kind == THIN ? n / THINNED : round->kind == REFILL ? n : left;
      __private V* const next = other + margin_of(left);
      if (round->kind == THIN)
        thin(line, next, round, &ends);
      else if (round->kind == REFILL)
        refill(line, next, round, &ends);
      else
        mean_of_line(line, next, round, &ends);
      other = line - margin_of(ends.n);
      line = next;
    }
#if ALONG_MEMORY
    for (int i = n; i % LANES != 0; i++) line[i] = line[n - 1]; /* padding */
    for (int first = 0; first < n; first += LANES)
      write_block(line + first, field, &tile, &place, n, first);
#else
    for (int i = 0; i < n; i++) write_row(line[i], field, &place, strides, i);
#endif
  }
}
