/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums that lose next to nothing, however many terms they have. */
#include "common/common.cl"

/* sum + rest grows by exactly `term`, but for the rounding of rest (Knuth's two-sum). */
INLINE void add_compensated(__global V* sum, __global V* rest, const V term) {
  const V total = *sum + term, shadow = total - *sum;
  *rest += (*sum - (total - shadow)) + (term - shadow);
  *sum = total;
}
