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
#include "sweep/deposit.cl"
#include "generated/fields.cl"
#include "sweep/limits.cl"

#if LIMITER != NONE
#define LIMITED
#endif

#ifdef LIMITED
#define SUMS_EACH 2
#define MARGIN 2
#define ROWS_TAKEN_BEYOND 3 /* of every row of sums, for a node that is stored */
#else
#define SUMS_EACH 1
#define MARGIN 0
#define ROWS_TAKEN_BEYOND 0
#endif

#define LINE_SUMS (COMPONENTS * SUMS_EACH)
#define ROWS_HELD (LINE_CAPACITY + 2 * MARGIN + LANES)

#ifdef LIMITED

#define LINEAR 2            /* nodes of the linear kernel */
#define FACES (STENCIL - 1) /* nothing flows through the last one */
#define WEIGHTS (LINEAR + FACES)

/* The linear weights sum up to one exactly, as no mass is lost by their rounding then. */
INLINE void weights_of(const V t, __private V* weight) {
  weight[0] = REAL(0.5) - t;
  weight[1] = REAL(1.0) - weight[0];
  remeshing_fluxes(t, weight + LINEAR);
}

INLINE void add_particle(const Sums* sums, Window* window, const int p, const Cells* cells,
                         __private const V* weight, const V strength) {
  deposit(sums, window, p, cells, weight, strength, 0, LINEAR);
  deposit(sums + 1, window + 1, p, cells, weight + LINEAR, strength, STENCIL_LEFT, FACES);
}

INLINE void close_windows(const Sums* sums, Window* window) {
  close_window(sums, window, LINEAR);
  close_window(sums + 1, window + 1, FACES);
}

#else

#define WEIGHTS STENCIL

INLINE void weights_of(const V t, __private V* weight) { remeshing_weights(t, weight); }

INLINE void add_particle(const Sums* sums, Window* window, const int p, const Cells* cells,
                         __private const V* weight, const V strength) {
  deposit(sums, window, p, cells, weight, strength, STENCIL_LEFT, STENCIL);
}

INLINE void close_windows(const Sums* sums, Window* window) { close_window(sums, window, STENCIL); }

#endif
