/* SPDX-License-Identifier: BSD-3-Clause */
/* The bits of numbers as keys to sort by, in an order.
 *
 * BITS      an unsigned integer as wide as a number; KEY  as wide or wider
 * INDEX     a signed integer for particles
 * IN_ORDER  there is an order, else numbers are taken as they are */
#ifndef BITS
#define BITS uint
#endif
#ifndef KEY
#define KEY uint
#endif
#ifndef INDEX
#define INDEX int
#endif
#ifndef IN_ORDER
#define IN_ORDER 1
#endif
#include "arrays/group.cl"
#include "common/common.cl"
#include "common/regions.cl"

KERNEL void bits_of(__global const BITS* numbers, const long offset, const long stride,
                    __global const INDEX* order, const long n, __global KEY* keys) {
  const Share share = share_of(n);
  for (long i = share.first + (long)get_local_id(0); i < share.last; i += GROUP)
    keys[i] = numbers[offset + (IN_ORDER ? order[i] : i) * stride];
}
