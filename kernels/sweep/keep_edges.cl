/* SPDX-License-Identifier: BSD-3-Clause */
/* Before a sweep: copies what others may need of every segment, `reach` rows at either end. */
#ifndef SEGMENT
#define SEGMENT 1
#endif
#include "common/common.cl"
#include "generated/swept_fields.cl"
#include "lines/boundary.cl"
#include "lines/lines.cl"

KERNEL void keep_edges(FIELD_PARAMETERS, const long row_stride, const long lane_stride,
                       const long outer_stride, const int n, const int lines, const int outers,
                       const int segment, const int tiles_each PART_PARAMETERS KEPT_PARAMETERS,
                       const int reach) {
  const Lines grid = {n, lines, outers, segment PART_NODES};
  const Strides strides = {row_stride, lane_stride, outer_stride};
  __global stored* const u[COMPONENTS] = FIELD_POINTERS;
  __global stored* const kept[COMPONENTS] = KEPT_POINTERS;
  const long begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles_of(grid)); job++) {
    const Tile tile = tile_at(job, grid);
    const LaneStarts starts = lane_starts(&tile, strides);
    const long further = further_in_kept(&tile, KEPT_FURTHER);
    for (int c = 0; c < COMPONENTS; c++)
      copy_ends(u[c], kept[c] + further, &tile, &starts, strides, PART ? grid.end : n, segment,
                reach);
  }
}
