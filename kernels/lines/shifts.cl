/* SPDX-License-Identifier: BSD-3-Clause */
/* A displacement, split into whole cells and an offset in [0,1): a particle is never held as an
 * absolute coordinate.
 *
 * The lanes' whole cells are written as common + shift, common a scalar, so that every address is a
 * scalar; the shift, small and different in every lane, is resolved by selects: there is neither
 * gather nor scatter. */
#include "common/common.cl"

typedef struct {
  V offset;    /* in [0,1) */
  I whole;     /* cells */
  I shift;     /* whole - common */
  int common;  /* what the lanes share: the least of both ends, which is the least of all when cells
                  are in order */
  int uniform; /* every shift is 0 or 1 */
} Shifts;

INLINE Shifts shifts_at(const V whole, const V offset) {
  Shifts s;
  s.offset = offset;
  s.whole = TO_INT(whole);
  const lane_int common = min(FIRST(s.whole), LAST(s.whole));
  s.common = (int)common;
  s.shift = s.whole - common;
  s.uniform = LANES == 1 || !ANY(AS_UNSIGNED(s.shift) > (U)(1));
  return s;
}

INLINE Shifts shifts_of(const V displacement) {
  const V whole = FLOOR(displacement);
  return shifts_at(whole, displacement - whole);
}

/* Shifts of 0..3 take one pass of two selects a row. Any others take passes of three selects: each
 * is right for the lanes with shifts 0..7, and leaves the rest to another one from the least of
 * theirs. */
#define FEW_SHIFTS 4
#define MANY_SHIFTS 8
INLINE int all_shifts_below(const Shifts* s, const lane_int limit) {
  return !ANY(AS_UNSIGNED(s->shift) >= (U)(limit));
}

INLINE void next_pass(Shifts* s, const I rest) {
#ifdef REAL_IS_DOUBLE
  const I far = (I)(0x7fffffffffffffffL);
#else
  const I far = (I)(0x7fffffff);
#endif
  const lane_int common = LEAST(SELECT(rest != 0, s->whole, far));
  s->common = (int)common;
  s->shift = s->whole - common;
}

/* The bits of a shift, as plain comparisons. */
#define BIT_1_OF_FEW(s) (((s) == 1) | ((s) == 3))
#define BIT_2_OF_FEW(s) ((s) > 1)
#define BIT_1(s) (((s) == 1) | ((s) == 3) | ((s) == 5) | ((s) == 7))
#define BIT_2(s) (((s) == 2) | ((s) == 3) | ((s) > 5))
#define BIT_4(s) ((s) > 3)
#define AMONG_4(b1, b2, r) SELECT(b2, SELECT(b1, (r)[3], (r)[2]), SELECT(b1, (r)[1], (r)[0]))
#define AMONG_8(b1, b2, b4, r) SELECT(b4, AMONG_4(b1, b2, (r) + 4), AMONG_4(b1, b2, r))

/* to[j] = row i + s.whole + j of each lane, j < COUNT. READ(i, COUNT, to) reads rows that are the
 * same in all lanes; at most ROWS_READ(COUNT) of them. */
#if LANES == 1
#define ROWS_READ(COUNT) (COUNT)
#define READ_SHIFTED(READ, i, s, COUNT, to) READ((i) + (s).common, COUNT, to)
#else
#define ROWS_READ(COUNT) (MANY_SHIFTS - 1 + COUNT)
#define READ_SHIFTED(READ, i, s, COUNT, to)                                        \
  if ((s).uniform) {                                                               \
    V row[COUNT + 1];                                                              \
    READ((i) + (s).common, (COUNT + 1), row)                                       \
    const I moved = (s).shift > 0;                                                 \
    UNROLL                                                                         \
    for (int j = 0; j < COUNT; j++) (to)[j] = SELECT(moved, row[j + 1], row[j]);   \
  } else if (all_shifts_below(&(s), FEW_SHIFTS)) {                                 \
    V row[FEW_SHIFTS - 1 + COUNT];                                                 \
    READ((i) + (s).common, (FEW_SHIFTS - 1 + COUNT), row)                          \
    const I b1 = BIT_1_OF_FEW((s).shift), b2 = BIT_2_OF_FEW((s).shift);            \
    UNROLL                                                                         \
    for (int j = 0; j < COUNT; j++) (to)[j] = AMONG_4(b1, b2, row + j);            \
  } else {                                                                         \
    Shifts own = (s);                                                              \
    UNROLL                                                                         \
    for (int j = 0; j < COUNT; j++) (to)[j] = 0;                                   \
    I rest = (I)(-1);                                                              \
    while (1) {                                                                    \
      const I take = rest & (AS_UNSIGNED(own.shift) < (U)(MANY_SHIFTS));           \
      const I b1 = BIT_1(own.shift), b2 = BIT_2(own.shift), b4 = BIT_4(own.shift); \
      V row[MANY_SHIFTS - 1 + COUNT];                                              \
      READ((i) + own.common, (MANY_SHIFTS - 1 + COUNT), row)                       \
      UNROLL                                                                       \
      for (int j = 0; j < COUNT; j++)                                              \
        (to)[j] = SELECT(take != 0, AMONG_8(b1, b2, b4, row + j), (to)[j]);        \
      rest &= ~take;                                                               \
      if (!ANY(rest)) break;                                                       \
      next_pass(&own, rest);                                                       \
    }                                                                              \
  }
#endif
