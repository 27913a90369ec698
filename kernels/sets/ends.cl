/* SPDX-License-Identifier: BSD-3-Clause */
/* Bits of what is at the ends of an axis, none of an axis between two walls; and points of a grid
 * beyond them.
 *
 * PART  of the planes across the first axis there is a part, which begins with some plane and may
 *       go on behind the last one with plane 0 */
#include "common/common.cl"

#define ENDS_MEET 1
#define LOW_IS_OPEN 2
#define HIGH_IS_OPEN 4

INLINE long modulo_of(const long number, const long period) {
  const long rest = number % period;
  return rest < 0 ? rest + period : rest;
}

/* The point of a grid that stands for one beyond the ends: its image in a wall, or the last one
 * before an open end. `*sign` changes where it is an image. */
INLINE long point_on_grid(long point, const long n, const int ends, __private real* sign) {
  if (point >= 0 && point < n) return point;
  if (ends & ENDS_MEET) return modulo_of(point, n);
  if (!(ends & (LOW_IS_OPEN | HIGH_IS_OPEN))) point = modulo_of(point, 2 * n);
  if (!(ends & LOW_IS_OPEN) && point < 0) point = -1 - point, *sign = -*sign;
  if (!(ends & HIGH_IS_OPEN) && point >= n) point = 2 * n - 1 - point, *sign = -*sign;
  return WITHIN(point, 0, n - 1);
}

/* Where a plane of the whole axis is in the part that there is. */
INLINE long plane_in_part(const long plane, const long first, const long planes) {
#ifdef PART
  return plane < first ? plane - first + planes : plane - first;
#else
  return plane;
#endif
}
