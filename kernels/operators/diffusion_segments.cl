/* SPDX-License-Identifier: BSD-3-Clause */
/* Diffusion of lines too long to be held, from one field into another one: a work-item holds
 * segments of them, and so much around that several rounds can be done.
 *
 * RACES. A work-item writes the segments of `tiles_each` consecutive tiles, and nobody writes what
 * it reads. */
#define SEGMENT 1
#include "common/common.cl"
#include "common/transpose.cl"
#include "lines/form.cl"
#include "lines/lines.cl"
#include "operators/diffusion.cl"
#include "operators/diffusion_held.cl"

#ifndef ROWS_AT_MOST
#define ROWS_AT_MOST 4096 /* that are held; a block may follow */
#endif

#if ALONG_MEMORY
#define NODE_IN_LANES(k) (V)(LOAD_ONE(line + (k)))
INLINE real any_of_line(__global const stored* line, const long node, const LineEnds* ends) {
  const Origin o = origin_of(node, ends);
  return FIRST(AS_MADE(NODE_IN_LANES, o));
}

INLINE void read_segment(__private V* rows, __global const stored* field, const Tile* tile,
                         const LaneStarts* starts, const Strides strides, const int around,
                         const int nodes, const LineEnds* ends) {
  for (int first = -around; first < nodes + around; first += LANES) {
    V block[LANES];
    for (int j = 0; j < LANES; j++) {
      const long node = tile->first[j] + first;
      __global const stored* const line = field + starts->start[j] - tile->first[j];
      if (node >= 0 && node + LANES <= ends->n) {
        block[j] = *(__global const LooseV*)(line + node);
      } else {
        for (int k = 0; k < LANES; k++)
          ((__private real*)&block[j])[k] = any_of_line(line, node + k, ends);
      }
    }
    transpose_block(block);
    UNROLL
    for (int j = 0; j < LANES; j++) rows[first + j] = block[j];
  }
}
#else
#define ROW_OF_LINES(k) LOAD(line + (k) * strides.row)
INLINE void read_segment(__private V* rows, __global const stored* field, const Tile* tile,
                         const LaneStarts* starts, const Strides strides, const int around,
                         const int nodes, const LineEnds* ends) {
  __global const stored* const line = field + starts->start - tile->first * strides.row;
  for (int k = -around; k < nodes + around; k++) {
    const Origin o = origin_of((long)tile->first + k, ends);
    rows[k] = AS_MADE(ROW_OF_LINES, o);
  }
}
#endif

/* LANES different lines each, where there are so many: then maps may begin anywhere in a segment.
 * Else any LANES segments, which are whole multiples of what maps take. */
#define IS_SAME_SEGMENT(grid) (!ALONG_MEMORY || (long)(grid).lines * (grid).outers >= LANES)

#if ALONG_MEMORY
INLINE long tiles_of_segments(const Lines grid) {
  const long lines = (long)grid.lines * grid.outers;
  return IS_SAME_SEGMENT(grid) ? (lines + LANES - 1) / LANES * segments_of(grid) : tiles_of(grid);
}

INLINE Tile tile_of_segments(const long job, const Lines grid) {
  if (!IS_SAME_SEGMENT(grid)) return tile_at(job, grid);
  const Lines whole = {grid.n, grid.lines, grid.outers, grid.n};
  const int segments = segments_of(grid);
  Tile tile = tile_at(job / segments, whole);
  tile.least_first = tile.greatest_first = (int)(job % segments) * grid.segment;
  for (int j = 0; j < LANES; j++) tile.first[j] = tile.least_first;
  return tile;
}
#else
#define tiles_of_segments tiles_of
#define tile_of_segments tile_at
#endif

/* Where a segment that begins at a node begins on lines that have n_to nodes for n, in blocks that
 * are written at once. */
#define NODES_WRITTEN (ALONG_MEMORY ? LANES : 1)
INLINE int first_on_target(const int first, const int n, const int n_to) {
  const long node = ((long)first * n_to + n - 1) / n;
  return (int)min((node + NODES_WRITTEN - 1) / NODES_WRITTEN * NODES_WRITTEN, (long)n_to);
}

