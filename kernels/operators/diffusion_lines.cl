/* SPDX-License-Identifier: BSD-3-Clause */
/* Diffusion of lines that a work-item holds in private memory through all rounds and then
 * overwrites.
 *
 * RACES. A work-item owns the lines of `tiles_each` consecutive tiles, which nobody else reads. */
#include "common/common.cl"
#include "common/compensated.cl"
#include "lines/boundary.cl"
#include "lines/form.cl"
#include "lines/lines.cl"
#include "operators/diffusion.cl"
#include "operators/diffusion_held.cl"

/* Images are held, too, as far as there is room; on either side at least for those that thinning
 * and refilling read. */
#ifndef LEAST_MARGIN
#define LEAST_MARGIN 80
#endif
#define ROWS_WITH_IMAGES (LINE_CAPACITY + LANES + 2 * LEAST_MARGIN)

INLINE int margin_of(const int n) { return (ROWS_WITH_IMAGES - LANES - n) / 2; }

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
                         __global const real* weights, const LineEnds* ends) {
  const int n = ends->n;
  const long reach = round->taps * (long)round->apart;
  const int held = (int)min(reach, (long)margin_of(n));
  hold_images(line, held, ends);
  const int first = (int)min(reach - held, (long)n), end = max(n - first, first);
  for (int i = 0; i < first; i++) ADD_MEAN(ANY_HELD, i, round, weights, to[i])
  mean_of_held(line, to, first, end, round, weights);
  for (int i = end; i < n; i++) ADD_MEAN(ANY_HELD, i, round, weights, to[i])
}

INLINE void read_line(__private V* line, __global const stored* field, const LaneStarts* starts,
                      const Strides strides, const int n) {
#if ALONG_MEMORY
  for (int first = 0; first < n; first += LANES) read_block(line + first, field, starts, first);
#else
  for (int i = 0; i < n; i++) line[i] = read_row(field, starts, strides, i);
#endif
}

#ifdef TAKES_IN
#define ROWS_OF_SUM 16 /* that are summed up before the sum is compensated */

/* Adds `factor` times the sums of diffusion_moments.cl over the lanes that are lines. */
INLINE void add_moments(__global V* own, __private const V* line, const int n, const int live,
                        const real factor) {
  for (int first = 0; first < n; first += ROWS_OF_SUM) {
    V sums[2] = {0, 0};
    for (int i = first; i < min(first + ROWS_OF_SUM, n); i++) {
      sums[0] += line[i];
      sums[1] = MAD(line[i], (V)(((real)i + REAL(0.5)) / (real)n), sums[1]);
    }
    for (int k = 0; k < 2; k++)
      add_compensated(
          own + 2 * k, own + 2 * k + 1,
          SELECT((I)(LANE_NUMBERS) < (I)((lane_int)live), factor * sums[k], (V)(REAL(0.0))));
  }
}
#define MOMENTS_PARAMETER , __global V* moments
#else
#define MOMENTS_PARAMETER
#endif

KERNEL void diffusion_lines(__global stored* u, const ulong u_offset, const long row_stride,
                            const long lane_stride, const long outer_stride, const int n,
                            const int lines, const int outers, const int segment,
                            const int tiles_each, __global const Round* rounds,
                            __global const real* all_weights, const int first_round,
                            const int count TIME_PARAMETERS MOMENTS_PARAMETER) {
  const Lines grid = {n, lines, outers, segment};
  const Strides strides = {row_stride, lane_stride, outer_stride};
  __global stored* const field = u + u_offset;
  V rows_before[ROWS_WITH_IMAGES], rows_after[ROWS_WITH_IMAGES];
#ifdef TAKES_IN
  __global V* const own = moments + 4 * (component * get_global_size(0) + get_global_id(0));
#if LOW_END == INFLOW && HIGH_END == INFLOW
  if (get_global_id(0) == 0) {
    const real more = moment_gained(n, rounds + first_round, count TIME_ARGUMENTS);
    const V in_first_lane = SELECT((I)(LANE_NUMBERS) == (I)(0), (V)(more), (V)(REAL(0.0)));
    add_compensated(own + 2, own + 3, in_first_lane * ((real)lines * (real)outers));
  }
#endif
#endif
  const long begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles_of(grid)); job++) {
    const Tile tile = tile_at(job, grid);
    const LaneStarts starts = lane_starts(&tile, strides);
    __private V *line = rows_before + margin_of(n), *other = rows_after;
    read_line(line, field, &starts, strides, n);
#ifdef TAKES_IN
    add_moments(own, line, n, tile.live, -1);
#endif
    int remaining = n;
    for (int k = 0; k < count; k++) {
      __global const Round* const round = rounds + first_round + k;
      __global const real* const weights = all_weights + round->first;
      const LineEnds ends = ends_of(remaining, round TIME_ARGUMENTS);
      if (round->kind == MAP) remaining = remaining / round->from * round->to;
      __private V* const next = other + margin_of(remaining);
      if (round->kind == MAP) {
        hold_images(line, round->taps, &ends);
        map_of_held(line, next, 0, remaining, round, weights);
      } else {
        mean_of_line(line, next, round, weights, &ends);
      }
      other = line - margin_of(ends.n);
      line = next;
    }
#if ALONG_MEMORY
    for (int i = n; i % LANES != 0; i++) line[i] = line[n - 1]; /* padding */
    for (int first = 0; first < n; first += LANES)
      write_block(line + first, field, &tile, &starts, n, first);
#else
    for (int i = 0; i < n; i++) write_row(line[i], field, &starts, strides, i);
#endif
#ifdef TAKES_IN
#ifdef STORED_IS_HALF
    read_line(line, field, &starts, strides, n); /* as it has been rounded */
#endif
    add_moments(own, line, n, tile.live, 1);
#endif
  }
}
