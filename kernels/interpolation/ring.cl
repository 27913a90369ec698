/* SPDX-License-Identifier: BSD-3-Clause */
/* The weights of a particle in a vector of 16 lanes, for kernels of 4, 6 or 8 weights along each
 * axis.
 *
 * Planes of points along axis 0 are kept in a ring of SLOTS. What belongs to one place along axes 1
 * and 2 lies together, slot by slot, and a vector has BESIDE of these, neighbours along axis 2. Not
 * what is in the ring is turned, but the coefficients of the weights along axis 0, which are the
 * same for all particles of a plane of cells. Weights have the bits of generated/weights.cl.
 *
 * All axes but the last one are periodic, and the set has as many cells as the grid has points. */
#ifndef LANES
#define LANES 16
#endif
#include "common/common.cl"
#include "generated/lane_weights.cl"
#include "generated/weights.cl"
#include "interpolation/stencil.cl"

#define BESIDE (16 / SLOTS)
#define WEIGHT_VECTORS (SLOTS == 4 ? 1 : 2)            /* along axes 2, 1 and 0, or axis 0 apart */
#define RING_VECTORS ((STENCIL + BESIDE - 1) / BESIDE) /* of a particle along axis 2 */

#define RING_BEFORE (STENCIL_BEFORE + 1)       /* points before the first one along axis 2 */
#define RING_BEHIND (STENCIL - STENCIL_BEFORE) /* and behind the last one */

#if __has_builtin(__builtin_shufflevector)
#define PICK(x, ...) __builtin_shufflevector(x, x, __VA_ARGS__)
#define PICK_FROM(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define PICK(x, ...) shuffle(x, (U)(__VA_ARGS__))
#define PICK_FROM(x, y, ...) shuffle2(x, y, (U)(__VA_ARGS__))
#endif

/* What the weights of all particles of a plane of cells have in common; `is_empty` are slots that
 * have no point of theirs. */
typedef struct {
  V even[WEIGHT_VECTORS][EVEN_TERMS], odd[WEIGHT_VECTORS][ODD_TERMS];
  I is_nearest[WEIGHT_VECTORS], is_below[WEIGHT_VECTORS], is_empty;
} PlaneWeights;

/* Of a plane whose particles' first points are in a slot. */
INLINE PlaneWeights weights_of_plane(const int slot) {
  PlaneWeights plane;
  UNROLL
  for (int v = 0; v < WEIGHT_VECTORS; v++) {
    UNROLL
    for (int lane = 0; lane < 16; lane++) {
      const bool is_in_ring = SLOTS == 4 ? lane >= 8 : v > 0;
      const int point = (is_in_ring ? lane - slot : lane) & (SLOTS - 1);
      for (int k = 0; k < EVEN_TERMS; k++)
        ((__private real*)&plane.even[v][k])[lane] = EVEN_PARTS[k][point];
      for (int k = 0; k < ODD_TERMS; k++)
        ((__private real*)&plane.odd[v][k])[lane] = ODD_PARTS[k][point];
      ((__private lane_int*)&plane.is_nearest[v])[lane] =
          point == STENCIL_BEFORE || point == STENCIL_BEFORE + 1 ? -1 : 0;
      ((__private lane_int*)&plane.is_below[v])[lane] = point <= STENCIL_BEFORE ? -1 : 0;
    }
  }
  UNROLL
  for (int lane = 0; lane < 16; lane++)
    ((__private lane_int*)&plane.is_empty)[lane] = ((lane - slot) & (SLOTS - 1)) < STENCIL ? 0 : -1;
  return plane;
}

/* The even parts of all points sum up to 1/2: that of the nearest is what the others leave. Those
 * of the others are found at the same distance in every lane, wherever the ring begins; of three,
 * which are added from the outer ones on, at one for the points below the particle and at one for
 * those above. */
