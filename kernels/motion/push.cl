/* SPDX-License-Identifier: BSD-3-Clause */
/* Pushes the particles of a line: how many cells particle p of every lane moves in one sweep. */
#include "common/common.cl"
#include "generated/scheme.cl"
#include "lines/lines.cl"
#include "lines/shifts.cl"
#include "motion/continued.cl"
#include "motion/motion_formula.cl"
#include "motion/motion_kinds.cl"
#include "motion/motion_stored.cl"

/* The cells of a particle of a run, and how many that is from the run's own on. Only a formula may
 * be huge where no step looks: between its points. */
INLINE V cells_moved(const Run* run, const V moved, const int spread, __private V* shift) {
  const V whole = cells_in_run(run, moved, spread, shift);
  if (MOTION == FORMULA && spread == WIDE) *shift = whole_in_reach(whole) - run->cell;
  return whole;
}

/* The places of a block that the stages have led to are kept, and summed up where the last stage
 * ends: so each is stored once. */
INLINE V sum_of_places(__private V (*places)[LANES], const int k) {
  V sum = 0;
#if STAGES > 1
  sum = SUM_1(sum, places[0][k]);
#endif
#if STAGES > 2
  sum = SUM_2(sum, places[1][k]);
#endif
#if STAGES > 3
  sum = SUM_3(sum, places[2][k]);
#endif
  return sum;
}

#define BEGIN_STAGE(s)                                                 \
  __private V* const at = s == 1 ? moved : places[s == 1 ? 0 : s - 2]; \
  __private V* const to = s == STAGES ? moved : places[s - 1];
#define LEAD(s, k, slope)                                              \
  to[k] = PLACE_##s(m->scale, slope, at[k], sum_of_places(places, k)); \
  include_place(&extent, to[k]);

#if LANES > 1 && MOTION == GRID

#define FOLLOW_RUN(s, spread)                                                             \
  for (int k = from; k < run.end; k++) {                                                  \
    const V slope = motion_in_run(m, &run, near, first + from, first + k, at[k], spread); \
    LEAD(s, k, slope)                                                                     \
  }
