/* SPDX-License-Identifier: BSD-3-Clause */
/* How the velocity along another axis changes along that axis, at an end where particles come in:
 * over the nodes next to the end, by the differences that a sweep along the other axis meets. One
 * work-item writes some rows of one line along the other axis; nobody else writes these.
 *
 * MANY_INSTANTS  1: rates of many instants, one after the other */
#include "common/common.cl"
#include "lines/boundary.cl"
#include "lines/form.cl"
#include "lines/lines.cl"
#include "motion/motion_formula.cl"
#include "motion/motion_kinds.cl"
#include "motion/motion_stored.cl"

#ifndef MANY_INSTANTS
#define MANY_INSTANTS 0
#endif
#define ROWS_EACH 64

/* An instant is a time, or the share of the later level then. */
#if MOTION == FORMULA
#define AIM_AT_INSTANT(m, instant) \
  for (int when = 0; when < 3; when++) (m)->instants[when] = INSTANT(instant)
#else
#define AIM_AT_INSTANT(m, instant) \
  for (int when = 0; when < 3; when++) (m)->shares[when] = instant
#endif

/* The first and the last node of a periodic line are neighbours. Segments go around by themselves.
 */
INLINE int going_around(const int p, const int n) {
  return BOUNDED || SEGMENT ? p : p < 0 ? n - 1 : p < n ? p : 0;
}

/* `is_lane`: whether lines of the face lie at the place `face` of the lane axis, or of the outer
 * one. A line's number counts along the other of these two. */
KERNEL void crossflow(__global real* rates, const ulong rates_offset, const long row_step,
                      const long line_step, const int is_lane, const int face,
                      const real per_difference, const int n, const int lines, const int outers,
                      const int segment, const int tiles_each PART_PARAMETERS,
#if MANY_INSTANTS
                      __global const real* instants, const long instant_step,
#endif
                      MOTION_PARAMETERS) {
  const Lines grid = {n, lines, outers, segment PART_NODES};
  DECLARE_MOTION;
  const int line = get_global_id(0), begin = (int)get_global_id(1) * ROWS_EACH;
  const Tile tile = tile_at(is_lane ? face + (long)lines * line : line + (long)lines * face, grid);
  __global real* to = rates + rates_offset + line * line_step;
#if MANY_INSTANTS
  const long number = get_global_id(2);
  AIM_AT_INSTANT(m, instants[number]);
  to += number * instant_step;
#endif
  const int rows = PART ? grid.end - grid.begin : n;
  aim_motion(MOTION_ARGUMENT, &tile, &tile, rows, 0);
  V before = motion_of_node(MOTION_ARGUMENT, going_around(begin - 1, n));
  V here = motion_of_node(MOTION_ARGUMENT, begin);
  for (int p = begin; p < min(begin + ROWS_EACH, rows); p++) {
    const V after = motion_of_node(MOTION_ARGUMENT, going_around(p + 1, n));
    to[p * row_step] = (after - before) * per_difference;
    before = here;
    here = after;
  }
}
