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

/* Whole cells, so far from the greatest integers that rows and the differences of two are some as
 * well. Steps refuse moves of 2^30 cells and those that are no numbers; a single sweep does not,
 * and nobody knows what a formula is between its points. */
INLINE V whole_in_reach(const V whole) {
  const V most = REAL(1073741760.0), least = -most; /* the float before 2^30 */
  return SELECT(whole > least, SELECT(whole < most, whole, most), least);
}

INLINE I cells_of(const V whole) { return TO_INT(whole_in_reach(whole)); }

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

/* Runs: rows of a block, LANES rows at most, in which the places of each lane lie in few cells that
 * go along with the rows: in `spread` + 1 of them from `cell` on, which is counted from the row
 * that a particle is on. So addresses run from row to row, and no row is tested by itself. Usually
 * one cell is the first of all lanes, and often the only one. Lanes that lie further apart make
 * groups; what a run works on is then copied group by group, and the work itself is done once. The
 * spread is a constant wherever rows are worked on. */
#define SINGLE 0 /* no select */
#define NARROW 1 /* one select a row */
#define WIDE 3   /* two */
#define MOST_NARROW (1 << 23)

/* Rows that the places of a run of so many rows may be between, if COUNT are around each. */
#define ROWS_AROUND(rows, COUNT) ((rows) - 1 + (COUNT) + WIDE)

typedef struct {
  int count;
  int cell[LANES]; /* of each group the first cell, */
  I lanes[LANES];  /* and the lanes, if there are several groups */
} Groups;

typedef struct {
  int end, spread; /* rows .. end-1 */
  V cell;
} Run;

/* What is expected of the next run: rows that it may have, and that it is like the last one. A
 * right guess spares the wait for the least place. */
typedef struct {
  int longest, cell;
} Habit;

/* Whether all lanes have the same two cells, both of which are numbers of their own. */
INLINE int are_narrow(const V least, const V greatest, const int cell) {
  const V begin = (V)((real)cell);
  return cell > -MOST_NARROW && cell < MOST_NARROW &&
         !ANY((least < begin) | (greatest - begin >= (V)(REAL(1.0) * (NARROW + 1))));
}

/* Of places that are narrow, whether both cells are met or one. */
INLINE void narrow_run(Groups* groups, Run* run, const V least, const V greatest, const int cell) {
  const V begin = (V)((real)cell), next = begin + REAL(1.0);
  const int is_first = !ANY(greatest >= next), is_second = !ANY(least < next);
  run->spread = is_first || is_second ? SINGLE : NARROW;
  run->cell = is_second ? next : begin;
  groups->count = 1, groups->cell[0] = cell + is_second;
}

/* The whole cells of a place in a run, and how many that is from the run's own on. */
INLINE V cells_in_run(const Run* run, const V place, const int spread, __private V* shift) {
  if (spread == SINGLE) {
    *shift = (V)(REAL(0.0));
    return run->cell;
  }
  if (spread == NARROW) {
    const V next = run->cell + REAL(1.0);
    const I is_next = place >= next;
    *shift = SELECT(is_next, (V)(REAL(1.0)), (V)(REAL(0.0)));
    return SELECT(is_next, next, run->cell);
  }
  const V whole = FLOOR(place);
  *shift = whole - run->cell;
  return whole;
}

/* Lanes whose places in a run lie in cells least .. greatest, few for each of them. */
INLINE void find_groups(Groups* groups, Run* run, const I least, const I greatest) {
  I waiting = (I)(-1);
  groups->count = 0;
  do {
    const lane_int cell = LEAST(SELECT(waiting != 0, least, (I)(GREATEST_INT)));
    const I lanes = waiting & (AS_UNSIGNED(greatest - cell) <= (U)(WIDE));
    groups->cell[groups->count] = (int)cell;
    groups->lanes[groups->count++] = lanes;
    run->cell = SELECT(lanes != 0, (V)((real)cell), run->cell);
    waiting &= ~lanes;
  } while (ANY(waiting));
}

/* The run from row `begin` on, before row `end`. Where a lane's own places are far apart it has
 * half as many rows, and so have those after it. */
