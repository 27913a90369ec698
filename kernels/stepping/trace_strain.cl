/* SPDX-License-Identifier: BSD-3-Clause */
/* How much a velocity strains what is anywhere in a box: the greatest sum, over the axes, of
 * |difference of a component between neighbouring points| / spacing, over all points and
 * components, of so many points of one's own, which begin with some plane. One number a work-group.
 * NaN and Inf in the velocity come out as NaN or Inf. */
#include "common/common.cl"
#include "generated/velocity_formulas.cl"
#include "motion/maxima.cl"
#include "sets/ends.cl"
#include "stepping/trace_flow.cl"
#include "stepping/vectors.cl"
#include "common/formula_parameters.cl"

/* Points of an axis with ends lie in the middle of its cells, others at their beginning. */
#define OFFSET_OF_POINTS(a) (ENDS_OF(a) & ENDS_MEET ? REAL(0.0) : REAL(0.5))

KERNEL void trace_strain(__global real* out, const ulong out_offset, const long vectors_each,
                         const int own0, const int own1, const int own2, const int begin,
                         TRACE_PARAMETERS, const real per_cell0, const real per_cell1,
                         const real per_cell2, const real time) {
  DECLARE_TRACE_FLOW;
  const real per_cell[3] = {per_cell0, per_cell1, per_cell2}; /* 1 / spacing */
  const Instants at = instants_at(time FORMULA_ARGUMENTS);
  const int vectors = (own2 + LANES - 1) / LANES;
  V strain = 0;
  FOR_OWN_VECTORS(i, vectors_each, (long)own0 * own1 * vectors) {
    const long row = i / vectors;
    const I along = (lane_int)(i % vectors * LANES) + (I)(LANE_NUMBERS),
            last = (I)((lane_int)(own2 - 1));
    I cell[3] = {(I)((lane_int)(row / own1)), (I)((lane_int)(row % own1)),
                 SELECT(along < last, along, last)};
    cell[ABSENT_AXES] += (lane_int)begin;
    V offset[3], here[3], there[3], strains[3] = {0, 0, 0}, moved[3] = {0, 0, 0};
    FOR_OWN_AXES(a) offset[a] = OFFSET_OF_POINTS(a);
    velocity_of_tracers(&flow_at, cell, offset, moved, &at, here);
    FOR_OWN_AXES(a) { /* the last point has a neighbour too */
      moved[a] = 1;
      velocity_of_tracers(&flow_at, cell, offset, moved, &at, there);
      moved[a] = 0;
      FOR_OWN_AXES(c) strains[c] += size_of(there[c] - here[c]) * per_cell[a];
    }
    FOR_OWN_AXES(c) strain = greater(strain, strains[c]);
  }
  const real found[] = {greatest_of(strain)};
  LEAVE_GREATEST(1, found, out + out_offset);
}
