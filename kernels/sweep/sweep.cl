/* SPDX-License-Identifier: BSD-3-Clause */
/* One directional sweep: push the particles of every line, remesh them onto the nodes of the same
 * line, store.
 *
 * RACES. A line's result depends on that line alone. A work-item owns `tiles_each` consecutive
 * tiles and nobody else touches their lines, so nothing races and the order of every sum is fixed:
 * any number of threads gives the same bits. In place is right because a line is stored after its
 * last particle was read. A SEGMENT owns only some nodes of its lines and needs particles of its
 * neighbours, who overwrite theirs: it reads them where keep_edges.cl has left a copy.
 *
 * Node sums lie where form.cl says: segment + 1 rows for each work-item, or the result itself,
 * where the particles are a copy of what was there. */
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
#include "sweep/deposit.cl"
#include "sweep/limiter.cl"
#include "sweep/limiter_kinds.cl"
#include "sweep/strengths.cl"
#include "sweep/sums.cl"
#include "sweep/swept.cl"

/* Finds what particles near the ends carry, where that is not what was on their nodes, and counts
 * what crosses an end. */
INLINE void meet_ends(const Swept* f, const int side, const int first, const int begin,
                      const int end, __private const V* moved, Strengths* strengths) {
  if (side == FAR_FROM_ENDS) return;
  for (int k = begin; k < end; k++) {
    const Shifts shifts = shifts_of(moved[k]);
    V weight[WEIGHTS];
    weights_of(shifts.offset - REAL(0.5), weight);
    for (int c = 0; c < COMPONENTS; c++) {
      __private V* const strength = &strengths[c].rows[k];
      *strength = strength_at_ends(f->ends, side, c, k, *strength);
      count_crossing(f->ends, c, side, first + k, &shifts, weight, *strength);
    }
  }
}

INLINE void add_particle(const Sums* sums, Window* window, const Swept* f, const int p,
                         const V moved, const Strengths* strengths) {
  const Shifts shifts = shifts_of(moved);
  V weight[WEIGHTS];
  weights_of(shifts.offset - REAL(0.5), weight);
  UNROLL
  for (int c = 0; c < COMPONENTS; c++) {
    const V strength = strength_of(&strengths[c], f, 0);
#define GIVE(s, first_weight, before, count)                                                       \
  deposit(sums + c * SUMS_EACH + s, window + c * SUMS_EACH + s, p, &shifts, weight + first_weight, \
          strength, before, count);
    FOR_EACH_SUMS(GIVE)
#undef GIVE
  }
}

#define FIND_SHARES(k, place)                                                 \
  {                                                                           \
    V shift, weight[WEIGHTS];                                                 \
    const V whole = cells_moved(run, moved[k], spread, &shift);               \
    weights_of((moved[k] - whole) - REAL(0.5), weight);                       \
    find_shares(&shares[place], shift, weight + first_weight, count, spread); \
  }

/* Adds a run of particles, from row `begin` on, to the sums of each component; all[c] is the
 * first that the first of these rows may reach. */
INLINE void add_rows(__private V* const* all, const Swept* f, const int begin, const Run* run,
                     __private const V* moved, const Strengths* strengths, const int first_weight,
                     const int count, const int spread) {
  const int ahead = count + spread - 1;
  Shares shares[COMPONENTS > 1 ? LANES : 1];
  if (COMPONENTS > 1)
    for (int k = begin; k < run->end; k++) FIND_SHARES(k, k)
  for (int c = 0; c < COMPONENTS; c++) {
    V sum[STENCIL + WIDE];
    __private V* at = all[c];
    FOR_WINDOW(ahead, sum[j] = at[j])
    for (int k = begin; k < run->end; k++) {
      if (COMPONENTS == 1) FIND_SHARES(k, 0)
      sum[ahead] = at[ahead];
      add_shares(sum, &shares[COMPONENTS > 1 ? k : 0], strength_of(&strengths[c], f, k), count,
                 spread);
      *at++ = sum[0];
      FOR_WINDOW(ahead, sum[j] = sum[j + 1])
    }
    FOR_WINDOW(ahead, at[j] = sum[j])
  }
}

/* Adds a run of particles from row `begin` on to all sums. Row 0 is that of node p. */
INLINE void add_run(const Sums* sums, const Swept* f, const int p, const int begin,
                    const Groups* groups, const Run* run, __private const V* moved,
                    const Strengths* strengths){
#define GIVE(s, first_weight, before, count)                                               \
  {                                                                                        \
    const int rows = run->end - begin + count + run->spread - 1;                           \
    const int first = p + begin - before;                                                  \
    if (!reaches_nothing(&sums[s], groups, first, rows)) {                                 \
      V copies[COMPONENTS][SUMS_OF_RUN];                                                   \
      __private V* at[COMPONENTS];                                                         \
      for (int c = 0; c < COMPONENTS; c++)                                                 \
        at[c] = sums_of_run(&sums[c * SUMS_EACH + s], groups, first, rows, copies[c]);     \
      if (run->spread == SINGLE)                                                           \
        add_rows(at, f, begin, run, moved, strengths, first_weight, count, SINGLE);        \
      else if (run->spread == NARROW)                                                      \
        add_rows(at, f, begin, run, moved, strengths, first_weight, count, NARROW);        \
      else                                                                                 \
        add_rows(at, f, begin, run, moved, strengths, first_weight, count, WIDE);          \
      for (int c = 0; c < COMPONENTS; c++)                                                 \
        keep_sums_of_run(&sums[c * SUMS_EACH + s], groups, first, rows, at[c], copies[c]); \
    }                                                                                      \
  }
    FOR_EACH_SUMS(GIVE)
#undef GIVE
}

