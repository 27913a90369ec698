/* SPDX-License-Identifier: BSD-3-Clause */
/* The greatest |velocity| and the greatest |difference of neighbours| along the lines of one axis:
 * one pair of numbers a work-item. NaN and Inf in the velocity come out as NaN or Inf. */
#include "greatest.cl"
#include "push.cl"

#ifdef BOUNDED
#define FIRST_NEIGHBOUR (-1)
#define NEIGHBOUR(p) (p)
#else
#define FIRST_NEIGHBOUR 0
#define NEIGHBOUR(p) ((p) == n ? 0 : (p))
#endif

KERNEL void strain(__global real* out, DIVISION_PARAMETERS, MOTION_PARAMETERS) {
  DECLARE_DIVISION;
  DECLARE_MOTION;
  V speed = 0, difference = 0;
  const long begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles_of(division)); job++) {
    const Tile tile = tile_at(job, division);
    aim_motion(MOTION_ARGUMENT, &tile, &tile, segment, 0);
    V last = motion_of_node(MOTION_ARGUMENT, FIRST_NEIGHBOUR);
    speed = greater(speed, size_of(last));
    for (int p = FIRST_NEIGHBOUR + 1; p <= segment; p++) { /* the last node has a neighbour too */
      const V here = motion_of_node(MOTION_ARGUMENT, NEIGHBOUR(p));
      speed = greater(speed, size_of(here));
      difference = greater(difference, size_of(here - last));
#ifdef COARSE /* particles may meet what lies between their nodes */
      speed = greater(speed, size_of(motion_of_row(MOTION_ARGUMENT, COARSE_ROW(p), AT_BEGIN)));
#endif
      last = here;
    }
  }
  out[2 * get_global_id(0)] = greatest_of(speed);
  out[2 * get_global_id(0) + 1] = greatest_of(difference);
}
