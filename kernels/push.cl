/* SPDX-License-Identifier: BSD-3-Clause */
/* Pushes the particles of a line: how many cells particle p of every lane moves in one sweep.
 *
 * MOTION   GRID     midpoint rule with the velocity on the nodes of the line, linear between them
 *          FORMULA  midpoint rule with velocity_formula() at the exact places and times
 *          GIVEN    the displacements themselves are read: another kernel has pushed the particles
 */
#include "cells.cl"
#include "lines.cl"

#define GRID 0
#define FORMULA 1
#define GIVEN 2
#ifndef MOTION
#define MOTION GRID
#endif

#if MOTION == FORMULA
#include "motion_formula.cl"
#else
#include "motion_stored.cl"
#endif

/* How far particles first .. first+rows-1 move. Stage by stage: rows are independent of one
 * another, stages are not, so this hides their latency. */
INLINE void displacements(MOTION_PARAMETER, const int first, const int rows, __private V* moved) {
#if MOTION == GIVEN
  for (int k = 0; k < rows; k++) moved[k] = motion_of_node(MOTION_ARGUMENT, first + k);
#else
  const real half_scale = REAL(0.5) * m->scale;
  for (int k = 0; k < rows; k++) moved[k] = half_scale * motion_of_node(MOTION_ARGUMENT, first + k);
  for (int k = 0; k < rows; k++)
    moved[k] = m->scale * motion_at(MOTION_ARGUMENT, first + k, moved[k]);
#endif
}
