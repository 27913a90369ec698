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

/* The same segments of lines that have n_to nodes for n. */
INLINE Tile tile_on_target(const Tile* tile, const int n, const int n_to) {
  Tile on_target = *tile;
#if ALONG_MEMORY
  for (int j = 0; j < LANES; j++) on_target.first[j] = (int)((long)tile->first[j] * n_to / n);
#else
  on_target.first = (int)((long)tile->first * n_to / n);
#endif
  on_target.least_first = (int)((long)tile->least_first * n_to / n);
  on_target.greatest_first = (int)((long)tile->greatest_first * n_to / n);
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
  for (long job = begin; job < min(begin + tiles_each, tiles_of(grid)); job++) {
    const Tile tile = tile_at(job, grid), on_target = tile_on_target(&tile, n, n_to);
    const LaneStarts starts = lane_starts(&tile, from),
                     starts_on_target = lane_starts(&on_target, to);
    int nodes = segment, beyond = around;
    __private V *line = rows_before + beyond, *other = rows_after;
    read_segment(line, source + source_offset, &tile, &starts, from, beyond, nodes, &ends);
    for (int k = 0; k < count; k++) {
      __global const Round* const round = rounds + first_round + k;
      __global const real* const weights = all_weights + round->first;
      __private V* const own = line - beyond;
      if (round->kind == MAP) {
        nodes = nodes / round->from * round->to;
        beyond = (int)((long)(beyond - round->taps - 1) * round->to / round->from);
        map_of_held(line, other + beyond, -beyond, nodes + beyond, round, weights);
      } else {
        beyond -= round->taps * round->apart;
        mean_of_held(line, other + beyond, -beyond, nodes + beyond, round, weights);
      }
      line = other + beyond;
      other = own;
    }
    write_segment(line, target + target_offset, &on_target, &starts_on_target, to, nodes, n_to);
  }
}
