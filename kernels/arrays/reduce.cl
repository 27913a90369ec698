/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes one number of a region of elements n0 x n1 x n2 x n3 that lie at any strides.
 *
 * Each work-item combines what it meets in CHAINS independent results, LANES elements side by side:
 * an addition need not wait for the one before. A group leaves LANES results, and what rounding
 * took from them, in `partials`; the host combines these. Which element goes where depends on the
 * shape and on the options alone. Groups share the region as if n0 were `shared`, which is no less.
 *
 * GROUP  work-items of a group, a power of two; 1 where there are several lanes */
#ifndef GROUP
#define GROUP 1
#endif
#include "arrays/accumulate.cl"
#include "common/common.cl"
#include "common/regions.cl"

#define CHAINS 4

KERNEL void reduce(__global const stored* u, const long offset, const long s0, const long s1,
                   const long s2, const long s3, const long n0, const long n1, const long n2,
                   const long n3, const long shared, const real lower, const real upper,
                   __global real* partials) {
  const int item = get_local_id(0);
  const long step = GROUP * LANES;
  V values[CHAINS], rests[CHAINS];
  UNROLL
  for (int c = 0; c < CHAINS; c++) {
    values[c] = none_yet();
    rests[c] = (V)(REAL(0.0));
  }
  const long jobs = n1 * n2 * blocks_of_row(n3);
  Share share = share_of(shared * jobs);
  share.last = min(share.last, n0 * jobs);
  FOR_BLOCKS(b, share, n1, n2, n3) {
    __global const stored* line = u + offset + row_offset(b, s0, s1, s2);
    long x = b.first + item * LANES;
    for (; x + (CHAINS - 1) * step + LANES <= b.end; x += CHAINS * step) {
      UNROLL
      for (int c = 0; c < CHAINS; c++) {
        const V element = load(line + (x + c * step) * s3, s3);
        take(&values[c], &rests[c], term_of(element, (V)(lower), (V)(upper)));
      }
    }
    for (; x + LANES <= b.end; x += step) {
      take(&values[0], &rests[0], term_of(load(line + x * s3, s3), (V)(lower), (V)(upper)));
    }
#if LANES > 1
    if (x < b.end) {
      const int count = (int)(b.end - x);
      const V term = term_of(load_some(line + x * s3, count, s3), (V)(lower), (V)(upper));
      const V none = ACTION == LARGEST ? term : (V)(REAL(0.0));
      take(&values[0], &rests[0], SELECT((I)(LANE_NUMBERS) < (I)((lane_int)count), term, none));
    }
#endif
  }
  UNROLL
  for (int c = 1; c < CHAINS; c++) join(&values[0], &rests[0], values[c], rests[c]);
#if GROUP > 1
  __local V group_values[GROUP], group_rests[GROUP];
  group_values[item] = values[0];
  group_rests[item] = rests[0];
  for (int half_group = GROUP / 2; half_group > 0; half_group /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < half_group) {
      join(&values[0], &rests[0], group_values[item + half_group], group_rests[item + half_group]);
      group_values[item] = values[0];
      group_rests[item] = rests[0];
    }
  }
  if (item > 0) return;
#endif
  __global LooseV* out = (__global LooseV*)partials + 2 * get_group_id(0);
  out[0] = values[0];
  out[1] = rests[0];
}
