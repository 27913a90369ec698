/* SPDX-License-Identifier: BSD-3-Clause */
/* What a launch sweeps: fields, and the ends of their lines, through which ghosts come in.
 *
 * CROSSFLOW  other axes there are, along which what comes in is strained as well: the lane axis
 *            first; 0 where the motion is given, or values come in, which are not strained. */
#include "common/common.cl"
#include "generated/swept_fields.cl"
#include "lines/boundary.cl"
#include "lines/form.cl"
#include "lines/lines.cl"

#ifndef CROSSFLOW
#define CROSSFLOW 0
#endif
#define HAS_INFLOW (LOW_END == INFLOW || HIGH_END == INFLOW)

/* Beyond the ends ghosts are looked for that may reach the line: none moves more than twice as far
 * as particles on it (continued.cl). */
INLINE int reach_beyond(const int reach) {
  return HAS_INFLOW ? 2 * min(reach, INT_MAX / 4) : reach;
}

/* Of ghosts that come in through an end: when, and how much of what comes in then they carry. */
typedef struct {
  V time, share;
  I is_expected; /* whether they come in at all */
} Arrival;

#if CROSSFLOW > 0
/* What is known of the other axes at the ends of all lines. */
typedef struct {
  int is_swept;               /* whether they are, in turns with this one */
  __global const real* rates; /* of all lines of the low end, then of the high one, for each */
  real leads[2];              /* how much further in time this sweep begins than they have come */
  int lanes;                  /* lines along the lane axis */
  long lines;
} Crossflow;
#endif

/* The ends of the lines of a tile. */
typedef struct {
  real begin, duration; /* of the sweep */
  int n, segment;
#if CROSSFLOW > 0
  Crossflow crossflow;
  V rates[2][CROSSFLOW]; /* of the lines of the tile */
#endif
  I first, live;         /* node of row 0 of each lane; lanes that are lines */
  V left[COMPONENTS][2]; /* through either end, less what has come in */
  __global V* crossed;   /* all of it, and what rounding took from that: two numbers an end */
#if HAS_INFLOW
  Arrival arrivals[LANES][2]; /* of some rows, through either end */
#endif
} Ends;

#if CROSSFLOW > 0
INLINE void aim_crossflow(Ends* e, const Tile* tile) {
  const Crossflow* c = &e->crossflow;
  const I lanes = LANE_LINES(*tile), outers = OUTER_LINES(*tile);
  for (int j = 0; j < LANES; j++) {
    const long lane = ((__private const lane_int*)&lanes)[j];
    const long line = lane + c->lanes * (long)((__private const lane_int*)&outers)[j];
    for (int end = LOW; end <= HIGH; end++)
      for (int k = 0; (end == LOW ? LOW_END : HIGH_END) == INFLOW && k < CROSSFLOW; k++)
        ((__private real*)&e->rates[end][k])[j] = c->rates[(end * CROSSFLOW + k) * c->lines + line];
  }
}
#endif

INLINE void aim_ends(Ends* e, const Tile* tile) {
  e->first = FIRST_NODES(*tile);
  e->live = (I)(LANE_NUMBERS) < (I)((lane_int)tile->live);
  for (int c = 0; c < COMPONENTS; c++) e->left[c][LOW] = e->left[c][HIGH] = 0;
#if CROSSFLOW > 0
  aim_crossflow(e, tile);
#endif
}

/* The fields of a launch, as one tile sees them. */
typedef struct {
  __global stored* u[COMPONENTS];
  __global const stored* kept[COMPONENTS]; /* particles of other segments, or all of them */
  Strides strides;
  int n, segment, reach; /* no particle reaches further, in nodes */
  Tile tile;
  LaneStarts starts, next; /* of the tile, and of the one to come */
  Ends* ends;              /* of BOUNDED lines */
  int part_end;            /* of a PART: behind its last node */
  long kept_further;       /* of a PART: by how much further outer lines of `kept` are apart, */
  long kept_at;            /* and how far `kept` points into them, for the tile */
  __global const stored* others[COMPONENTS]; /* of a PART whose own particles are in `kept` */
  long others_further;                       /* by how much further outer lines are apart there */
} Swept;

