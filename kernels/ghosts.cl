/* SPDX-License-Identifier: BSD-3-Clause */
/* What particles carry that come in through the ends of a line. */
#include "cells.cl"
#include "fields.cl"
#include "inflow.cl"
#include "lines.cl"

#define LOW 0
#define HIGH 1

#ifdef BOUNDED

/* The ends of the lines of a tile. */
typedef struct {
  real begin, duration; /* of the sweep */
  int n, segment, reach;
  I first, live;         /* node of row 0 of each lane; lanes that are lines */
  V left[COMPONENTS][2]; /* through either end, less what has come in */
} Ends;

INLINE void aim_ends(Ends* e, const Tile* tile) {
  e->first = FIRST_NODES(*tile);
  e->live = (I)(LANE_NUMBERS) < (I)((lane_int)tile->live);
  for (int c = 0; c < COMPONENTS; c++) e->left[c][LOW] = e->left[c][HIGH] = 0;
}

#if LOW_END == INFLOW || HIGH_END == INFLOW
/* A particle so far beyond an end that it takes more sweeps to come in matters little: it hardly
 * moves. */
#define SWEEPS_AT_MOST REAL(1024.0)

/* Strength of a ghost `beyond` cells outside that moves `towards` the end in this sweep: what is
 * carried in when it gets there. Where it moves away it keeps that of the last node. In a sweep
 * back in time the ghosts that move away are those that come in as time goes on. */
INLINE V entering_through(const Ends* e, const int c, const int end, const V beyond,
                          const V towards, const V strength) {
  const V zero = 0, most = (V)(SWEEPS_AT_MOST);
  const V inwards = e->duration < 0 ? -towards : towards;
  V sweeps = SELECT(inwards > 0, beyond / inwards, zero);
  sweeps = SELECT(sweeps > most, most, sweeps);
  const V time = MAD((V)(fabs(e->duration)), sweeps, (V)(e->begin));
  const V value = inflow_value(c, end, time);
  return SELECT((beyond > 0) & (inwards > 0) & (e->live != 0), value, strength);
}
#endif

/* What the ghost of a row carries, which is `strength` but where particles come in. */
INLINE V strength_of_ghost(const Ends* e, const int c, const int row, const Cells* cells,
                           V strength) {
#if LOW_END == INFLOW || HIGH_END == INFLOW
  const I node = e->first + (lane_int)row, source = SOURCE_OF(node, e->n);
  const V moved = TO_REAL(cells->whole) + cells->offset;
  const V forward = SELECT(IS_IMAGE(node, e->n), -moved, moved);
#endif
#if LOW_END == INFLOW
  const V before = REAL(-0.5) - TO_REAL(source);
  strength = entering_through(e, c, LOW, before, forward, strength);
#endif
#if HIGH_END == INFLOW
  const V after = TO_REAL(source - (lane_int)e->n) + REAL(0.5);
  strength = entering_through(e, c, HIGH, after, -forward, strength);
#endif
  return strength;
}

#endif
