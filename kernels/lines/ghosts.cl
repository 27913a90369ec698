/* SPDX-License-Identifier: BSD-3-Clause */
/* The ends of lines, and what is known of the ghosts that come in through them. *
 * CROSSFLOW  other axes there are, along which what comes in is strained as well: the lane axis
 *            first. Not where the motion is given, or values come in, which are not strained. */
#include "lines/cells.cl"
#include "generated/fields.cl"
#include "lines/lines.cl"

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

#ifdef CROSSFLOW
/* What is known of the other axes at the ends of all lines. */
typedef struct {
  int is_swept;               /* whether they are, in turns with this one */
  real leads[CROSSFLOW];      /* how much further in time this sweep begins than they have come */
  __global const real* rates; /* of all lines of the low end, then of the high one, for each */
  int lanes;                  /* lines along the lane axis */
  long lines;
} Crossflow;

#if CROSSFLOW == 1
#define LEAD_PARAMETERS const real lane_lead,
#define LEADS {lane_lead}
#else
#define LEAD_PARAMETERS const real lane_lead, const real outer_lead,
#define LEADS {lane_lead, outer_lead}
#endif
#define CROSSFLOW_PARAMETERS \
  const int others_are_swept, LEAD_PARAMETERS __global const real *rates_across,
#define CROSSFLOW_OF(d) \
  , { others_are_swept, LEADS, rates_across, (d).lines, (long)(d).lines*(d).outers }
#else
#define CROSSFLOW_PARAMETERS
#define CROSSFLOW_OF(division)
#endif

/* The ends of the lines of a tile. */
typedef struct {
  real begin, duration; /* of the sweep */
  int n, segment, reach;
#ifdef CROSSFLOW
  Crossflow crossflow;
  V rates[2][CROSSFLOW]; /* of the lines of the tile */
#endif
  I first, live;         /* node of row 0 of each lane; lanes that are lines */
  V left[COMPONENTS][2]; /* through either end, less what has come in */
#ifdef HAS_INFLOW
  Arrival arrivals[LANES][2]; /* of some rows, through either end */
#endif
} Ends;

#ifdef CROSSFLOW
#define IS_INFLOW(end) ((end) == LOW ? LOW_END == INFLOW : HIGH_END == INFLOW)

INLINE void aim_crossflow(Ends* e, const Tile* tile) {
  const Crossflow* c = &e->crossflow;
  const I lanes = LANE_LINES(*tile), outers = OUTER_LINES(*tile);
  for (int j = 0; j < LANES; j++) {
    const long lane = ((__private const lane_int*)&lanes)[j];
    const long line = lane + c->lanes * (long)((__private const lane_int*)&outers)[j];
    for (int end = LOW; end <= HIGH; end++)
      for (int k = 0; IS_INFLOW(end) && k < CROSSFLOW; k++)
        ((__private real*)&e->rates[end][k])[j] = c->rates[(end * CROSSFLOW + k) * c->lines + line];
  }
}
#endif

INLINE void aim_ends(Ends* e, const Tile* tile) {
  e->first = FIRST_NODES(*tile);
  e->live = (I)(LANE_NUMBERS) < (I)((lane_int)tile->live);
  for (int c = 0; c < COMPONENTS; c++) e->left[c][LOW] = e->left[c][HIGH] = 0;
#ifdef CROSSFLOW
  aim_crossflow(e, tile);
#endif
}

#endif
