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
 * Node sums lie where work_memory.cl says: segment + 1 rows for each work-item, or the result
 * itself, where the particles are a copy of what was there. */
#include "sweep/carried.cl"

/* Particles of rows from..to-1 of a tile, in ascending order, as far as they are on nodes
 * low..high-1. Blocks begin at multiples of LANES, as segments do: each is within a lane's own
 * segment or outside. */
INLINE void carry(MOTION_PARAMETER, const Sums* sums, Window* windows, const Fields* f,
                  const int from, const int to, const int low, const int high) {
  for (int first = from & -LANES; first < to; first += LANES) {
    int begin = max(from - first, 0), rows = min(LANES, to - first);
    /* All pushes, then the deposits: the rows of a stage are independent of one another, which
     * hides latency. */
    V moved[LANES];
    push_rows(MOTION_ARGUMENT, f, first, begin, rows, moved);
    Block block[COMPONENTS];
    for (int c = 0; c < COMPONENTS; c++) aim_block(&block[c], f, c, first, low, high);
#ifdef BOUNDED
    expect_ghosts(MOTION_ARGUMENT, f->ends, block[0].side, first, &begin, &rows, moved);
#endif
#if COMPONENTS == 1
    for (int k = begin; k < rows; k++) {
      prefetch_motion(m, first, k);
      const Cells cells = cells_of(moved[k]);
      V weight[WEIGHTS];
      weights_of(cells.offset - REAL(0.5), weight);
      give(sums, windows, block, f, 0, k, &cells, weight);
    }
#else
    /* The window of one component at a time fits in registers. */
    Cells cells[LANES];
    V weight[LANES][WEIGHTS];
    for (int k = begin; k < rows; k++) {
      prefetch_motion(m, first, k);
      cells[k] = cells_of(moved[k]);
      weights_of(cells[k].offset - REAL(0.5), weight[k]);
    }
    UNROLL
    for (int c = 0; c < COMPONENTS; c++) {
      Window window[SUMS_EACH];
      for (int s = 0; s < SUMS_EACH; s++) window[s] = windows[c * SUMS_EACH + s];
      for (int k = begin; k < rows; k++)
        give(&sums[c * SUMS_EACH], window, block, f, c, k, &cells[k], weight[k]);
      for (int s = 0; s < SUMS_EACH; s++) windows[c * SUMS_EACH + s] = window[s];
    }
#endif
  }
}

#ifdef SEGMENT
/* The particles that may reach the segments of a tile, each once, in ascending order of their
 * nodes: those beyond the end of the line come first, as they are on its first nodes, then those on
 * the line, then those before its beginning. */
INLINE void carry_segments(MOTION_PARAMETER, const Sums* sums, Window* windows, const Fields* f,
                           const int reach) {
  const int n = f->n, least = f->tile.least_first, greatest = f->tile.greatest_first;
  int from = -reach, to = f->segment + reach;
#ifdef BOUNDED
  const int beyond = REACH_BEYOND(reach), last = f->segment + beyond;
  const int begins[] = {-beyond, max(from, -greatest), max(-beyond, n - greatest)},
            ends[] = {min(last, -least), min(to, n - least), last}, lows[] = {INT_MIN, 0, n},
            highs[] = {0, n, INT_MAX};
  for (int part = 0; part < 3; part++)
    carry(MOTION_ARGUMENT, sums, windows, f, begins[part], ends[part], lows[part], highs[part]);
#else
  if (to - from > n) from = -least, to = n - least;
  carry(MOTION_ARGUMENT, sums, windows, f, max(from, n - greatest), to, n, 2 * n);
  carry(MOTION_ARGUMENT, sums, windows, f, max(from, -greatest), min(to, n - least), 0, n);
  carry(MOTION_ARGUMENT, sums, windows, f, from, min(to, -least), -n, 0);
#endif
}
#endif

#ifdef LINES_IN_GLOBAL
INLINE void sum_up_in_result(Sums* sums, const Fields* f, const int c) {
  sums->at = (__global V*)(f->u[c] + f->place.start);
  for (int p = 0; p < f->n; p++) sums->at[p * sums->pitch] = 0;
}
#else
/* Stores what comes of the sums of a component. */
INLINE void store(const Sums* sums, const Fields* f, const int c) {
  const int count = min(f->segment, f->n - f->tile.least_first);
  Results results = results_of(sums, c);
#if defined(BOUNDED) && defined(LIMITED)
  count_flux_in(f->ends, c, results.entered);
#define NEXT_RESULT(p) next_result_at_ends(f->ends, c, p, &results)
#else
#define NEXT_RESULT(p) next_result(&results)
#endif
#ifdef ALONG_MEMORY
  for (int first = 0; first < count; first += LANES) {
    V rows[LANES];
    for (int k = 0; k < LANES; k++) rows[k] = NEXT_RESULT(first + k);
    write_block(rows, f->u[c], &f->tile, &f->place, f->n, first);
  }
#else
  for (int p = 0; p < count; p++) write_row(NEXT_RESULT(p), f->u[c], &f->place, f->strides, p);
#endif
}
#endif

