/* SPDX-License-Identifier: BSD-3-Clause */
/* The advection kernel alone: writes how many cells every particle moves along the axis of the
 * sweep. Stages look at most `reach` cells away; what is needed from further away than is copied is
 * gathered. */
#include "common/common.cl"
#include "lines/form.cl"
#include "lines/lines.cl"
#include "motion/motion_formula.cl"
#include "motion/motion_stored.cl"
#include "motion/push.cl"

KERNEL void advect(__global real* out, const ulong out_offset, const long row_stride,
                   const long lane_stride, const long outer_stride, const int n, const int lines,
                   const int outers, const int segment, const int tiles_each PART_PARAMETERS,
                   const int reach, MOTION_PARAMETERS) {
  const Strides strides = {row_stride, lane_stride, outer_stride};
  __global real* to = out + out_offset;
  const Lines grid = {n, lines, outers, segment PART_NODES};
  DECLARE_MOTION;
  const long begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles_of(grid)); job++) {
    const Tile tile = tile_at(job, grid);
    const LaneStarts starts = lane_starts(&tile, strides);
    aim_motion(MOTION_ARGUMENT, &tile, &tile, segment, reach);
    for (int first = 0; first < segment; first += LANES) {
      V moved[LANES];
      const int rows = min(LANES, segment - first);
#if ALONG_MEMORY
      for (int k = 0; k < LANES; k++) moved[k] = 0;
      displacements(MOTION_ARGUMENT, first, 0, rows, moved);
      write_block(moved, to, &tile, &starts, n, first);
#else
      displacements(MOTION_ARGUMENT, first, 0, rows, moved);
      for (int k = 0; k < rows; k++) write_row(moved[k], to, &starts, strides, first + k);
#endif
    }
  }
}
