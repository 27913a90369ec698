/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies or fills regions of elements n0 x n1 x n2 x n3 that lie at any strides; what is copied
 * becomes `stored`.
 *
 * UNIT_STRIDES      neighbours along n3 are neighbours in memory, so that LANES of them are moved
 * at once; for a transposition, along n2 in the source and along n3 in the target TILE elements
 * along the sides of a tile in local memory */
#ifndef TILE
#define TILE 32
#endif
#include "common/common.cl"
#include "common/mixed_reads.cl"
#include "common/regions.cl"
#include "common/transpose.cl"

KERNEL void copy(__global const SOURCE* source, const long s_offset, const long s0, const long s1,
                 const long s2, const long s3, __global stored* target, const long t_offset,
                 const long t0, const long t1, const long t2, const long t3, const long n0,
                 const long n1, const long n2, const long n3) {
  const long item = get_local_id(0), items = get_local_size(0);
  const Share share = share_of(n0 * n1 * n2 * blocks_of_row(n3));
  FOR_BLOCKS(b, share, n1, n2, n3) {
    __global const SOURCE* from = source + s_offset + row_offset(b, s0, s1, s2);
    __global stored* to = target + t_offset + row_offset(b, t0, t1, t2);
    long x = b.first + item;
#ifdef UNIT_STRIDES
    for (x = b.first + item * LANES; x + LANES <= b.end; x += items * LANES) {
      STORE_LOOSE(READ(from + x), to + x);
    }
#endif
    for (; x < b.end; x += items) STORE_ONE(READ_ONE(from + x * s3), to + x * t3);
  }
}

KERNEL void fill(__global stored* target, const long t_offset, const long t0, const long t1,
                 const long t2, const long t3, const long n0, const long n1, const long n2,
                 const long n3, const real value) {
  const long item = get_local_id(0), items = get_local_size(0);
  const Share share = share_of(n0 * n1 * n2 * blocks_of_row(n3));
  FOR_BLOCKS(b, share, n1, n2, n3) {
    __global stored* to = target + t_offset + row_offset(b, t0, t1, t2);
    long x = b.first + item;
#ifdef UNIT_STRIDES
    for (x = b.first + item * LANES; x + LANES <= b.end; x += items * LANES) {
      STORE_LOOSE((V)(value), to + x);
    }
#endif
    for (; x < b.end; x += items) STORE_ONE(value, to + x * t3);
  }
}

#if LANES > 1
#define SIDE LANES
#else
#define SIDE TILE
#endif

/* A tile's corner, and how much of the tile there is. */
typedef struct {
  long slice, first2, first3;
  int size2, size3;
} Square;

INLINE Square square_at(const long job, const long n2, const long n3) {
  const long across = (n2 + SIDE - 1) / SIDE, along = (n3 + SIDE - 1) / SIDE;
  Square square = {job / along / across, job / along % across * SIDE, job % along * SIDE, 0, 0};
  square.size2 = (int)min((long)SIDE, n2 - square.first2);
  square.size3 = (int)min((long)SIDE, n3 - square.first3);
  return square;
}

INLINE void move_block(__global const SOURCE* from, const long s2, const long s3,
                       __global stored* to, const long t2, const long t3, const Square square) {
#if LANES > 1 && defined UNIT_STRIDES
  if (square.size2 == LANES && square.size3 == LANES) {
    V rows[LANES];
    UNROLL
    for (int k = 0; k < LANES; k++) rows[k] = READ(from + k * s3);
    transpose_block(rows);
    UNROLL
    for (int j = 0; j < LANES; j++) STORE_LOOSE(rows[j], to + j * t2);
    return;
  }
#endif
  for (int j = 0; j < square.size2; j++) {
    for (int k = 0; k < square.size3; k++) {
      STORE_ONE(READ_ONE(from + j * s2 + k * s3), to + j * t2 + k * t3);
    }
  }
}

/* Read along n2 and written along n3. Rows are one element longer than they need be, so that
 * neighbouring work-items meet in no bank of local memory, whichever way they go. */
INLINE void move_through_local(__local real (*local_tile)[TILE + 1], __global const SOURCE* from,
                               const long s2, const long s3, __global stored* to, const long t2,
                               const long t3, const Square square) {
  const int fast = get_local_id(0), slow = get_local_id(1);
  const int fast_step = get_local_size(0), slow_step = get_local_size(1);
  for (int k = slow; k < square.size3; k += slow_step) {
    for (int j = fast; j < square.size2; j += fast_step) {
      local_tile[k][j] = READ_ONE(from + j * s2 + k * s3);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int j = slow; j < square.size2; j += slow_step) {
    for (int k = fast; k < square.size3; k += fast_step) {
      STORE_ONE(local_tile[k][j], to + j * t2 + k * t3);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* Neighbours in the source lie along n2, those in the target along n3: in tiles, both are met in
 * memory side by side. */
KERNEL void transpose(__global const SOURCE* source, const long s_offset, const long s0,
                      const long s1, const long s2, const long s3, __global stored* target,
                      const long t_offset, const long t0, const long t1, const long t2,
                      const long t3, const long n0, const long n1, const long n2, const long n3) {
#if LANES == 1
  __local real local_tile[TILE][TILE + 1];
#endif
  const Share share = share_of(n0 * n1 * ((n2 + SIDE - 1) / SIDE) * ((n3 + SIDE - 1) / SIDE));
  for (long job = share.first; job < share.last; job++) {
    const Square square = square_at(job, n2, n3);
    const long i0 = square.slice / n1, i1 = square.slice % n1;
    __global const SOURCE* from =
        source + s_offset + i0 * s0 + i1 * s1 + square.first2 * s2 + square.first3 * s3;
    __global stored* to =
        target + t_offset + i0 * t0 + i1 * t1 + square.first2 * t2 + square.first3 * t3;
#if LANES == 1
    move_through_local(local_tile, from, s2, s3, to, t2, t3, square);
#else
    move_block(from, s2, s3, to, t2, t3, square);
#endif
  }
}
