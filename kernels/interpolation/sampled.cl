/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of what a particle reads of the points around it, in an order that all forms have. */
#include "common/common.cl"
#include "generated/weights.cl"
#include "interpolation/stencil.cl"

/* A power of two that is not less than the planes of a stencil, and how many points are beside each
 * other in a vector of 16 that has one of each plane. Where planes have ends, a ring needs one
 * more. */
#define PLANES                            \
  (STENCIL <= 2                      ? 2  \
   : STENCIL + PLANES_HAVE_ENDS <= 4 ? 4  \
   : STENCIL <= 8                    ? 8  \
   : STENCIL <= 16                   ? 16 \
                                     : 32)
#define APART (PLANES >= 16 ? 1 : 16 / PLANES)

/* A lane takes a particle's planes one after the other: if they are taken all at once, a particle
 * with a thousand points needs all the registers of a GPU, and its compiler minutes. */
#if LANES == 1
#define FOR_PLANES(j0) \
  AS_A_LOOP            \
  for (int j0 = 0; j0 < PLANES; j0++)
#else
#define FOR_PLANES(j0) \
  UNROLL               \
  for (int j0 = 0; j0 < PLANES; j0++)
#endif

/* The weights along axis 0 in memory of their own, so that the others can be in registers. */
typedef struct {
  real of[STENCIL];
} WeightsOfPlanes;

INLINE WeightsOfPlanes weights_of_planes(const ParticleStencil* stencil) {
  WeightsOfPlanes weights;
  UNROLL
  for (int j0 = 0; j0 < WEIGHTS_ALONG(0); j0++) weights.of[j0] = stencil->weight[0][j0];
  return weights;
}

/* Sums of a plane along axis 2, for each of APART points that are neighbours: of every APART-th
 * point from there on. */
INLINE void sum_along(const V* of_lines, const ParticleStencil* stencil, const real weight,
                      __private real* sums) {
  __private const real* const u = (__private const real*)of_lines;
  __private const real* const w = (__private const real*)stencil->along;
  UNROLL
  for (int g = 0; g < APART && g < WEIGHTS_ALONG(2); g++) {
    real sum = weighed_one(u[g], w[g]);
    UNROLL
    for (int j = g + APART; j < WEIGHTS_ALONG(2); j += APART)
      sum = add_weighed_one(u[j], w[j], sum);
    sums[g] = weighed_one(sum, weight);
  }
}

/* The sum of all, of those first that are half of them apart: the same when planes are in a ring of
 * PLANES, wherever it begins. */
INLINE real sum_of_planes(__private real (*sums)[APART]) {
  UNROLL
  for (int apart = PLANES / 2; apart > 0; apart /= 2) {
    UNROLL
    for (int j0 = 0; j0 < apart; j0++) {
      UNROLL
      for (int g = 0; g < APART; g++) sums[j0][g] += sums[j0 + apart][g];
    }
  }
  UNROLL
  for (int apart = APART / 2; apart > 0; apart /= 2) {
    UNROLL
    for (int g = 0; g < apart; g++) sums[0][g] += sums[0][g + apart];
  }
  return sums[0][0];
}
