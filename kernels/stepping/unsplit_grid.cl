/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids of one, two or three dimensions seen as if they had three: the axes that a grid lacks come
 * first and have one node. Rows run along axis 2, whose nodes are neighbours in our own memory. */
#include "common/common.cl"

#ifndef DIMENSIONS
#define DIMENSIONS 3
#endif
#define FIRST_AXIS (3 - DIMENSIONS)
#define FOR_AXES(a) \
  UNROLL            \
  for (int a = FIRST_AXIS; a < 3; a++)

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
