/* SPDX-License-Identifier: BSD-3-Clause */
/* All components of the velocity where LANES particles of a set are, or would be beyond the ends of
 * the box: beyond a wall is the mirror image, in which the component across the wall has the other
 * sign, beyond an open end what is at that end.
 *
 * A box is taken as one of three axes; those that it has not come first and have one cell.
 *
 * AXES              of the box
 * ENDS_0, 1, 2      bits of what is at the ends of axes 0, 1, 2 of the three
 * FORMULA           the velocity is evaluated there; else it lies on the points of a grid, and is
 *                   the sum of values at the points around with the weights of a kernel
 * SERIES            there are two such fields, `flow` and `next`; the time is 0 at the first, 1 at
 *                   the other
 * FLOW_IS_DOUBLE    what they hold, though real may be wider
 * PART              of their planes across the first axis of the box there is a part, which begins
 *                   with some plane and may go on behind the last one with plane 0 */
#ifndef AXES
#define AXES 3
#endif
#ifndef ENDS_0
#define ENDS_0 ENDS_MEET
#endif
#ifndef ENDS_1
#define ENDS_1 ENDS_MEET
#endif
#ifndef ENDS_2
#define ENDS_2 ENDS_MEET
#endif
#include "common/common.cl"
#include "common/long_lanes.cl"
#include "generated/velocity_formulas.cl"
#include "generated/weights.cl"
#include "sets/ends.cl"
#include "common/formula_parameters.cl"

#define ABSENT_AXES (3 - AXES)
#define FOR_OWN_AXES(a) \
  UNROLL                \
  for (int a = ABSENT_AXES; a < 3; a++)
#define ENDS_OF(a) ((a) == 0 ? ENDS_0 : (a) == 1 ? ENDS_1 : ENDS_2)
#define HAS_LOW_WALL(ends) (!((ends) & (ENDS_MEET | LOW_IS_OPEN)))
#define HAS_HIGH_WALL(ends) (!((ends) & (ENDS_MEET | HIGH_IS_OPEN)))

/* Of LANES particles along one axis. `image` is the sign of the velocity along it. */
typedef struct {
  I cell;
  V offset, image;
} Places;

INLINE I modulo_of_lanes(const I number, const int period) {
  const I rest = number % (lane_int)period;
  return SELECT(rest < 0, rest + (lane_int)period, rest);
}

/* Which place in the box a velocity is that of; cells may be any. */
INLINE Places within_box(Places p, const int ends, const int n) {
  const I zero = 0, length = (lane_int)n;
  if (!ANY((p.cell < zero) | (p.cell >= length))) return p;
  if (ends & ENDS_MEET) {
    const I once = SELECT(p.cell < zero, p.cell + length, p.cell),
            near = SELECT(once >= length, once - length, once);
    p.cell = ANY((near < zero) | (near >= length)) ? modulo_of_lanes(p.cell, n) : near;
    return p;
  }
  if (HAS_LOW_WALL(ends) && HAS_HIGH_WALL(ends) && ANY((p.cell < -length) | (p.cell >= 2 * length)))
    p.cell = modulo_of_lanes(p.cell, 2 * n);
  if (HAS_LOW_WALL(ends)) {
    const I is_image = p.cell < zero;
    p.cell = SELECT(is_image, -1 - p.cell, p.cell);
    p.offset = SELECT(is_image, 1 - p.offset, p.offset);
    p.image = SELECT(is_image, -p.image, p.image);
  }
  if (HAS_HIGH_WALL(ends)) {
    const I is_image = (p.cell > length) | ((p.cell == length) & (p.offset > 0));
    p.cell = SELECT(is_image, 2 * length - 1 - p.cell, p.cell);
    p.offset = SELECT(is_image, 1 - p.offset, p.offset);
    p.image = SELECT(is_image, -p.image, p.image);
  }
  const I is_below = p.cell < zero;
  p.offset = SELECT(is_below, (V)(REAL(0.0)), p.offset);
  p.cell = SELECT(is_below, zero, p.cell);
  const I is_at_end = p.cell >= length;
  p.offset = SELECT(is_at_end, (V)(REAL(1.0)), p.offset);
  p.cell = SELECT(is_at_end, length - 1, p.cell);
  return p;
}

