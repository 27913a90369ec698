/* SPDX-License-Identifier: BSD-3-Clause */
/* One round of diffusion along a line: each node becomes a weighted mean of itself and of nodes on
 * either side, `apart`, 2 apart, ... nodes away.
 *
 * Weights are positive, so a mean leaves no range. It is summed up from differences, so a constant
 * stays what it is to the last bit; and what one node takes of another one that one takes of it, so
 * the sum over the line stays, however the weights are rounded.
 *
 * Beyond a wall or an outflow end lie images: nothing flows. Beyond inflow the line goes on oddly
 * around the value there, which rises evenly during a round: x and t steps of the exact solution
 * (x^2 - 1/4) / 2 + t on nodes, x from the end on. */
#include "boundary.cl"
#include "compensated.cl"
#include "inflow.cl"

#ifndef TAPS
#define TAPS 64 /* weights of one side at most */
#endif

typedef struct {
  real of[TAPS]; /* from the nearest on */
} Weights;

#if LOW_END == INFLOW || HIGH_END == INFLOW
#define TAKES_IN
#define BROUGHT_PARAMETERS                                                                  \
  , __global V *crossed, const int component, const real round_begin, const real round_end, \
      const real spread
#define DECLARE_BROUGHT                                                                            \
  const Brought brought = {                                                                        \
      {brought_at(component, LOW, round_begin), brought_at(component, HIGH, round_begin)},         \
      {(brought_at(component, LOW, round_end) - brought_at(component, LOW, round_begin)) / spread, \
       (brought_at(component, HIGH, round_end) - brought_at(component, HIGH, round_begin)) /       \
           spread}};                                                                               \
  V left[2] = {0, 0}
#define BROUGHT_ARGUMENT , &brought, left
#else
#define BROUGHT_PARAMETERS
#define DECLARE_BROUGHT
#define BROUGHT_ARGUMENT
#endif

/* What comes in at the ends when a round begins, and by how much that rises while a round spreads
 * by 2 in the square. */
typedef struct {
  real value[2], rise[2];
} Brought;

INLINE real brought_at(const int component, const int end, const real time) {
  return FIRST(inflow_value(component, end, (V)(time)));
}

/* A node is sign * (the one at `at`) + offset. */
typedef struct {
  long at;
  real sign, offset;
} Origin;

#ifdef TAKES_IN
INLINE Origin origin_of(long node, const long n, const Brought* brought) {
  Origin o = {node, REAL(1.0), REAL(0.0)};
  while (o.at < 0 || o.at >= n) {
    const int end = o.at < 0 ? LOW : HIGH;
    const long beyond = end == LOW ? -1 - o.at : o.at - n;
    o.at = end == LOW ? beyond : n - 1 - beyond;
    if (end == LOW ? LOW_END != INFLOW : HIGH_END != INFLOW) continue;
    const real far = (real)beyond * (real)(beyond + 1);
    o.offset += o.sign * (2 * brought->value[end] + brought->rise[end] * far);
    o.sign = -o.sign;
  }
  return o;
}
#else
INLINE long origin_at(const long node, const long n) {
#if LOW_END == PERIODIC
  const long period = n;
#else
  const long period = 2 * n;
#endif
  long at = node < 0 ? node + period : node >= period ? node - period : node;
  if (at < 0 || at >= period) at = (at % period + period) % period;
  return at < n ? at : period - 1 - at;
}
#endif

#ifdef TAKES_IN
#define MEAN_PARAMETERS , const Brought *brought, __private V *left
#else
#define MEAN_PARAMETERS
#endif

/* Nodes that can be read as those of the line, beyond its ends: `beyond` on either side.
 * Adds to `change` what nodes i .. i + WIDTH - 1 of a line of n take of both neighbours at each
 * distance, from the far ones to the near. NODE(k) reads node k of the line, FAR_NODE(k) one that
 * may lie beyond its ends. */
#define ADD_TAPS(WIDTH, NODE, FAR_NODE)                                                          \
  if (i + beyond >= taps * apart && i + WIDTH + taps * apart <= n + beyond) {                    \
    for (int m = taps; m > 0; m--)                                                               \
      change = MAD((V)(weights->of[m - 1]), (NODE(i - m * apart) + NODE(i + m * apart)) - twice, \
                   change);                                                                      \
  } else {                                                                                       \
    for (int m = taps; m > 0; m--) {                                                             \
      const V weight = weights->of[m - 1];                                                       \
      const V before = FAR_NODE(i - m * apart), after = FAR_NODE(i + m * apart);                 \
      change = MAD(weight, (before + after) - twice, change);                                    \
      COUNT_CROSSING                                                                             \
    }                                                                                            \
  }
#ifdef TAKES_IN
/* What crosses an end comes from beyond it. */
#define COUNT_CROSSING                                          \
  if (i - m * apart < 0) left[LOW] -= weight * (before - here); \
  if (i + m * apart >= n) left[HIGH] -= weight * (after - here);
#else
#define COUNT_CROSSING
#endif

#ifdef TAKES_IN
/* Adds to the four numbers of a work-item what has left through both ends of `live` lanes. */
INLINE void settle_left(__private const V* left, const int live, __global V* crossed) {
  const V zero = 0;
  for (int end = LOW; end <= HIGH; end++)
    add_compensated(crossed + 2 * end, crossed + 2 * end + 1,
                    SELECT((I)(LANE_NUMBERS) < (I)((lane_int)live), left[end], zero));
}
#endif
