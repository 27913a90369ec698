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
 * FLOW_IS_DOUBLE    what they hold, though real may be wider */
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
#define FLOW_NAME double
#else
#define FLOW_NAME float
#endif
typedef FLOW_NAME flow_real;

/* Where points around a particle are along each axis, or how far from the first of them; and the
 * sign of the component along the axis there, which images change. */
typedef struct {
  long at[3][STENCIL];
  real sign[3][STENCIL];
} Stencil;

/* Elements of a field: component c of point (i0, i1, i2) lies at offset + c * component + sum of
 * i_k * stride k. */
typedef struct {
  __global const flow_real* at;
  long component, stride[3];
  Stencil inside; /* the same for all particles that have no point beyond the ends */
} Points;

typedef struct {
  int n[3], first_plane;
  Points from, next;
} TraceFlow;

INLINE void set_stencil(Points* points) {
  FOR_OWN_AXES(a) {
    for (int j = 0; j < STENCIL; j++) {
      points->inside.at[a][j] = j * points->stride[a];
      points->inside.sign[a][j] = 1;
    }
  }
}

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
#define DECLARE_TRACE_FLOW                                                        \
  TraceFlow flow_at = {{n0, n1, n2}, first_plane, POINTS_OF(flow), LATER_POINTS}; \
  set_stencil(&flow_at.from);                                                     \
  set_stencil(&flow_at.next)

#define POINTS_BESIDE(a) ((a) < ABSENT_AXES ? 1 : STENCIL)
/* More would take long to compile. */
#if STENCIL <= 2
#define UNROLL_PLANES UNROLL
#else
#define UNROLL_PLANES
#endif
#define HAS_WALL(ends) (HAS_LOW_WALL(ends) || HAS_HIGH_WALL(ends))

/* Points that are neighbours in memory, so many that they are read at once; the last ones around a
 * particle may have others behind them, of no weight. */
#if STENCIL <= 2
#define POINTS_AT_ONCE 2
#elif STENCIL <= 4
#define POINTS_AT_ONCE 4
#else
#define POINTS_AT_ONCE 8
#endif
#define READINGS ((STENCIL + POINTS_AT_ONCE - 1) / POINTS_AT_ONCE)
typedef JOIN(REAL_NAME, POINTS_AT_ONCE) PointValues;
DEFINE_MAD(add_values, PointValues)
#if LANES > 1
typedef JOIN(FLOW_NAME, POINTS_AT_ONCE) LooseValues __attribute__((aligned(sizeof(flow_real))));
#if __has_builtin(__builtin_convertvector)
#define VALUES_AT(from) __builtin_convertvector(*(__global const LooseValues*)(from), PointValues)
#else
#define VALUES_AT(from) \
  JOIN(convert_, JOIN(REAL_NAME, POINTS_AT_ONCE))(*(__global const LooseValues*)(from))
#endif
#endif

/* With which one of the whole axis memory begins. */
#ifdef PART
#define PLANE_IN_MEMORY(f) (f)->first_plane
#else
#define PLANE_IN_MEMORY(f) 0
#endif

/* Of LANES particles, by axis: the first point around each, the weights of the points from there
 * on, and the sign of the velocity along the axis; and whether all these points are within the box,
 * and those that are read with them. */
typedef struct {
  I first[3], is_inside;
  V weight[3][STENCIL], image[3];
} Around;

