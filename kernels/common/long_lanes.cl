/* SPDX-License-Identifier: BSD-3-Clause */
/* Places in memory, one for each lane, and what lies there. */
#include "common/common.cl"
#include "common/transpose.cl"

#if LANES == 1
typedef long L;
#define TO_LONG(x) ((L)(x))
#else
typedef JOIN(long, LANES) L;
#if __has_builtin(__builtin_convertvector)
#define TO_LONG(x) __builtin_convertvector(x, L)
#else
#define TO_LONG(x) JOIN(convert_long, LANES)(x)
#endif
#endif

#if LANES > 1
/* Defines a function that reads the numbers at the places of a row and behind them, 2 or 4 in all,
 * and gives number k of each lane in values[k]. */
#define DEFINE_NUMBERS_FROM(name, count, Place)                                                \
  typedef JOIN(REAL_NAME, count) JOIN(name, _loose) __attribute__((aligned(sizeof(real))));    \
  INLINE void name(__global const real* row, __private const Place* at, __private V* values) { \
    UNROLL                                                                                     \
    for (int lane = 0; lane < LANES; lane++)                                                   \
      ((__private JOIN(name, _loose)*)&values[lane % count])[lane / count] =                   \
          *(__global const JOIN(name, _loose)*)(row + at[lane]);                               \
    transpose_squares(values, count);                                                          \
  }
#endif