INLINE Tile tile_on_target(const Tile* tile, const int n, const int n_to) {
  Tile on_target = *tile;
#if ALONG_MEMORY
  for (int j = 0; j < LANES; j++) on_target.first[j] = first_on_target(tile->first[j], n, n_to);
#else
  on_target.first = first_on_target(tile->first, n, n_to);
#endif
  on_target.least_first = first_on_target(tile->least_first, n, n_to);
  on_target.greatest_first = first_on_target(tile->greatest_first, n, n_to);
  return on_target;
}

INLINE void write_segment(__private V* rows, __global stored* field, const Tile* tile,
                          const LaneStarts* starts, const Strides strides, const int nodes,
                          const int n) {
#if ALONG_MEMORY
  for (int i = nodes; i % LANES != 0; i++) rows[i] = rows[nodes - 1]; /* padding */
  for (int first = 0; first < nodes; first += LANES)
    write_block(rows + first, field, tile, starts, n, first);
#else
  for (int i = 0; i < min(nodes, n - tile->first); i++)
    write_row(rows[i], field, starts, strides, i);
#endif
}

INLINE long ceil_of(const long numerator, const long denominator) {
  return numerator / denominator + (numerator % denominator > 0);
}

/* Nodes first .. end - 1 that are held of a line. */
typedef struct {
  long first, end;
} Held;

/* What can be made of them: all that is summed up is held. */
INLINE Held after_round(const Held held, __global const Round* round) {
  const long taps = round->taps, from = round->from, to = round->to;
  Held after = {held.first + taps * round->apart, held.end - taps * round->apart};
  if (round->kind == MAP) {
    after.first = ceil_of((2 * (held.first + taps) - 1) * to - from, 2 * from);
    after.end = -ceil_of(from - (2 * (held.end - taps) + 1) * to, 2 * from) + 1;
  }
  return after;
}

/* `around`: nodes on either side of a segment that the rounds take. */
KERNEL void diffusion_segments(__global const stored* source, const ulong source_offset,
                               const long source_row_stride, const long source_lane_stride,
                               const long source_outer_stride, __global stored* target,
                               const ulong target_offset, const long target_row_stride,
                               const long target_lane_stride, const long target_outer_stride,
                               const int n, const int lines, const int outers, const int segment,
                               const int tiles_each, const int n_to, const int around,
                               __global const Round* rounds, __global const real* all_weights,
                               const int first_round, const int count TIME_PARAMETERS) {
  const Lines grid = {n, lines, outers, segment};
  const Strides from = {source_row_stride, source_lane_stride, source_outer_stride};
  const Strides to = {target_row_stride, target_lane_stride, target_outer_stride};
  const LineEnds ends = ends_of(n, rounds + first_round TIME_ARGUMENTS);
  V rows_before[ROWS_AT_MOST + LANES], rows_after[ROWS_AT_MOST + LANES];
  const long begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles_of_segments(grid)); job++) {
    const Tile tile = tile_of_segments(job, grid), on_target = tile_on_target(&tile, n, n_to);
    const LaneStarts starts = lane_starts(&tile, from),
                     starts_on_target = lane_starts(&on_target, to);
    /* Nodes are counted from the same one in all lanes. */
    const int first = IS_SAME_SEGMENT(grid) ? tile.least_first : 0;
    const int to_first = first_on_target(first, n, n_to);
    const int to_end = first_on_target(min(first + segment, n), n, n_to);
    Held held = {first - around, first + segment + around};
    __private V *own = rows_before, *other = rows_after;
    read_segment(own + around, source + source_offset, &tile, &starts, from, around, segment,
                 &ends);
    for (int k = 0; k < count; k++) {
      __global const Round* const round = rounds + first_round + k;
      __global const real* const weights = all_weights + round->first;
      const Held after = after_round(held, round);
      __private V *line = own - held.first, *next = other - after.first;
      if (round->kind == MAP)
        map_of_held(line, next, (int)after.first, (int)after.end, round, weights);
      else
        mean_of_held(line, next, (int)after.first, (int)after.end, round, weights);
      held = after;
      other = own;
      own = next + after.first;
    }
    write_segment(own + (to_first - held.first), target + target_offset, &on_target,
                  &starts_on_target, to, to_end - to_first, n_to);
  }
}
