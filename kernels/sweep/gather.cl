/* SPDX-License-Identifier: BSD-3-Clause */
/* One directional sweep of particles that carry values: the path of every node is followed back,
 * and what the kernel reads at its departure is stored.
 *
 * RACES. A work-item owns the nodes of `tiles_each` consecutive tiles and nobody else writes them.
 * It stores a node when all of the line is saved that its tile reads; what others overwrite
 * meanwhile it reads where keep_edges.cl has left a copy. Every node is a sum in the order of its
 * stencil, so any number of lanes, segments and threads gives the same bits.
 *
 * LIMITER  POSITIVE or MONOTONE: what is read is kept above a floor, or between its neighbours */
#define FOLLOWS_BACK 1
#include "common/common.cl"
#include "generated/swept_fields.cl"
#include "generated/weights.cl"
#include "lines/boundary.cl"
#include "lines/form.cl"
#include "lines/lines.cl"
#include "lines/shifts.cl"
#include "motion/motion_formula.cl"
#include "motion/motion_stored.cl"
#include "motion/push.cl"
#include "sweep/arrival.cl"
#include "sweep/chain.cl"
#include "sweep/limiter_kinds.cl"
#include "sweep/saved_lines.cl"
#include "sweep/swept.cl"

#if HAS_INFLOW
/* Whether some lane of a row lies beyond the ends of its line. */
INLINE int are_ghosts(const Swept* f, const int row) {
  return f->tile.least_first + row < 0 || f->tile.greatest_first + row + 1 > f->n;
}
#endif

/* Puts in what ghosts carry that come in. */
INLINE void bring_in(MOTION_STATE, const SavedLines* h) {
#if HAS_INFLOW && SEGMENT && !LINES_IN_GLOBAL
  const Swept* f = h->f;
  for (int row = h->begin; row < h->end; row++) {
    if (!are_ghosts(f, row)) continue;
    Arrival arrivals[2];
    find_arrivals(MOTION_ARGUMENT, f->ends, row, arrivals);
    for (int c = 0; c < COMPONENTS; c++)
      SAVED_ROW(h, c, row) = strength_of_ghosts(f->ends, arrivals, c, SAVED_ROW(h, c, row));
  }
#endif
}

/* READ_SAVED reads rows i .. i+COUNT-1 of component `c`. */
#if LINES_IN_GLOBAL

#define READ_SAVED(i, COUNT, to)                                                     \
  {                                                                                  \
    const int read_from = wrap(i, h->f->n), is_whole = read_from + COUNT <= h->f->n; \
    for (int j = 0; j < COUNT; j++)                                                  \
      (to)[j] = read_row(h->f->kept[c], &h->f->starts, h->f->strides,                \
                         is_whole ? read_from + j : wrap(read_from + j, h->f->n));   \
  }

#elif !SEGMENT

#define READ_SAVED(i, COUNT, to)                                              \
  {                                                                           \
    const int read_from = wrap(i, h->f->n);                                   \
    UNROLL                                                                    \
    for (int j = 0; j < COUNT; j++) (to)[j] = SAVED_ROW(h, c, read_from + j); \
  }

#else

/* A row that is not saved, as it was before the sweep: of a PART, all that is here may be in
 * `kept`, where nothing is saved. */
INLINE V row_as_kept(const SavedLines* h, const int c, const int row) {
#if PART && !ALONG_MEMORY
  if (h->at == 0) return row_as_stored(h->f, c, row, particles_of(h->f, c, row));
#endif
  return row_as_stored(h->f, c, row, h->f->kept[c]);
}

/* A row that may not be saved: it is read where it lies, or made of what is saved (WHOLE_LINES). */
INLINE V row_anywhere(MOTION_STATE, const SavedLines* h, const int c, const int row) {
  if (row >= h->begin && row < h->end) return SAVED_ROW(h, c, row);
  const V value = WHOLE_LINES ? SAVED_ROW(h, c, STORED_NODE(row, h->f->n)) : row_as_kept(h, c, row);
#if HAS_INFLOW
  if (are_ghosts(h->f, row)) {
    Arrival arrivals[2];
    find_arrivals(MOTION_ARGUMENT, h->f->ends, row, arrivals);
    return strength_of_ghosts(h->f->ends, arrivals, c, value);
  }
#endif
  return value;
}

#define READ_SAVED(i, COUNT, to)                                                \
  {                                                                             \
    const int read_from = (i);                                                  \
    if (read_from >= h->begin && read_from <= h->end - COUNT) {                 \
      UNROLL                                                                    \
      for (int j = 0; j < COUNT; j++) (to)[j] = SAVED_ROW(h, c, read_from + j); \
    } else {                                                                    \
      for (int j = 0; j < COUNT; j++)                                           \
        (to)[j] = row_anywhere(MOTION_ARGUMENT, h, c, read_from + j);           \
    }                                                                           \
  }

#endif

#define ROWS_OF_SAVED_RUN ROWS_AROUND(LANES, STENCIL)

