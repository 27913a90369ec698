/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes one number of each of m0 x m1 x m2 lines of n elements, which lie `s` apart; neighbouring
 * lines lie `t2` apart. Each work-item goes along CHAINS lines, or vectors of LANES lines, at once,
 * so that it reads what lies side by side. What it leaves in `partials` depends on the line alone;
 * what rounding took from all sums stands behind all of them. */
#include "accumulate.cl"

#ifndef CHAINS
#define CHAINS 1
#endif

INLINE void leave(__global real* partials, const long place, const int count, const V values) {
  for (int lane = 0; lane < count; lane++)
    partials[place + lane] = ((__private const real*)&values)[lane];
}

KERNEL void reduce_along(__global const stored* u, const long offset, const long t0, const long t1,
                         const long t2, const long s, const long m0, const long m1, const long m2,
                         const long n, __global real* partials) {
  const long item = get_local_id(0), items = get_local_size(0);
  const Share share = share_of(m0 * m1 * blocks_of_row(m2));
  for (long job = share.first; job < share.last; job++) {
    const Block b = block_at(job, m2);
    __global const stored* first = u + offset + b.row / m1 * t0 + b.row % m1 * t1;
    const long place = b.row * m2;
    for (long x = b.first + item * CHAINS * LANES; x < b.end; x += items * CHAINS * LANES) {
      V values[CHAINS], rests[CHAINS];
      UNROLL
      for (int c = 0; c < CHAINS; c++) {
        values[c] = none_yet();
        rests[c] = (V)(REAL(0.0));
      }
      for (long k = 0; k < n; k++) {
        __global const stored* from = first + k * s;
        UNROLL
        for (int c = 0; c < CHAINS; c++) {
          const long at = min(x + c * LANES, b.end - 1);
          const long left = b.end - at;
          const V u =
              left >= LANES ? load(from + at * t2, t2) : load_some(from + at * t2, (int)left, t2);
          take(&values[c], &rests[c], term_of(u, REAL(0.0), REAL(0.0)));
        }
      }
      for (int c = 0; c < CHAINS; c++) {
        const long at = x + c * LANES;
        const int count = (int)clamp(b.end - at, (long)0, (long)LANES);
        leave(partials, place + at, count, values[c]);
#if ACTION != LARGEST
        leave(partials, m0 * m1 * m2 + place + at, count, rests[c]);
#endif
      }
    }
  }
}
