/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes one number of a box of elements n0 x n1 x n2 x n3 that lie at any strides.
 *
 * Each work-item combines what it meets in CHAINS independent results, LANES elements side by side:
 * an addition need not wait for the one before. A group leaves LANES results, and what rounding
 * took from them, in `partials`; the host combines these. Which element goes where depends on the
 * shape and on the options alone.
 *
 * ACTION       ADD the terms, ADD_SQUARES of them, or keep the LARGEST
 * TERM         of the element u: VALUE u, NEGATIVE -u, MAGNITUDE |u|, INSIDE 1 where
 *              lower < u < upper and 0 elsewhere (a bound that is NaN is none)
 * GROUP        work-items of a group, a power of two; 1 where there are several lanes
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
#ifndef GROUP
#define GROUP 1
#endif
#include "rows.cl"

#ifdef REAL_IS_DOUBLE
#define HIGH_HALF (~(ulong)0x7ffffff)
#else
#define HIGH_HALF (~(uint)0xfff)
#endif

#define CHAINS 4

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

/* What rounding took from square = x * x. Without fma, half of the digits are zeros in each part,
 * so that every product of parts is exact. */
INLINE V rest_of_square(const V x, const V square) {
#ifdef USE_FMA
  return MAD(x, x, -square);
#else
  const V high = AS_V(AS_UNSIGNED(x) & (U)(HIGH_HALF)), low = x - high;
  return ((high * high - square) + REAL(2.0) * (high * low)) + low * low;
#endif
}

INLINE void take(V* value, V* rest, const V term) {
#if ACTION == LARGEST
  *value = SELECT(term > *value, term, *value);
  *value = SELECT(term == term, *value, term);
#elif ACTION == ADD_SQUARES
  const V square = term * term;
  add(value, rest, square);
  *rest += rest_of_square(term, square);
#else
  add(value, rest, term);
#endif
}

/* The results of two parts become that of both. */
INLINE void join(V* value, V* rest, const V other_value, const V other_rest) {
#if ACTION == LARGEST
  take(value, rest, other_value);
#else
  add(value, rest, other_value);
  *rest += other_rest;
#endif
}

INLINE V load(__global const stored* from, const long stride) {
#if LANES == 1
  return LOAD_ONE(from);
#elif defined UNIT_STRIDE
  return LOAD_LOOSE(from);
#else
  V u;
  for (int lane = 0; lane < LANES; lane++) {
    ((__private real*)&u)[lane] = LOAD_ONE(from + lane * stride);
  }
  return u;
#endif
}

/* The first `count` lanes; the others repeat the last of them. */
INLINE V load_some(__global const stored* from, const int count, const long stride) {
  V u;
  for (int lane = 0; lane < LANES; lane++) {
    ((__private real*)&u)[lane] = LOAD_ONE(from + min(lane, count - 1) * stride);
  }
  return u;
}

KERNEL void reduce(__global const stored* u, const long offset, const long s0, const long s1,
                   const long s2, const long s3, const long n0, const long n1, const long n2,
                   const long n3, const real lower, const real upper, __global real* partials) {
  const int item = get_local_id(0);
  const long step = GROUP * LANES;
  V values[CHAINS], rests[CHAINS];
  UNROLL
  for (int c = 0; c < CHAINS; c++) {
    values[c] = (V)(ACTION == LARGEST ? -INFINITY : REAL(0.0));
    rests[c] = (V)(REAL(0.0));
  }
  const Share share = share_of(n0 * n1 * n2 * blocks_of_row(n3));
  for (long job = share.first; job < share.last; job++) {
    const Block b = block_at(job, n3);
    __global const stored* line = u + offset + row_offset(b.row, n1, n2, s0, s1, s2);
    long x = b.first + item * LANES;
    for (; x + (CHAINS - 1) * step + LANES <= b.end; x += CHAINS * step) {
      UNROLL
      for (int c = 0; c < CHAINS; c++) {
        const V element = load(line + (x + c * step) * s3, s3);
        take(&values[c], &rests[c], term_of(element, lower, upper));
      }
    }
    for (; x + LANES <= b.end; x += step) {
      take(&values[0], &rests[0], term_of(load(line + x * s3, s3), lower, upper));
    }
#if LANES > 1
    if (x < b.end) {
      const int count = (int)(b.end - x);
      const V term = term_of(load_some(line + x * s3, count, s3), lower, upper);
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