/* Rows of component `c` from row i on, one after the other: where they are saved, or copies. */
INLINE __private const V* rows_near(MOTION_STATE, const SavedLines* h, const int c, const int i,
                                    __private V* copies) {
#if !LINES_IN_GLOBAL && !LINES_IN_LOCAL
  const int row = SEGMENT ? i : wrap(i, h->f->n);
  if (!SEGMENT || (row >= h->begin && row <= h->end - ROWS_OF_SAVED_RUN))
    return &SAVED_ROW(h, c, row);
#endif
  READ_SAVED(i, ROWS_OF_SAVED_RUN, copies)
  return copies;
}

/* Rows of component `c` around the places of a run of particles from row i on. */
INLINE __private const V* rows_around_places(MOTION_STATE, const SavedLines* h,
                                             const Groups* groups, const int c, const int i,
                                             __private V* copies) {
  for (int g = 0; g < groups->count; g++) {
    __private const V* rows = rows_near(MOTION_ARGUMENT, h, c, i + groups->cell[g] - STENCIL_BEFORE,
                                        copies + ROWS_OF_SAVED_RUN);
    if (groups->count == 1) return rows;
    add_group(groups, g, ROWS_OF_SAVED_RUN, rows, copies);
  }
  return copies;
}

/* around[j] = what component `c` was on node j - STENCIL_BEFORE of the cell of a place, which is so
 * many cells after row i. */
INLINE void read_around(MOTION_STATE, const SavedLines* h, const int c, const int i,
                        const Shifts shifts, __private V* around){
    READ_SHIFTED(READ_SAVED, i - STENCIL_BEFORE, shifts, STENCIL, around)}

/* The kernel's weights sum up to one: written with differences a constant stays what it is to the
 * last bit. */
INLINE V mean_of(__private const V* around, __private const V* weight) {
  const V here = around[STENCIL_BEFORE];
  V rest = 0;
  UNROLL
  for (int j = 0; j < STENCIL; j++)
    if (j != STENCIL_BEFORE) rest = MAD(weight[j], around[j] - here, rest);
  return here + rest;
}

/* A kernel overshoots where it is negative. POSITIVE: the floor is 0, or the lesser one of the
 * nodes on either side of the place where that is less. MONOTONE: the range is that of these two
 * nodes. A place on a node has no other. */
INLINE V limited(const V value, __private const V* around, const V offset) {
#if LIMITER == NONE
  return value;
#else
  const V before = around[STENCIL_BEFORE];
  const V after = SELECT(offset > 0, around[STENCIL_BEFORE + 1], before);
#if LIMITER == POSITIVE
  return GREATEST_OF(value, LEAST_OF_3(before, after, (V)(REAL(0.0))));
#else
  return LEAST_OF(GREATEST_OF(value, LEAST_OF(before, after)), GREATEST_OF(before, after));
#endif
#endif
}

/* Puts into `result` what comes of each component at the places where particles first+from ..
 * first+until-1 come from, with AROUND, what was on the nodes around such a place. */
#define FOLLOW_BACK(from, until, WHOLE, AROUND, KEEP)                   \
  for (int k = from; k < until; k++) {                                  \
    V shift;                                                            \
    const V whole = WHOLE, offset = moved[k] - whole;                   \
    V weight[STENCIL];                                                  \
    remeshing_weights(offset - REAL(0.5), weight);                      \
    for (int c = 0; c < COMPONENTS; c++) {                              \
      V around[STENCIL];                                                \
      AROUND                                                            \
      const V value = limited(mean_of(around, weight), around, offset); \
      KEEP;                                                             \
    }                                                                   \
  }

#if LANES == 1

INLINE void gather_rows(MOTION_STATE, const SavedLines* h, const int first, const int rows,
                        __private const V* moved, const Extent* extent, __private V* result,
                        Habit* habit) {
  FOLLOW_BACK(0, rows, FLOOR(moved[k]),
              read_around(MOTION_ARGUMENT, h, c, first + k, shifts_at(whole, offset), around);
              , result[c * LANES + k] = value)
}

#else

#define FOLLOW_RUN_BACK(spread)                                                \
  FOLLOW_BACK(from, run.end, cells_moved(&run, moved[k], spread, &shift),      \
              PICK_ROWS(near[c] + (k - from), shift, spread, STENCIL, around), \
              result[c * LANES + k] = value)

INLINE void gather_rows(MOTION_STATE, const SavedLines* h, const int first, const int rows,
                        __private const V* moved, const Extent* extent, __private V* result,
                        Habit* habit) {
  habit->longest = min(2 * habit->longest, LANES);
  for (int from = 0; from < rows;) {
    Groups groups;
    const Run run = next_run(&groups, habit, extent, moved, from, rows);
    V copies[COMPONENTS][2 * ROWS_OF_SAVED_RUN];
    __private const V* near[COMPONENTS];
    for (int c = 0; c < COMPONENTS; c++)
      near[c] = rows_around_places(MOTION_ARGUMENT, h, &groups, c, first + from, copies[c]);
    if (run.spread == SINGLE)
      FOLLOW_RUN_BACK(SINGLE)
    else if (run.spread == NARROW)
      FOLLOW_RUN_BACK(NARROW)
    else
      FOLLOW_RUN_BACK(WIDE)
    from = run.end;
  }
}

