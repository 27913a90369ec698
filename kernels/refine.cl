/* SPDX-License-Identifier: BSD-3-Clause */
/* A component of a velocity on a coarse grid, interpolated across its lines onto the lines of a
 * finer one. Along the lines it stays coarse. */
#include "division.cl"
#include "interpolation.cl"

/* An axis across the lines, as one place of it sees it. */
typedef struct {
  long stride; /* of the coarse velocity */
  int node;    /* the first that it is interpolated from, perhaps beyond the ends */
  int n;       /* nodes of the coarse velocity */
  real offset; /* in the cell in the middle */
} Across;

/* Point i of the fine grid, `shift` cells of it after the coarse one's first point. */
INLINE Across across(const int i, const long stride, const int n, const int ratio,
                     const real shift) {
  const real place = ((real)(i % ratio) + shift) / (real)ratio, whole = floor(place);
  Across a = {stride, i / ratio + (int)whole - POINTS_LEFT, n, place - whole};
  return a;
}

INLINE real along(const Across a, __global const real* from) {
  real at[POINTS];
  for (int j = 0; j < POINTS; j++) at[j] = from[a.stride * wrap(a.node + j, a.n)];
  return between(at, a.offset);
}

#define AXIS_PARAMETERS(name) \
  const long name##_stride, const int name##_nodes, const int name##_ratio, const real name##_shift
#define ACROSS(name, i) across(i, name##_stride, name##_nodes, name##_ratio, name##_shift)

__kernel void refine(__global real* to, const long row_stride, const long lane_stride,
                     const long outer_stride, __global const real* from, const ulong from_offset,
                     const long from_row_stride, AXIS_PARAMETERS(from_lane),
                     AXIS_PARAMETERS(from_outer)) {
  const int lane_place = get_global_id(0), outer_place = get_global_id(1);
  const long row = get_global_id(2);
  const Across lane = ACROSS(from_lane, lane_place), outer = ACROSS(from_outer, outer_place);
  __global const real* rows = from + from_offset + row * from_row_stride;
  real at[POINTS];
  for (int j = 0; j < POINTS; j++)
    at[j] = along(lane, rows + outer.stride * wrap(outer.node + j, outer.n));
  to[row * row_stride + lane_place * lane_stride + outer_place * outer_stride] =
      between(at, outer.offset);
}
