/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids of one, two or three dimensions seen as if they had three: the axes that a grid lacks come
 * first and have one node. Rows run along axis 2, whose nodes are neighbours in our own memory. */
#include "division.cl"

#ifndef DIMENSIONS
#define DIMENSIONS 3
#endif
#define FIRST_AXIS (3 - DIMENSIONS)
#define FOR_AXES(a) UNROLL for (int a = FIRST_AXIS; a < 3; a++)

#define NODES_PARAMETERS const int n0, const int n1, const int n2
#define DECLARE_NODES const int n[3] = {n0, n1, n2}

/* Elements of a field in any memory: component c of node (i0, i1, i2) lies at offset + c *
 * component + sum of i_k * stride k. */
#define ARRAY_PARAMETERS(name)                                                         \
  __global real *name, const ulong name##_offset, const long name##_component,         \
      const long name##_stride0, const long name##_stride1, const long name##_stride2
#define ROW_OF(name, i0, i1) \
  (name + name##_offset + (i0) * name##_stride0 + (i1) * name##_stride1)

/* Chunks of a row, about which something is known in common. */
#ifndef CHUNK
#define CHUNK 128
#endif
INLINE int chunks_of_row(const int n) { return (n + CHUNK - 1) / CHUNK; }
