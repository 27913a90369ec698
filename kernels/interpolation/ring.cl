/* SPDX-License-Identifier: BSD-3-Clause */
/* The weights of a particle along axes 2 and 0 in a vector of 16 lanes, for kernels of 4, 6 or 8
 * weights along each axis; those along axis 1 of 16 particles together.
 *
 * Planes of points along axis 0 are kept in a ring of SLOTS. What belongs to one place along axes 1
 * and 2 lies together, slot by slot, and a vector has BESIDE of these, neighbours along axis 2. Not
 * what is in the ring is turned, but the coefficients of the weights along axis 0, which are the
 * same for all particles of a plane of cells. Weights have the bits of generated/weights.cl.
 *
 * A weight along axis 1 is needed in all lanes. It is read from memory into all of them: moves from
 * lane to lane, of which a processor starts one or two a cycle, would take most of a particle's
 * time.
 *
 * All axes but the last one are periodic, and the set has as many cells as the grid has points. */
#ifndef LANES
#define LANES 16
#endif
#ifndef INDEX
#define INDEX int
#endif
#ifndef IN_ORDER
#define IN_ORDER 0
#endif
#include "common/common.cl"
#include "generated/lane_weights.cl"
#include "generated/weights.cl"
#include "interpolation/stencil.cl"

#define BESIDE (16 / SLOTS)
#define RING_VECTORS ((STENCIL + BESIDE - 1) / BESIDE) /* of a particle along axis 2 */
#define PARTICLES_AT_ONCE 16 /* particles whose weights along axis 1 are found */

#define RING_BEFORE (STENCIL_BEFORE + 1)       /* points before the first one along axis 2 */
#define RING_BEHIND (STENCIL - STENCIL_BEFORE) /* and behind the last one */

#define PICK(x, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf) \
  PICK_FROM(x, x, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf)
#define PICK_FROM(x, y, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf) \
  __builtin_shufflevector(x, y, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf)

/* What the weights of all particles of a plane of cells have in common; `is_empty` are slots that
 * have no point of theirs. */
typedef struct {
  V even[EVEN_TERMS], odd[ODD_TERMS];
  I is_nearest, is_below, is_empty;
} PlaneWeights;

/* Of a plane whose particles' first points are in a slot. */
INLINE PlaneWeights weights_of_plane(const int slot) {
  PlaneWeights plane;
  UNROLL
  for (int lane = 0; lane < 16; lane++) {
    const int point = (lane < 8 ? lane : lane - slot) & (SLOTS - 1);
    for (int k = 0; k < EVEN_TERMS; k++)
      ((__private real*)&plane.even[k])[lane] = EVEN_PARTS[k][point];
    for (int k = 0; k < ODD_TERMS; k++)
      ((__private real*)&plane.odd[k])[lane] = ODD_PARTS[k][point];
    ((__private lane_int*)&plane.is_nearest)[lane] =
        point == STENCIL_BEFORE || point == STENCIL_BEFORE + 1 ? -1 : 0;
    ((__private lane_int*)&plane.is_below)[lane] = point <= STENCIL_BEFORE ? -1 : 0;
    ((__private lane_int*)&plane.is_empty)[lane] = ((lane - slot) & (SLOTS - 1)) < STENCIL ? 0 : -1;
  }
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
INLINE V lane_weights(const V t, const PlaneWeights* of) {
  const V r = MAD(t, t, (V)(REAL(-0.25)));
  V even = of->even[EVEN_TERMS - 1], odd = of->odd[ODD_TERMS - 1];
  UNROLL
  for (int k = EVEN_TERMS - 2; k >= 0; k--) even = MAD(r, even, of->even[k]);
  UNROLL
  for (int k = ODD_TERMS - 2; k > 0; k--) odd = MAD(r, odd, of->odd[k]);
  const V near_odd = MAD(r, odd, of->odd[0]);
  return SELECT(of->is_nearest, nearest_even(even, of->is_below), even) +
         SELECT(of->is_nearest, t, t * r) * SELECT(of->is_nearest, near_odd, odd);
}

/* Finds the weights along axis 1 of PARTICLES_AT_ONCE particles from `first` on, but not behind the
 * last. */
INLINE void find_line_weights(V* weights, __global const OFFSET* offsets,
                              __global const INDEX* order, const long first, const long end) {
#if IS_AXIS_1
  V t;
  UNROLL
  for (int k = 0; k < PARTICLES_AT_ONCE; k++) {
    const long next = first + k, last = end - 1, place = LEAST_OF(next, last);
    const long i = IN_ORDER ? order[place] : place;
    ((__private real*)&t)[k] = (real)offsets[i * AXES + 1] - REAL(0.5);
  }
  remeshing_weights(t, weights);
#endif
}

/* Of particle k of these the weight along axis 1 of its point j, or 1 if there is no such axis. */
#define WEIGHT_OF_LINE(weights, j, k) \
  (IS_AXIS_1 ? ((__private const real*)&(weights)[j])[k] : REAL(1.0))

/* Of one particle: its weights along axis 2, and along axis 0 where the ring has them, and the
 * first point along axis 2.
 *
 * After a launch that the device has lost a particle may be in a cell of another row, which would
 * be beyond the ring: it is taken for one at an end of this row. */
typedef struct {
  V along[RING_VECTORS], in_ring;
  long first;
} RingStencil;

INLINE RingStencil ring_stencil_of(const long cell, __global const OFFSET* offset, const Axis along,
                                   const PlaneWeights* plane) {
  RingStencil stencil;
  const real t0 = (real)offset[0] - REAL(0.5);
  const long inside = WITHIN(cell, 0, along.cells - 1);
  const Spot spot = spot_of(inside, (real)offset[AXES - 1], along);
  stencil.first = spot.point - STENCIL_BEFORE;
  const V w = lane_weights(SELECT((I)(LANE_NUMBERS) < (I)(8), (V)(spot.t), (V)(t0)), plane);
#if SLOTS == 4
  stencil.along[0] = PICK(w, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
#else
  stencil.along[0] = PICK(w, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
  stencil.along[1] = PICK(w, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
  stencil.along[2] = PICK(w, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5);
#if STENCIL == 8
  stencil.along[3] = PICK(w, 6, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7);
#endif
#endif
  stencil.in_ring = PICK(w, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15);
  return stencil;
}
