/* SPDX-License-Identifier: BSD-3-Clause */
/* The greatest |velocity| and the greatest |difference of neighbours| along the lines of one axis:
 * one pair of numbers a work-item. NaN and Inf in the velocity come out as NaN or Inf. */
#include "push.cl"

INLINE V greater(const V greatest, const V x) {
  const V size = SELECT(x < 0, -x, x);
  return SELECT((size > greatest) | (size != size), size, greatest); /* once NaN, NaN for good */
}

INLINE real greatest_of(const V x) {
  real greatest = 0;
  for (int j = 0; j < LANES; j++) {
    const real one = ((__private const real*)&x)[j];
    greatest = SELECT((one > greatest) | (one != one), one, greatest);
  }
  return greatest;
}

#ifdef BOUNDED
#define FIRST_NEIGHBOUR (-1)
#define NEIGHBOUR(p) (p)
#else
#define FIRST_NEIGHBOUR 0
#define NEIGHBOUR(p) ((p) == n ? 0 : (p))
#endif

__kernel void strain(__global real* out, DIVISION_PARAMETERS, MOTION_PARAMETERS) {
  DECLARE_DIVISION;
  DECLARE_MOTION;
  V speed = 0, difference = 0;
  const long begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles_of(division)); job++) {
    const Tile tile = tile_at(job, division);
    aim_motion(MOTION_ARGUMENT, &tile, &tile, segment, 0);
    V last = motion_of_node(MOTION_ARGUMENT, FIRST_NEIGHBOUR);
    speed = greater(speed, last);
    for (int p = FIRST_NEIGHBOUR + 1; p <= segment; p++) { /* the last node has a neighbour too */
      const V here = motion_of_node(MOTION_ARGUMENT, NEIGHBOUR(p));
      speed = greater(speed, here);
      difference = greater(difference, here - last);
#ifdef COARSE /* particles may meet what lies between their nodes */
      speed = greater(speed, motion_of_row(MOTION_ARGUMENT, COARSE_ROW(p), AT_BEGIN));
#endif
      last = here;
    }
  }
  out[2 * get_global_id(0)] = greatest_of(speed);
  out[2 * get_global_id(0) + 1] = greatest_of(difference);
}
