/* SPDX-License-Identifier: BSD-3-Clause */
/* Sum modulo 2^64, least and greatest of integers that lie at any strides in rows: three numbers of
 * each group.
 *
 * NUMBER  their type
 * WIDE    long where they are signed, else ulong */
#ifndef NUMBER
#define NUMBER int
#endif
#ifndef WIDE
#define WIDE long
#endif
#include "arrays/group.cl"
#include "common/common.cl"
#include "common/regions.cl"

#define TAKE_ALL(NUMBER_AT_X)                            \
  for (long x = b.first + item; x < b.end; x += GROUP) { \
    const WIDE number = NUMBER_AT_X;                     \
    sum += number;                                       \
    least = LEAST_OF(least, number);                     \
    greatest = GREATEST_OF(greatest, number);            \
  }

KERNEL void integers(__global const NUMBER* from, const long offset, const long row_stride,
                     const long stride, const long rows, const long columns,
                     __global WIDE* partials) {
  const int item = get_local_id(0);
  WIDE sum = 0, least = from[offset], greatest = least;
  const Share share = share_of(rows * blocks_of_row(columns));
  FOR_BLOCKS(b, share, 1, rows, columns) {
    __global const NUMBER* row = from + offset + b.i2 * row_stride;
    if (stride == 1) /* which compilers know how to read as vectors */
      TAKE_ALL(row[x])
    else
      TAKE_ALL(row[x * stride])
  }
#if GROUP > 1
  __local WIDE sums[GROUP], leasts[GROUP], greatests[GROUP];
  sums[item] = sum;
  leasts[item] = least;
  greatests[item] = greatest;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item > 0) return;
  for (int k = 1; k < GROUP; k++) {
    sum += sums[k];
    least = LEAST_OF(least, leasts[k]);
    greatest = GREATEST_OF(greatest, greatests[k]);
  }
#endif
  __global WIDE* out = partials + 3 * get_group_id(0);
  out[0] = sum;
  out[1] = least;
  out[2] = greatest;
}
