/* SPDX-License-Identifier: BSD-3-Clause */
/* How a work-group goes through an array: of one work-item on CPUs, else of GROUP side by side, of
 * which each has ITEMS neighbouring elements of a tile.
 *
 * GROUP  work-items of a group, a power of two
 * ITEMS  elements of a work-item in a tile */
#ifndef GROUP
#define GROUP 1
#endif
#ifndef ITEMS
#define ITEMS 4
#endif
#include "common/common.cl"

#define TILE_ELEMENTS (GROUP * ITEMS)

/* What a group shares while `sum_before` runs; nobody needs it of a group of one. */
#if GROUP > 1
#define DECLARE_SHARED(type, name) __local type name[GROUP]
#else
#define DECLARE_SHARED(type, name) type* const name = 0
#endif

/* Defines sum_before: the sum of what the work-items before this one have, and of what all have. */
#if GROUP > 1
#define DEFINE_SUM_BEFORE(type)                                                                \
  INLINE type sum_before(const type mine, __local type* const shared, __private type* total) { \
    const int item = get_local_id(0);                                                          \
    shared[item] = mine;                                                                       \
    for (int distance = 1; distance < GROUP; distance *= 2) {                                  \
      barrier(CLK_LOCAL_MEM_FENCE);                                                            \
      const type other = item >= distance ? shared[item - distance] : 0;                       \
      barrier(CLK_LOCAL_MEM_FENCE);                                                            \
      shared[item] += other;                                                                   \
    }                                                                                          \
    barrier(CLK_LOCAL_MEM_FENCE);                                                              \
    const type before = shared[item] - mine;                                                   \
    *total = shared[GROUP - 1];                                                                \
    barrier(CLK_LOCAL_MEM_FENCE);                                                              \
    return before;                                                                             \
  }
#else
#define DEFINE_SUM_BEFORE(type)                                                        \
  INLINE type sum_before(const type mine, type* const shared, __private type* total) { \
    *total = mine;                                                                     \
    return 0;                                                                          \
  }
#endif
