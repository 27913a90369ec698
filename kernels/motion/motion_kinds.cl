/* SPDX-License-Identifier: BSD-3-Clause */
/* What moves the particles of a line.
 *
 * MOTION   GRID     by a scheme with the velocity on the nodes of the line
 *          FORMULA  by a scheme with velocity_formula() at the exact places and times
 *          GIVEN    the displacements themselves are read: another kernel has pushed the particles
 */
#define GRID 0
#define FORMULA 1
#define GIVEN 2
#ifndef MOTION
#define MOTION GRID
#endif