INLINE Around around(const TraceFlow* f, __private const I* cell, __private const V* offset,
                     __private const V* moved) {
  Around all;
  all.is_inside = -1;
  FOR_OWN_AXES(a) {
    const int ends = ENDS_OF(a), count = a == 2 ? READINGS * POINTS_AT_ONCE : STENCIL;
    const Places p = places_after(cell[a], offset[a], moved[a], ends, f->n[a]);
    /* Points along an axis with ends lie in the middle of its cells. */
    I first = p.cell;
    V t = p.offset - REAL(0.5);
    if (!(ends & ENDS_MEET)) {
      const I is_before = p.offset < REAL(0.5);
      first = SELECT(is_before, p.cell - 1, p.cell);
      t = SELECT(is_before, p.offset, p.offset - 1);
    }
    first -= (lane_int)STENCIL_BEFORE;
    all.is_inside &= (first >= 0) & (first <= (I)((lane_int)(f->n[a] - count)));
    all.first[a] = first;
    remeshing_weights(t, all.weight[a]);
    all.image[a] = p.image;
  }
#ifdef PART
  const I plane = all.first[ABSENT_AXES], begin = (I)((lane_int)f->first_plane);
  all.is_inside &= (plane >= begin) & (I)((lane_int)(ABSENT_AXES < 2 ? -1 : 0));
#endif
  return all;
}

/* Of a particle near the ends. */
INLINE void find_points(const TraceFlow* f, const Points* points, const Around* all, const int lane,
                        Stencil* found) {
  FOR_OWN_AXES(a) {
    for (int j = 0; j < STENCIL; j++) {
      found->sign[a][j] = 1;
      const long point =
          point_on_grid(INT_OF(all->first[a], lane) + j, f->n[a], ENDS_OF(a), &found->sign[a][j]);
      const long there = a == ABSENT_AXES ? plane_in_part(point, f->first_plane, f->n[a]) : point;
      found->at[a][j] = there * points->stride[a];
    }
  }
}

/* What points `begin` .. of a line have, as far as they are around the particle. */
INLINE PointValues values_around(__global const flow_real* line, const Stencil* points,
                                 const bool is_in_row, const int begin) {
#if LANES > 1
  if (is_in_row) return VALUES_AT(line + begin);
#endif
  PointValues row = 0;
  UNROLL
  for (int k = 0; k < POINTS_AT_ONCE; k++)
    if (begin + k < STENCIL) ((__private real*)&row)[k] = (real)line[points->at[2][begin + k]];
  return row;
}

/* Component c of the velocity at particle `lane`, from the first point around it on. */
INLINE real component_around(__global const flow_real* first, const Stencil* points,
                             const bool is_in_row, const Around* all, const int lane, const int c) {
#define WEIGHT(a, j)                  \
  (REAL_OF(all->weight[a][j], lane) * \
   (HAS_WALL(ENDS_OF(a)) && c == a ? points->sign[a][j] : REAL(1.0)))
  real value = 0;
  UNROLL
  for (int begin = 0; begin < STENCIL; begin += POINTS_AT_ONCE) {
    PointValues sum = 0;
    UNROLL_PLANES
    for (int i = 0; i < POINTS_BESIDE(0); i++) {
      __global const flow_real* const plane = ABSENT_AXES > 0 ? first : first + points->at[0][i];
      PointValues lines = 0;
      UNROLL
      for (int j = 0; j < POINTS_BESIDE(1); j++) {
        if (ABSENT_AXES > 1)
          lines = values_around(plane, points, is_in_row, begin);
        else
          lines =
              add_values((PointValues)(WEIGHT(1, j)),
                         values_around(plane + points->at[1][j], points, is_in_row, begin), lines);
      }
      sum = ABSENT_AXES > 0 ? lines : add_values((PointValues)(WEIGHT(0, i)), lines, sum);
    }
    UNROLL
    for (int k = 0; k < POINTS_AT_ONCE; k++)
      if (begin + k < STENCIL)
        value = MAD_ONE(WEIGHT(2, begin + k), ((__private const real*)&sum)[k], value);
  }
  return value;
#undef WEIGHT
}