INLINE void add_lane_by_lane(const Sums* sums, const Swept* f, const int p, const int k,
                             const V moved, const Strengths* strengths) {
  const Shifts shifts = shifts_of(moved);
  V weight[WEIGHTS];
  weights_of(shifts.offset - REAL(0.5), weight);
  for (int c = 0; c < COMPONENTS; c++) {
    const V strength = strength_of(&strengths[c], f, k);
#define GIVE(s, first_weight, before, count)                                                     \
  deposit_lane_by_lane(sums + c * SUMS_EACH + s, p + k, shifts, weight + first_weight, strength, \
                       before, count);
    FOR_EACH_SUMS(GIVE)
#undef GIVE
  }
}

/* Adds particles begin .. end-1 of LANES rows. */
INLINE void add_block(const Sums* sums, const Swept* f, const int p, const int begin, const int end,
                      __private const V* moved, const Extent* extent, const Strengths* strengths,
                      Habit* habit) {
  const int of_line = sums->n - ROWS_AROUND(0, STENCIL), longest = LEAST_OF(of_line, LANES);
  if (longest < 1) {
    for (int k = begin; k < end; k++) add_lane_by_lane(sums, f, p, k, moved[k], strengths);
    return;
  }
  habit->longest = LEAST_OF(2 * habit->longest, longest);
  for (int from = begin; from < end;) {
    Groups groups;
    const Run run = next_run(&groups, habit, extent, moved, from, end);
    add_run(sums, f, p, from, &groups, &run, moved, strengths);
    from = run.end;
  }
}

/* Rows from..to-1 of a tile, as far as they are on nodes low..high-1. */
typedef struct {
  int from, to, low, high;
} Stretch;

/* Pushes and remeshes the particles of a stretch, in ascending order. Blocks begin at multiples of
 * LANES, as segments do: each is within a lane's own segment or outside. */
INLINE void remesh_rows(MOTION_STATE, const Sums* sums, Window* windows, const Swept* f,
                        const Stretch at) {
  Habit habit = {LANES, 0};
  for (int first = at.from & -LANES; first < at.to; first += LANES) {
    int begin = GREATEST_OF(at.from - first, 0), rows = LEAST_OF(at.to - first, LANES);
    /* All pushes, then the deposits: the rows of a stage are independent of one another, which
     * hides latency. */
    V moved[LANES];
    const Extent extent =
        push_rows(MOTION_ARGUMENT, &f->tile, f->n, f->reach, first, begin, rows, moved);
    const int side = BOUNDED ? side_of(f, first, at.low) : FAR_FROM_ENDS;
    if (BOUNDED) expect_ghosts(MOTION_ARGUMENT, f->ends, side, first, &begin, &rows, moved);
    Strengths strengths[COMPONENTS];
    for (int c = 0; c < COMPONENTS; c++)
      aim_strengths(&strengths[c], f, c, first, begin, rows, at.low, at.high);
    if (BOUNDED) meet_ends(f, side, first, begin, rows, moved, strengths);
    if (LANES > 1)
      add_block(sums, f, first + MARGIN, begin, rows, moved, &extent, strengths, &habit);
    else if (begin < rows)
      add_particle(sums, windows, f, first + MARGIN, moved[0], strengths);
  }
}

/* The particles that may reach a tile, each once, in ascending order of their nodes: those beyond
 * the end of the line come first, as they are on its first nodes, then those on the line, then
 * those before its beginning. Of a line with ends those before it come first. One loop takes all
 * three: were the text of it there three times, it would be slower. */
INLINE void push_and_remesh(MOTION_STATE, const Sums* sums, Window* windows, const Swept* f) {
  const int n = f->n, least = f->tile.least_first, greatest = f->tile.greatest_first;
  const int count = min(f->segment, END_OF(f) - least); /* a last segment may be shorter */
  for (int c = 0; c < LINE_SUMS; c++) windows[c].open = 0;
  if (SEGMENT) {
    int from = -f->reach, to = count + f->reach;
    if (!BOUNDED && to - from > n) from = -least, to = n - least;
    const int further = BOUNDED ? reach_beyond(f->reach) - f->reach : 0;
    const Stretch before = {from - further, min(to + further, -least), INT_MIN, 0};
    const Stretch on_line = {max(from, -greatest), min(to, n - least), 0, n};
    const Stretch behind = {max(from - further, n - greatest), to + further, n, INT_MAX};
    const Stretch stretches[] = {BOUNDED ? before : behind, on_line, BOUNDED ? behind : before};
    for (int k = 0; k < 3; k++) remesh_rows(MOTION_ARGUMENT, sums, windows, f, stretches[k]);
  } else {
    const Stretch line = {0, n, 0, n};
    remesh_rows(MOTION_ARGUMENT, sums, windows, f, line);
  }
  if (LANES == 1) close_windows(sums, windows);
  repeat_nodes(sums, f->segment);
}

