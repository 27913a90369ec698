/* SPDX-License-Identifier: BSD-3-Clause */
/* Remeshing weights: stands for the text that is generated for the chosen kernel. This one is the
 * linear kernel. */
#include "common/common.cl"

#define STENCIL 2
#define STENCIL_BEFORE 0
/* w[j] = weight of node cell - STENCIL_BEFORE + j for a particle at offset t + 1/2 of its cell */
INLINE void remeshing_weights(const V t, __private V* w) {
  w[0] = REAL(0.5) - t;
  w[1] = REAL(0.5) + t;
}
/* f[j] = flux through the right face of that node that makes it of the linear kernel's */
INLINE void remeshing_fluxes(const V t, __private V* f) { f[0] = 0; }
