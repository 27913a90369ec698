/* SPDX-License-Identifier: BSD-3-Clause */
/* The mass that crosses the ends of a line. */
#include "sweep/arrival.cl"
#include "common/compensated.cl"
#include "sweep/limiter.cl"

#define ON_LINE 2 /* neither LOW nor HIGH: not a ghost */
#define FAR_FROM_ENDS 3

/* What crosses an end: by the kernel, or by the linear one and then by limited fluxes. */
#if SUMS_EACH == 2
#define NODES LINEAR
#define NODES_LEFT 0
#else
#define NODES STENCIL
#define NODES_LEFT STENCIL_LEFT
#endif

#ifndef BOUNDED
#define ENDS_PARAMETERS
#else
#define ENDS_PARAMETERS \
  __global V *crossed, const real sweep_begin, const real sweep_duration, CROSSFLOW_PARAMETERS

/* Counts what a particle of a row deposits on the other side of an end. `side`: where it comes
 * from. A particle of the line counts in its own segment, a ghost in the one next to it. Through
 * walls nothing goes: what does has an image that brings the same. */
INLINE void count_crossing(Ends* e, const int c, const int side, const int row, const Cells* cells,
                           __private const V* weight, const V strength) {
#if LOW_END != WALL || HIGH_END != WALL
  const lane_int n = e->n;
  const I node = e->first + (lane_int)(row - NODES_LEFT) + cells->whole;
  const I is_out = (node < 0) | (node + (lane_int)(NODES - 1) >= n);
  if (side == ON_LINE && (row < 0 || row >= e->segment || !ANY(is_out))) return;
#if LOW_END == WALL
  if (side == LOW) return;
#elif HIGH_END == WALL
  if (side == HIGH) return;
#endif
  const V zero = 0;
  V low = 0, high = 0, inside = 0;
  UNROLL
  for (int j = 0; j < NODES; j++) {
    const I target = SOURCE_OF(node + (lane_int)j, n);
    const V share = weight[j] * strength;
    low += SELECT(target < 0, share, zero);
    high += SELECT(target >= n, share, zero);
    inside += SELECT((target >= 0) & (target < n), share, zero);
  }
  if (side == ON_LINE) {
    e->left[c][LOW] += low;
    e->left[c][HIGH] += high;
  } else if (side == LOW) {
    e->left[c][LOW] -= SELECT(e->first == 0, inside, zero);
  } else {
    e->left[c][HIGH] -= SELECT(e->first + (lane_int)e->segment >= n, inside, zero);
  }
#endif
}

/* Where the particles of LANES rows come from, which are on nodes from `low` on. */
INLINE int side_of(const Ends* e, const Tile* tile, const int first, const int low) {
  if (low != 0) return low < 0 ? LOW : HIGH;
  const int is_near = tile->least_first + first < e->reach ||
                      tile->greatest_first + first + LANES > e->n - e->reach;
  return is_near ? ON_LINE : FAR_FROM_ENDS;
}

/* Whether ghosts that move so far come so near that what is stored depends on them. */
INLINE int reach_line(const Ends* e, const int side, const int row, const V moved) {
  const I node = e->first + (lane_int)(row - STENCIL_LEFT) + TO_INT(FLOOR(moved));
  return ANY(side == LOW ? node > (lane_int)(-STENCIL - MARGIN) : node < (lane_int)(e->n + MARGIN));
}

/* Of the ghosts of rows first+*begin .. first+*end-1 leaves out those at the far side that do not
 * reach the line, and looks when the others come in. */
INLINE void expect_ghosts(MOTION_PARAMETER, Ends* e, const int side, const int first,
                          __private int* begin, __private int* end, __private const V* moved) {
  if (side != LOW && side != HIGH) return;
  if (side == LOW)
    while (*begin < *end && !reach_line(e, LOW, first + *begin, moved[*begin])) (*begin)++;
  else
    while (*begin < *end && !reach_line(e, HIGH, first + *end - 1, moved[*end - 1])) (*end)--;
#ifdef HAS_INFLOW
  for (int k = *begin; k < *end; k++) find_arrivals(MOTION_ARGUMENT, e, first + k, e->arrivals[k]);
#endif
}

/* What particle k of some rows, the first of them `first`, carries, `of_node` where it is of the
 * line, when it has been counted. */
INLINE V strength_at_ends(Ends* e, const int side, const int c, const int first, const int k,
                          const Cells* cells, __private const V* weight, const V of_node) {
  if (side == FAR_FROM_ENDS) return of_node;
  V strength = of_node;
#ifdef HAS_INFLOW
  if (side != ON_LINE) strength = strength_of_ghosts(e, e->arrivals[k], c, strength);
#endif
  count_crossing(e, c, side, first + k, cells, weight, strength);
  return strength;
}

#if SUMS_EACH == 2
/* Limited fluxes through the left face of the first node, and the right one of the last. */
INLINE void count_flux_in(Ends* e, const int c, const V flux) {
#if LOW_END != WALL
  const V zero = 0;
  e->left[c][LOW] -= SELECT(e->first == 0, flux, zero);
#endif
}

INLINE V next_result_at_ends(Ends* e, const int c, const int row, Results* results) {
  const V result = next_result(results);
#if HIGH_END != WALL
  const V zero = 0;
  const I is_last = e->first + (lane_int)row == (I)((lane_int)(e->n - 1));
  e->left[c][HIGH] += SELECT(is_last, results->entered, zero);
#endif
  return result;
}
#endif

/* Adds what has crossed the ends to the four numbers of each component. */
INLINE void settle(const Ends* e, __global V* crossed) {
  const V zero = 0;
  for (int c = 0; c < COMPONENTS; c++)
    for (int end = LOW; end <= HIGH; end++) {
      __global V* sum = crossed + 4 * c + 2 * end;
      add_compensated(sum, sum + 1, SELECT(e->live != 0, e->left[c][end], zero));
    }
}
#endif
