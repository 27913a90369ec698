/* SPDX-License-Identifier: BSD-3-Clause */
/* One directional sweep: push the particles of every line, remesh them onto the nodes of the same
 * line, store.
 *
 * RACES. A line's result depends on that line alone. A work-item owns `tiles_each` consecutive
 * tiles and nobody else touches their lines, so nothing races and the order of every sum is fixed:
 * any number of threads gives the same bits. In place is right because a line is stored after its
 * last particle was read. A SEGMENT owns only some nodes of its lines and needs particles of its
 * neighbours, who overwrite theirs: it reads them where keep_edges() has left a copy.
 *
 * LINES_IN_LOCAL   node sums lie in local memory, segment + 1 rows for each work-item, instead of
 *                  private memory
 * LINES_IN_GLOBAL  node sums lie in the result itself; the particles are a copy of what was there
 */
#include "limiter.cl"

/* The fields of a launch, as one tile sees them. */
typedef struct {
  __global stored* u[COMPONENTS];
  __global const stored* kept[COMPONENTS]; /* particles of other segments, or all of them */
  Strides strides;
  Tile tile;
  Place place, next; /* of the tile, and of the one to come */
  int n, segment;
  int pass; /* along the line */
} Fields;

/* Particles on LANES rows of a component, from row `first` on. */
typedef struct {
  __global const stored* from;
  int first, low, high;
#ifdef ALONG_MEMORY
  V rows[LANES];
#endif
} Block;

/* Only nodes low .. high-1, counted on beyond the ends of the line, have particles here. */
INLINE void aim_block(Block* b, const Fields* f, const int c, const int first, const int low,
                      const int high) {
  b->first = first, b->low = low, b->high = high;
  b->from = f->u[c];
#ifdef SEGMENT
  const int is_own = low == 0 && first >= 0 && first < f->segment;
  if (!is_own) b->from = f->kept[c];
#elif defined(LINES_IN_GLOBAL)
  b->from = f->kept[c];
#endif
#if defined(ALONG_MEMORY) && defined(SEGMENT)
  read_periodic_block(b->rows, b->from, &f->tile, &f->place, f->n, first, low, high);
#elif defined(ALONG_MEMORY)
  read_block(b->rows, b->from, &f->place, first);
#endif
}

/* What particle k carries. */
INLINE V strength_of(const Block* b, const Fields* f, const int k) {
  prefetch_row(b->from, &f->next, f->strides, b->first, k);
#ifdef ALONG_MEMORY
  return b->rows[k];
#else
  int row = b->first + k;
#ifdef SEGMENT
  row = wrap(f->tile.first + row, f->n) - f->tile.first;
#endif
  return read_row(b->from, &f->place, f->strides, row);
#endif
}

/* Particle k of a component, or of the density. */
INLINE void give(const Sums* sums, Window* window, const Block* b, const Fields* f, const int c,
                 const int k, const Cells* cells, __private const V* weight) {
  const V strength = c < COMPONENTS ? strength_of(&b[c], f, k)
                                    : density_of(&f->tile, b->first + k, b->low, b->high);
  add_particle(sums, window, b->first + MARGIN + k, cells, weight, strength);
}

/* Particles of rows from..to-1 of a tile, in ascending order, as far as they are on nodes
 * low..high-1. */
INLINE void carry(MOTION_PARAMETER, const Sums* sums, Window* windows, const Fields* f, int from,
                  const int to, const int low, const int high) {
  for (int first = from; first < to; first += LANES) {
    const int rows = min(LANES, to - first);
    /* All pushes, then the deposits: the rows of a stage are independent of one another, which
     * hides latency. */
    V moved[LANES];
    displacements(MOTION_ARGUMENT, first, rows, moved);
    Block block[COMPONENTS];
    for (int c = 0; c < COMPONENTS; c++) aim_block(&block[c], f, c, first, low, high);
#if CARRIED == 1
    for (int k = 0; k < rows; k++) {
      prefetch_motion(m, first, k);
      const Cells cells = cells_of(moved[k]);
      V weight[WEIGHTS];
      weights_of(cells.offset - REAL(0.5), f->pass, weight);
      give(sums, windows, block, f, 0, k, &cells, weight);
    }
#else
    /* The window of one component at a time fits in registers. */
    Cells cells[LANES];
    V weight[LANES][WEIGHTS];
    for (int k = 0; k < rows; k++) {
      prefetch_motion(m, first, k);
      cells[k] = cells_of(moved[k]);
      weights_of(cells[k].offset - REAL(0.5), f->pass, weight[k]);
    }
    UNROLL
    for (int c = 0; c < CARRIED; c++) {
      Window window[SUMS_EACH];
      for (int s = 0; s < SUMS_EACH; s++) window[s] = windows[c * SUMS_EACH + s];
      for (int k = 0; k < rows; k++)
        give(&sums[c * SUMS_EACH], window, block, f, c, k, &cells[k], weight[k]);
      for (int s = 0; s < SUMS_EACH; s++) windows[c * SUMS_EACH + s] = window[s];
    }
#endif
  }
}

#ifdef SEGMENT
/* The particles that may reach the segments of a tile, each once, in ascending order of their
 * nodes: those beyond the end of the line come first, as they are on its first nodes, then those on
 * the line, then those before its beginning. Blocks begin at multiples of LANES, as segments do:
 * each is within a lane's own segment or outside. */
