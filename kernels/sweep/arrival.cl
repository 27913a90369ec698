/* SPDX-License-Identifier: BSD-3-Clause */
/* What passes the ends of a line: when ghosts come in, what they carry until then, and how much
 * mass crosses.
 *
 * A ghost xi outside arrives at tau = now + integral of dx / a from -xi to 0. What is g there and
 * then is strained on the way: the ghost carries g(tau) exp(integral of (da/dx) / a dx), or, of
 * values, g(tau). Both integrals go along the line in two steps of the classical scheme, the time
 * being part of the state. So what a ghost carries follows from its node, the velocity along its
 * line and the time alone, not from where it moves in this sweep. In a sweep back in time ghosts
 * are what comes in later as well. */
#include "common/common.cl"
#include "common/compensated.cl"
#include "generated/inflow.cl"
#include "generated/swept_fields.cl"
#include "generated/weights.cl"
#include "lines/boundary.cl"
#include "lines/shifts.cl"
#include "motion/continued.cl"
#include "motion/cubic.cl"
#include "motion/motion_formula.cl"
#include "motion/motion_kinds.cl"
#include "motion/motion_stored.cl"
#include "motion/scheme.cl"
#include "sweep/limiter_kinds.cl"
#include "sweep/swept.cl"

#if HAS_INFLOW

/* FOLLOWS_BACK  1: the motion is that of the sweep with time reversed */
#ifndef FOLLOWS_BACK
#define FOLLOWS_BACK 0
#endif
#define SWEEP_BEGIN (FOLLOWS_BACK ? REAL(1.0) : REAL(0.0)) /* in parts of the motion's duration */
#define IN_TIME(forward) (FOLLOWS_BACK ? -(forward) : (forward))

#if MOTION == GIVEN

/* Nobody knows when displacements take place: what comes in is a number, and as dense outside. */
INLINE Arrival arrival_through(MOTION_STATE, const Ends* e, const int end, const int row,
                               const I is_image, const V beyond) {
  const V moved = motion_of_node(MOTION_ARGUMENT, row);
  const V forward = IN_TIME(SELECT(is_image, -moved, moved));
  const V inwards = end == LOW ? forward : -forward;
  const Arrival a = {(V)(e->begin), (V)(REAL(1.0)), (beyond > 0) & (inwards > 0)};
  return a;
}

#else

/* A ghost that takes more sweeps to come in matters little: it hardly moves. Nor does it matter how
 * the velocity changes after so many. */
#define SWEEPS_AT_MOST REAL(1024.0)
#define SWEEPS_FORESEEN REAL(64.0)

/* Where a cubic is asked for the velocity, so many cells after the end. */
#if MOTION == FORMULA
#define PLACES_PER_CELL REAL(1.0)
#define PLACE_OF(cells) (cells)
#else
#define PLACES_PER_CELL (REAL(1.0) / COARSE)
#define PLACE_OF(cells) ((cells) * PLACES_PER_CELL - REAL(0.5))
#endif

/* What is known at the instants of a scheme, after a part of the sweep's duration, or before it; of
 * a series it is linear in time. And the velocity at a cubic's first place, in the mean. */
#if INSTANTS == 1
#define BLENDED(of, name, part) (of)[0].name
#define MEAN_FIRST(of) (of)[0].first
#else
INLINE V at_part(const V begin, const V middle, const V end, const V part) {
#if MOTION == GRID
  return MAD(part, end - begin, begin);
#else
  const V rise = 4 * (middle - begin) - (end - begin);
  const V bend = 2 * ((end - middle) - (middle - begin));
  return MAD(part, MAD(part, bend, rise), begin);
#endif
}
#define BLENDED(of, name, part) \
  at_part((of)[AT_BEGIN].name, (of)[AT_MIDDLE].name, (of)[AT_END].name, part)
#define MEAN_FIRST(of)                                                       \
  (((of)[AT_BEGIN].first + 4 * (of)[AT_MIDDLE].first + (of)[AT_END].first) * \
   REAL(0.16666666666666666667))
