/* SPDX-License-Identifier: BSD-3-Clause */
/* Bits of what is at the ends of an axis; none of an axis between two walls. */
#include "common/common.cl"

#define ENDS_MEET 1
#define LOW_IS_OPEN 2
#define HIGH_IS_OPEN 4

INLINE long modulo_of(const long number, const long period) {
  const long rest = number % period;
  return rest < 0 ? rest + period : rest;
}
