/* SPDX-License-Identifier: BSD-3-Clause */
/* Integrates du/dt = rates_of(u, given, x, t) at every point, in place: Runge and Kutta's rule of
 * fourth order. No point depends on another one.
 *
 * UNIT_STRIDE  neighbours along the last axis are neighbours in memory, so that LANES of them are
 *              moved at once */
#include "common/common.cl"
#include "common/coordinates.cl"
#include "common/regions.cl"
#include "generated/rates.cl"
#include "generated/source_fields.cl"
#include "common/formula_parameters.cl"

/* One component. */
typedef struct {
  __global stored* values;
  long s1, s2, s3;
} Component;

#define COMPONENT(field, component) \
  {field + field##_offset + component * field##0, field##1, field##2, field##3}

/* The first `count` lanes; the others repeat the last of them. */
INLINE V load_lanes(__global const stored* from, const long stride, const int count) {
#ifdef UNIT_STRIDE
  if (count == LANES) return LOAD_LOOSE(from);
#endif
  V u;
  for (int lane = 0; lane < LANES; lane++) {
    ((__private real*)&u)[lane] = LOAD_ONE(from + min(lane, count - 1) * stride);
  }
  return u;
}

INLINE void store_lanes(const V u, __global stored* to, const long stride, const int count) {
#ifdef UNIT_STRIDE
  if (count == LANES) {
    STORE_LOOSE(u, to);
    return;
  }
#endif
  for (int lane = 0; lane < count; lane++) {
    STORE_ONE(((__private const real*)&u)[lane], to + lane * stride);
  }
}

/* stage = u + duration * slope; what is given stays. */
INLINE void follow(const V* u, const V* slope, const real duration, V* stage) {
  UNROLL
  for (int k = 0; k < COMPONENTS; k++) stage[k] = MAD(slope[k], (V)(duration), u[k]);
}

INLINE void add_slopes(V* sum, const V* slope, const real weight) {
  UNROLL
  for (int k = 0; k < COMPONENTS; k++) sum[k] = MAD(slope[k], (V)(weight), sum[k]);
}

INLINE void integrate(V* u, const V r1, const V r2, const V r3, const real begin, const real middle,
                      const real end, const real duration FORMULA_PARAMETERS) {
  V slope[COMPONENTS], sum[COMPONENTS], stage[VALUES];
  UNROLL
  for (int k = COMPONENTS; k < VALUES; k++) stage[k] = u[k];
  rates_of(u, COORDINATES, begin, sum FORMULA_ARGUMENTS);
  follow(u, sum, REAL(0.5) * duration, stage);
  rates_of(stage, COORDINATES, middle, slope FORMULA_ARGUMENTS);
  add_slopes(sum, slope, REAL(2.0));
  follow(u, slope, REAL(0.5) * duration, stage);
  rates_of(stage, COORDINATES, middle, slope FORMULA_ARGUMENTS);
  add_slopes(sum, slope, REAL(2.0));
  follow(u, slope, duration, stage);
  rates_of(stage, COORDINATES, end, slope FORMULA_ARGUMENTS);
  add_slopes(sum, slope, REAL(1.0));
  follow(u, sum, duration / REAL(6.0), u);
}

KERNEL void source(FIELD_PARAMETERS, const long n0, const long n1, const long n2, const long n3,
                   const long first1, const long first2, const long first3, const real origin1,
                   const real spacing1, const real origin2, const real spacing2, const real origin3,
                   const real spacing3, const real begin, const real middle, const real end,
                   const real duration FORMULA_PARAMETERS) {
  const Component components[VALUES] = FIELD_COMPONENTS;
  const long item = get_local_id(0), items = get_local_size(0);
  const Share share = share_of(n1 * n2 * blocks_of_row(n3));
  FOR_BLOCKS(b, share, n1, n2, n3) {
    const long i1 = b.i1, i2 = b.i2;
    const V r1 = coordinate(first1 + i1, (I)(0), spacing1, origin1);
    const V r2 = coordinate(first2 + i2, (I)(0), spacing2, origin2);
    for (long i3 = b.first + item * LANES; i3 < b.end; i3 += items * LANES) {
      const int count = (int)min((long)LANES, b.end - i3);
      const V r3 = coordinate(first3 + i3, (I)(LANE_NUMBERS), spacing3, origin3);
      V u[VALUES];
      UNROLL
      for (int k = 0; k < VALUES; k++) {
        const Component p = components[k];
        u[k] = load_lanes(p.values + i1 * p.s1 + i2 * p.s2 + i3 * p.s3, p.s3, count);
      }
      integrate(u, r1, r2, r3, begin, middle, end, duration FORMULA_ARGUMENTS);
      UNROLL
      for (int k = 0; k < COMPONENTS; k++) {
        const Component p = components[k];
        store_lanes(u[k], p.values + i1 * p.s1 + i2 * p.s2 + i3 * p.s3, p.s3, count);
      }
    }
  }
}
