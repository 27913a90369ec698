/* SPDX-License-Identifier: BSD-3-Clause */
/* Pushes the particles of a line: how many cells particle p of every lane moves in one sweep.
 *
 * MOTION   GRID     by a scheme with the velocity on the nodes of the line
 *          FORMULA  by a scheme with velocity_formula() at the exact places and times
 *          GIVEN    the displacements themselves are read: another kernel has pushed the particles
 *
 * A file is included once: what formulas are made of comes first, whichever of them there are. */
#include "lines/cells.cl"
#include "lines/lines.cl"
#include "motion/scheme.cl"
#include "common/trigonometry.cl"

#define GRID 0
#define FORMULA 1
#define GIVEN 2
#ifndef MOTION
#define MOTION GRID
#endif

#include "motion/continued.cl"
#if MOTION == FORMULA
#include "motion/motion_formula.cl"
#else
#include "motion/motion_between.cl"
#endif

#define STAGE(s)                                                                        \
  for (int k = begin; k < rows; k++) {                                                  \
    const V slope = s == 1 ? motion_of_node(MOTION_ARGUMENT, first + k)                 \
                           : motion_at(MOTION_ARGUMENT, first + k, moved[k], TIME_##s); \
    AFTER_##s(m->scale, slope, sum[k], moved[k]);                                       \
  }

/* How far particles first+begin .. first+rows-1 move. Stage by stage: rows are independent of one
 * another, stages are not, so this hides their latency. */
INLINE void displacements(MOTION_PARAMETER, const int first, const int begin, const int rows,
                          __private V* moved) {
#if MOTION == GIVEN
  for (int k = begin; k < rows; k++) moved[k] = motion_of_node(MOTION_ARGUMENT, first + k);
#else
  V sum[LANES];
  STAGE(1)
#if STAGES > 1
  STAGE(2)
#endif
#if STAGES > 2
  STAGE(3)
#endif
#if STAGES > 3
  STAGE(4)
#endif
#endif
}
