/* SPDX-License-Identifier: BSD-3-Clause */
/* What particles are sorted by: the rows that their cells are in, or the cells themselves, of which
 * a row has none but one then.
 *
 * CELL  a signed integer */
#ifndef CELL
#define CELL int
#endif
#include "arrays/group.cl"
#include "common/common.cl"
#include "common/regions.cl"

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

KERNEL void keys_of(__global const CELL* cells, const long n, const CELL cells_of_row,
                    __global CELL* keys) {
  const Share share = share_of(n);
  const float reciprocal = 1.0f / (float)cells_of_row;
  for (long i = share.first + (long)get_local_id(0); i < share.last; i += GROUP)
    keys[i] = quotient(cells[i], cells_of_row, reciprocal);
}
