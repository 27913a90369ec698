/* SPDX-License-Identifier: BSD-3-Clause */
/* One round of diffusion from one field into another one, node by node: on GPUs, where neighbouring
 * work-items take neighbouring nodes, and of lines too long to be held.
 *
 * ALONG  lines run along the axis of n3 elements, else along that of n2 */
#include "diffusion.cl"
#include "rows.cl"

/* LANES nodes, side by side in memory, the first of them on node k of a line. */
#if defined(ALONG) && LANES > 1
#define NODES_SIDE_BY_SIDE LANES
#define NODE(k) LOAD_LOOSE(line + (k))
INLINE V far_nodes(__global const stored* line, const long node, const long n) {
  V nodes;
  for (int lane = 0; lane < LANES; lane++)
    ((__private real*)&nodes)[lane] = LOAD_ONE(line + origin_at(node + lane, n));
  return nodes;
}
#define FAR_NODE(k) far_nodes(line, k, n)
#else
#define NODES_SIDE_BY_SIDE 1
#define NODE(k) LOAD(line + (k) * stride)
#ifdef TAKES_IN
INLINE V far_node(__global const stored* line, const long stride, const long node, const long n,
                  const Brought* brought) {
  const Origin o = origin_of(node, n, brought);
  return MAD((V)(o.sign), NODE(o.at), (V)(o.offset));
}
#define FAR_NODE(k) far_node(line, stride, k, n, brought)
#else
#define FAR_NODE(k) NODE(origin_at(k, n))
#endif
#endif

/* Node i of a line, or LANES nodes from there on: of as many lines, or ALONG one. */
INLINE V diffused(__global const stored* line, const long stride, const long i, const long n,
                  const Weights* weights, const int taps, const long apart MEAN_PARAMETERS) {
  const long beyond = 0;
  const V here = NODE(i), twice = here + here;
  V change = 0;
  ADD_TAPS(NODES_SIDE_BY_SIDE, NODE, FAR_NODE)
  return here + change;
}

KERNEL void diffusion_rows(__global const stored* source, STRIDES(s), __global stored* target,
                           STRIDES(t), COUNTS, const Weights weights, const int taps,
                           const long apart BROUGHT_PARAMETERS) {
  const long item = get_local_id(0) * LANES, step = get_local_size(0) * LANES;
  const Share share = share_of(n0 * n1 * n2 * blocks_of_row(n3));
  DECLARE_BROUGHT;
  for (long job = share.first; job < share.last; job++) {
    const Block b = block_at(job, n3);
    __global stored* to = target + t_offset + row_offset(b.row, n1, n2, t0, t1, t2);
#ifdef ALONG
    __global const stored* line = source + s_offset + row_offset(b.row, n1, n2, s0, s1, s2);
    for (long x = b.first + item; x < b.end; x += step)
      STORE(diffused(line, s3, x, n3, &weights, taps, apart BROUGHT_ARGUMENT), to + x * t3);
#else
    __global const stored* lines = source + s_offset + row_offset(b.row, n1, n2, s0, s1, 0);
    const long i = b.row % n2;
    for (long x = b.first + item; x < b.end; x += step) {
#ifdef TAKES_IN
      V own[2] = {0, 0};
      const V mean = diffused(lines + x * s3, s2, i, n2, &weights, taps, apart, &brought, own);
      for (int end = LOW; end <= HIGH; end++)
        left[end] += SELECT((I)(LANE_NUMBERS) < (I)((lane_int)min(n3 - x, (long)LANES)), own[end],
                            (V)(REAL(0.0)));
#else
      const V mean = diffused(lines + x * s3, s2, i, n2, &weights, taps, apart);
#endif
      STORE(mean, to + x * t3);
    }
#endif
  }
#ifdef TAKES_IN
  settle_left(left, LANES, crossed + 4 * (component * get_global_size(0) + get_global_id(0)));
#endif
}