#endif

typedef struct {
  const Motion* motion;
  int end;
  real inwards; /* cells a sweep that a velocity of 1 brings a ghost inwards */
  real forward; /* 1, or -1 where the motion goes back in time */
  V least;      /* cells a sweep */
} Way;

/* How many sweeps the next cell takes a ghost that is so many cells after the end, less than 0,
 * after so many sweeps. `*strain`: the speed's derivative over the speed. */
INLINE V slowness_on(const Way* w, const V cells, const V sweeps, V* strain) {
  const V zero = 0, most = SWEEPS_FORESEEN, place = PLACE_OF(cells);
  const V part = MAD((V)(w->forward), SELECT(sweeps > most, most, sweeps), (V)(SWEEP_BEGIN));
  const Cubic* of = w->motion->beyond[w->end];
  const Cubic now = {BLENDED(of, first, part), BLENDED(of, slope, part), BLENDED(of, bend, part),
                     BLENDED(of, twist, part)};
  const V value = value_of(&now, place), velocity = continued(&now, place);
  const V speed = w->inwards * velocity;
  const V slope = w->inwards * PLACES_PER_CELL * derivative_of(&now, place);
  const I is_slow = speed < w->least, is_unstrained = (velocity != value) | is_slow;
  const V slowness = 1 / SELECT(is_slow, w->least, speed);
  *strain = SELECT(is_unstrained, zero, slope * slowness);
  return slowness;
}

#if CROSSFLOW > 0
/* exp(x) for |x| <= LOG_OF_MOST, and 1 for 0: Taylor's polynomial, the same for any number of
 * lanes. */
#define LOG_OF_MOST REAL(1.38629436111989061883)
#ifdef REAL_IS_DOUBLE
#define TERMS 20
#else
#define TERMS 12
#endif
INLINE V exponential(const V x) {
  V sum = (V)(REAL(1.0));
  UNROLL
  for (int k = TERMS; k > 0; k--) sum = MAD(x * (REAL(1.0) / k), sum, (V)(REAL(1.0)));
  return sum;
}

/* Sweeps along the other axes have strained the line, and will strain it, as if all of it had been
 * there from their beginnings to their ends. What comes in so much later than this sweep begins has
 * not: it brings along what makes up for that, as far as it is not less or more than of the strain
 * along the line. */
INLINE V share_across(const Ends* e, const int end, const V later) {
  const V most = LOG_OF_MOST, least = -LOG_OF_MOST;
  V grown = 0;
  if (!e->crossflow.is_swept) return (V)(REAL(1.0));
  for (int k = 0; k < CROSSFLOW; k++)
    grown = MAD(e->rates[end][k], later + e->crossflow.leads[k], grown);
  return exponential(SELECT(grown > most, most, SELECT(grown < least, least, grown)));
}
#else
#define share_across(ends, end, later) REAL(1.0)
#endif

INLINE Arrival arrival_through(MOTION_STATE, const Ends* e, const int end, const int row,
                               const I is_image, const V beyond) {
  const real inwards = end == LOW ? fabs(m->scale) : -fabs(m->scale);
  const V mean = inwards * MEAN_FIRST(m->beyond[end]), slow = REAL(0.125) * mean;
  const V slowest = beyond * (1 / SWEEPS_AT_MOST);
  const Way way = {m, end, inwards, IN_TIME(e->duration < 0 ? REAL(-1.0) : REAL(1.0)),
                   SELECT(slow < slowest, slowest, slow)};
  V sweeps = 0, share = REAL(1.0);
  AS_A_LOOP
  for (int k = 0; k < 2; k++) {
    V slowness = 0, growth = 0, slownesses = 0, growths = 0;
    AS_A_LOOP
    for (int stage = 1; stage <= 4; stage++) {
      const real part = stage == 1 ? REAL(0.0) : stage == 4 ? REAL(0.5) : REAL(0.25);
      const V ahead = part * beyond, last_slowness = slowness, last_growth = growth;
      slowness = slowness_on(&way, (REAL(0.5) * k + part - 1) * beyond,
                             MAD(ahead, slowness, sweeps), &growth);
      growth *= MAD(ahead, last_growth, share);
      if (stage == 2) continue;
      slownesses += stage == 3 ? 2 * (last_slowness + slowness) : slowness;
      growths += stage == 3 ? 2 * (last_growth + growth) : growth;
    }
    const V sixth = beyond * REAL(0.083333333333333333333);
    sweeps = MAD(sixth, slownesses, sweeps);
    share = MAD(sixth, growths, share);
  }
  /* Of a steady velocity, which is continued within a factor of two, it is not less or more. */
  const V least = REAL(0.25), most = REAL(4.0);
  share = SELECT(share < least, least, SELECT(share > most, most, share));
  const Arrival a = {MAD((V)(fabs(e->duration)), sweeps, (V)(e->begin)),
                     share * share_across(e, end, fabs(e->duration) * sweeps),
                     (beyond > 0) & (mean > 0)};
  return a;
}

