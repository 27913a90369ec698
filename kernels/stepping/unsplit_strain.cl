/* SPDX-License-Identifier: BSD-3-Clause */
/* The greatest |velocity| along each axis, and the greatest strain: over all nodes and components,
 * of the sum over the axes of |difference to the next node| / spacing. Four numbers a work-group.
 * NaN and Inf in the velocity come out as NaN or Inf. */
#include "common/common.cl"
#include "generated/velocity_formulas.cl"
#include "motion/maxima.cl"
#include "stepping/unsplit_flow.cl"
#include "stepping/unsplit_grid.cl"
#include "stepping/vectors.cl"
#include "common/formula_parameters.cl"

KERNEL void unsplit_strain(__global real* out, const ulong out_offset, const long vectors_each,
                           const int n0, const int n1, const int n2 ROWS_PARAMETERS,
                           FLOW_PARAMETERS, const real per_cell0, const real per_cell1,
                           const real per_cell2, const real time) {
  const int n[3] = {n0, n1, n2};
  DECLARE_START_ROWS
  DECLARE_FLOW;
  const real per_cell[3] = {per_cell0, per_cell1, per_cell2}; /* 1 / spacing */
  const Instants at = instants_at(time FORMULA_ARGUMENTS);
  V speed[3] = {0, 0, 0}, strain = 0;
  FOR_OWN_VECTORS(i, vectors_each, vectors_of(n, &rows)) {
    const Neighbours p = neighbours_at(i, n, &rows);
    V here[3], there[3], strains[3] = {0, 0, 0};
    velocity_of_nodes(&flow_at, p.node, &at, here);
    FOR_AXES(c) speed[c] = greater(speed[c], size_of(here[c]));
    FOR_AXES(a) { /* the last node has a neighbour too: axes are periodic */
      I next[3] = {p.node[0], p.node[1], p.node[2]};
      next[a] = IS_CUT(a) ? next[a] + 1 : wrap_lanes(next[a] + 1, n[a]);
      velocity_of_nodes(&flow_at, next, &at, there);
      FOR_AXES(c) strains[c] += size_of(there[c] - here[c]) * per_cell[a];
    }
    FOR_AXES(c) strain = greater(strain, strains[c]);
  }
  const real found[] = {greatest_of(speed[0]), greatest_of(speed[1]), greatest_of(speed[2]),
                        greatest_of(strain)};
  LEAVE_GREATEST(4, found, out + out_offset);
}
