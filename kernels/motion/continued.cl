/* SPDX-License-Identifier: BSD-3-Clause */
/* The velocity along a line beyond an end where particles come in: the cubic through the first four
 * places of the line, so that ghosts near the end move as smoothly as particles on the line, though
 * nothing is known of the velocity outside. It is kept between half and twice what it is at the
 * first place: however rough a velocity is, ghosts move the same way and at most twice as fast.
 * Shorter lines have fewer places, and the degree is lower.
 *
 * CONTINUED  1: some end is such, and the motion is a velocity: displacements that are given go on
 * as they are */
#include "common/common.cl"
#include "lines/boundary.cl"
#include "motion/cubic.cl"
#include "motion/motion_kinds.cl"

#define CONTINUED (MOTION != GIVEN && (LOW_END == INFLOW || HIGH_END == INFLOW))

INLINE V continued(const Cubic* c, const V place) {
  const V value = value_of(c, place), less = REAL(0.5) * c->first, more = 2 * c->first;
  const I is_negative = c->first < 0;
  const V least = SELECT(is_negative, more, less), greatest = SELECT(is_negative, less, more);
  const V most = SELECT(value > greatest, greatest, value);
  return SELECT(most < least, least, most);
}
