/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes one number of a box of elements n0 x n1 x n2 x n3 that lie at any strides.
 *
 * Rows are cut into blocks; each work-item takes one run of blocks, LANES elements side by side,
 * and leaves its LANES results (and what rounding took from them) in `partials`. The host combines
 * these. Which element goes where depends on the shape alone.
 *
 * ACTION       ADD the terms, ADD_SQUARES of them, or keep the LARGEST
 * TERM         of the element u: VALUE u, NEGATIVE -u, MAGNITUDE |u|, INSIDE 1 where
 *              lower < u < upper and 0 elsewhere (a bound that is NaN is none)
 * BLOCK        elements of a block, a multiple of LANES
 * UNIT_STRIDE  elements of a row are neighbours */
#define ADD 0
#define ADD_SQUARES 1
#define LARGEST 2
#ifndef ACTION
#define ACTION ADD
#endif
#define VALUE 0
#define NEGATIVE 1
#define MAGNITUDE 2
#define INSIDE 3
#ifndef TERM
#define TERM VALUE
#endif
#ifndef BLOCK
#define BLOCK 256
#endif

#ifndef LANES
#define LANES 16
#endif
#include "common.cl"

#ifdef REAL_IS_DOUBLE
#define HIGH_HALF (~(ulong)0x7ffffff)
#else
#define HIGH_HALF (~(uint)0xfff)
#endif

#define LOAD JOIN(vload, LANES)
#define STORE JOIN(vstore, LANES)

/* sum + rest grows by exactly `term`, but for the rounding of rest (Knuth's two-sum). */
INLINE void add(V* sum, V* rest, V term) {
  const V total = *sum + term;
  const V shadow = total - *sum;
  *rest += (*sum - (total - shadow)) + (term - shadow);
  *sum = total;
}

INLINE V term_of(V u, real lower, real upper) {
#if TERM == NEGATIVE
  return -u;
#elif TERM == MAGNITUDE
  return fabs(u);
#elif TERM == INSIDE
  const V yes = (V)(REAL(1.0)), no = (V)(REAL(0.0));
  const V above = SELECT(u <= (V)(lower), no, yes), below = SELECT(u >= (V)(upper), no, yes);
  return SELECT(u == u, above * below, no);
#else
  return u;
#endif
}

INLINE void take(V* value, V* rest, V term) {
#if ACTION == LARGEST
  *value = SELECT(term > *value, term, *value);
  *value = SELECT(term == term, *value, term);
#elif ACTION == ADD_SQUARES
  /* (high + low)^2; half of the digits are zeros in each part, so that every product is exact and
   * it does not matter whether the compiler joins it with the addition. Infinity is its own high
   * part. */
  const V high = AS_V(AS_UNSIGNED(term) & (U)(HIGH_HALF)), low = term - high;
  add(value, rest, high * high);
  add(value, rest, SELECT(high == term, (V)(REAL(0.0)), low * low + REAL(2.0) * (high * low)));
#else
  add(value, rest, term);
#endif
}

/* Elements x .. x + LANES - 1 of a row of n; those past its end are copies of the last. */
INLINE V load(__global const real* row, long x, long n, long stride) {
#ifdef UNIT_STRIDE
  if (x + LANES <= n) return LOAD(0, row + x);
#endif
  real u[LANES];
  for (int lane = 0; lane < LANES; lane++) u[lane] = row[min(x + lane, n - 1) * stride];
  return LOAD(0, u);
}

__kernel void reduce(__global const real* u, long offset, long s0, long s1, long s2, long s3,
                     long n0, long n1, long n2, long n3, real lower, real upper,
                     __global real* partials) {
  const long row_blocks = (n3 + BLOCK - 1) / BLOCK, blocks = n0 * n1 * n2 * row_blocks;
  const long item = get_global_id(0), items = get_global_size(0);
  V value = (V)(ACTION == LARGEST ? -INFINITY : REAL(0.0)), rest = (V)(REAL(0.0));
  for (long block = item * blocks / items; block < (item + 1) * blocks / items; block++) {
    const long row = block / row_blocks, first = block % row_blocks * BLOCK;
    const long end = min(first + BLOCK, n3), whole = end - (end - first) % LANES;
    __global const real* line =
        u + offset + row / n2 / n1 * s0 + row / n2 % n1 * s1 + row % n2 * s2;
    for (long x = first; x < whole; x += LANES) {
      take(&value, &rest, term_of(load(line, x, n3, s3), lower, upper));
    }
    if (whole < end) {
      const V term = term_of(load(line, whole, n3, s3), lower, upper);
      const V none = ACTION == LARGEST ? term : (V)(REAL(0.0));
      take(&value, &rest, SELECT((I)(LANE_NUMBERS) < (I)((lane_int)(end - whole)), term, none));
    }
  }
  STORE(value, 2 * item, partials);
  STORE(rest, 2 * item + 1, partials);
}
