/* SPDX-License-Identifier: BSD-3-Clause */
/* One round of diffusion of lines that a work-item holds in private memory and then overwrites.
 *
 * RACES. A work-item owns the lines of `tiles_each` consecutive tiles, which nobody else reads. */
#include "diffusion.cl"
#include "lines.cl"

#define HELD_NODE(k) held[k]
#ifdef TAKES_IN
INLINE V far_node(__private const V* held, const long node, const int n, const Brought* brought) {
  const Origin o = origin_of(node, n, brought);
  return MAD((V)(o.sign), held[o.at], (V)(o.offset));
}
#define FAR_HELD_NODE(k) far_node(held, k, n, brought)
#else
#define FAR_HELD_NODE(k) held[origin_at(k, n)]
#endif

INLINE V diffused(__private const V* held, const int i, const int n, const Weights* weights,
                  const int taps, const long apart, const long beyond MEAN_PARAMETERS) {
  const V here = held[i], twice = here + here;
  V change = 0;
  ADD_TAPS(1, HELD_NODE, FAR_HELD_NODE)
  return here + change;
}

#define AT_ONCE 4 /* nodes whose sums do not wait for each other */

/* Nodes i .. i + AT_ONCE - 1, all of whose neighbours are held. */
INLINE void diffused_within(__private const V* held, const int i, const Weights* weights,
                            const int taps, const long apart, __private V* means) {
  V change[AT_ONCE], twice[AT_ONCE];
  UNROLL
  for (int j = 0; j < AT_ONCE; j++) change[j] = 0, twice[j] = held[i + j] + held[i + j];
  for (int m = taps; m > 0; m--) {
    const V weight = weights->of[m - 1];
    __private const V *before = held + i - m * apart, *after = held + i + m * apart;
    UNROLL
    for (int j = 0; j < AT_ONCE; j++)
      change[j] = MAD(weight, (before[j] + after[j]) - twice[j], change[j]);
  }
  UNROLL
  for (int j = 0; j < AT_ONCE; j++) means[j] = held[i + j] + change[j];
}

/* Holds images, too, where they have room: no node is asked for its origin then. */
#ifdef TAKES_IN
#define CONTINUE_LINE
#else
#define CONTINUE_LINE                                \
  for (long k = 1; k <= beyond; k++) {               \
    held[-k] = held[origin_at(-k, n)];               \
    held[n - 1 + k] = held[origin_at(n - 1 + k, n)]; \
  }
#endif

KERNEL void diffusion_lines(__global stored* u, const ulong u_offset, const long row_stride,
                            const long lane_stride, const long outer_stride, DIVISION_PARAMETERS,
                            const Weights weights, const int taps,
                            const long apart BROUGHT_PARAMETERS) {
  DECLARE_DIVISION;
  const Strides strides = {row_stride, lane_stride, outer_stride};
  __global stored* const field = u + u_offset;
  V rows_held[LINE_CAPACITY + LANES];
#ifdef TAKES_IN /* what crosses an end is counted */
  const long beyond = 0;
#else
  const long reach = taps * apart, beyond = n + 2 * reach <= LINE_CAPACITY ? reach : 0;
#endif
  __private V* const held = rows_held + beyond;
  const long begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles_of(division)); job++) {
    const Tile tile = tile_at(job, division);
    const Place place = place_of(&tile, strides);
    DECLARE_BROUGHT;
#ifdef ALONG_MEMORY
    for (int first = 0; first < n; first += LANES) read_block(held + first, field, &place, first);
    CONTINUE_LINE
    for (int first = 0; first < n; first += LANES) {
      V rows[LANES];
      int k = 0;
      if (beyond > 0)
        for (; k + AT_ONCE <= min(LANES, n - first); k += AT_ONCE)
          diffused_within(held, first + k, &weights, taps, apart, rows + k);
      for (; k < LANES; k++)
        rows[k] = first + k < n
                      ? diffused(held, first + k, n, &weights, taps, apart, beyond BROUGHT_ARGUMENT)
                      : held[n - 1];
      write_block(rows, field, &tile, &place, n, first);
    }
#else
    for (int i = 0; i < n; i++) held[i] = read_row(field, &place, strides, i);
    CONTINUE_LINE
    int i = 0;
    if (beyond > 0)
      for (; i + AT_ONCE <= n; i += AT_ONCE) {
        V means[AT_ONCE];
        diffused_within(held, i, &weights, taps, apart, means);
        for (int j = 0; j < AT_ONCE; j++) write_row(means[j], field, &place, strides, i + j);
      }
    for (; i < n; i++)
      write_row(diffused(held, i, n, &weights, taps, apart, beyond BROUGHT_ARGUMENT), field, &place,
                strides, i);
#endif
#ifdef TAKES_IN
    settle_left(left, tile.live,
                crossed + 4 * ((long)component * get_global_size(0) + get_global_id(0)));
#endif
  }
}
