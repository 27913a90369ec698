/* SPDX-License-Identifier: BSD-3-Clause */
/* The mass that crosses the ends of a line. */
#include "common/common.cl"
#include "common/compensated.cl"
#include "generated/swept_fields.cl"
#include "generated/weights.cl"
#include "lines/boundary.cl"
#include "lines/shifts.cl"
#include "sweep/sums.cl"
#include "sweep/swept.cl"

#define ON_LINE 2 /* neither LOW nor HIGH: not a ghost */
#define FAR_FROM_ENDS 3

/* What crosses an end: by the kernel, or by the linear one and then by limited fluxes. */
#define CROSSING (LIMITED ? LINEAR_STENCIL : STENCIL)
#define CROSSING_BEFORE (LIMITED ? 0 : STENCIL_BEFORE)

/* Counts what a particle of a row deposits on the other side of an end. `side`: where it comes
 * from. A particle of the line counts in its own segment, a ghost in the one next to it. Through
 * walls nothing goes: what does has an image that brings the same. */
INLINE void count_crossing(Ends* e, const int c, const int side, const int row,
                           const Shifts* shifts, __private const V* weight, const V strength) {
#if LOW_END != WALL || HIGH_END != WALL
  const lane_int n = e->n;
  const I node = e->first + (lane_int)(row - CROSSING_BEFORE) + shifts->whole;
  const I is_out = (node < 0) | (node + (lane_int)(CROSSING - 1) >= n);
  if (side == ON_LINE && (row < 0 || row >= e->segment || !ANY(is_out))) return;
#if LOW_END == WALL
  if (side == LOW) return;
#elif HIGH_END == WALL
  if (side == HIGH) return;
#endif
  const V zero = 0;
  V low = 0, high = 0, inside = 0;
  UNROLL
  for (int j = 0; j < CROSSING; j++) {
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
INLINE int side_of(const Swept* f, const int first, const int low) {
  if (low != 0) return low < 0 ? LOW : HIGH;
  const int is_near = f->tile.least_first + first < f->reach ||
                      f->tile.greatest_first + first + LANES > f->n - f->reach;
  return is_near ? ON_LINE : FAR_FROM_ENDS;
}

/* Whether ghosts that move so far come so near that what is stored depends on them. */
INLINE int reach_line(const Ends* e, const int side, const int row, const V moved) {
  const I node = e->first + (lane_int)(row - STENCIL_BEFORE) + TO_INT(FLOOR(moved));
  return ANY(side == LOW ? node > (lane_int)(-STENCIL - MARGIN) : node < (lane_int)(e->n + MARGIN));
}

/* Limited fluxes through the left face of the first node, and the right one of the last. */
INLINE void count_flux_in(Ends* e, const int c, const V flux) {
  const V zero = 0;
  if (LOW_END != WALL) e->left[c][LOW] -= SELECT(e->first == 0, flux, zero);
}

INLINE void count_flux_out(Ends* e, const int c, const int row, const V flux) {
  const V zero = 0;
  const I is_last = e->first + (lane_int)row == (I)((lane_int)(e->n - 1));
  if (HIGH_END != WALL) e->left[c][HIGH] += SELECT(is_last, flux, zero);
}

INLINE void settle(const Ends* e) {
  const V zero = 0;
  for (int c = 0; c < COMPONENTS; c++)
    for (int end = LOW; end <= HIGH; end++) {
      __global V* sum = e->crossed + 4 * c + 2 * end;
      add_compensated(sum, sum + 1, SELECT(e->live != 0, e->left[c][end], zero));
    }
}