INLINE Places places_after(const I cell, const V offset, const V moved, const int ends,
                           const int n) {
  const V place = offset + moved, whole = FLOOR(place);
  const Places p = {cell + TO_INT(whole), place - whole, (V)(REAL(1.0))};
  return within_box(p, ends, n);
}

#ifdef FORMULA

typedef struct {
  int n[3];
  real low[3], spacing[3];
} TraceFlow;

#define TRACE_PARAMETERS                                                                       \
  const int n0, const int n1, const int n2, const real low0, const real low1, const real low2, \
      const real spacing0, const real spacing1, const real spacing2 FORMULA_PARAMETERS
#define DECLARE_TRACE_FLOW \
  const TraceFlow flow_at = {{n0, n1, n2}, {low0, low1, low2}, {spacing0, spacing1, spacing2}}

INLINE void velocity_of_tracers(const TraceFlow* f, __private const I* cell,
                                __private const V* offset, __private const V* moved,
                                const Instants* at, __private V* velocity) {
  V x[6] = {0, 0, 0, 0, 0, 0}, image[3];
  FOR_OWN_AXES(a) {
    const Places p = places_after(cell[a], offset[a], moved[a], ENDS_OF(a), f->n[a]);
    x[a] = MAD((V)(f->spacing[a]), TO_REAL(p.cell) + p.offset, (V)(f->low[a]));
    image[a] = p.image;
  }
  velocity_formulas(x[ABSENT_AXES], x[ABSENT_AXES + 1], x[ABSENT_AXES + 2], at,
                    velocity + ABSENT_AXES);
  FOR_OWN_AXES(a) velocity[a] *= image[a];
}

#else

#ifdef FLOW_IS_DOUBLE
typedef double flow_real;
#elif defined REAL_IS_DOUBLE
typedef float flow_real;
#else
typedef real flow_real;
#endif

/* Elements of a field: component c of point (i0, i1, i2) lies at offset + c * component + sum of
 * i_k * stride k. */
typedef struct {
  __global const flow_real* at;
  long component, stride[3];
} Points;

typedef struct {
  int n[3], first_plane;
  Points from, next;
} TraceFlow;

#define POINTS_PARAMETERS(name)                                                           \
  __global const flow_real *name, const ulong name##_offset, const long name##_component, \
      const long name##_stride0, const long name##_stride1, const long name##_stride2
#define POINTS_OF(name)                                                                        \
  {                                                                                            \
    name + name##_offset, name##_component, { name##_stride0, name##_stride1, name##_stride2 } \
  }
#ifdef SERIES
#define TRACE_FIELDS POINTS_PARAMETERS(flow), POINTS_PARAMETERS(next)
#define LATER_POINTS POINTS_OF(next)
#else
#define TRACE_FIELDS POINTS_PARAMETERS(flow)
#define LATER_POINTS POINTS_OF(flow)
#endif
#define TRACE_PARAMETERS \
  const int n0, const int n1, const int n2, const int first_plane, TRACE_FIELDS
#define DECLARE_TRACE_FLOW \
  const TraceFlow flow_at = {{n0, n1, n2}, first_plane, POINTS_OF(flow), LATER_POINTS}

#define POINTS_BESIDE(a) ((a) < ABSENT_AXES ? 1 : STENCIL)

/* Points around LANES particles: where they lie along each axis, and their weights, by the axis,
 * and for the component along it. */
typedef struct {
  L at[3][STENCIL];
  V weight[3][STENCIL], across[3][STENCIL], image[3];
} Around;

