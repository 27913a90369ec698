/* SPDX-License-Identifier: BSD-3-Clause */
/* What is summed up on the nodes of a line for everything that particles carry.
 *
 * Neither macro: one row of sums, with the weights W of the kernel.
 * LIMITER  POSITIVE or MONOTONE: two rows, u_L with the weights L of the linear kernel, and fluxes
 *          through the right faces of the nodes. Both kernels sum up to one, so a particle's
 *          weights differ by what flows between neighbours: W_j = L_j - (B_j - B_(j-1)),
 *          B_j = sum over k <= j of (L - W)_k. A_j = sum of u_p B_j makes the kernel's result
 *          u_L,j - (A_j - A_(j-1)).
 * VALUES   one row, and one more for all components together: the density, of particles that carry
 *          1. The line is passed a second time, with the linear weights, where these are needed.
 *
 * With a LIMITER rows reach MARGIN nodes beyond either end of a segment, or of a line. */
#include "deposit.cl"
#include "fields.cl"

#define NONE 0
#define POSITIVE 1
#define MONOTONE 2
#ifndef LIMITER
#define LIMITER NONE
#endif
#if LIMITER != NONE
#define LIMITED
#endif

#if defined(LIMITED) && !defined(VALUES)
#define SUMS_EACH 2
#else
#define SUMS_EACH 1
#endif

#ifdef LIMITED
#define MARGIN 2
#define ROWS_TAKEN_BEYOND 3 /* of every row of sums, for a node that is stored */
#else
#define MARGIN 0
#define ROWS_TAKEN_BEYOND 0
#endif

#ifdef VALUES
#define CARRIED (COMPONENTS + 1)
#define PASSES 2
#else
#define CARRIED COMPONENTS
#define PASSES 1
#endif

#define LINE_SUMS (CARRIED * SUMS_EACH) /* of a pass */
#define ROWS_HELD (LINE_CAPACITY + 2 * MARGIN + LANES)

#if defined(LIMITED) || defined(VALUES)
#define DERIVED /* what is stored is not a sum, but comes of several */
#endif

/* What the density is made of: 1 for a particle on nodes low .. high-1, counted on beyond the ends,
 * 0 where there is none. */
INLINE V density_of(const Tile* t, const int row, const int low, const int high) {
#if defined(ALONG_MEMORY) && defined(SEGMENT)
  if (t->least_first + row < low || t->greatest_first + row >= high) {
    const I node = FIRST_NODES(*t) + (lane_int)row;
    const I exists = (node >= (lane_int)low) & (node < (lane_int)high);
    return SELECT(exists != 0, (V)(REAL(1.0)), (V)(REAL(0.0)));
  }
#endif
  return (V)(REAL(1.0));
}

#if SUMS_EACH == 2

#define LINEAR 2            /* nodes of the linear kernel */
#define FACES (STENCIL - 1) /* nothing flows through the last one */
#define WEIGHTS (LINEAR + FACES)

/* The linear weights sum up to one exactly, as no mass is lost by their rounding then. */
INLINE void weights_of(const V t, const int pass, __private V* weight) {
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

INLINE void weights_of(const V t, const int pass, __private V* weight) {
  if (pass == 0) {
    remeshing_weights(t, weight);
    return;
  }
  UNROLL
  for (int j = 0; j < STENCIL; j++) weight[j] = 0;
  weight[STENCIL_LEFT] = REAL(0.5) - t;
  weight[STENCIL_LEFT + 1] = REAL(0.5) + t;
}

INLINE void add_particle(const Sums* sums, Window* window, const int p, const Cells* cells,
                         __private const V* weight, const V strength) {
  deposit(sums, window, p, cells, weight, strength, STENCIL_LEFT, STENCIL);
}

INLINE void close_windows(const Sums* sums, Window* window) { close_window(sums, window, STENCIL); }

#endif
