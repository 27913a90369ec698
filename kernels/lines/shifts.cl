/* SPDX-License-Identifier: BSD-3-Clause */
/* A displacement, split into whole cells and an offset in [0,1): a particle is never held as an
 * absolute coordinate.
 *
 * The lanes' whole cells are written as common + shift, common a scalar, so that every address is a
 * scalar; the shift, small and different in every lane, is resolved by selects: there is neither
 * gather nor scatter. */
#include "common/common.cl"

typedef struct {
  V offset;   /* in [0,1) */
  I whole;    /* cells */
  I shift;    /* whole - common */
  int common; /* what the lanes share: the least of both ends, which is the least of all when cells
                 are in order */
} Shifts;

/* Whole cells as integers, so far from the greatest that rows and the differences of two are some
 * as well. Steps refuse moves of 2^30 cells and those that are no numbers; a single sweep does not.
 */
INLINE I cells_of(const V whole) {
  const V most = REAL(1073741760.0), least = -most; /* the float before 2^30 */
  return TO_INT(SELECT(whole > least, SELECT(whole < most, whole, most), least));
}

INLINE Shifts shifts_at(const V whole, const V offset) {
  Shifts s;
  s.offset = offset;
  s.whole = cells_of(whole);
  const lane_int common = min(FIRST(s.whole), LAST(s.whole));
  s.common = (int)common;
  s.shift = s.whole - common;
  return s;
}

INLINE Shifts shifts_of(const V displacement) {
  const V whole = FLOOR(displacement);
  return shifts_at(whole, displacement - whole);
}

/* to[j] = row i + s.whole + j of each lane, j < COUNT, one by one. READ(i, COUNT, to) reads rows
 * that are the same in all lanes. */
#if LANES == 1
#define READ_SHIFTED(READ, i, s, COUNT, to) READ((i) + (s).common, COUNT, to)
#else
#define READ_SHIFTED(READ, i, s, COUNT, to)                     \
  for (int lane = 0; lane < LANES; lane++)                      \
    for (int number = 0; number < COUNT; number++) {            \
      const int place = (i) + INT_OF((s).whole, lane) + number; \
      V own[1];                                                 \
      READ(place, 1, own)                                       \
      REAL_OF((to)[number], lane) = REAL_OF(own[0], lane);      \
    }
#endif

/* Runs: rows of a block, LANES rows at most, whose places in a lane lie in few cells that go along
 * with the rows. So addresses run from row to row, and no row is tested by itself. A run takes as
 * many passes as it needs for all lanes: each is for those whose places lie in `spread` + 1 cells
 * from `common` on, which is counted from the row that a particle is on. Usually that is all of
 * them. The spread is a constant wherever rows are worked on. */
#define NARROW 1 /* one select a row */
#define WIDE 3   /* two */

/* Rows that the places of a run of so many rows may be between, if COUNT are around each. */
#define ROWS_AROUND(rows, COUNT) ((rows) - 1 + (COUNT) + WIDE)

typedef struct {
  int end;            /* rows .. end-1 */
  int common, spread; /* of this pass */
  I least, greatest;  /* whole cells in each lane, if spread is WIDE */
  I taken, waiting;   /* lanes in this pass, and in later ones */
} Run;

/* What is expected of the next run: rows that it may have, and that it is like the last one. A
 * right guess spares the wait for the least place. */
typedef struct {
  int longest, common;
} Habit;

INLINE int lie_within(const V least, const V greatest, const int common, const int cells) {
  const V begin = (V)((real)common);
  return !ANY((least < begin) | (greatest - begin >= (V)((real)cells)));
}

/* Another pass for the lanes that wait. There is one in each that has a lane: its own places lie in
 * so few cells. */
INLINE int next_pass(Run* run) {
  if (run->spread == NARROW || !ANY(run->waiting)) return 0;
  const lane_int common = LEAST(SELECT(run->waiting != 0, run->least, (I)(GREATEST_INT)));
  run->common = (int)common;
  run->taken = run->waiting & (AS_UNSIGNED(run->greatest - common) <= (U)(WIDE));
  run->waiting &= ~run->taken;
  return 1;
}

/* The run from row `begin` on, before row `end`. Where a lane's own places are far apart it has
 * half as many rows, and so have those after it. */
INLINE Run next_run(Habit* habit, __private const V* place, const int begin, const int end) {
  Run run;
  while (1) {
    run.end = min(begin + habit->longest, end);
    V least = place[begin], greatest = least;
    for (int k = begin + 1; k < run.end; k++) {
      least = SELECT(place[k] < least, place[k], least);
      greatest = SELECT(place[k] > greatest, place[k], greatest);
    }
    run.spread = NARROW, run.common = habit->common;
    if (lie_within(least, greatest, run.common, NARROW + 1)) break;
    run.least = cells_of(FLOOR(least)), run.greatest = cells_of(FLOOR(greatest));
    run.common = habit->common = (int)LEAST(run.least);
    if (lie_within(least, greatest, run.common, NARROW + 1)) break;
    if (run.end == begin + 1 || !ANY(AS_UNSIGNED(run.greatest - run.least) > (U)(NARROW)) ||
        lie_within(least, greatest, run.common, WIDE + 1)) {
      run.spread = WIDE, run.waiting = (I)(-1);
      next_pass(&run);
      break;
    }
    habit->longest = (run.end - begin) / 2;
  }
  return run;
}

/* Shifts of 0 .. WIDE: their bits, as plain comparisons. */
#define BIT_1(s) (((s) == 1) | ((s) == 3))
#define BIT_2(s) ((s) > 1)
#define AMONG_2(b1, r) SELECT(b1, (r)[1], (r)[0])
#define AMONG_4(b1, b2, r) SELECT(b2, AMONG_2(b1, (r) + 2), AMONG_2(b1, r))

/* to[j] = row[shift + j] of each lane, j < COUNT. */
#define PICK_ROWS(row, shift, spread, COUNT, to)                                        \
  {                                                                                     \
    const I b1 = spread == NARROW ? (shift) > 0 : BIT_1(shift), b2 = BIT_2(shift);      \
    UNROLL                                                                              \
    for (int j = 0; j < COUNT; j++)                                                     \
      (to)[j] = spread == NARROW ? AMONG_2(b1, (row) + j) : AMONG_4(b1, b2, (row) + j); \
  }
/* What is `old` becomes `new` in the lanes of this pass. */
#define UPDATE(run, spread, old, new) \
  old = (spread) == NARROW ? (new) : SELECT((run)->taken != 0, new, old)
