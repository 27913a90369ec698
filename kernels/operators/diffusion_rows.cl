/* SPDX-License-Identifier: BSD-3-Clause */
/* One round of diffusion from one field into another one, node by node: on GPUs, where neighbouring
 * work-items take neighbouring nodes, and of lines too long to be held. What is left of a thinned
 * line lies at its beginning.
 *
 * ALONG  lines run along the axis of n3 elements, else along that of n2 */
#include "operators/diffusion.cl"
#include "common/rows.cl"

#ifdef ALONG
#define BY_AXIS(across, along) (along)
#else
#define BY_AXIS(across, along) (across)
#endif

/* Node k, of LANES lines that are neighbours in memory. */
#define NODE(k) LOAD(line + (k) * stride)
INLINE V any_node(__global const stored* line, const long stride, const long node,
                  const Ends* ends) {
  const Origin o = origin_of(node, ends);
  return CONTINUED(NODE, o);
}
#define ANY_NODE(k) any_node(line, stride, k, &ends)

#if defined(ALONG) && LANES > 1
/* LANES nodes of a line from node k on. */
#define NODES(k) LOAD_LOOSE(line + (k))
INLINE V any_nodes(__global const stored* line, const long node, const Ends* ends) {
  V nodes;
  for (int lane = 0; lane < LANES; lane++) {
    const Origin o = origin_of(node + lane, ends);
#define ONE_NODE(k) (V)(LOAD_ONE(line + (k)))
    ((__private real*)&nodes)[lane] = FIRST(CONTINUED(ONE_NODE, o));
  }
  return nodes;
}
#define NODES_SIDE_BY_SIDE LANES
#define ANY_NODES(k) any_nodes(line, k, &ends)
#else
#define NODES_SIDE_BY_SIDE 1
#define NODES NODE
#define ANY_NODES ANY_NODE
#endif

/* Works on all elements of the target, by DO_NODE with these names: `line`, `stride` and `ends` of
 * what is read, and the node `i` on the target's line, which goes to `result`. */
#define DO_ROWS(n_read, DO_NODE)                                                           \
  const long item = get_local_id(0) * LANES, step = get_local_size(0) * LANES;             \
  const Share share = share_of(n0 * n1 * n2 * blocks_of_row(n3));                          \
  const Ends ends = ends_of(n_read, round TIME_ARGUMENTS);                                 \
  const long stride = BY_AXIS(s2, s3);                                                     \
  for (long job = share.first; job < share.last; job++) {                                  \
    const Block b = block_at(job, n3);                                                     \
    __global stored* const to = target + t_offset + row_offset(b.row, n1, n2, t0, t1, t2); \
    __global const stored* const row =                                                     \
        source + s_offset + row_offset(b.row, n1, n2, s0, s1, BY_AXIS(0, s2));             \
    for (long x = b.first + item; x < b.end; x += step) {                                  \
      __global const stored* const line = row + BY_AXIS(x * s3, 0);                        \
      const long i = BY_AXIS(b.row % n2, x);                                               \
      V result;                                                                            \
      DO_NODE                                                                              \
      STORE(result, to + x * t3);                                                          \
    }                                                                                      \
  }

#define ROUND_PARAMETERS                                                                          \
  __global const stored *source, STRIDES(s), __global stored *target, STRIDES(t), COUNTS, ROUNDS, \
      const int number TIME_PARAMETERS

KERNEL void diffusion_mean(ROUND_PARAMETERS) {
  __global const Round* const round = rounds + first_round + number;
  const int n = (int)BY_AXIS(n2, n3);
  const long reach = round->taps * (long)round->apart;
#define DO_MEAN                                          \
  if (i >= reach && i + NODES_SIDE_BY_SIDE + reach <= n) \
    ADD_MEAN(NODES, i, round, result)                    \
  else                                                   \
    ADD_MEAN(ANY_NODES, i, round, result)
  DO_ROWS(n, DO_MEAN)
}

#if NODES_SIDE_BY_SIDE == 1
KERNEL void diffusion_thin(ROUND_PARAMETERS) {
  __global const Round* const round = rounds + first_round + number;
  const int n = (int)BY_AXIS(n2, n3) * THINNED;
#define DO_THIN                                                           \
  if (THINNED * i >= round->taps && THINNED * (i + 1) + round->taps <= n) \
    ADD_THINNED(NODE, (int)i, round, result)                              \
  else                                                                    \
    ADD_THINNED(ANY_NODE, (int)i, round, result)
  DO_ROWS(n, DO_THIN)
}

KERNEL void diffusion_refill(ROUND_PARAMETERS) {
  __global const Round* const round = rounds + first_round + number;
  const int n = (int)BY_AXIS(n2, n3) / THINNED, reach = NEIGHBOURS_OF_REFILL(round);
#define DO_REFILL                                           \
  const int j = (int)i / THINNED, place = (int)i % THINNED; \
  if (j >= reach && j + reach < n)                          \
    ADD_REFILLED(NODE, j, place, 1, round, &result)         \
  else                                                      \
    ADD_REFILLED(ANY_NODE, j, place, 1, round, &result)
  DO_ROWS(n, DO_REFILL)
}
#endif