/* What a field has where particle `lane` is. */
INLINE void values_at_lane(const TraceFlow* f, const Points* points, const Around* all,
                           const int lane, __private real* values) {
  Stencil near_ends;
  const Stencil* stencil = &points->inside;
  const bool is_inside = LANES > 1 && INT_OF(all->is_inside, lane) != 0; /* GPUs choose no memory */
  long first = 0;
  if (is_inside) {
    FOR_OWN_AXES(a) first += INT_OF(all->first[a], lane) * points->stride[a];
    first -= PLANE_IN_MEMORY(f) * points->stride[ABSENT_AXES];
  } else {
    find_points(f, points, all, lane, &near_ends);
    stencil = &near_ends;
  }
  const bool is_in_row = is_inside && points->stride[2] == 1;
  FOR_OWN_AXES(c) {
    const long component = (c - ABSENT_AXES) * points->component + first;
    values[c] = component_around(points->at + component, stencil, is_in_row, all, lane, c);
  }
}

/* In space a particle has so many points around that their numbers cost more to be put into lanes
 * than lanes save. */
#if LANES > 1 && AXES <= 2 && STENCIL <= 4 && defined REAL_IS_DOUBLE == defined FLOW_IS_DOUBLE
#define SUMS_IN_LANES
DEFINE_NUMBERS_FROM(values_in_row, POINTS_AT_ONCE, long)

/* What a field has where particles are, as component_around() sums it up; where one has points
 * beyond the ends, anything. */
INLINE void values_in_lanes(const TraceFlow* f, const Points* points, const Around* all,
                            __private V* values) {
  L place = 0;
  FOR_OWN_AXES(a) {
    const I first = all->first[a] - (lane_int)(a == ABSENT_AXES ? PLANE_IN_MEMORY(f) : 0);
    place += TO_LONG(SELECT(all->is_inside, first, (I)(0))) * points->stride[a];
  }
  FOR_OWN_AXES(c) {
    __global const real* const from = points->at + (c - ABSENT_AXES) * points->component;
    V sum[STENCIL] = {0}, value = 0;
    UNROLL
    for (int j = 0; j < POINTS_BESIDE(1); j++) {
      V row[POINTS_AT_ONCE];
      values_in_row(from + (AXES == 1 ? 0 : points->inside.at[1][j]), (__private const long*)&place,
                    row);
      UNROLL
      for (int k = 0; k < STENCIL; k++)
        sum[k] = AXES == 1 ? row[k] : MAD(all->weight[1][j], row[k], sum[k]);
    }
    UNROLL
    for (int k = 0; k < STENCIL; k++) value = MAD(all->weight[2][k], sum[k], value);
    values[c] = value;
  }
}
#endif

INLINE void velocity_of_tracers(const TraceFlow* f, __private const I* cell,
                                __private const V* offset, __private const V* moved,
                                const Instants* at, __private V* velocity) {
  const Around all = around(f, cell, offset, moved);
  bool in_lanes = false;
#ifdef SUMS_IN_LANES
  in_lanes = f->from.stride[2] == 1 && f->next.stride[2] == 1 && ANY(all.is_inside);
  if (in_lanes) {
    values_in_lanes(f, &f->from, &all, velocity);
#ifdef SERIES
    V later[3];
    values_in_lanes(f, &f->next, &all, later);
    FOR_OWN_AXES(c) velocity[c] = MAD((V)(*at), later[c] - velocity[c], velocity[c]);
#endif
  }
#endif
  AS_A_LOOP
  for (int lane = 0; lane < LANES; lane++) {
    if (in_lanes && INT_OF(all.is_inside, lane)) continue;
    real values[3];
    values_at_lane(f, &f->from, &all, lane, values);
#ifdef SERIES
    real later[3];
    values_at_lane(f, &f->next, &all, lane, later);
    FOR_OWN_AXES(c) values[c] = MAD_ONE(*at, later[c] - values[c], values[c]);
#endif
    FOR_OWN_AXES(c) REAL_OF(velocity[c], lane) = values[c];
  }
  FOR_OWN_AXES(c) velocity[c] *= all.image[c];
}

#endif
