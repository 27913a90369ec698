/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes one number of each of m0 x m1 x m2 lines of n elements, which lie `s` apart; neighbouring
 * lines lie `t2` apart. Each work-item goes along CHAINS lines, or vectors of LANES lines, at once,
 * so that it reads what lies side by side. What it leaves in `partials` depends on the line alone;
 * what rounding took from all sums stands behind all of them.
 *
 * Where TERM is DEVIATION, each line has a number of its own in `centres`. */
#include "arrays/accumulate.cl"
#include "common/common.cl"
#include "common/regions.cl"
#include "common/transpose.cl"

#ifndef CHAINS
#define CHAINS 1
#endif

INLINE void leave(__global real* partials, const long place, const int count, const V values) {
  for (int lane = 0; lane < count; lane++)
    partials[place + lane] = ((__private const real*)&values)[lane];
}

#if TERM == DEVIATION
/* Those of LANES lines; behind the end that of the last one. */
INLINE V centres_of(__global const real* centres, const long first, const long end) {
  V u;
  for (int lane = 0; lane < LANES; lane++)
    ((__private real*)&u)[lane] = centres[min(first + lane, end - 1)];
  return u;
}
#endif

KERNEL void reduce_along(__global const stored* u, const long offset, const long t0, const long t1,
                         const long t2, const long s, const long m0, const long m1, const long m2,
                         const long n,
#if TERM == DEVIATION
                         __global const real* centres,
#endif
                         __global real* partials) {
  const long item = get_local_id(0), items = get_local_size(0);
  const Share share = share_of(m0 * m1 * blocks_of_row(m2));
  FOR_BLOCKS(b, share, m0, m1, m2) {
    __global const stored* first = u + offset + b.i1 * t0 + b.i2 * t1;
    const long place = (b.i1 * m1 + b.i2) * m2;
    for (long x = b.first + item * CHAINS * LANES; x < b.end; x += items * CHAINS * LANES) {
      V values[CHAINS], rests[CHAINS], from_what[CHAINS];
      UNROLL
      for (int c = 0; c < CHAINS; c++) {
        values[c] = none_yet();
        rests[c] = from_what[c] = (V)(REAL(0.0));
#if TERM == DEVIATION
        from_what[c] = centres_of(centres + place, x + c * LANES, b.end);
#endif
      }
      const bool is_whole = x + CHAINS * LANES <= b.end;
      long k = 0;
#if LANES > 1
      for (; is_whole && s == 1 && k + LANES <= n; k += LANES) { /* along the memory */
        V block[CHAINS][LANES];
        for (int c = 0; c < CHAINS; c++) {
          UNROLL
          for (int lane = 0; lane < LANES; lane++)
            block[c][lane] = LOAD_LOOSE(first + (x + c * LANES + lane) * t2 + k);
          transpose_block(block[c]);
        }
        for (int step = 0; step < LANES; step++) {
          UNROLL
          for (int c = 0; c < CHAINS; c++)
            take(&values[c], &rests[c], term_of(block[c][step], from_what[c], from_what[c]));
        }
      }
#endif
      for (; k < n; k++) {
        __global const stored* from = first + k * s;
        UNROLL
        for (int c = 0; c < CHAINS; c++) {
          const long at = x + c * LANES, rest = b.end - at;
          if (!is_whole && rest <= 0) break;
          const V u = is_whole || rest >= LANES ? load(from + at * t2, t2)
                                                : load_some(from + at * t2, (int)rest, t2);
          take(&values[c], &rests[c], term_of(u, from_what[c], from_what[c]));
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
