/* SPDX-License-Identifier: BSD-3-Clause */
/* Values between nodes.
 *
 * INTERPOLATION  LINEAR between two nodes, or CUBIC through four */
#include "common/common.cl"

#define LINEAR 2
#define CUBIC 4
#ifndef INTERPOLATION
#define INTERPOLATION LINEAR
#endif
#define POINTS INTERPOLATION           /* nodes that a value is interpolated from */
#define POINTS_BEFORE (POINTS / 2 - 1) /* of them, those before its cell */

/* The value at an offset y in [0,1) of the cell in the middle. Everett's form of the cubic: the
 * linear part plus second differences, which vanish for a constant. */
INLINE V between(__private const V* at, const V y) {
  const V rise = at[POINTS_BEFORE + 1] - at[POINTS_BEFORE];
  const V linear = MAD(y, rise, at[POINTS_BEFORE]);
#if INTERPOLATION == CUBIC
  const V left = rise - (at[1] - at[0]), right = (at[3] - at[2]) - rise;
  const V bend = MAD(REAL(2.0) - y, left, (REAL(1.0) + y) * right);
  return MAD(y * (y - REAL(1.0)) * REAL(0.16666666666666666667), bend, linear);
#else
  return linear;
#endif
}
