/* SPDX-License-Identifier: BSD-3-Clause */
/* Where lines lie, and how LANES of them are read and written row by row.
 *
 * A line runs along one axis of an array; row p of a tile holds node p of LANES neighbouring lines.
 * Lines are numbered along the lane axis first, then along the outer axis. Either neighbouring
 * lines are neighbours in memory (a row is one vector), or, when ALONG_MEMORY is defined, the nodes
 * of a line are (LANES x LANES blocks are transposed in registers). With LANES == 1 both are plain
 * strided reads. */
#include "common.cl"

/* Distances in elements: along the line, across its lanes, and further across. */
typedef struct {
  long row, lane, outer;
} Strides;

typedef struct {
  int lane;  /* number of lane 0 along the lane axis */
  int outer; /* place along the outer axis */
  int live;  /* lanes that are lines; the rest repeat the last one and are never stored */
} Tile;

INLINE Tile tile_at(const long tile, const int lines) {
  const long across = (lines + LANES - 1) / LANES;
  Tile t;
  t.lane = (int)(tile % across) * LANES;
  t.outer = (int)(tile / across);
  t.live = min(LANES, lines - t.lane);
  return t;
}

INLINE ulong tile_start(const Tile t, const Strides s) {
  return (ulong)t.outer * s.outer + (ulong)t.lane * s.lane;
}

#ifdef ALONG_MEMORY

#if __has_builtin(__builtin_shufflevector)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) shuffle2(a, b, (U)(__VA_ARGS__))
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
  for (int i = 0; i < LANES / 2; i++)                     \
  EXCHANGE(r[i / distance * 2 * distance + i % distance], \
           r[i / distance * 2 * distance + i % distance + distance], LOW, HIGH)

INLINE void transpose_block(__private V* r) {
#if LANES == 16
  EXCHANGE_ALL(r, 8, LOW8, HIGH8);
#endif
#if LANES >= 8
  EXCHANGE_ALL(r, 4, LOW4, HIGH4);
#endif
  EXCHANGE_ALL(r, 2, LOW2, HIGH2);
  EXCHANGE_ALL(r, 1, LOW1, HIGH1);
}

/* Rows first .. first+LANES-1. Lines are padded to whole vectors, so the last block may be read and
 * written whole. */
INLINE void read_block(__private V* rows, __global const real* from, const Tile t, const Strides s,
                       const int first) {
  V block[LANES];
  UNROLL
  for (int j = 0; j < LANES; j++)
    block[j] = *(__global const V*)(from + (long)min(j, t.live - 1) * s.lane + first);
  transpose_block(block);
  UNROLL
  for (int j = 0; j < LANES; j++) rows[j] = block[j];
}

INLINE void write_block(__private const V* rows, __global real* to, const Tile t, const Strides s,
                        const int first) {
  V block[LANES];
  UNROLL
  for (int j = 0; j < LANES; j++) block[j] = rows[j];
  transpose_block(block);
  if (t.live == LANES) {
    UNROLL
    for (int j = 0; j < LANES; j++) *(__global V*)(to + (long)j * s.lane + first) = block[j];
  } else {
    for (int j = 0; j < t.live; j++) *(__global V*)(to + (long)j * s.lane + first) = block[j];
  }
}

#else

/* Row p. Lanes beyond the last line read what lies in the padding. */
INLINE V read_row(__global const real* from, const Strides s, const int p) {
  return *(__global const V*)(from + p * s.row);
}

INLINE void write_row(const V row, __global real* to, const Strides s, const int p) {
  *(__global V*)(to + p * s.row) = row;
}

#endif
