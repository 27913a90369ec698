/* SPDX-License-Identifier: BSD-3-Clause */
/* Greatest sizes. NaN, once met, stays for good. */
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
