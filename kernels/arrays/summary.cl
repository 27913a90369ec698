/* SPDX-License-Identifier: BSD-3-Clause */
/* Sum, sum of squares, least and greatest of a region of elements, in one reading.
 *
 * Both sums add up what `reduce` adds up, in its order, so they have its bits; groups share the
 * region as there. A group leaves LANES sums, what rounding took from them, LANES sums of squares
 * and what it took from these, LANES least and LANES greatest values in `partials`.
 *
 * GROUP  work-items of a group, a power of two; 1 where there are several lanes */
#ifndef GROUP
#define GROUP 1
#endif
#include "arrays/accumulate.cl"
#include "common/common.cl"
#include "common/regions.cl"

#define CHAINS 4

typedef struct {
  V sum, rest, squares, squares_rest, least, greatest;
} Summary;

/* A NaN stays one. */
INLINE void widen(Summary* all, const V least, const V greatest) {
  all->least = SELECT(least < all->least, least, all->least);
  all->least = SELECT(least == least, all->least, least);
  all->greatest = SELECT(greatest > all->greatest, greatest, all->greatest);
  all->greatest = SELECT(greatest == greatest, all->greatest, greatest);
}

INLINE void add_up(Summary* all, const V u) {
  const V square = u * u;
  add(&all->sum, &all->rest, u);
  add(&all->squares, &all->squares_rest, square);
  all->squares_rest += rest_of_square(u, square);
}

INLINE void take_in(Summary* all, const V u) {
  add_up(all, u);
  widen(all, u, u);
}

/* The summaries of two parts become that of both. */
INLINE void merge(Summary* all, const Summary* other) {
  add(&all->sum, &all->rest, other->sum);
  all->rest += other->rest;
  add(&all->squares, &all->squares_rest, other->squares);
  all->squares_rest += other->squares_rest;
  widen(all, other->least, other->greatest);
}

KERNEL void summary(__global const stored* u, const long offset, const long s0, const long s1,
                    const long s2, const long s3, const long n0, const long n1, const long n2,
                    const long n3, const long shared, __global real* partials) {
  const int item = get_local_id(0);
  const long step = GROUP * LANES;
  const V zero = (V)(REAL(0.0)), infinite = (V)(INFINITY);
  Summary parts[CHAINS];
  UNROLL
  for (int c = 0; c < CHAINS; c++) {
    parts[c].sum = parts[c].rest = parts[c].squares = parts[c].squares_rest = zero;
    parts[c].least = infinite;
    parts[c].greatest = -infinite;
  }
  const long jobs = n1 * n2 * blocks_of_row(n3);
  Share share = share_of(shared * jobs);
  share.last = min(share.last, n0 * jobs);
  FOR_BLOCKS(b, share, n1, n2, n3) {
    __global const stored* line = u + offset + row_offset(b, s0, s1, s2);
    long x = b.first + item * LANES;
    for (; x + (CHAINS - 1) * step + LANES <= b.end; x += CHAINS * step) {
      UNROLL
      for (int c = 0; c < CHAINS; c++) take_in(&parts[c], load(line + (x + c * step) * s3, s3));
    }
    for (; x + LANES <= b.end; x += step) take_in(&parts[0], load(line + x * s3, s3));
#if LANES > 1
    if (x < b.end) {
      const int count = (int)(b.end - x);
      const V some = load_some(line + x * s3, count, s3);
      const I is_there = (I)(LANE_NUMBERS) < (I)((lane_int)count);
      widen(&parts[0], some, some);
      add_up(&parts[0], SELECT(is_there, some, zero));
    }
#endif
  }
  UNROLL
  for (int c = 1; c < CHAINS; c++) merge(&parts[0], &parts[c]);
#if GROUP > 1
  __local Summary group_parts[GROUP];
  group_parts[item] = parts[0];
  for (int half_group = GROUP / 2; half_group > 0; half_group /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < half_group) {
      const Summary other = group_parts[item + half_group];
      merge(&parts[0], &other);
      group_parts[item] = parts[0];
    }
  }
  if (item > 0) return;
#endif
  __global LooseV* out = (__global LooseV*)partials + 6 * get_group_id(0);
  out[0] = parts[0].sum;
  out[1] = parts[0].rest;
  out[2] = parts[0].squares;
  out[3] = parts[0].squares_rest;
  out[4] = parts[0].least;
  out[5] = parts[0].greatest;
}
