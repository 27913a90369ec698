/* SPDX-License-Identifier: BSD-3-Clause */
/* What is summed up on the nodes of a line for everything that particles carry.
 *
 * Neither macro: one row of sums, with the weights W of the kernel.
 * LIMITED  two rows: u_L with the weights of the linear kernel, and fluxes through the right faces
 *          of the nodes. Both kernels sum up to one, so a particle's weights differ by what flows
 *          between neighbours: W_j = L_j - (B_j - B_(j-1)), B_j = sum over k <= j of (L - W)_k.
 *          A_j = sum of u_p B_j makes the kernel's result u_L,j - (A_j - A_(j-1)).
 * VALUES   two rows, with the linear weights and with those of the kernel; and for all components
 *          together the same of particles that carry 1, the density.
 *
 * With LIMITED rows reach MARGIN nodes beyond either end of a segment, or of a line. */
#include "deposit.cl"
#include "fields.cl"

#if defined(LIMITED) || defined(VALUES)
#define PAIRED
#define LINEAR 2 /* nodes of the linear kernel */
#endif

#ifdef LIMITED
#define MARGIN 2
#else
#define MARGIN 0
#endif

#ifdef VALUES
#define CARRIED (COMPONENTS + 1)
#else
#define CARRIED COMPONENTS
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

#ifdef PAIRED

#define SUMS_EACH 2
#if defined(LIMITED) && !defined(VALUES)
#define OTHERS (STENCIL - 1) /* nothing flows through the last face */
#else
#define OTHERS STENCIL
#endif
#define WEIGHTS (LINEAR + OTHERS)

INLINE void weights_of(const V t, __private V* weight) {
  V whole[STENCIL];
  remeshing_weights(t, whole);
  weight[0] = REAL(0.5) - t;
  weight[1] = REAL(0.5) + t;
#ifdef VALUES
  UNROLL
  for (int j = 0; j < STENCIL; j++) weight[LINEAR + j] = whole[j];
#else
  V flux = 0;
  UNROLL
  for (int j = 0; j < STENCIL - 1; j++) {
    flux -= whole[j];
    if (j == STENCIL_LEFT) flux += weight[0];
    if (j == STENCIL_LEFT + 1) flux += weight[1];
    weight[LINEAR + j] = flux;
  }
#endif
}

INLINE void add_particle(const Sums* sums, Window* window, const int p, const Cells* cells,
                         __private const V* weight, const V strength) {
  deposit(sums, window, p, cells, weight, strength, 0, LINEAR);
  deposit(sums + 1, window + 1, p, cells, weight + LINEAR, strength, STENCIL_LEFT, OTHERS);
}

INLINE void close_windows(const Sums* sums, Window* window) {
  close_window(sums, window, LINEAR);
  close_window(sums + 1, window + 1, OTHERS);
}

#else

#define SUMS_EACH 1
#define WEIGHTS STENCIL
#define weights_of remeshing_weights

INLINE void add_particle(const Sums* sums, Window* window, const int p, const Cells* cells,
                         __private const V* weight, const V strength) {
  deposit(sums, window, p, cells, weight, strength, STENCIL_LEFT, STENCIL);
}

INLINE void close_windows(const Sums* sums, Window* window) { close_window(sums, window, STENCIL); }

#endif
