/* SPDX-License-Identifier: BSD-3-Clause */
/* Pushes the particles of a line: how many cells particle p of every lane moves in one sweep. */
#include "common/common.cl"
#include "generated/scheme.cl"
#include "lines/lines.cl"
#include "motion/continued.cl"
#include "motion/motion_formula.cl"
#include "motion/motion_kinds.cl"
#include "motion/motion_stored.cl"

#define STAGE(s)                                                                        \
  for (int k = begin; k < rows; k++) {                                                  \
    const V slope = s == 1 ? motion_of_node(MOTION_ARGUMENT, first + k)                 \
                           : motion_at(MOTION_ARGUMENT, first + k, moved[k], TIME_##s); \
    AFTER_##s(m->scale, slope, sum[k], moved[k]);                                       \
  }

/* How far particles first+begin .. first+rows-1 move. Stage by stage: rows are independent of one
 * another, stages are not, so this hides their latency. */
INLINE void displacements(MOTION_STATE, const int first, const int begin, const int rows,
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

/* The same for lines of n nodes, whose particles move no further than `reach`: only those near the
 * ends may look for a velocity beyond. */
INLINE void push_rows(MOTION_STATE, const Tile* tile, const int n, const int reach, const int first,
                      const int begin, const int rows, __private V* moved) {
#if CONTINUED
  const int far = LOOKS * min(reach, n) + LOOKED_AROUND;
  if (tile->least_first + first >= far && tile->greatest_first + first + rows <= n - far) {
    displacements(MOTION_WHICH(0), first, begin, rows, moved);
    return;
  }
#endif
  displacements(MOTION_ARGUMENT, first, begin, rows, moved);
}