/* What a PART whose particles are all in `kept` reads of others, in its kernel and in `f`. */
#if PART
#define ROWS_OF_OTHERS OTHERS_PARAMETERS, const long others_outer_stride
#define AIM_AT_OTHERS(f)                                             \
  __global const stored* const others[COMPONENTS] = OTHERS_POINTERS; \
  for (int c = 0; c < COMPONENTS; c++) (f)->others[c] = others[c];   \
  (f)->part_end = part_end;                                          \
  (f)->others_further = others_outer_stride - outer_stride
#else
#define ROWS_OF_OTHERS
#define AIM_AT_OTHERS(f)
#endif

/* Behind the last node that is here. */
#define END_OF(f) (PART ? (f)->part_end : (f)->n)

/* Whether LANES rows from `first` on are a tile's own: of a PART the last ones may be others'. */
INLINE int are_own(const Swept* f, const int first) { return first >= 0 && first < f->segment; }

/* Of a PART, whether a row is a tile's own. */
INLINE int is_own_row(const Swept* f, const int row) {
  return are_own(f, row) && f->tile.least_first + row < f->part_end;
}

/* Rows from..to-1, of particles on nodes from `low` on, counted on beyond the ends of the line. */
typedef struct {
  int from, to, low;
} RowRange;

#define PARTS (SEGMENT ? 3 : 1)
#define OWN_PART 1 /* of the line itself, between those beyond its ends */

/* The particles that may reach a tile of `count` rows of one lane, each once, in the order of the
 * serial loop (sweep.cl). */
INLINE RowRange rows_of_part(const Swept* f, const int count, const int part) {
  const int n = f->n, first = f->tile.least_first, beyond = reach_beyond(f->reach);
  const int is_whole = !BOUNDED && count + 2 * f->reach > n;
  const int from = is_whole ? -first : -f->reach, to = is_whole ? n - first : count + f->reach;
  const RowRange all = {0, n, 0}, own = {max(from, -first), min(to, n - first), 0};
  const RowRange ghosts_before = {-beyond, min(count + beyond, -first), INT_MIN};
  const RowRange ghosts_behind = {max(-beyond, n - first), count + beyond, n};
  const RowRange of_begin = {max(from, n - first), to, n}, of_end = {from, min(to, -first), -n};
  if (!SEGMENT) return all;
  if (part == OWN_PART) return own;
  if (part == 0) return BOUNDED ? ghosts_before : of_begin;
  return BOUNDED ? ghosts_behind : of_end;
}

#if !ALONG_MEMORY
/* Where particles of a row lie that nobody overwrites. */
INLINE __global const stored* particles_of(const Swept* f, const int c, const int row) {
  const int node = f->tile.first + row;
  const int are_here = !PART || (node >= f->tile.begin && node < f->part_end);
  return are_here ? f->kept[c] : f->others[c] + further_in_kept(&f->tile, f->others_further);
}
#endif

/* The tile of a job, and its first row; and what is to be fetched meanwhile. */
INLINE Tile aim_at(Swept* f, const Lines grid, const long job) {
  const Tile next = tile_at(min(job + 1, tiles_of(grid) - 1), grid);
  f->tile = tile_at(job, grid);
  if (PART) {
    const long at = further_in_kept(&f->tile, f->kept_further);
    for (int c = 0; c < COMPONENTS; c++) f->kept[c] += at - f->kept_at;
    f->kept_at = at;
  }
  f->starts = lane_starts(&f->tile, f->strides);
  f->next =
      f->segment > NODES_AHEAD ? rows_ahead(f->starts, f->strides) : lane_starts(&next, f->strides);
  if (BOUNDED) aim_ends(f->ends, &f->tile);
  if (BOUNDED && PART) f->ends->segment = min(f->segment, END_OF(f) - f->tile.least_first);
  return next;
}