#endif

/* Follows the nodes of a tile back and stores what is found where they come from. */
INLINE void gather_tile(MOTION_STATE, const SavedLines* h) {
  const Swept* f = h->f;
  const int count = min(f->segment, END_OF(f) - f->tile.least_first);
  Habit habit = {LANES, 0};
  for (int first = 0; first < count; first += LANES) {
    const int rows = min(LANES, count - first);
    V moved[LANES], result[COMPONENTS * LANES];
    const Extent extent =
        push_rows(MOTION_ARGUMENT, &f->tile, f->n, f->reach, first, 0, rows, moved);
    gather_rows(MOTION_ARGUMENT, h, first, rows, moved, &extent, result, &habit);
    for (int c = 0; c < COMPONENTS; c++) {
#if ALONG_MEMORY
      write_block(&result[c * LANES], f->u[c], &f->tile, &f->starts, f->n, first);
#else
      for (int k = 0; k < rows; k++)
        write_row(result[c * LANES + k], f->u[c], &f->starts, f->strides, first + k);
#endif
    }
  }
}

#if CHAINED

void SWEEP_JOB(JOB_PARAMETERS) {
  DECLARE_SWEPT;
  DECLARE_ROWS(rows, COMPONENTS * ROWS_SAVED);
  SavedLines saved = begin_saved_lines(&f, rows);
  FOR_TILES(&f, save_lines(&saved); bring_in(MOTION_ARGUMENT, &saved);
            gather_tile(MOTION_ARGUMENT, &saved))
}

#if KIND == 0
KERNEL void gather_chain(FIELD_PARAMETERS, CHAIN_PARAMETERS) { SWEEP_CHAIN; }
#endif

#else

/* The motion is that of the sweep with time reversed. `reach`: no node is read from further away.
 */
KERNEL void gather(FIELD_PARAMETERS, const long row_stride, const long lane_stride,
                   const long outer_stride, const int n, const int lines, const int outers,
                   const int segment, const int tiles_each PART_PARAMETERS KEPT_PARAMETERS,
                   const int reach,
#if BOUNDED
                   const real sweep_begin, const real sweep_duration,
#endif
#if LINES_IN_LOCAL
                   __local V* local_rows,
#endif
                   MOTION_PARAMETERS) {
  const Lines grid = {n, lines, outers, segment PART_NODES};
  const Strides strides = {row_stride, lane_stride, outer_stride};
  Swept f = {FIELD_POINTERS, KEPT_POINTERS, strides, n, segment, reach};
#if PART
  f.part_end = part_end, f.kept_further = KEPT_FURTHER;
#endif
  DECLARE_ROWS(rows, COMPONENTS * ROWS_SAVED);
  SavedLines saved = begin_saved_lines(&f, rows);
  DECLARE_MOTION;
#if BOUNDED
  Ends ends = {sweep_begin, sweep_duration, n, segment};
  f.ends = &ends;
#endif
  const long begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles_of(grid)); job++) {
    const Tile next = aim_at(&f, grid, job);
    aim_motion(MOTION_ARGUMENT, &f.tile, &next, OWN_ROWS(f.tile, grid), reach);
    save_lines(&saved);
    bring_in(MOTION_ARGUMENT, &saved);
    gather_tile(MOTION_ARGUMENT, &saved);
  }
}

#if SEGMENT

/* The same out of place: what a node needs is read from `kept`, where nobody writes. Arguments are
 * those above. */
KERNEL void gather_nodes(FIELD_PARAMETERS, const long row_stride, const long lane_stride,
                         const long outer_stride, const int n, const int lines, const int outers,
                         const int segment, const int tiles_each PART_PARAMETERS ROWS_OF_OTHERS,
                         const int reach,
#if BOUNDED
                         const real sweep_begin, const real sweep_duration,
#endif
                         MOTION_PARAMETERS) {
  const Lines grid = {n, lines, outers, segment PART_NODES};
  const Strides strides = {row_stride, lane_stride, outer_stride};
  Swept f = {FIELD_POINTERS, KEPT_POINTERS, strides, n, segment, reach};
  AIM_AT_OTHERS(&f);
  const SavedLines none = {&f};
  DECLARE_MOTION;
#if BOUNDED
  Ends ends = {sweep_begin, sweep_duration, n, segment};
  f.ends = &ends;
#endif
  const long tiles = tiles_of(grid), segments = segments_of(grid), across = tiles / segments;
  const long begin = (long)get_global_id(0) * tiles_each;
  for (long item = begin; item < min(begin + tiles_each, tiles); item++) {
    /* Neighbours take what lies side by side: lines, or nodes of a line. */
    const long job = row_stride < lane_stride ? item % segments * across + item / segments : item;
    const Tile next = aim_at(&f, grid, job);
    aim_motion(MOTION_ARGUMENT, &f.tile, &next, OWN_ROWS(f.tile, grid), reach);
    gather_tile(MOTION_ARGUMENT, &none);
  }
}

#endif

#endif