/* Where sums lie in the result itself: there they begin with 0. */
INLINE void aim_sums(Sums* sums, const Swept* f) {
#if LINES_IN_GLOBAL
  for (int c = 0; c < COMPONENTS; c++) {
    sums[c].at = (__global V*)(f->u[c] + f->starts.start);
    for (int p = 0; p < f->n; p++) sums[c].at[p * sums[c].pitch] = 0;
  }
#endif
}

INLINE V next_stored(Results* results, const Swept* f, const int c, const int p) {
  const V result = next_result(results);
  if (BOUNDED && LIMITED) count_flux_out(f->ends, c, p, flux_into(results));
  return result;
}

/* Stores what comes of the sums of a component in `count` rows. */
INLINE void store_component(const Sums* sums, const Swept* f, const int c, const int count) {
  Results results = begin_results(sums, c);
  if (BOUNDED && LIMITED) count_flux_in(f->ends, c, flux_into(&results));
#if ALONG_MEMORY
  for (int first = 0; first < count; first += LANES) {
    V rows[LANES];
    for (int k = 0; k < LANES; k++) rows[k] = next_stored(&results, f, c, first + k);
    write_block(rows, f->u[c], &f->tile, &f->starts, f->n, first);
  }
#else
  for (int p = 0; p < count; p++)
    write_row(next_stored(&results, f, c, p), f->u[c], &f->starts, f->strides, p);
#endif
}

/* Unless the sums are the result. Leaves zeros behind for the next tile. */
INLINE void store(const Sums* sums, const Swept* f) {
  if (LINES_IN_GLOBAL) return;
  const int count = min(f->segment, END_OF(f) - f->tile.least_first);
  for (int c = 0; c < COMPONENTS; c++) store_component(sums, f, c, count);
  leave_zeros(sums, count, f->segment);
}

#if CHAINED

void SWEEP_JOB(JOB_PARAMETERS) {
  DECLARE_SWEPT;
  Sums sums[LINE_SUMS];
  Window windows[LINE_SUMS];
  DECLARE_ROWS(rows, LINE_SUMS * PRIVATE_ROWS);
  begin_sums(sums, rows, f.n, f.n, f.strides.row);
  FOR_TILES(&f, push_and_remesh(MOTION_ARGUMENT, sums, windows, &f); store(sums, &f);
            if (BOUNDED) settle(f.ends))
}

#if KIND == 0
KERNEL void sweep_chain(FIELD_PARAMETERS, CHAIN_PARAMETERS) { SWEEP_CHAIN; }
#endif

#else

/* `reach`: no particle is deposited further away, in nodes. `crossed`: four numbers of each
 * component for a work-item. What comes in is strained along the other axes (CROSSFLOW). */
KERNEL void sweep(FIELD_PARAMETERS, const long row_stride, const long lane_stride,
                  const long outer_stride, const int n, const int lines, const int outers,
                  const int segment, const int tiles_each PART_PARAMETERS KEPT_PARAMETERS,
                  const int reach,
#if BOUNDED
                  __global V* crossed, const real sweep_begin, const real sweep_duration,
#endif
#if CROSSFLOW > 0
                  const int others_are_swept, __global const real* rates_across,
                  const real lane_lead, const real outer_lead,
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
  Sums sums[LINE_SUMS];
  Window windows[LINE_SUMS];
  DECLARE_ROWS(rows, LINE_SUMS * PRIVATE_ROWS);
  begin_sums(sums, rows, n, segment, row_stride);
  DECLARE_MOTION;
#if BOUNDED
  Ends ends = {sweep_begin, sweep_duration, n, segment};
  ends.crossed = crossed + get_global_id(0) * (4 * COMPONENTS);
  f.ends = &ends;
#endif
#if CROSSFLOW > 0
  const Crossflow crossflow = {
      others_are_swept, rates_across, {lane_lead, outer_lead}, lines, (long)lines * outers};
  ends.crossflow = crossflow;
#endif
  const long begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles_of(grid)); job++) {
    const Tile next = aim_at(&f, grid, job);
    aim_motion(MOTION_ARGUMENT, &f.tile, &next, OWN_ROWS(f.tile, grid), reach);
    aim_sums(sums, &f);
    push_and_remesh(MOTION_ARGUMENT, sums, windows, &f);
    store(sums, &f);
    if (BOUNDED) settle(f.ends);
  }
}

#endif