/* Adds up the particles of the lines of a tile. */
INLINE void sum_up(MOTION_PARAMETER, const Sums* sums, Window* windows, const Fields* f,
                   const int reach) {
  for (int c = 0; c < LINE_SUMS; c++) windows[c].open = 0;
#ifdef SEGMENT
  carry_segments(MOTION_ARGUMENT, sums, windows, f, reach);
#else
  carry(MOTION_ARGUMENT, sums, windows, f, 0, f->n, 0, f->n);
#endif
  for (int c = 0; c < COMPONENTS; c++) close_windows(&sums[c * SUMS_EACH], &windows[c * SUMS_EACH]);
#ifdef LIMITED
  for (int c = 0; c < LINE_SUMS; c++) repeat_nodes(&sums[c], f->segment + 2 * MARGIN);
#endif
}

/* `reach`: no particle is deposited further away, in nodes. */
KERNEL void sweep(FIELD_PARAMETERS, STRIDE_PARAMETERS, DIVISION_PARAMETERS, const int reach,
                  ENDS_PARAMETERS MOTION_PARAMETERS LOCAL_PARAMETERS) {
  DECLARE_DIVISION;
  DECLARE_FIELDS;
#if defined(LINES_IN_LOCAL)
  const int capacity = segment + 2 * MARGIN + 1;
  const Pitch pitch = get_local_size(0);
  __local V* rows = local_rows + get_local_id(0);
#elif defined(LINES_IN_GLOBAL)
  const int capacity = 0;
  const Pitch pitch = row_stride / LANES;
  __global V* rows = 0;
#else
  const int capacity = ROWS_HELD;
  const Pitch pitch = 1;
  V rows[LINE_SUMS * ROWS_HELD];
#endif
  Sums sums[LINE_SUMS];
  Window windows[LINE_SUMS];
  const int used = min(segment + 2 * MARGIN + LANES, capacity);
  for (int c = 0; c < LINE_SUMS; c++) {
    sums[c].at = rows + c * capacity * pitch;
    sums[c].pitch = pitch;
    sums[c].n = n;
    sums[c].count = ROWS_OF_LINE(segment + 2 * MARGIN, n);
    for (int p = 0; p < used; p++) sums[c].at[p * pitch] = 0;
  }
  DECLARE_MOTION;
#ifdef BOUNDED
  Ends ends = {sweep_begin, sweep_duration, n, segment, reach CROSSFLOW_OF(division)};
  f.ends = &ends;
#endif
  const long tiles = tiles_of(division), begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles); job++) {
    f.tile = tile_at(job, division);
    f.place = place_of(&f.tile, f.strides);
    const Tile next = tile_at(min(job + 1, tiles - 1), division);
    f.next = segment > NODES_AHEAD ? rows_ahead(f.place, f.strides) : place_of(&next, f.strides);
    aim_motion(MOTION_ARGUMENT, &f.tile, &next, segment, reach);
#ifdef BOUNDED
    aim_ends(&ends, &f.tile);
#endif
#ifdef LINES_IN_GLOBAL
    for (int c = 0; c < COMPONENTS; c++) sum_up_in_result(&sums[c], &f, c);
#endif
    sum_up(MOTION_ARGUMENT, sums, windows, &f, reach);
#ifndef LINES_IN_GLOBAL
    for (int c = 0; c < COMPONENTS; c++) store(sums, &f, c);
#ifdef SEGMENT
    /* What has been taken is 0 already, but a last segment may be shorter than its rows, and one
     * row is that of all others. */
    const int rows_taken = min(segment, n - f.tile.least_first) + ROWS_TAKEN_BEYOND;
    for (int c = 0; c < LINE_SUMS; c++) clear(&sums[c], rows_taken, used);
#endif
#endif
#ifdef BOUNDED
    settle(&ends, crossed + get_global_id(0) * (4 * COMPONENTS));
#endif
  }
}