INLINE void carry_segments(MOTION_PARAMETER, const Sums* sums, Window* windows, const Fields* f,
                           const int reach) {
  const int n = f->n, least = f->tile.least_first, greatest = f->tile.greatest_first;
  int from = -(reach + LANES - 1) / LANES * LANES, to = f->segment + reach;
  if (to - from > n) from = -least, to = n - least;
  int beyond = max(from, n - greatest);
#ifdef ALONG_MEMORY
  if (beyond > 0) beyond = beyond / LANES * LANES; /* lanes that are not beyond yet have nothing */
#endif
  carry(MOTION_ARGUMENT, sums, windows, f, beyond, to, n, 2 * n);
  carry(MOTION_ARGUMENT, sums, windows, f, max(from, -greatest), min(to, n - least), 0, n);
  carry(MOTION_ARGUMENT, sums, windows, f, from, min(to, -least), -n, 0);
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
#ifdef ALONG_MEMORY
  for (int first = 0; first < count; first += LANES) {
    V rows[LANES];
    for (int k = 0; k < LANES; k++) rows[k] = next_result(&results);
    write_block(rows, f->u[c], &f->tile, &f->place, f->n, first);
  }
#else
  for (int p = 0; p < count; p++)
    write_row(next_result(&results), f->u[c], &f->place, f->strides, p);
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
  for (int c = 0; c < CARRIED; c++) close_windows(&sums[c * SUMS_EACH], &windows[c * SUMS_EACH]);
#ifdef DERIVED
  for (int c = 0; c < LINE_SUMS; c++) repeat_nodes(&sums[c], f->segment + 2 * MARGIN);
#endif
}

#define STRIDE_PARAMETERS const long row_stride, const long lane_stride, const long outer_stride
#define DECLARE_FIELDS                                                                 \
  Fields f = {FIELD_POINTERS, KEPT_POINTERS, {row_stride, lane_stride, outer_stride}}; \
  f.n = n, f.segment = segment

#ifdef SEGMENT
/* Copies the particles of every segment that others may need: `reach` rows at either end. */
__kernel void keep_edges(FIELD_PARAMETERS, STRIDE_PARAMETERS, DIVISION_PARAMETERS,
                         const int reach) {
  DECLARE_DIVISION;
  DECLARE_FIELDS;
  __global stored* kept[COMPONENTS] = KEPT_POINTERS;
  const long begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles_of(division)); job++) {
    const Tile tile = tile_at(job, division);
    const Place place = place_of(&tile, f.strides);
    for (int c = 0; c < COMPONENTS; c++)
      copy_ends(f.u[c], kept[c], &tile, &place, f.strides, n, segment, reach);
  }
}
#endif

#ifdef LINES_IN_LOCAL
#define LOCAL_PARAMETERS , __local V* local_rows
#else
#define LOCAL_PARAMETERS
#endif

/* `reach`: no particle is deposited further away, in nodes. */
__kernel void sweep(FIELD_PARAMETERS, STRIDE_PARAMETERS, DIVISION_PARAMETERS, const int reach,
                    MOTION_PARAMETERS LOCAL_PARAMETERS) {
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
#define ROWS_HELD (LINE_CAPACITY + 2 * MARGIN + LANES)
  const int capacity = ROWS_HELD;
  const Pitch pitch = 1;
  V rows[PASSES * LINE_SUMS * ROWS_HELD];
#endif
  Sums sums[PASSES * LINE_SUMS];
  Window windows[LINE_SUMS];
  const int used = min(segment + 2 * MARGIN + LANES, capacity);
  for (int c = 0; c < PASSES * LINE_SUMS; c++) {
    sums[c].at = rows + c * capacity * pitch;
    sums[c].pitch = pitch;
    sums[c].n = n;
#ifdef SEGMENT
    sums[c].count = min(segment + 2 * MARGIN, n);
#endif
    for (int p = 0; p < used; p++) sums[c].at[p * pitch] = 0;
  }
  DECLARE_MOTION;
  const long tiles = tiles_of(division), begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles); job++) {
    f.tile = tile_at(job, division);
    f.place = place_of(&f.tile, f.strides);
    const Tile next = tile_at(min(job + 1, tiles - 1), division);
    f.next = segment > NODES_AHEAD ? rows_ahead(f.place, f.strides) : place_of(&next, f.strides);
    aim_motion(MOTION_ARGUMENT, &f.tile, &next, segment, reach);
#ifdef LINES_IN_GLOBAL
    for (int c = 0; c < COMPONENTS; c++) sum_up_in_result(&sums[c], &f, c);
#endif
    int passes = 0;
    do {
      f.pass = passes++;
      sum_up(MOTION_ARGUMENT, sums + f.pass * LINE_SUMS, windows, &f, reach);
    } while (passes < PASSES && needs_linear(sums, min(segment, n - f.tile.least_first)));
#ifndef LINES_IN_GLOBAL
    for (int c = 0; c < COMPONENTS; c++) store(sums, &f, c);
    for (int c = 0; c < passes * LINE_SUMS; c++) clear(&sums[c], used);
#endif
  }
}
