/* SPDX-License-Identifier: BSD-3-Clause */
/* The ends of lines, and what is known of the ghosts that come in through them. */
#include "cells.cl"
#include "fields.cl"
#include "lines.cl"

#ifdef BOUNDED

#if LOW_END == INFLOW || HIGH_END == INFLOW
#define HAS_INFLOW
/* No ghost moves more than twice as far as particles on the line (continued.cl). */
#define REACH_BEYOND(reach) (2 * min(reach, INT_MAX / 4))
#else
#define REACH_BEYOND(reach) (reach)
#endif

/* Of ghosts that come in through an end: when, and how much of what comes in then they carry. */
typedef struct {
  V time, share;
  I is_expected; /* whether they come in at all */
} Arrival;

/* The ends of the lines of a tile. */
typedef struct {
  real begin, duration; /* of the sweep */
  int n, segment, reach;
  I first, live;         /* node of row 0 of each lane; lanes that are lines */
  V left[COMPONENTS][2]; /* through either end, less what has come in */
#ifdef HAS_INFLOW
  Arrival arrivals[LANES][2]; /* of some rows, through either end */
#endif
} Ends;

INLINE void aim_ends(Ends* e, const Tile* tile) {
  e->first = FIRST_NODES(*tile);
  e->live = (I)(LANE_NUMBERS) < (I)((lane_int)tile->live);
  for (int c = 0; c < COMPONENTS; c++) e->left[c][LOW] = e->left[c][HIGH] = 0;
}

#endif