INLINE V nearest_even(const V even, const I is_below) {
#if SLOTS == 4
  const V others = PICK(even, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
#elif STENCIL == 8
  const V far = PICK(even, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
  const V middle =
      SELECT(is_below, PICK(even, 6, 7, 0, 1, 2, 3, 4, 5, 14, 15, 8, 9, 10, 11, 12, 13),
             PICK(even, 2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9));
  const V near = SELECT(is_below, PICK(even, 7, 0, 1, 2, 3, 4, 5, 6, 15, 8, 9, 10, 11, 12, 13, 14),
                        PICK(even, 1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8));
  const V others = (far + middle) + near;
#else
  const V others = PICK(even, 6, 7, 0, 1, 2, 3, 4, 5, 14, 15, 8, 9, 10, 11, 12, 13) +
                   PICK(even, 2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9);
#endif
  return (V)(REAL(0.5)) - others;
}

/* The odd parts of all but the nearest have no constant term; their other terms are multiplied in
 * the order of generated/weights.cl. */
INLINE V lane_weights(const V t, const V* even_parts, const V* odd_parts, const I is_nearest,
                      const I is_below) {
  const V r = MAD(t, t, (V)(REAL(-0.25)));
  V even = even_parts[EVEN_TERMS - 1], odd = odd_parts[ODD_TERMS - 1];
  UNROLL
  for (int k = EVEN_TERMS - 2; k >= 0; k--) even = MAD(r, even, even_parts[k]);
  UNROLL
  for (int k = ODD_TERMS - 2; k > 0; k--) odd = MAD(r, odd, odd_parts[k]);
  const V near_odd = MAD(r, odd, odd_parts[0]);
  return SELECT(is_nearest, nearest_even(even, is_below), even) +
         SELECT(is_nearest, t, t * r) * SELECT(is_nearest, near_odd, odd);
}

/* Of one particle: its weights along axis 2 and along axis 0 where the ring has them, one along
 * axis 1 for each line, and the first point along axis 2.
 *
 * After a launch that the device has lost a particle may be in a cell of another row, which would
 * be beyond the ring: it is taken for one at an end of this row. */
typedef struct {
  V along[RING_VECTORS], in_ring;
  real line[WEIGHTS_ALONG(1)];
  long first;
} RingStencil;

INLINE RingStencil ring_stencil_of(const long cell, __global const OFFSET* offset, const Axis along,
                                   const PlaneWeights* plane) {
  RingStencil stencil;
  const real t0 = (real)offset[0] - REAL(0.5);
  const real t1 = IS_AXIS_1 ? (real)offset[1] - REAL(0.5) : 0;
  const long inside = WITHIN(cell, 0, along.cells - 1);
  const Spot spot = spot_of(inside, (real)offset[AXES - 1], along);
  const real t2 = spot.t;
  stencil.first = spot.point - STENCIL_BEFORE;
#if SLOTS == 4
  const V t = (V)(t2, t2, t2, t2, t1, t1, t1, t1, t0, t0, t0, t0, t0, t0, t0, t0);
  const V w =
      lane_weights(t, plane->even[0], plane->odd[0], plane->is_nearest[0], plane->is_below[0]);
  stencil.along[0] = PICK(w, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
  stencil.in_ring = PICK(w, 8, 9, 10, 11, 8, 9, 10, 11, 8, 9, 10, 11, 8, 9, 10, 11);
#else
  const V t = (V)(t2, t2, t2, t2, t2, t2, t2, t2, t1, t1, t1, t1, t1, t1, t1, t1);
  const V w =
      lane_weights(t, plane->even[0], plane->odd[0], plane->is_nearest[0], plane->is_below[0]);
  stencil.along[0] = PICK(w, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
  stencil.along[1] = PICK(w, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
  stencil.along[2] = PICK(w, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5);
#if STENCIL == 8
  stencil.along[3] = PICK(w, 6, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7);
#endif
  const int last = WEIGHT_VECTORS - 1;
  stencil.in_ring = lane_weights((V)(t0), plane->even[last], plane->odd[last],
                                 plane->is_nearest[last], plane->is_below[last]);
#endif
  UNROLL
  for (int j = 0; j < WEIGHTS_ALONG(1); j++)
    stencil.line[j] = IS_AXIS_1 ? ((__private const real*)&w)[SLOTS + j] : REAL(1.0);
  return stencil;
}
