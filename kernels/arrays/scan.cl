/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of all elements before each, of integers modulo a power of two: no order of additions
 * changes a bit. Each group adds up its share, one group makes of these sums what is before each
 * share, and each group goes through its share again.
 *
 * NUMBER  an unsigned integer */
#ifndef NUMBER
#define NUMBER uint
#endif
#include "arrays/group.cl"
#include "common/common.cl"
#include "common/regions.cl"

DEFINE_SUM_BEFORE(NUMBER)

#if GROUP > 1
#define SHARED __local NUMBER* const shared
#else
#define SHARED NUMBER* const shared
#endif

/* Sums before the elements first .. last - 1, of which `sum` is the one before the first; returns
 * the one before `last`. The source may be the target. */
INLINE NUMBER scan_share(__global const NUMBER* source, __global NUMBER* target, const long first,
                         const long last, NUMBER sum, SHARED) {
#if GROUP == 1
  for (long i = first; i < last; i++) {
    const NUMBER element = source[i];
    target[i] = sum;
    sum += element;
  }
#else
  for (long tile = first; tile < last; tile += TILE_ELEMENTS) {
    const long begin = min(last, tile + (long)get_local_id(0) * ITEMS);
    const long end = min(last, begin + ITEMS);
    NUMBER mine = 0, total;
    for (long i = begin; i < end; i++) mine += source[i];
    NUMBER before = sum + sum_before(mine, shared, &total);
    for (long i = begin; i < end; i++) {
      const NUMBER element = source[i];
      target[i] = before;
      before += element;
    }
    sum += total;
  }
#endif
  return sum;
}

/* What each group's share adds up to. */
KERNEL void scan_sums(__global const NUMBER* source, const long offset, const long n,
                      __global NUMBER* sums) {
  DECLARE_SHARED(NUMBER, shared);
  const Share share = share_of(n);
  NUMBER mine = 0, total;
  for (long i = share.first + (long)get_local_id(0); i < share.last; i += GROUP)
    mine += source[offset + i];
  sum_before(mine, shared, &total);
  if (get_local_id(0) == 0) sums[get_group_id(0)] = total;
}

/* For one group: what is before each share, from the sums of these; then their total. */
KERNEL void scan_before(__global NUMBER* sums, const long n) {
  DECLARE_SHARED(NUMBER, shared);
  const NUMBER total = scan_share(sums, sums, 0, n, 0, shared);
  if (get_local_id(0) == 0) sums[n] = total;
}

/* `with_total`: the target has one element more, which gets the sum of all. A group that is alone
 * has nothing before it. */
KERNEL void scan(__global const NUMBER* source, const long source_offset, __global NUMBER* target,
                 const long target_offset, const long n, const int with_total,
                 __global const NUMBER* before) {
  DECLARE_SHARED(NUMBER, shared);
  const Share share = share_of(n);
  const NUMBER sum = get_num_groups(0) > 1 ? before[get_group_id(0)] : 0;
  const NUMBER end = scan_share(source + source_offset, target + target_offset, share.first,
                                share.last, sum, shared);
  const bool is_last = get_group_id(0) == get_num_groups(0) - 1;
  if (is_last && with_total && get_local_id(0) == 0) target[target_offset + n] = end;
}
