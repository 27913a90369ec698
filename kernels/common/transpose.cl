/* SPDX-License-Identifier: BSD-3-Clause */
/* Transposes LANES x LANES reals in registers. */
#include "common/common.cl"

#if LANES > 1
/* Not every compiler for GPUs takes macros of any number of arguments. */
#if LANES == 16
#define SHUFFLE(a, b, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf) \
  __builtin_shufflevector(a, b, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf)
#elif LANES == 8
#define SHUFFLE(a, b, s0, s1, s2, s3, s4, s5, s6, s7) \
  __builtin_shufflevector(a, b, s0, s1, s2, s3, s4, s5, s6, s7)
#else
#define SHUFFLE(a, b, s0, s1, s2, s3) __builtin_shufflevector(a, b, s0, s1, s2, s3)
#endif

/* Swaps the off-diagonal halves of a pair of rows, at distance 8, 4, 2, 1: after all distances rows
 * are columns. */
#define EXCHANGE(a, b, LOW, HIGH) \
  {                               \
    const V x = a, y = b;         \
    a = LOW(x, y);                \
    b = HIGH(x, y);               \
  }
#if LANES == 16
#define LOW8(x, y) SHUFFLE(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)
#define HIGH8(x, y) SHUFFLE(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31)
#define LOW4(x, y) SHUFFLE(x, y, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27)
#define HIGH4(x, y) SHUFFLE(x, y, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31)
#define LOW2(x, y) SHUFFLE(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define HIGH2(x, y) SHUFFLE(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
#define LOW1(x, y) SHUFFLE(x, y, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30)
#define HIGH1(x, y) SHUFFLE(x, y, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31)
#elif LANES == 8
#define LOW4(x, y) SHUFFLE(x, y, 0, 1, 2, 3, 8, 9, 10, 11)
#define HIGH4(x, y) SHUFFLE(x, y, 4, 5, 6, 7, 12, 13, 14, 15)
#define LOW2(x, y) SHUFFLE(x, y, 0, 1, 8, 9, 4, 5, 12, 13)
#define HIGH2(x, y) SHUFFLE(x, y, 2, 3, 10, 11, 6, 7, 14, 15)
#define LOW1(x, y) SHUFFLE(x, y, 0, 8, 2, 10, 4, 12, 6, 14)
#define HIGH1(x, y) SHUFFLE(x, y, 1, 9, 3, 11, 5, 13, 7, 15)
#else
#define LOW2(x, y) SHUFFLE(x, y, 0, 1, 4, 5)
#define HIGH2(x, y) SHUFFLE(x, y, 2, 3, 6, 7)
#define LOW1(x, y) SHUFFLE(x, y, 0, 4, 2, 6)
#define HIGH1(x, y) SHUFFLE(x, y, 1, 5, 3, 7)
#endif
#define EXCHANGE_ALL(r, distance, LOW, HIGH)              \
  UNROLL                                                  \
  for (int i = 0; i < side / 2; i++)                      \
  EXCHANGE(r[i / distance * 2 * distance + i % distance], \
           r[i / distance * 2 * distance + i % distance + distance], LOW, HIGH)

/* Of so many rows, each as many columns. */
INLINE void transpose_squares(__private V* r, const int side) {
#if LANES == 16
  if (side > 8) EXCHANGE_ALL(r, 8, LOW8, HIGH8);
#endif
#if LANES >= 8
  if (side > 4) EXCHANGE_ALL(r, 4, LOW4, HIGH4);
#endif
  if (side > 2) EXCHANGE_ALL(r, 2, LOW2, HIGH2);
  EXCHANGE_ALL(r, 1, LOW1, HIGH1);
}

INLINE void transpose_block(__private V* r) { transpose_squares(r, LANES); }
#endif
