/* SPDX-License-Identifier: BSD-3-Clause */
/* How many numbers become one, LANES of them side by side.
 *
 * ACTION       ADD the terms, ADD_SQUARES of them, or keep the LARGEST
 * TERM         of the element u: VALUE u, NEGATIVE -u, MAGNITUDE |u|, INSIDE 1 where
 *              lower < u < upper and 0 elsewhere (a bound that is NaN is none), DEVIATION u - lower
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
#define DEVIATION 4
#ifndef TERM
#define TERM VALUE
#endif
#include "common/common.cl"
#include "common/regions.cl"

#ifdef REAL_IS_DOUBLE
#define HIGH_HALF (~(ulong)0x7ffffff)
#else
#define HIGH_HALF (~(uint)0xfff)
#endif

/* sum + rest grows by exactly `term`, but for the rounding of rest (Knuth's two-sum). */
INLINE void add(V* sum, V* rest, V term) {
  const V total = *sum + term;
  const V shadow = total - *sum;
  *rest += (*sum - (total - shadow)) + (term - shadow);
  *sum = total;
}

INLINE V term_of(V u, V lower, V upper) {
#if TERM == NEGATIVE
  return -u;
#elif TERM == MAGNITUDE
  return fabs(u);
#elif TERM == INSIDE
  const V yes = (V)(REAL(1.0)), no = (V)(REAL(0.0));
  const V above = SELECT(u <= lower, no, yes), below = SELECT(u >= upper, no, yes);
  return SELECT(u == u, above * below, no);
#elif TERM == DEVIATION
  return u - lower;
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
    ((__private real*)&u)[lane] = LOAD_ONE(from + LEAST_OF(lane, count - 1) * stride);
  }
  return u;
}

INLINE V none_yet(void) { return (V)(ACTION == LARGEST ? -INFINITY : REAL(0.0)); }
