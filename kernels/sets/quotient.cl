/* SPDX-License-Identifier: BSD-3-Clause */
/* CELL  a signed integer */
#ifndef CELL
#define CELL int
#endif
#include "common/common.cl"

/* The quotient of integers that are not negative; of 32 bits without a division: what the product
 * with the reciprocal is wrong by is found in what is left, and the same once more. The product may
 * be 2^31, or its multiple a little more: what is left is right modulo 2^32. */
INLINE CELL quotient(const CELL number, const CELL divisor, const float reciprocal) {
  if (sizeof(CELL) > sizeof(int)) return number / divisor;
  const uint first = (uint)((float)number * reciprocal);
  const int left = (int)((uint)number - first * (uint)divisor);
  const int more = (int)((float)left * reciprocal), rest = left - more * divisor;
  return (int)(first + (uint)more + (uint)(rest >= divisor) - (uint)(rest < 0));
}
