/* SPDX-License-Identifier: BSD-3-Clause */
/* Pushes the particles of all nodes by the full velocity: in which cell each comes to be, and where
 * in it. Of SOME_ROWS `farthest` becomes as many whole cells as a particle moves along the first
 * axis, if that is more.
 *
 * CELL  a signed integer */
#ifndef CELL
#define CELL int
#endif
#include "common/common.cl"
#include "generated/scheme.cl"
#include "generated/velocity_formulas.cl"
#include "motion/maxima.cl"
#include "motion/scheme.cl"
#include "stepping/unsplit_flow.cl"
#include "stepping/unsplit_grid.cl"
#include "stepping/vectors.cl"
#include "common/formula_parameters.cl"

/* The slopes of the next stage at the places reached so far, and what it makes of those. */
#define NEXT_STAGE(s)                                                           \
  {                                                                             \
    velocity_of_particles(&flow_at, p.node, moved, &instants[TIME_##s], slope); \
    FOR_AXES(a) { TAKE_STAGE(s, scale[a], slope[a], sum[a], moved[a]); }        \
  }

/* The places of particles that have moved by so many cells, in a box that begins with some plane.
 */
INLINE void put_particles(const Neighbours* p, __private const int* n, const int first_plane,
                          __private const V* moved, __global CELL* cells, __global real* offsets) {
  I cell[3] = {0, 0, 0};
  V offset[3];
  FOR_AXES(a) {
    const V whole = FLOOR(moved[a]), rest = moved[a] - whole;
    const I is_next = rest >= 1; /* what is just below a node is rounded up to it */
    offset[a] = SELECT(is_next, (V)(REAL(0.0)), rest);
    cell[a] = wrap_lanes(p->node[a] + TO_INT(whole) + SELECT(is_next, (I)(1), (I)(0)), n[a]);
  }
  if (IS_CUT(FIRST_AXIS)) {
    const I plane = cell[FIRST_AXIS] - (lane_int)first_plane;
    cell[FIRST_AXIS] = SELECT(plane < 0, plane + (lane_int)n[FIRST_AXIS], plane);
  }
  const long first = (p->row0 * n[1] + p->row1) * n[2] + p->first;
  const int count = min(LANES, n[2] - p->first);
  for (int j = 0; j < count; j++) {
    CELL number = 0;
    FOR_AXES(a) {
      number = number * (CELL)n[a] + (CELL)((__private const lane_int*)&cell[a])[j];
      offsets[(first + j) * DIMENSIONS + (a - FIRST_AXIS)] = ((__private const real*)&offset[a])[j];
    }
    cells[first + j] = number;
  }
}

KERNEL void unsplit_push(__global CELL* cells, __global real* offsets, __global int* farthest,
                         const long vectors_each, const int first_plane, const int n0, const int n1,
                         const int n2 ROWS_PARAMETERS, FLOW_PARAMETERS, const real scale0,
                         const real scale1, const real scale2, const real time,
                         const real middle_time, const real end_time) {
  const int n[3] = {n0, n1, n2};
  DECLARE_START_ROWS
  DECLARE_FLOW;
  const real scale[3] = {scale0, scale1, scale2};
  const Instants instants[3] = {instants_at(time FORMULA_ARGUMENTS),
                                instants_at(middle_time FORMULA_ARGUMENTS),
                                instants_at(end_time FORMULA_ARGUMENTS)};
  V most = 0;
  FOR_OWN_VECTORS(i, vectors_each, vectors_of(n, &rows)) {
    const Neighbours p = neighbours_at(i, n, &rows);
    V slope[3], sum[3] = {0, 0, 0}, moved[3] = {0, 0, 0};
    velocity_of_nodes(&flow_at, p.node, &instants[AT_BEGIN], slope);
    FOR_AXES(a) { TAKE_STAGE(1, scale[a], slope[a], sum[a], moved[a]); }
#if STAGES > 1
    NEXT_STAGE(2);
#endif
#if STAGES > 2
    NEXT_STAGE(3);
#endif
#if STAGES > 3
    NEXT_STAGE(4);
#endif
    put_particles(&p, n, first_plane, moved, cells, offsets);
    if (IS_CUT(FIRST_AXIS)) most = greater(most, size_of(moved[FIRST_AXIS]));
  }
  if (IS_CUT(FIRST_AXIS)) {
    const real cells_moved = ceil(greatest_of(most));
    atomic_max(farthest, cells_moved < (real)(1 << 30) ? (int)cells_moved : 1 << 30);
  }
}
