/* SPDX-License-Identifier: BSD-3-Clause */
/* A component of a velocity on a coarse grid, interpolated across its lines onto the lines of a
 * finer one. Along the lines it stays coarse. Beyond an end where particles come in it goes on as
 * the polynomial through as many nodes as it is interpolated from. */
#include "common/common.cl"
#include "lines/boundary.cl"
#include "motion/cubic.cl"
#include "motion/interpolation.cl"

/* An axis across the lines, as one place of it sees it. */
typedef struct {
  long stride;   /* of the coarse velocity */
  int node;      /* the first that it is interpolated from, perhaps beyond the ends */
  int n;         /* nodes of the coarse velocity */
  int low, high; /* what lies beyond the ends */
  int is_part;   /* what belongs beyond the nodes that are here lies there */
  real offset;   /* in the cell in the middle */
} Across;

/* Point i of the fine grid, `shift` cells of it after the coarse one's first point. */
INLINE Across across(const int i, const long stride, const int n, const int is_part,
                     const int ratio, const real shift, const int low, const int high) {
  const real place = ((real)(i % ratio) + shift) / (real)ratio, whole = floor(place);
  Across a = {stride, i / ratio + (int)whole - POINTS_BEFORE, n, low, high, is_part, place - whole};
  return a;
}

/* Where a node, at most two beyond the ends, begins in memory. A component along the lines is the
 * same in the image of a wall across them. */
INLINE long start_of(const Across a, int node) {
  if (a.is_part) return a.stride * node;
  if (a.low == PERIODIC) return a.stride * wrap(node, a.n);
  if (a.low == WALL && node < 0) node = -1 - node;
  if (a.high == WALL && node >= a.n) node = 2 * a.n - 1 - node;
  return a.stride * clamp(node, 0, a.n - 1);
}

INLINE int is_beyond_inflow(const Across a, const int node) {
  return node < 0 ? a.low == INFLOW : node >= a.n && a.high == INFLOW;
}

/* The numbers at[0 .. POINTS-1] that a place is between; READ tells one, given where it begins. */
#define READ_POINTS(a, at, READ)                                                                   \
  for (int j = 0; j < POINTS; j++) {                                                               \
    const int node = (a).node + j;                                                                 \
    if (is_beyond_inflow(a, node)) {                                                               \
      const int last = (a).n - 1;                                                                  \
      real near[CUBIC_PLACES];                                                                     \
      for (int k = 0; k < CUBIC_PLACES; k++) near[k] = READ(start_of(a, node < 0 ? k : last - k)); \
      const Cubic through = cubic_through(near, min(POINTS, (a).n));                               \
      (at)[j] = value_of(&through, (real)(node < 0 ? node : last - node));                         \
    } else {                                                                                       \
      (at)[j] = READ(start_of(a, node));                                                           \
    }                                                                                              \
  }

INLINE real along(const Across a, __global const real* from) {
  real at[POINTS];
#define COARSE_NODE(start) from[start]
  READ_POINTS(a, at, COARSE_NODE)
  return between(at, a.offset);
}

/* Work-items lie along an axis whose points are neighbours in memory, and along another one; each
 * goes through `outers_each` points across, so that a group reads what is coarse across once. */
KERNEL void refine(__global real* to, const long row_stride, const long lane_stride,
                   const long outer_stride, __global const real* from, const long from_offset,
                   const long from_row_stride, const long from_lane_stride,
                   const int from_lane_nodes, const int from_lane_is_part,
                   const int from_lane_begin, const int from_lane_ratio, const real from_lane_shift,
                   const int from_lane_low, const int from_lane_high, const long from_outer_stride,
                   const int from_outer_nodes, const int from_outer_is_part,
                   const int from_outer_begin, const int from_outer_ratio,
                   const real from_outer_shift, const int from_outer_low, const int from_outer_high,
                   const int rows, const int lanes, const int outers, const int outers_each,
                   const int rows_are_neighbours) {
  const int first = get_global_id(0), second = get_global_id(1);
  const int lane_place = rows_are_neighbours ? second : first;
  const long row = rows_are_neighbours ? first : second;
  if (lane_place >= lanes || row >= rows) return;
  const Across lane =
      across(lane_place + from_lane_begin, from_lane_stride, from_lane_nodes, from_lane_is_part,
             from_lane_ratio, from_lane_shift, from_lane_low, from_lane_high);
  __global const real* row_from = from + from_offset + row * from_row_stride;
  const int begin = (int)get_global_id(2) * outers_each;
  for (int place = begin; place < min(begin + outers_each, outers); place++) {
    const Across outer =
        across(place + from_outer_begin, from_outer_stride, from_outer_nodes, from_outer_is_part,
               from_outer_ratio, from_outer_shift, from_outer_low, from_outer_high);
    real at[POINTS];
#define ALONG_LANE(start) along(lane, row_from + (start))
    READ_POINTS(outer, at, ALONG_LANE)
    to[row * row_stride + lane_place * lane_stride + place * outer_stride] =
        between(at, outer.offset);
  }
}