#endif

/* Of the ghosts of a row, through either end. */
INLINE void find_arrivals(MOTION_STATE, const Ends* e, const int row, Arrival* arrivals) {
  const I node = e->first + (lane_int)row, source = SOURCE_OF(node, (lane_int)e->n);
  const I is_image = IS_IMAGE(node, (lane_int)e->n);
  const Arrival none = {0, 0, 0};
  arrivals[LOW] = arrivals[HIGH] = none;
#if LOW_END == INFLOW
  const V before = REAL(-0.5) - TO_REAL(source);
  if (ANY(before > 0))
    arrivals[LOW] = arrival_through(MOTION_ARGUMENT, e, LOW, row, is_image, before);
#endif
#if HIGH_END == INFLOW
  const V after = TO_REAL(source - (lane_int)e->n) + REAL(0.5);
  if (ANY(after > 0))
    arrivals[HIGH] = arrival_through(MOTION_ARGUMENT, e, HIGH, row, is_image, after);
#endif
}

/* What ghosts carry: those that are not expected as much as the last node. Values, which are
 * followed back, are not strained. */
INLINE V strength_of_ghosts(const Ends* e, const Arrival* arrivals, const int c, V strength) {
  for (int end = LOW; end <= HIGH; end++) {
    const Arrival a = arrivals[end];
    if (!ANY(a.is_expected != 0)) continue;
    const V value = inflow_value(c, end, a.time);
    const V carried = FOLLOWS_BACK ? value : a.share * value;
    strength = SELECT((a.is_expected != 0) & (e->live != 0), carried, strength);
  }
  return strength;
}

#endif

/* The mass that crosses the ends of a line. */

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
  if (side == FAR_FROM_ENDS) return;
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
  const I node = e->first + (lane_int)(row - STENCIL_BEFORE) + cells_of(FLOOR(moved));
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

/* Of the ghosts of rows first+*begin .. first+*end-1 leaves out those at the far side that do not
 * reach the line, and looks when the others come in. */
INLINE void expect_ghosts(MOTION_STATE, Ends* e, const int side, const int first,
                          __private int* begin, __private int* end, __private const V* moved) {
  if (side != LOW && side != HIGH) return;
  if (side == LOW)
    while (*begin < *end && !reach_line(e, LOW, first + *begin, moved[*begin])) (*begin)++;
  else
    while (*begin < *end && !reach_line(e, HIGH, first + *end - 1, moved[*end - 1])) (*end)--;
#if HAS_INFLOW
  for (int k = 0; k < LANES; k++)
    if (k >= *begin && k < *end) find_arrivals(MOTION_ARGUMENT, e, first + k, e->arrivals[k]);
#endif
}

/* What particle k of some rows carries, `of_node` where it is of the line. */
INLINE V strength_at_ends(const Ends* e, const int side, const int c, const int k,
                          const V of_node) {
#if HAS_INFLOW
  if (side == LOW || side == HIGH) return strength_of_ghosts(e, e->arrivals[k], c, of_node);
#endif
  return of_node;
}
