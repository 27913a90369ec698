/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds of diffusion along a line. Of a mean, each node becomes a weighted mean of itself and of
 * nodes on either side, `apart`, 2 apart, ... nodes away. Where much has been smoothed a line can
 * be thinned: means around the middles of THINNED nodes each are what is left of it, and go through
 * further rounds; the last round refills it with means of these.
 *
 * Weights are positive, so a mean leaves no range. It is summed up from differences, so a constant
 * stays what it is to the last bit; and what one node takes of another one that one takes of it, so
 * the sum over the line stays, however the weights are rounded. (Those of thinning and refilling,
 * which is its transpose, are rounded so that this holds: diffusion_rounds.cpp.)
 *
 * Beyond a wall or an outflow end lie images: nothing flows. Beyond inflow the line goes on oddly
 * around the value there, which rises evenly during a round: x and t steps of the exact solution
 * (x^2 - 1/4) / 2 + t on nodes, x from the end on. */
#include "common/common.cl"
#include "generated/inflow.cl"
#include "lines/boundary.cl"

#ifndef ROOM_FOR_TAPS
#define ROOM_FOR_TAPS 80
#endif
#ifndef THINNED
#define THINNED 1
#endif

/* Kinds of rounds */
#define MEAN 0
#define THIN 1
#define REFILL 2

typedef struct {
  int kind, taps;
  int spacing, apart; /* of the nodes that are read, in those of the line; and in these */
  real begin, end;    /* shares of the interval */
  real spread;
  real of[ROOM_FOR_TAPS]; /* weights, from the nearest on; then zeros */
} Round;

#if LOW_END == INFLOW || HIGH_END == INFLOW
#define TAKES_IN
#endif
#ifdef TAKES_IN
#define TIME_PARAMETERS , const int component, const real time, const real duration
#define TIME_ARGUMENTS , component, time, duration
#else
#define TIME_PARAMETERS
#define TIME_ARGUMENTS
#endif

/* A line of n nodes as it goes on beyond its ends. */
typedef struct {
  int n;
#ifdef TAKES_IN
  real spacing;
  real value[2], rise[2]; /* what comes in when a round begins; its rise while that spreads by 2 in
                             the square */
#endif
} LineEnds;

#ifdef TAKES_IN
INLINE real brought_at(const int component, const int end, const real time) {
  return FIRST(inflow_value(component, end, (V)(time)));
}
#endif

INLINE LineEnds ends_of(const int n, __global const Round* round TIME_PARAMETERS) {
  LineEnds ends;
  ends.n = n;
#ifdef TAKES_IN
  ends.spacing = (real)round->spacing;
  for (int end = LOW; end <= HIGH; end++) {
    ends.value[end] = brought_at(component, end, time + duration * round->begin);
    const real after = brought_at(component, end, time + duration * round->end);
    ends.rise[end] = (after - ends.value[end]) / round->spread;
  }
#endif
  return ends;
}

/* A node is sign * (the one at `at`) + offset. */
typedef struct {
  int at;
  real sign, offset;
} Origin;

INLINE Origin origin_of(const long node, const LineEnds* ends) {
  const int n = ends->n;
#ifdef TAKES_IN
  Origin o = {0, REAL(1.0), REAL(0.0)};
  long at = node;
  while (at < 0 || at >= n) {
    const int end = at < 0 ? LOW : HIGH;
    const long beyond = end == LOW ? -1 - at : at - n;
    at = end == LOW ? beyond : n - 1 - beyond;
    if (end == LOW ? LOW_END != INFLOW : HIGH_END != INFLOW) continue;
    const real twice_as_far = ends->spacing * (real)(2 * beyond + 1);
    const real far = (twice_as_far - 1) * (twice_as_far + 1) / 4;
    o.offset += o.sign * (2 * ends->value[end] + ends->rise[end] * far);
    o.sign = -o.sign;
  }
  o.at = (int)at;
  return o;
#else
#if LOW_END == PERIODIC
  const long period = n;
#else
  const long period = 2 * (long)n;
#endif
  long at = node < 0 ? node + period : node >= period ? node - period : node;
  if (at < 0 || at >= period) at = (at % period + period) % period;
  const Origin o = {(int)(at < n ? at : period - 1 - at), REAL(1.0), REAL(0.0)};
  return o;
#endif
}

