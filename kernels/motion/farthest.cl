/* SPDX-License-Identifier: BSD-3-Clause */
/* How many cells a particle moves at most along the axis of a sweep: a number a work-group. One
 * that is NaN comes out as NaN. */
#include "common/common.cl"
#include "lines/lines.cl"
#include "motion/maxima.cl"
#include "motion/motion_formula.cl"
#include "motion/motion_stored.cl"
#include "motion/push.cl"

KERNEL void farthest(__global real* out, const ulong out_offset, const int n, const int lines,
                     const int outers, const int segment, const int tiles_each PART_PARAMETERS,
                     MOTION_PARAMETERS) {
  const Lines grid = {n, lines, outers, segment PART_NODES};
  DECLARE_MOTION;
  V most = 0;
  const long begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles_of(grid)); job++) {
    const Tile tile = tile_at(job, grid);
    const int own = OWN_ROWS(tile, grid);
    aim_motion(MOTION_ARGUMENT, &tile, &tile, own, 0);
    for (int first = 0; first < own; first += LANES) {
      V moved[LANES];
      const int rows = min(LANES, own - first);
      displacements(MOTION_ARGUMENT, first, 0, rows, moved);
      for (int k = 0; k < rows; k++) most = greater(most, size_of(moved[k]));
    }
  }
  const real found[] = {greatest_of(most)};
  LEAVE_GREATEST(1, found, out + out_offset);
}
