/* SPDX-License-Identifier: BSD-3-Clause */
/* Where 16 particles that follow each other are, one in each lane. To read a vector that has been
 * written lane by lane, a processor waits until all that it wrote before has reached the cache: so
 * what lies particle by particle is sorted by axis in registers.
 *
 * AXES     of the box
 * CELL     a signed integer
 * OFFSET   the type of offsets */
#ifndef AXES
#define AXES 1
#endif
#ifndef CELL
#define CELL int
#endif
#ifndef OFFSET
#define OFFSET float
#endif
#include "common/common.cl"

#define PICK_FROM(x, y, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf) \
  __builtin_shufflevector(x, y, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf)

#if LANES == 16
typedef JOIN(CELL, 16) LooseCells __attribute__((aligned(sizeof(CELL))));
typedef JOIN(OFFSET, 16) LooseOffsets __attribute__((aligned(sizeof(OFFSET))));

#if __has_builtin(__builtin_convertvector)
#define AS_CELLS(x) __builtin_convertvector(x, LooseCells)
#define AS_OFFSETS(x) __builtin_convertvector(x, LooseOffsets)
#else
#define AS_CELLS(x) JOIN(JOIN(convert_, CELL), 16)(x)
#define AS_OFFSETS(x) JOIN(JOIN(convert_, OFFSET), 16)(x)
#endif

INLINE LooseCells sixteen_cells(__global const CELL* cells) {
  return *(__global const LooseCells*)cells;
}

INLINE void put_sixteen_cells(const I numbers, __global CELL* cells) {
  *(__global LooseCells*)cells = AS_CELLS(numbers);
}

/* Along each axis. */
INLINE void sixteen_offsets(__global const OFFSET* offsets, __private V* along) {
  __global const LooseOffsets* const side = (__global const LooseOffsets*)offsets;
#if AXES == 1
  along[0] = TO_REAL(side[0]);
#elif AXES == 2
  const LooseOffsets x = side[0], y = side[1];
  along[0] = TO_REAL(PICK_FROM(x, y, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30));
  along[1] = TO_REAL(PICK_FROM(x, y, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31));
#else
  const LooseOffsets x = side[0], y = side[1], z = side[2];
  const LooseOffsets a = PICK_FROM(x, y, 0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 0, 0, 0, 0, 0);
  const LooseOffsets b = PICK_FROM(x, y, 1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 0, 0, 0, 0, 0);
  const LooseOffsets c = PICK_FROM(x, y, 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 0, 0, 0, 0, 0, 0);
  along[0] = TO_REAL(PICK_FROM(a, z, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 20, 23, 26, 29));
  along[1] = TO_REAL(PICK_FROM(b, z, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 18, 21, 24, 27, 30));
  along[2] = TO_REAL(PICK_FROM(c, z, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 19, 22, 25, 28, 31));
#endif
}

/* Puts them back; they have been rounded already. */
INLINE void put_sixteen_offsets(__private const V* along, __global OFFSET* offsets) {
  __global LooseOffsets* const side = (__global LooseOffsets*)offsets;
#if AXES == 1
  side[0] = AS_OFFSETS(along[0]);
#elif AXES == 2
  const LooseOffsets x = AS_OFFSETS(along[0]), y = AS_OFFSETS(along[1]);
  side[0] = PICK_FROM(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  side[1] = PICK_FROM(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#else
  const LooseOffsets x = AS_OFFSETS(along[0]), y = AS_OFFSETS(along[1]), z = AS_OFFSETS(along[2]);
  const LooseOffsets a = PICK_FROM(x, y, 0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5);
  const LooseOffsets b = PICK_FROM(x, y, 21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26);
  const LooseOffsets c = PICK_FROM(x, y, 0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0);
  side[0] = PICK_FROM(a, z, 0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15);
  side[1] = PICK_FROM(b, z, 0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15);
  side[2] = PICK_FROM(c, z, 26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14, 31);
#endif
}

/* Numbers that are not negative, and at most 2^30, by a divisor: what a product with the reciprocal
 * is wrong by is found in what is left, and the same once more. */
INLINE I quotients(const I numbers, const int divisor) {
  const I d = (lane_int)divisor;
  const V reciprocal = REAL(1.0) / (real)divisor;
  const I first = TO_INT(TO_REAL(numbers) * reciprocal), left = numbers - first * d;
  const I more = TO_INT(TO_REAL(left) * reciprocal), rest = left - more * d;
  const I one = 1, none = 0;
  return first + more + SELECT(rest >= d, one, none) - SELECT(rest < none, one, none);
}
#endif