/* What lies on a node that may be beyond the ends; AT(k) reads one of the line. */
#ifdef TAKES_IN
#define AS_MADE(AT, o) MAD((V)((o).sign), AT((o).at), (V)((o).offset))
#else
#define AS_MADE(AT, o) AT((o).at)
#endif

/* What follows adds up from far nodes to near ones, and reads them by NODE(k), be they on the line
 * or beyond its ends.
 *
 * No weight is below 0. But a compiler that cannot know it cannot count the turns of a loop either:
 * Intel's takes eight turns at once where it can, and adds up in another order. */
#define ONE_BY_ONE(weight) \
  if ((weight) < 0) break;

/* Node i after a mean. */
#define ADD_MEAN(NODE, i, round, result)                            \
  {                                                                 \
    const long apart = (round)->apart;                              \
    const V here = NODE(i), twice = here + here;                    \
    V change = 0;                                                   \
    for (int m = (round)->taps; m > 0; m--) {                       \
      const real weight = (round)->of[m - 1];                       \
      ONE_BY_ONE(weight)                                            \
      const V both = NODE((i) - m * apart) + NODE((i) + m * apart); \
      change = MAD((V)(weight), both - twice, change);              \
    }                                                               \
    (result) = here + change;                                       \
  }

/* Node j of a thinned line. */
#define ADD_THINNED(NODE, j, round, result)                                                    \
  {                                                                                            \
    const int before = THINNED * (j) + (THINNED - 1) / 2, after = THINNED * (j) + THINNED / 2; \
    const V twice = NODE(before) + NODE(after);                                                \
    V change = 0;                                                                              \
    for (int m = (round)->taps - 1; m > 0; m--) {                                              \
      const real weight = (round)->of[m];                                                      \
      ONE_BY_ONE(weight)                                                                       \
      const V both = NODE(before - m) + NODE(after + m);                                       \
      change = MAD((V)(weight), both - twice, change);                                         \
    }                                                                                          \
    (result) = twice / 2 + change * (REAL(1.0) / THINNED);                                     \
  }

/* How many nodes of a thinned line a node takes from on either side. */
#define NEIGHBOURS_OF_REFILL(round) (((round)->taps + THINNED / 2) / THINNED)
/* Weights of a node at `place` among those around a middle, for the m-th middle before and after.
 */
#define WEIGHT_BEFORE(round, place, m) (round)->of[THINNED * (m) + (place) - THINNED / 2]
#define WEIGHT_AFTER(round, place, m) (round)->of[THINNED * (m) - (place) + (THINNED - 1) / 2]

/* Nodes around the middle j. Sums of either side are kept apart, so that a line may be turned
 * round. */
#define ADD_REFILLED(NODE, j, round, results)                                                \
  {                                                                                          \
    const V here = NODE(j);                                                                  \
    V changes_before[THINNED], changes_after[THINNED];                                       \
    UNROLL                                                                                   \
    for (int p = 0; p < THINNED; p++) changes_before[p] = changes_after[p] = 0;              \
    for (int m = NEIGHBOURS_OF_REFILL(round); m > 0; m--) {                                  \
      ONE_BY_ONE(WEIGHT_BEFORE(round, 0, m))                                                 \
      const V before = NODE((j) - m) - here, after = NODE((j) + m) - here;                   \
      UNROLL                                                                                 \
      for (int p = 0; p < THINNED; p++) {                                                    \
        changes_before[p] = MAD((V)(WEIGHT_BEFORE(round, p, m)), before, changes_before[p]); \
        changes_after[p] = MAD((V)(WEIGHT_AFTER(round, p, m)), after, changes_after[p]);     \
      }                                                                                      \
    }                                                                                        \
    UNROLL                                                                                   \
    for (int p = 0; p < THINNED; p++)                                                        \
      (results)[p] = here + (changes_before[p] + changes_after[p]);                          \
  }
