/* SPDX-License-Identifier: BSD-3-Clause */
/* Pushes the particles of all nodes by the full velocity: how many cells each moves along each
 * axis. Each work-item takes a run of vectors of LANES neighbouring particles. */
#include "common/common.cl"
#include "generated/scheme.cl"
#include "generated/velocity_formulas.cl"
#include "motion/scheme.cl"
#include "stepping/unsplit_flow.cl"
#include "stepping/unsplit_grid.cl"
#include "common/formula_parameters.cl"

/* The slopes of the next stage at the places reached so far, and what it makes of those. */
#define NEXT_STAGE(TIME, AFTER)                                             \
  {                                                                         \
    velocity_of_particles(&flow_at, p.node, moved, &instants[TIME], slope); \
    FOR_AXES(a) { AFTER(scale[a], slope[a], sum[a], moved[a]); }            \
  }

KERNEL void unsplit_push(__global real* moves, const ulong moves_offset, const long moves_component,
                         const long moves_stride0, const long moves_stride1,
                         const long moves_stride2, const long vectors_each, const int n0,
                         const int n1, const int n2, FLOW_PARAMETERS, const real scale0,
                         const real scale1, const real scale2, const real time,
                         const real middle_time, const real end_time) {
  const int n[3] = {n0, n1, n2};
  DECLARE_FLOW;
  const real scale[3] = {scale0, scale1, scale2};
  const Instants instants[3] = {instants_at(time FORMULA_ARGUMENTS),
                                instants_at(middle_time FORMULA_ARGUMENTS),
                                instants_at(end_time FORMULA_ARGUMENTS)};
  const long begin = (long)get_global_id(0) * vectors_each;
  for (long i = begin; i < min(begin + vectors_each, vectors_of(n)); i++) {
    const Neighbours p = neighbours_at(i, n);
    V slope[3], sum[3], moved[3] = {0, 0, 0};
    velocity_of_nodes(&flow_at, p.node, &instants[AT_BEGIN], slope);
    FOR_AXES(a) { AFTER_1(scale[a], slope[a], sum[a], moved[a]); }
#if STAGES > 1
    NEXT_STAGE(TIME_2, AFTER_2);
#endif
#if STAGES > 2
    NEXT_STAGE(TIME_3, AFTER_3);
#endif
#if STAGES > 3
    NEXT_STAGE(TIME_4, AFTER_4);
#endif
    __global real* to = ROW_OF(moves, p.row0, p.row1) + p.first;
    FOR_AXES(a) * (__global V*)(to + (a - FIRST_AXIS) * moves_component) = moved[a];
  }
}