/* The point of the grid that stands for one beyond the ends. */
INLINE I stored_points(const I given, const int ends, const int n, __private V* image) {
  const I length = (lane_int)n;
  if (!ANY((given < 0) | (given >= length))) return given;
  if (ends & ENDS_MEET) return modulo_of_lanes(given, n);
  I point = given;
  if (HAS_LOW_WALL(ends) && HAS_HIGH_WALL(ends)) point = modulo_of_lanes(point, 2 * n);
  if (HAS_LOW_WALL(ends)) {
    const I is_image = point < 0;
    point = SELECT(is_image, -1 - point, point);
    *image = SELECT(is_image, -*image, *image);
  }
  if (HAS_HIGH_WALL(ends)) {
    const I is_image = point >= length;
    point = SELECT(is_image, 2 * length - 1 - point, point);
    *image = SELECT(is_image, -*image, *image);
  }
  point = SELECT(point < 0, (I)(0), point);
  return SELECT(point >= length, length - 1, point);
}

/* Where planes of the whole axis are in the part that there is. */
INLINE I planes_in_part(const I plane, const int first, const int planes) {
#ifdef PART
  const I there = plane - (lane_int)first;
  return SELECT(there < 0, there + (lane_int)planes, there);
#else
  return plane;
#endif
}

INLINE Around around(const TraceFlow* f, __private const I* cell, __private const V* offset,
                     __private const V* moved) {
  Around all;
  for (int a = 0; a < ABSENT_AXES; a++) {
    all.at[a][0] = 0;
    all.weight[a][0] = all.across[a][0] = 1;
  }
  FOR_OWN_AXES(a) {
    const int ends = ENDS_OF(a);
    const Places p = places_after(cell[a], offset[a], moved[a], ends, f->n[a]);
    /* Points along an axis with ends lie in the middle of its cells. */
    I first = p.cell;
    V t = p.offset - REAL(0.5);
    if (!(ends & ENDS_MEET)) {
      const I is_before = p.offset < REAL(0.5);
      first = SELECT(is_before, p.cell - 1, p.cell);
      t = SELECT(is_before, p.offset, p.offset - 1);
    }
    remeshing_weights(t, all.weight[a]);
    for (int j = 0; j < STENCIL; j++) {
      V image = 1;
      const I point = stored_points(first + (lane_int)(j - STENCIL_BEFORE), ends, f->n[a], &image);
      const I there = a == ABSENT_AXES ? planes_in_part(point, f->first_plane, f->n[a]) : point;
      all.at[a][j] = TO_LONG(there) * f->from.stride[a];
      all.across[a][j] = image * all.weight[a][j];
    }
    all.image[a] = p.image;
  }
  return all;
}

INLINE V gathered_points(__global const flow_real* from, const L at) {
  V values;
  UNROLL
  for (int lane = 0; lane < LANES; lane++)
    ((__private real*)&values)[lane] = (real)from[((__private const long*)&at)[lane]];
  return values;
}

/* A component, the axis of which it is known; loops, as unrolled ones take long to compile. */
INLINE V component_around(const Points* points, const Around* all, const int c) {
  __global const flow_real* const from = points->at + (c - ABSENT_AXES) * points->component;
  V sum = 0;
  for (int i = 0; i < POINTS_BESIDE(0); i++) {
    V plane = 0;
    for (int j = 0; j < POINTS_BESIDE(1); j++) {
      const L row = all->at[0][i] + all->at[1][j];
      V values = 0;
      UNROLL
      for (int k = 0; k < STENCIL; k++)
        values = MAD(c == 2 ? all->across[2][k] : all->weight[2][k],
                     gathered_points(from, row + all->at[2][k]), values);
      plane = MAD(c == 1 ? all->across[1][j] : all->weight[1][j], values, plane);
    }
    sum = MAD(c == 0 ? all->across[0][i] : all->weight[0][i], plane, sum);
  }
  return sum;
}

INLINE void velocity_of_tracers(const TraceFlow* f, __private const I* cell,
                                __private const V* offset, __private const V* moved,
                                const Instants* at, __private V* velocity) {
  const Around all = around(f, cell, offset, moved);
  FOR_OWN_AXES(c) {
    const V value = component_around(&f->from, &all, c);
#ifdef SERIES
    const V later = component_around(&f->next, &all, c);
    velocity[c] = all.image[c] * MAD((V)(*at), later - value, value);
#else
    velocity[c] = all.image[c] * value;
#endif
  }
}

#endif
