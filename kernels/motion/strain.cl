/* SPDX-License-Identifier: BSD-3-Clause */
/* The greatest |velocity|, the greatest |difference of neighbours| and the greatest |velocity| on a
 * wall, along the lines of one axis: three numbers a work-group. NaN and Inf in the velocity come
 * out as NaN or Inf. */
#include "common/common.cl"
#include "lines/boundary.cl"
#include "lines/lines.cl"
#include "motion/maxima.cl"
#include "motion/motion_formula.cl"
#include "motion/motion_kinds.cl"
#include "motion/motion_stored.cl"
#include "motion/scheme.cl"

#if BOUNDED
#define FIRST_NEIGHBOUR (-1)
#define NEIGHBOUR(p) (p)
#else
#define FIRST_NEIGHBOUR 0
#define NEIGHBOUR(p) ((p) == n ? 0 : (p))
#endif

#if LOW_END == WALL || HIGH_END == WALL
#if MOTION == FORMULA

#define LAST_ROW (n - 1 - tile.greatest_first)

/* On the wall half a cell beyond row i; NaN where a formula is none just there. */
INLINE V size_on_wall(MOTION_STATE, const int i, const int inwards) {
  return size_of(motion_at(MOTION_ARGUMENT, i, (V)(REAL(-0.5) * inwards), AT_BEGIN));
}

#else

#define LAST_ROW (m->n - 1 - m->tile.greatest_first)

/* The same by the line through the last two nodes or the parabola through three, whichever is less:
 * one of them finds zero where a flow that vanishes on the wall is coarsely resolved. It is no more
 * than at the last node, and none where they cross zero before the wall. */
INLINE V size_on_wall(MOTION_STATE, const int i, const int inwards) {
  V at[3];
  for (int k = 0; k < 3; k++) at[k] = motion_of_row(MOTION_ARGUMENT, i + k * inwards, AT_BEGIN);
  const V sign = SELECT(at[0] < 0, (V)(REAL(-1.0)), (V)(REAL(1.0))), zero = 0;
  const V line = sign * (REAL(1.5) * at[0] - REAL(0.5) * at[1]);
  const V bent = line + sign * REAL(0.375) * (at[0] - 2 * at[1] + at[2]);
  const V less = SELECT(bent < line, bent, line), size = sign * at[0];
  return SELECT(less < 0, zero, SELECT(less > size, size, less));
}

#endif
#endif

KERNEL void strain(__global real* out, const ulong out_offset, const int n, const int lines,
                   const int outers, const int segment, const int tiles_each PART_PARAMETERS,
                   MOTION_PARAMETERS) {
  const Lines grid = {n, lines, outers, segment PART_NODES};
  DECLARE_MOTION;
  V speed = 0, difference = 0, on_wall = 0;
  const long begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles_of(grid)); job++) {
    const Tile tile = tile_at(job, grid);
    aim_motion(MOTION_ARGUMENT, &tile, &tile, OWN_ROWS(tile, grid), 0);
    V last = motion_of_node(MOTION_ARGUMENT, FIRST_NEIGHBOUR);
    speed = greater(speed, size_of(last));
    for (int p = FIRST_NEIGHBOUR + 1; p <= segment; p++) { /* the last node has a neighbour too */
      const V here = motion_of_node(MOTION_ARGUMENT, NEIGHBOUR(p));
      speed = greater(speed, size_of(here));
      difference = greater(difference, size_of(here - last));
#if COARSE > 1 /* particles may meet what lies between their nodes */
      speed = greater(speed, size_of(motion_of_row(MOTION_ARGUMENT, COARSE_ROW(p), AT_BEGIN)));
#endif
      last = here;
    }
#if LOW_END == WALL
    const V low = size_on_wall(MOTION_ARGUMENT, 0, 1);
    on_wall = SELECT((low > on_wall) & (FIRST_NODES(tile) == 0), low, on_wall);
#endif
#if HIGH_END == WALL
    if (tile.greatest_first + segment >= n) {
      const V high = size_on_wall(MOTION_ARGUMENT, LAST_ROW, -1);
      const I is_last = FIRST_NODES(tile) == (I)((lane_int)tile.greatest_first);
      on_wall = SELECT((high > on_wall) & is_last, high, on_wall);
    }
#endif
  }
  const real found[] = {greatest_of(speed), greatest_of(difference), greatest_of(on_wall)};
  LEAVE_GREATEST(3, found, out + out_offset);
}
