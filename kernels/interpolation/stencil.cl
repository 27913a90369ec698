/* SPDX-License-Identifier: BSD-3-Clause */
/* Which points of a grid are around a particle of a set, and with which weights.
 *
 * A box is taken as one of three axes, 0, 1, 2; those that it has not have one point, and a
 * particle is on that. Points are counted on beyond the ends of an axis.
 *
 * IS_AXIS_0, 1, 2  whether the box has it
 * SAME_CELLS       the set has as many cells along each axis as the grid has points
 * PLANES_HAVE_ENDS, LINES_HAVE_ENDS  1 where axis 0, or axis 1, has ends
 * CELL, OFFSET     a signed integer, and the type of offsets */
#ifndef IS_AXIS_0
#define IS_AXIS_0 1
#endif
#ifndef IS_AXIS_1
#define IS_AXIS_1 1
#endif
#ifndef IS_AXIS_2
#define IS_AXIS_2 1
#endif
#ifndef SAME_CELLS
#define SAME_CELLS 1
#endif
#ifndef PLANES_HAVE_ENDS
#define PLANES_HAVE_ENDS 0
#endif
#ifndef LINES_HAVE_ENDS
#define LINES_HAVE_ENDS 0
#endif
#ifndef CELL
#define CELL int
#endif
#ifndef OFFSET
#define OFFSET float
#endif
#include "common/common.cl"
#include "generated/weights.cl"
#include "sets/ends.cl"

/* 1 for a kernel that chooses one of two points: then the generated weights are 0 and 1. */
#ifndef CHOOSES_POINT
#define CHOOSES_POINT 0
#endif

/* A number times a weight, and that added to a sum, rounded as `mad` does. Where a point is chosen
 * the other one is left out by a choice: 0 times what is not finite is NaN. */
#define DEFINE_WEIGHED(weighed, add_weighed, type, mad)                                           \
  INLINE type weighed(const type x, const type weight) {                                          \
    return CHOOSES_POINT ? SELECT(weight > (type)(REAL(0.0)), x, (type)(REAL(0.0))) : x * weight; \
  }                                                                                               \
  INLINE type add_weighed(const type x, const type weight, const type sum) {                      \
    return CHOOSES_POINT ? weighed(x, weight) + sum : mad(x, weight, sum);                        \
  }
DEFINE_WEIGHED(weighed, add_weighed, V, MAD)
DEFINE_WEIGHED(weighed_one, add_weighed_one, real, MAD_ONE)

#define AXES (IS_AXIS_0 + IS_AXIS_1 + IS_AXIS_2)
#define IS_AXIS(axis) ((axis) == 0 ? IS_AXIS_0 : (axis) == 1 ? IS_AXIS_1 : IS_AXIS_2)
#define WEIGHTS_ALONG(axis) (IS_AXIS(axis) ? STENCIL : 1)
#define BEFORE_ALONG(axis) (IS_AXIS(axis) ? STENCIL_BEFORE : 0)
/* Vectors of the weights along axis 2; lanes beyond the last weight are 0 and change nothing. */
#define VECTORS (((IS_AXIS_2 ? STENCIL : 1) + LANES - 1) / LANES)

/* Cells of the set along an axis, points of the grid, and bits of what is at the ends. */
typedef struct {
  long cells, points;
  int ends;
} Axis;

/* The point below a particle, and how far the particle is beyond the middle of two points. */
typedef struct {
  long point;
  real t;
} Spot;

/* Points along an axis with ends lie in the middle of its cells. What is near such a middle comes
 * out as exactly as what is near an end: nothing is added to an offset that is small. */
INLINE Spot spot_of(const long cell, const real offset, const Axis axis) {
  Spot spot = {cell, offset};
  if (!SAME_CELLS) {
    const long scaled = cell * axis.points;
    const real place =
        ((real)(scaled % axis.cells) + offset * (real)axis.points) / (real)axis.cells;
    const long whole = (long)place;
    spot.point = scaled / axis.cells + whole;
    spot.t = place - (real)whole;
  }
  if (axis.ends & ENDS_MEET) {
    spot.t -= REAL(0.5);
  } else { /* by choices: nobody could foresee a branch */
    const bool is_below = spot.t < REAL(0.5);
    spot.point -= is_below ? 1 : 0;
    spot.t -= is_below ? REAL(0.0) : REAL(1.0);
  }
  return spot;
}

INLINE long stored_point(const long point, const Axis axis) {
  real sign = 1;
  return point_on_grid(point, axis.points, axis.ends, &sign);
}

/* Of each axis the weights of the points from the first one on; those along axis 2 as vectors. */
typedef struct {
  long first[3];
  real weight[2][STENCIL];
  V along[VECTORS];
} ParticleStencil;

INLINE ParticleStencil stencil_of_particle(const long* cell, __global const OFFSET* offset,
                                           const Axis* axes) {
  ParticleStencil stencil;
  V t = 0, weight[STENCIL];
#if LANES == 1
  real all[3][STENCIL];
#endif
  UNROLL
  for (int axis = 0; axis < 3; axis++) {
    if (!IS_AXIS(axis)) {
      stencil.first[axis] = 0;
      continue;
    }
    const int number = axis - (axis > 0 ? 1 - IS_AXIS_0 : 0) - (axis > 1 ? 1 - IS_AXIS_1 : 0);
    const Spot spot = spot_of(cell[axis], (real)offset[number], axes[axis]);
    stencil.first[axis] = spot.point - STENCIL_BEFORE;
#if LANES == 1
    remeshing_weights(spot.t, all[axis]);
#else
    ((__private real*)&t)[axis] = spot.t;
#endif
  }
#if LANES == 1
#define WEIGHT_ALONG(axis, j) all[axis][j]
#else
  remeshing_weights(t, weight);
#define WEIGHT_ALONG(axis, j) ((__private const real*)&weight[j])[axis]
#endif
  UNROLL
  for (int axis = 0; axis < 2; axis++) {
    UNROLL
    for (int j = 0; j < WEIGHTS_ALONG(axis); j++)
      stencil.weight[axis][j] = IS_AXIS(axis) ? WEIGHT_ALONG(axis, j) : REAL(1.0);
  }
  UNROLL
  for (int k = 0; k < VECTORS; k++) {
    stencil.along[k] = 0;
    UNROLL
    for (int lane = 0; lane < LANES; lane++) {
      const int j = k * LANES + lane;
      if (j < WEIGHTS_ALONG(2))
        ((__private real*)&stencil.along[k])[lane] = IS_AXIS_2 ? WEIGHT_ALONG(2, j) : REAL(1.0);
    }
  }
  return stencil;
}

/* Which lanes of a vector have weights. */
INLINE I lanes_of(const int piece) {
#if LANES == 1
  return 1;
#else
  return (I)(LANE_NUMBERS) < (I)(WEIGHTS_ALONG(2) - piece * LANES);
#endif
}
