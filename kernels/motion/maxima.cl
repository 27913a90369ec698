/* SPDX-License-Identifier: BSD-3-Clause */
/* Greatest sizes. NaN, once met, stays for good.
 *
 * GROUP  work-items of a group */
#ifndef GROUP
#define GROUP 1
#endif
#include "common/common.cl"

INLINE V size_of(const V x) { return SELECT(x < 0, -x, x); }

INLINE V greater(const V greatest, const V x) {
  return SELECT((x > greatest) | (x != x), x, greatest);
}

INLINE real greatest_of(const V x) {
  real greatest = 0;
  for (int j = 0; j < LANES; j++) {
    const real one = ((__private const real*)&x)[j];
    greatest = SELECT((one > greatest) | (one != one), one, greatest);
  }
  return greatest;
}

/* LEAVE_GREATEST writes so many numbers for each group, the greatest that its work-items have
 * found, pair by pair: nobody reads what another writes before all have met. Once in a kernel. */
#if GROUP > 1
#define LEAVE_GREATEST(COUNT, found, to)  \
  __local real greatest[(COUNT) * GROUP]; \
  leave_greatest(COUNT, found, greatest, to)

INLINE void leave_greatest(const int count, __private const real* found, __local real* greatest,
                           __global real* to) {
  const int item = get_local_id(0);
  for (int k = 0; k < count; k++) greatest[k * GROUP + item] = found[k];
  for (int some = GROUP; some > 1;) {
    const int half_of_them = (some + 1) / 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < count && item < some - half_of_them; k++) {
      __local real* const one = greatest + k * GROUP + item;
      const real other = one[half_of_them];
      if (other > *one || other != other) *one = other;
    }
    some = half_of_them;
  }
  if (item > 0) return;
  for (int k = 0; k < count; k++) to[count * get_group_id(0) + k] = greatest[k * GROUP];
}
#else
#define LEAVE_GREATEST(COUNT, found, to) \
  for (int k = 0; k < (COUNT); k++) (to)[(COUNT) * get_global_id(0) + k] = (found)[k]
#endif
