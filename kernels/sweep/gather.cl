/* SPDX-License-Identifier: BSD-3-Clause */
/* One directional sweep of particles that carry values: the path of every node is followed back,
 * and what the kernel reads at its departure is stored.
 *
 * RACES. A work-item owns the nodes of `tiles_each` consecutive tiles and nobody else writes them.
 * It stores a node when all of the line is held that its tile reads; what others overwrite
 * meanwhile it reads where keep_edges.cl has left a copy. Every node is a sum in the order of its
 * stencil, so any number of lanes, segments and threads gives the same bits.
 *
 * LIMITER  POSITIVE or MONOTONE: what is read is kept above a floor, or between its neighbours */
#define FOLLOWS_BACK
#include "sweep/held.cl"
#include "sweep/limits.cl"

#ifdef BOUNDED
#define ENDS_PARAMETERS const real sweep_begin, const real sweep_duration,
#else
#define ENDS_PARAMETERS
#endif

/* The kernel's weights sum up to one: written with differences a constant stays what it is to the
 * last bit. */
INLINE V mean_of(__private const V* around, __private const V* weight) {
  const V here = around[STENCIL_LEFT];
  V rest = 0;
  UNROLL
  for (int j = 0; j < STENCIL; j++)
    if (j != STENCIL_LEFT) rest = MAD(weight[j], around[j] - here, rest);
  return here + rest;
}

/* A kernel overshoots where it is negative. POSITIVE: the floor is 0, or the lesser one of the
 * nodes on either side of the place where that is less. MONOTONE: the range is that of these two
 * nodes. A place on a node has no other. */
INLINE V limited(const V value, __private const V* around, const V offset) {
#if LIMITER == NONE
  return value;
#else
  const V before = around[STENCIL_LEFT];
  const V after = SELECT(offset > 0, around[STENCIL_LEFT + 1], before);
#if LIMITER == POSITIVE
  return GREATEST_OF(value, LEAST_OF_3(before, after, (V)(REAL(0.0))));
#else
  return LEAST_OF(GREATEST_OF(value, LEAST_OF(before, after)), GREATEST_OF(before, after));
#endif
#endif
}

/* What comes of a place, so many cells after row i, for component `c`. */
INLINE V value_at(MOTION_PARAMETER, const Held* h, const int c, const int i, const Cells cells,
                  __private const V* weight) {
  V around[STENCIL];
  read_around(MOTION_ARGUMENT, h, c, i, cells, around);
  return limited(mean_of(around, weight), around, cells.offset);
}

/* Follows the nodes of a tile back and stores what is found where they come from. */
INLINE void gather_tile(MOTION_PARAMETER, const Held* h) {
  const Fields* f = h->f;
  const int count = min(f->segment, f->n - f->tile.least_first);
  for (int first = 0; first < count; first += LANES) {
    const int rows = min(LANES, count - first);
    V moved[LANES];
    push_rows(MOTION_ARGUMENT, f, first, 0, rows, moved);
#ifdef ALONG_MEMORY
    V result[COMPONENTS][LANES];
#endif
    for (int k = 0; k < rows; k++) {
      prefetch_motion(m, first, k);
      const Cells cells = cells_of(moved[k]);
      V weight[STENCIL];
      remeshing_weights(cells.offset - REAL(0.5), weight);
      for (int c = 0; c < COMPONENTS; c++) {
        const V value = value_at(MOTION_ARGUMENT, h, c, first + k, cells, weight);
#ifdef ALONG_MEMORY
        result[c][k] = value;
#else
        write_row(value, f->u[c], &f->place, f->strides, first + k);
#endif
      }
    }
#ifdef ALONG_MEMORY
    for (int c = 0; c < COMPONENTS; c++)
      write_block(result[c], f->u[c], &f->tile, &f->place, f->n, first);
#endif
  }
}

/* The motion is that of the sweep with time reversed. `reach`: no node is read from further away.
 */
KERNEL void gather(FIELD_PARAMETERS, STRIDE_PARAMETERS, DIVISION_PARAMETERS, const int reach,
                   ENDS_PARAMETERS MOTION_PARAMETERS LOCAL_PARAMETERS) {
  DECLARE_DIVISION;
  DECLARE_FIELDS;
  DECLARE_MOTION;
#if defined(LINES_IN_LOCAL)
  Held held = {&f, local_rows + get_local_id(0), get_local_size(0), segment + 2 * ROWS_BEYOND + 1};
#elif defined(LINES_IN_GLOBAL)
  Held held = {&f};
#else
  V rows[COMPONENTS * ROWS_HELD];
  Held held = {&f, rows, 1, ROWS_HELD};
#endif
#ifdef BOUNDED
  Ends ends = {sweep_begin, sweep_duration, n, segment, reach};
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
    hold(MOTION_ARGUMENT, &held, reach);
    gather_tile(MOTION_ARGUMENT, &held);
  }
}
