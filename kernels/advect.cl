/* SPDX-License-Identifier: BSD-3-Clause */
/* The advection kernel alone: writes how many cells every particle moves along the axis of the
 * sweep. */
#include "push.cl"

__kernel void advect(__global real* out, const ulong out_offset, const long row_stride,
                     const long lane_stride, const long outer_stride, const int lines,
                     const long tiles, const int tiles_each, MOTION_PARAMETERS) {
  const Strides strides = {row_stride, lane_stride, outer_stride};
  DECLARE_MOTION;
  const long begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles); job++) {
    const Tile tile = tile_at(job, lines);
    __global real* to = out + out_offset + tile_start(tile, strides);
    AIM_MOTION(tile, tile);
#ifdef ALONG_MEMORY
    for (int first = 0; first < n; first += LANES) {
      V moved[LANES];
      for (int k = 0; k < LANES; k++) moved[k] = 0;
      displacements(&m, first, min(LANES, n - first), moved);
      write_block(moved, to, tile, strides, first);
    }
#else
    for (int first = 0; first < n; first += LANES) {
      V moved[LANES];
      const int rows = min(LANES, n - first);
      displacements(&m, first, rows, moved);
      for (int k = 0; k < rows; k++) write_row(moved[k], to, strides, first + k);
    }
#endif
  }
}
