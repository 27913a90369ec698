/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids of one, two or three dimensions seen as if they had three: the axes that a grid lacks come
 * first and have one node. Rows run along axis 2, whose nodes are neighbours in our own memory.
 *
 * SOME_ROWS  there are particles of some rows across the first axis alone: of `tail` from `head`
 * on, then of others from `low` on, counted on beyond the ends of the axis, so that the numbers
 * within it ascend. It is not axis 2. */
#include "common/common.cl"

#ifndef DIMENSIONS
#define DIMENSIONS 3
#endif
#define FIRST_AXIS (3 - DIMENSIONS)
#define FOR_AXES(a) \
  UNROLL            \
  for (int a = FIRST_AXIS; a < 3; a++)

/* Which rows particles come from, and with which one of the velocity's memory begins. */
typedef struct {
  int count, tail, head, low, first;
} StartRows;
#ifdef SOME_ROWS
#define IS_CUT(a) ((a) == FIRST_AXIS)
#define ROWS_PARAMETERS                                                                 \
  , const int rows_count, const int rows_tail, const int rows_head, const int rows_low, \
      const int rows_first
#define DECLARE_START_ROWS \
  const StartRows rows = {rows_count, rows_tail, rows_head, rows_low, rows_first};
#else
#define IS_CUT(a) 0
#define ROWS_PARAMETERS
#define DECLARE_START_ROWS \
  const StartRows rows = {FIRST_AXIS == 0 ? n0 : FIRST_AXIS == 1 ? n1 : n2, 0, 0, 0, 0};
#endif

/* Elements of a field in any memory: component c of node (i0, i1, i2) lies at offset + c *
 * component + sum of i_k * stride k. */
#define ARRAY_PARAMETERS(name)                                                 \
  __global real *name, const ulong name##_offset, const long name##_component, \
      const long name##_stride0, const long name##_stride1, const long name##_stride2
typedef struct {
  __global real* at; /* component 0 of node (0, 0, 0) */
  long component, stride[3];
} Array;
#define ARRAY_OF(name)                                                                         \
  {                                                                                            \
    name + name##_offset, name##_component, { name##_stride0, name##_stride1, name##_stride2 } \
  }

/* i modulo n in every lane; the tests keep the division out of the usual cases */
INLINE I wrap_lanes(const I i, const int n) {
  if (!ANY(AS_UNSIGNED(i) >= (U)(n))) return i;
  const I up = SELECT(i < 0, i + (lane_int)n, i),
          near = SELECT(up < (lane_int)n, up, up - (lane_int)n);
  if (!ANY(AS_UNSIGNED(near) >= (U)(n))) return near;
  const I rest = i % (lane_int)n;
  return SELECT(rest < 0, rest + (lane_int)n, rest);
}
