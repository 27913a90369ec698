/* SPDX-License-Identifier: BSD-3-Clause */
/* One round of diffusion from one field into another one, node by node: on GPUs, where neighbouring
 * work-items take neighbouring nodes, and of lines too long to be held. What is left of a thinned
 * line lies at its beginning.
 *
 * ALONG  lines run along the axis of n3 elements, else along that of n2 */
#include "common/common.cl"
#include "common/regions.cl"
#include "lines/boundary.cl"
#include "operators/diffusion.cl"

#ifdef ALONG
#define BY_AXIS(across, along) (along)
#else
#define BY_AXIS(across, along) (across)
#endif

/* Node k, of LANES lines that are neighbours in memory. */
#define NODE(k) LOAD(line + (k) * stride)
INLINE V any_node(__global const stored* line, const long stride, const long node,
                  const LineEnds* ends) {
  const Origin o = origin_of(node, ends);
  return AS_MADE(NODE, o);
}
#define ANY_NODE(k) any_node(line, stride, k, &ends)

#if defined(ALONG) && LANES > 1
#define IN_VECTORS_ALONG
/* LANES nodes of a line from node k on. */
#define NODES(k) LOAD_LOOSE(line + (k))
#define ONE_NODE(k) (V)(LOAD_ONE(line + (k)))
INLINE real any_one(__global const stored* line, const long node, const LineEnds* ends) {
  const Origin o = origin_of(node, ends);
  return FIRST(AS_MADE(ONE_NODE, o));
}
INLINE V any_nodes(__global const stored* line, const long node, const LineEnds* ends) {
  V nodes;
#ifndef TAKES_IN
  const int first = origin_of(node, ends).at, last = origin_of(node + LANES - 1, ends).at;
  if (last - first == LANES - 1) return NODES(first);
  /* Beyond the end of a period lines go on, they do not turn round. */
  if (LOW_END != PERIODIC && first - last == LANES - 1) {
    const V turned = NODES(last);
    for (int lane = 0; lane < LANES; lane++)
      ((__private real*)&nodes)[lane] = ((__private const real*)&turned)[LANES - 1 - lane];
    return nodes;
  }
#else
  if (node >= 0 && node + LANES <= ends->n) return NODES(node);
#endif
  for (int lane = 0; lane < LANES; lane++)
    ((__private real*)&nodes)[lane] = any_one(line, node + lane, ends);
  return nodes;
}
#define ANY_NODES(k) any_nodes(line, k, &ends)
#define NODES_SIDE_BY_SIDE LANES
#else
#define NODES_SIDE_BY_SIDE 1
#define NODES NODE
#define ANY_NODES ANY_NODE
#endif

/* Goes through regions of n0 x n1 x n2 x n3 nodes by DO_NODE with these names: `line` and `stride`
 * of what is read, `to` and `to_stride` of what is written, and `i`, the node on either line. */
#define DO_ROWS(n_read, DO_NODE)                                                             \
  const long item = get_local_id(0) * LANES, step = get_local_size(0) * LANES;               \
  const Share share = share_of(n0 * n1 * n2 * blocks_of_row(n3));                            \
  const LineEnds ends = ends_of(n_read, round TIME_ARGUMENTS);                               \
  const long stride = BY_AXIS(s2, s3), to_stride = BY_AXIS(t2, t3);                          \
  FOR_BLOCKS(b, share, n1, n2, n3) {                                                         \
    const long from_row = row_offset(b, s0, s1, BY_AXIS(0, s2));                             \
    const long to_row = row_offset(b, t0, t1, BY_AXIS(0, t2));                               \
    for (long x = b.first + item; x < b.end; x += step) {                                    \
      __global const stored* const line = source + s_offset + from_row + BY_AXIS(x * s3, 0); \
      __global stored* const to = target + t_offset + to_row + BY_AXIS(x * t3, 0);           \
      const long i = BY_AXIS(b.i2, x);                                                       \
      DO_NODE                                                                                \
    }                                                                                        \
  }

KERNEL void diffusion_mean(__global const stored* source, const long s_offset, const long s0,
                           const long s1, const long s2, const long s3, __global stored* target,
                           const long t_offset, const long t0, const long t1, const long t2,
                           const long t3, const long n0, const long n1, const long n2,
                           const long n3, __global const Round* rounds,
                           __global const real* all_weights, const int first_round,
                           const int number TIME_PARAMETERS) {
  __global const Round* const round = rounds + first_round + number;
  __global const real* const weights = all_weights + round->first;
  const int n = (int)BY_AXIS(n2, n3);
  const long reach = round->taps * (long)round->apart;
#define DO_MEAN                                          \
  V mean;                                                \
  if (i >= reach && i + NODES_SIDE_BY_SIDE + reach <= n) \
    ADD_MEAN(NODES, i, round, weights, mean)             \
  else                                                   \
    ADD_MEAN(ANY_NODES, i, round, weights, mean)         \
  STORE(mean, to + i * to_stride);
  DO_ROWS(n, DO_MEAN)
}

/* Goes through the nodes that are written. LANES are 1 along the line. */
KERNEL void diffusion_map(__global const stored* source, const long s_offset, const long s0,
                          const long s1, const long s2, const long s3, __global stored* target,
                          const long t_offset, const long t0, const long t1, const long t2,
                          const long t3, const long n0, const long n1, const long n2, const long n3,
                          __global const Round* rounds, __global const real* all_weights,
                          const int first_round, const int number TIME_PARAMETERS) {
  __global const Round* const round = rounds + first_round + number;
  __global const real* const weights = all_weights + round->first;
  const int n = (int)(BY_AXIS(n2, n3) / round->to * round->from);
#define DO_MAP                                                           \
  const MapPlace place = map_place(i, round);                            \
  V node;                                                                \
  if (place.before >= round->taps - 1 && place.before + round->taps < n) \
    ADD_MAPPED(NODE, place, round, weights, node)                        \
  else                                                                   \
    ADD_MAPPED(ANY_NODE, place, round, weights, node)                    \
  STORE(node, to + i * to_stride);
  DO_ROWS(n, DO_MAP)
}