#define STAGE(s)                                                                           \
  {                                                                                        \
    BEGIN_STAGE(s)                                                                         \
    const Extent before = extent;                                                          \
    extent = empty_extent();                                                               \
    Habit habit = m->habits[s - 1];                                                        \
    habit.longest = LEAST_OF(2 * habit.longest, LANES);                                    \
    for (int from = begin; from < rows;) {                                                 \
      Groups groups;                                                                       \
      const Run run = next_motion_run(m, &groups, &habit, &before, first, from, rows, at); \
      V own[2 * ROWS_OF_RUN];                                                              \
      __private const V* near = rows_around(MOTION_ARGUMENT, &groups, &run, first + from,  \
                                            first + run.end - 1, TIME_##s, own);           \
      if (run.spread == SINGLE)                                                            \
        FOLLOW_RUN(s, SINGLE)                                                              \
      else if (run.spread == NARROW)                                                       \
        FOLLOW_RUN(s, NARROW)                                                              \
      else                                                                                 \
        FOLLOW_RUN(s, WIDE)                                                                \
      from = run.end;                                                                      \
    }                                                                                      \
    m->habits[s - 1] = habit;                                                              \
  }

/* Stages 2 and 3 of `rk4` look at the same time and near to one another: where the places of a
 * block are a run, one loop takes both, and stage 3 is done again if it should have looked
 * elsewhere. */
#if STAGES > 3 && TIME_2 == TIME_3 && COARSE == 1
#define FOLLOW_TWICE(spread)                                                                \
  for (int k = begin; k < rows; k++) {                                                      \
    V slope = motion_in_run(m, &run, near, first + begin, first + k, places[0][k], spread); \
    places[1][k] = PLACE_2(m->scale, slope, places[0][k], 0);                               \
    include_place(&middle, places[1][k]);                                                   \
    slope = motion_in_run(m, &run, near, first + begin, first + k, places[1][k], spread);   \
    places[2][k] = PLACE_3(m->scale, slope, places[1][k], 0);                               \
    include_place(&extent, places[2][k]);                                                   \
  }
#define STAGES_2_AND_3                                                                             \
  if (is_expected(&m->habits[1], &extent, begin, rows)) {                                          \
    Groups groups;                                                                                 \
    const Run run = expected_run(&groups, &m->habits[1], &extent, rows);                           \
    Extent middle = empty_extent();                                                                \
    extent = middle;                                                                               \
    V own[2 * ROWS_OF_RUN];                                                                        \
    __private const V* near =                                                                      \
        rows_around(MOTION_ARGUMENT, &groups, &run, first + begin, first + rows - 1, TIME_2, own); \
    if (run.spread == SINGLE)                                                                      \
      FOLLOW_TWICE(SINGLE)                                                                         \
    else                                                                                           \
      FOLLOW_TWICE(NARROW)                                                                         \
    if (!are_in_run(&run, &middle)) {                                                              \
      extent = middle;                                                                             \
      STAGE(3)                                                                                     \
    }                                                                                              \
  } else {                                                                                         \
    STAGE(2)                                                                                       \
    STAGE(3)                                                                                       \
  }
#endif
#if COARSE > 1
#define STAGE_ON_NODES                             \
  for (int k = begin; k < rows; k++) moved[k] = 0; \
  STAGE(1)
#else
#define STAGE_ON_NODES                                                             \
  {                                                                                \
    BEGIN_STAGE(1)                                                                 \
    V own[ROWS_OF_RUN];                                                            \
    __private const V* slopes =                                                    \
        rows_of_motion(MOTION_ARGUMENT, first + begin, rows - begin, TIME_1, own); \
    for (int k = begin; k < rows; k++) {                                           \
      LEAD(1, k, slopes[k - begin])                                                \
    }                                                                              \
  }
#endif

#elif LANES > 1 && MOTION == FORMULA

/* The sum of squares bounds how far any place of a lane is moved. */
#define FOLLOW(s, velocity)                                                \
  for (int k = begin; k < rows; k++) {                                     \
    const V slope = velocity(MOTION_ARGUMENT, first + k, at[k], TIME_##s); \
    LEAD(s, k, slope)                                                      \
    squares = MAD(to[k], to[k], squares);                                  \
  }
#define STAGE(s)                                                                   \
  {                                                                                \
    BEGIN_STAGE(s)                                                                 \
    const int is_inside = are_inside(m, first + begin, first + rows - 1, squares); \
    extent = empty_extent(), squares = 0;                                          \
    if (is_inside)                                                                 \
      FOLLOW(s, velocity_inside)                                                   \
    else                                                                           \
      FOLLOW(s, motion_at)                                                         \
  }
#define STAGE_ON_NODES                                       \
  V squares = 0;                                             \
  {                                                          \
    BEGIN_STAGE(1)                                           \
    for (int k = begin; k < rows; k++) {                     \
      LEAD(1, k, motion_of_node(MOTION_ARGUMENT, first + k)) \
      squares = MAD(to[k], to[k], squares);                  \
    }                                                        \
  }

#else

#define STAGE(s)                                                                       \
  {                                                                                    \
    BEGIN_STAGE(s)                                                                     \
    extent = empty_extent();                                                           \
    for (int k = begin; k < rows; k++) {                                               \
      const V slope = s == 1 ? motion_of_node(MOTION_ARGUMENT, first + k)              \
                             : motion_at(MOTION_ARGUMENT, first + k, at[k], TIME_##s); \
      LEAD(s, k, slope)                                                                \
    }                                                                                  \
  }
#define STAGE_ON_NODES STAGE(1)

#endif

/* How far particles first+begin .. first+rows-1 move, and between what. Stage by stage: rows are
 * independent of one another, stages are not, so this hides their latency. */
INLINE Extent displacements(MOTION_STATE, const int first, const int begin, const int rows,
                            __private V* moved) {
  Extent extent = empty_extent();
#if MOTION == GIVEN
  for (int k = begin; k < rows; k++) {
    moved[k] = motion_of_node(MOTION_ARGUMENT, first + k);
    include_place(&extent, moved[k]);
  }
#else
  V places[STAGES][LANES];
  for (int k = begin; k < rows; k++) prefetch_motion(m, first, k);
  STAGE_ON_NODES
#ifdef STAGES_2_AND_3
  STAGES_2_AND_3
#else
#if STAGES > 1
  STAGE(2)
#endif
#if STAGES > 2
  STAGE(3)
#endif
#endif
#if STAGES > 3
  STAGE(4)
#endif
#endif
  return extent;
}

/* The same for lines of n nodes, whose particles move no further than `reach`: only those near the
 * ends may look for a velocity beyond. What formulas are between points is not known. */
INLINE Extent push_rows(MOTION_STATE, const Tile* tile, const int n, const int reach,
                        const int first, const int begin, const int rows, __private V* moved) {
#if CONTINUED && MOTION == GRID
  const int far = LOOKS * min(reach, n) + LOOKED_AROUND;
  if (tile->least_first + first >= far && tile->greatest_first + first + rows <= n - far)
    return displacements(MOTION_WHICH(0), first, begin, rows, moved);
#endif
  return displacements(MOTION_ARGUMENT, first, begin, rows, moved);
}