OUT_OF_LINE Run run_of_places(Groups* groups, Habit* habit, __private const V* place,
                              const int begin, const int end) {
  Run run;
  while (1) {
    run.end = min(begin + habit->longest, end);
    V least = place[begin], greatest = least, other_least = place[run.end - 1],
      other_greatest = other_least; /* two of each: one would wait for itself */
    for (int k = begin; k + 1 < run.end; k += 2) {
      least = LEAST_OF(least, place[k]), other_least = LEAST_OF(other_least, place[k + 1]);
      greatest = GREATEST_OF(greatest, place[k]);
      other_greatest = GREATEST_OF(other_greatest, place[k + 1]);
    }
    least = LEAST_OF(least, other_least), greatest = GREATEST_OF(greatest, other_greatest);
    const I first = cells_of(FLOOR(least)), last = cells_of(FLOOR(greatest));
    if (!are_narrow(least, greatest, habit->cell)) habit->cell = (int)LEAST(first);
    if (are_narrow(least, greatest, habit->cell)) {
      narrow_run(groups, &run, least, greatest, habit->cell);
      break;
    }
    if (!ANY(AS_UNSIGNED(last - first) > (U)(WIDE))) {
      run.spread = WIDE, run.cell = (V)((real)habit->cell);
      find_groups(groups, &run, first, last);
      break;
    }
    habit->longest = (run.end - begin) / 2;
  }
  return run;
}

/* Between which places, in each lane, those of some rows lie: who finds places knows it at no cost,
 * and all rows are usually one run. */
typedef struct {
  V least, greatest;
} Extent;

INLINE Extent empty_extent(void) {
  const Extent e = {(V)(INFINITY), (V)(-INFINITY)};
  return e;
}

INLINE void include_place(Extent* e, const V place) {
  e->least = LEAST_OF(e->least, place), e->greatest = GREATEST_OF(e->greatest, place);
}

/* Whether all rows, of places that lie within an extent, are the run that is expected: that run is
 * found without a look at any place. */
INLINE int is_expected(const Habit* habit, const Extent* extent, const int begin, const int end) {
  return begin + habit->longest >= end && are_narrow(extent->least, extent->greatest, habit->cell);
}

INLINE Run expected_run(Groups* groups, const Habit* habit, const Extent* extent, const int end) {
  Run run = {end};
  narrow_run(groups, &run, extent->least, extent->greatest, habit->cell);
  return run;
}

/* The run from row `begin` on, of places that lie within an extent. */
INLINE Run next_run(Groups* groups, Habit* habit, const Extent* extent, __private const V* place,
                    const int begin, const int end) {
  return is_expected(habit, extent, begin, end) ? expected_run(groups, habit, extent, end)
                                                : run_of_places(groups, habit, place, begin, end);
}

/* Whether places within another extent lie in the cells of a run, too. */
INLINE int are_in_run(const Run* run, const Extent* extent) {
  const V end = run->cell + TO_REAL((I)(run->spread + 1));
  return !ANY((extent->least < run->cell) | (extent->greatest >= end));
}

/* Shifts of 0 .. WIDE: their bits, as plain comparisons. */
#define BIT_1(s) (((s) == 1) | ((s) == 3))
#define BIT_2(s) ((s) > 1)
#define AMONG_2(b1, r) SELECT(b1, (r)[1], (r)[0])
#define AMONG_4(b1, b2, r) SELECT(b2, AMONG_2(b1, (r) + 2), AMONG_2(b1, r))

/* to[j] = row[shift + j] of each lane, j < COUNT. */
#define PICK_ROWS(row, shift, spread, COUNT, to)                                   \
  {                                                                                \
    const I b1 = spread == NARROW ? (shift) > 0 : BIT_1(shift), b2 = BIT_2(shift); \
    UNROLL                                                                         \
    for (int j = 0; j < COUNT; j++)                                                \
      (to)[j] = spread == SINGLE   ? (row)[j]                                      \
                : spread == NARROW ? AMONG_2(b1, (row) + j)                        \
                                   : AMONG_4(b1, b2, (row) + j);                   \
  }

/* Puts rows that a group of lanes works on to those of the groups before. */
INLINE void add_group(const Groups* groups, const int g, const int count, __private const V* rows,
                      __private V* all) {
  AS_A_LOOP
  for (int j = 0; j < count; j++)
    all[j] = g == 0 ? rows[j] : SELECT(groups->lanes[g] != 0, rows[j], all[j]);
}
