/* SPDX-License-Identifier: BSD-3-Clause */
/* What is summed up on the nodes of a line for everything that particles carry.
 *
 * Without a limiter: one row of sums, with the weights W of the kernel.
 * LIMITER  POSITIVE or MONOTONE: two rows, u_L with the weights L of the linear kernel, and fluxes
 *          through the right faces of the nodes. Both kernels sum up to one, so a particle's
 *          weights differ by what flows between neighbours: W_j = L_j - (B_j - B_(j-1)),
 *          B_j = sum over k <= j of (L - W)_k. A_j = sum of u_p B_j makes the kernel's result
 *          u_L,j - (A_j - A_(j-1)).
 *
 * With a LIMITER rows reach MARGIN nodes beyond either end of a segment, or of a line. */
#include "common/common.cl"
#include "generated/swept_fields.cl"
#include "generated/weights.cl"
#include "lines/boundary.cl"
#include "lines/form.cl"
#include "sweep/deposit.cl"
#include "sweep/limiter_kinds.cl"

#define LINE_SUMS (COMPONENTS * SUMS_EACH)
#define PRIVATE_ROWS (LINE_CAPACITY + 2 * MARGIN + LANES + 2 * ROWS_TO_SPARE)

INLINE int capacity_of_sums(const int segment) {
  return capacity_of_rows(PRIVATE_ROWS, segment + 2 * MARGIN + 1);
}

/* Rows of a component that are 0 whenever a tile begins. */
INLINE int rows_of_sums(const int segment) {
  return min(segment + 2 * MARGIN + LANES, capacity_of_sums(segment) - 2 * ROWS_TO_SPARE);
}

/* Makes sums of a work-item's rows. */
INLINE void begin_sums(Sums* sums, LINE_SPACE V* rows, const int n, const int segment,
                       const long row_stride) {
  const Pitch pitch = pitch_of_rows(row_stride);
  for (int c = 0; c < LINE_SUMS; c++) {
    sums[c].at = rows + (c * capacity_of_sums(segment) + ROWS_TO_SPARE) * pitch;
    sums[c].pitch = pitch;
    sums[c].n = n;
    sums[c].count = ROWS_OF_LINE(segment + 2 * MARGIN, n);
    for (int p = -ROWS_TO_SPARE; p < rows_of_sums(segment) + ROWS_TO_SPARE; p++)
      sums[c].at[p * pitch] = 0;
  }
}

#define FACES (STENCIL - 1) /* nothing flows through the last one */
#define WEIGHTS (LIMITED ? LINEAR_STENCIL + FACES : STENCIL)

/* Of a particle at an offset t + 1/2 of its cell. */
INLINE void weights_of(const V t, __private V* weight) {
#if LIMITED
  /* The linear ones sum up to one exactly, as no mass is lost by their rounding then. */
  weight[0] = REAL(0.5) - t;
  weight[1] = REAL(1.0) - weight[0];
  remeshing_fluxes(t, weight + LINEAR_STENCIL);
#else
  remeshing_weights(t, weight);
#endif
}

/* For each of them: sums s, their first weight, and how many nodes it reaches before its cell, and
 * in all. */
#if LIMITED
#define FOR_EACH_SUMS(GIVE)     \
  GIVE(0, 0, 0, LINEAR_STENCIL) \
  GIVE(1, LINEAR_STENCIL, STENCIL_BEFORE, FACES)
#else
#define FOR_EACH_SUMS(GIVE) GIVE(0, 0, STENCIL_BEFORE, STENCIL)
#endif

INLINE void close_windows(const Sums* sums, Window* window) {
  for (int c = 0; c < COMPONENTS; c++) {
#define CLOSE(s, first_weight, before, count) \
  close_window(sums + c * SUMS_EACH + s, window + c * SUMS_EACH + s, count);
    FOR_EACH_SUMS(CLOSE)
#undef CLOSE
  }
}
