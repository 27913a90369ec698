/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds of nodes that a work-item holds in private memory. */
#include "common/common.cl"
#include "operators/diffusion.cl"

#define AT_ONCE 4 /* nodes whose sums do not wait for each other */

#define HELD(k) line[k]

/* Nodes first .. end - 1 after a round, of nodes that are all held. */
INLINE void mean_of_held(__private const V* line, __private V* to, const int first, const int end,
                         __global const Round* round, __global const real* weights) {
  const long apart = round->apart;
  int i = first;
  for (; i + AT_ONCE <= end; i += AT_ONCE) {
    V change[AT_ONCE], twice[AT_ONCE];
    UNROLL
    for (int j = 0; j < AT_ONCE; j++) change[j] = 0, twice[j] = line[i + j] + line[i + j];
    for (int m = round->taps; m > 0; m--) {
      const real weight = weights[m - 1];
      ONE_BY_ONE(weight)
      __private const V *before = line + i - m * apart, *after = line + i + m * apart;
      UNROLL
      for (int j = 0; j < AT_ONCE; j++)
        change[j] = MAD((V)(weight), (before[j] + after[j]) - twice[j], change[j]);
    }
    UNROLL
    for (int j = 0; j < AT_ONCE; j++) to[i + j] = line[i + j] + change[j];
  }
  for (; i < end; i++) ADD_MEAN(HELD, i, round, weights, to[i])
}

/* `COUNT` nodes of an even map from `place` on, which moves on. */
#define EVEN_NODES(COUNT)                                                                  \
  {                                                                                        \
    __private const V *before[COUNT], *after[COUNT];                                       \
    V twice[COUNT], change[COUNT];                                                         \
    UNROLL                                                                                 \
    for (int j = 0; j < COUNT; j++) {                                                      \
      before[j] = line + place.before, after[j] = before[j] + (place.fraction != 0);       \
      twice[j] = *before[j] + *after[j], change[j] = 0;                                    \
      to_next(&place, round);                                                              \
    }                                                                                      \
    for (int m = taps - 1; m >= 0; m--) {                                                  \
      const real weight = weights[m];                                                      \
      ONE_BY_ONE(weight)                                                                   \
      UNROLL                                                                               \
      for (int j = 0; j < COUNT; j++)                                                      \
        change[j] = MAD((V)(weight), (before[j][-m] + after[j][m]) - twice[j], change[j]); \
    }                                                                                      \
    UNROLL                                                                                 \
    for (int j = 0; j < COUNT; j++)                                                        \
      to[i + j] = MAD((V)(round->scale), change[j], twice[j] * (V)(REAL(0.5)));            \
  }

/* `COUNT` nodes of a map which lie between the same two, from `place` on. */
#define NODES_BETWEEN(COUNT)                                                                  \
  {                                                                                           \
    __private const V *before = line + place.before, *after = before + (place.fraction != 0); \
    const V here = (*before + *after) * (V)(REAL(0.5));                                       \
    __global const real* of[COUNT];                                                           \
    V change_before[COUNT], change_after[COUNT];                                              \
    UNROLL                                                                                    \
    for (int j = 0; j < COUNT; j++) {                                                         \
      of[j] = weights + (place.phase + j) % round->to * 2 * taps;                             \
      change_before[j] = 0, change_after[j] = 0;                                              \
    }                                                                                         \
    for (int m = taps - 1; m >= 0; m--) {                                                     \
      ONE_BY_ONE(of[0][m])                                                                    \
      const V low = before[-m] - here, high = after[m] - here;                                \
      UNROLL                                                                                  \
      for (int j = 0; j < COUNT; j++) {                                                       \
        change_before[j] = MAD((V)(of[j][m]), low, change_before[j]);                         \
        change_after[j] = MAD((V)(of[j][m + taps]), high, change_after[j]);                   \
      }                                                                                       \
    }                                                                                         \
    UNROLL                                                                                    \
    for (int j = 0; j < COUNT; j++)                                                           \
      to[i + j] = MAD((V)(round->scale), change_before[j] + change_after[j], here);           \
  }

INLINE void map_of_held(__private const V* line, __private V* to, const int first, const int end,
                        __global const Round* round, __global const real* weights) {
  const int taps = round->taps;
  MapPlace place = map_place(first, round);
  int i = first;
  if (IS_EVEN_MAP(round)) {
    for (; i + AT_ONCE <= end; i += AT_ONCE) EVEN_NODES(AT_ONCE)
    for (; i < end; i++) EVEN_NODES(1)
    return;
  }
  while (i < end) {
    MapPlace next = place;
    int count = 0;
    while (count < AT_ONCE && i + count < end && next.before == place.before &&
           (next.fraction != 0) == (place.fraction != 0)) {
      to_next(&next, round);
      count++;
    }
    if (count == 4)
      NODES_BETWEEN(4)
    else if (count == 3)
      NODES_BETWEEN(3)
    else if (count == 2)
      NODES_BETWEEN(2)
    else
      NODES_BETWEEN(1)
    place = next;
    i += count;
  }
}
