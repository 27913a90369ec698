/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds of diffusion along a line. Of a mean, each node becomes a weighted mean of itself and of
 * nodes on either side, `apart`, 2 apart, ... nodes away. Where much has been smoothed a line can
 * be thinned: means around places further apart are what is left of it, and go through further
 * rounds; at last the line is refilled with means of these. Both are maps.
 *
 * Weights are positive, so a mean leaves no range. It is summed up from differences, so a constant
 * stays what it is to the last bit; and what one node takes of another one that one takes of it, so
 * the sum over the line stays, however the weights are rounded. (Those of maps, of which one is the
 * transpose of the other, are rounded so that this holds: diffusion_rounds.cpp.)
 *
 * Beyond a wall or an outflow end lie images: nothing flows. Beyond inflow the line goes on oddly
 * around the value there, which rises evenly during a round: x and t steps of the exact solution
 * (x^2 - 1/4) / 2 + t on nodes, x from the end on. */
#include "common/common.cl"
#include "generated/inflow.cl"
#include "lines/boundary.cl"

/* Kinds of rounds */
#define MEAN 0
#define MAP 1

typedef struct {
  int kind, taps; /* weights on either side */
  int apart;      /* of a mean */
  int from, to;   /* of a map: `to` nodes for every `from` */
  int first;      /* of its weights: from the nearest on, for either side; of a map to several nodes
                     those before the place of each, then those after it */
  real scale;     /* of a map's sums */
  real spacing;   /* of the nodes that are read, in that of the whole line */
  real begin, end; /* shares of the interval */
  real spread;
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
  ends.spacing = round->spacing;
  for (int end = LOW; end <= HIGH; end++) {
    ends.value[end] = brought_at(component, end, time + duration * round->begin);
    const real after = brought_at(component, end, time + duration * round->end);
    ends.rise[end] = (after - ends.value[end]) / round->spread;
  }
#endif
  return ends;
}

#if LOW_END == INFLOW && HIGH_END == INFLOW
/* What a line's moment gains besides, over the number of nodes: the moment's second difference is
 * that of the values at both ends (diffusion_moments.cl). */
INLINE real moment_gained(const int n, __global const Round* rounds,
                          const int count TIME_PARAMETERS) {
  real more = 0;
  for (int k = 0; k < count; k++) {
    const LineEnds ends = ends_of(n, rounds + k TIME_ARGUMENTS);
    const real spread = rounds[k].spread;
    more += spread *
            (ends.value[HIGH] - ends.value[LOW] + spread * (ends.rise[HIGH] - ends.rise[LOW]) / 2);
  }
  return more / (real)n;
}
#endif

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
#define ADD_MEAN(NODE, i, round, weights, result)                   \
  {                                                                 \
    const long apart = (round)->apart;                              \
    const V here = NODE(i), twice = here + here;                    \
    V change = 0;                                                   \
    for (int m = (round)->taps; m > 0; m--) {                       \
      const real weight = (weights)[m - 1];                         \
      ONE_BY_ONE(weight)                                            \
      const V both = NODE((i) - m * apart) + NODE((i) + m * apart); \
      change = MAD((V)(weight), both - twice, change);              \
    }                                                               \
    (result) = here + change;                                       \
  }

/* Where a node of a map lies among those it is made of: at one, or between two. */
typedef struct {
  long before;
  int fraction; /* in parts of which a node has 2 to */
  int phase;
} MapPlace;

INLINE MapPlace map_place(const long i, __global const Round* round) {
  const long parts = 2 * round->to, place = (2 * i + 1) * round->from - round->to;
  MapPlace p;
  p.fraction = (int)((place % parts + parts) % parts);
  p.before = (place - p.fraction) / parts;
  p.phase = (int)((i % round->to + round->to) % round->to);
  return p;
}

INLINE void to_next(MapPlace* p, __global const Round* round) {
  p->before += round->from / round->to;
  p->fraction += 2 * (round->from % round->to);
  if (p->fraction >= 2 * round->to) p->fraction -= 2 * round->to, p->before++;
  if (++p->phase == round->to) p->phase = 0;
}

/* A node of a map. A place that is the only one of its kind has the same weights on either side.
 * Else sums of either side are kept apart, so that a line may be turned round. */
#define IS_EVEN_MAP(round) ((round)->to == 1)
#define ADD_MAPPED(NODE, place, round, weights, result)                                  \
  {                                                                                      \
    const int taps = (round)->taps;                                                      \
    const long before = (place).before, after = before + ((place).fraction != 0);        \
    const V twice = NODE(before) + NODE(after), here = twice * (V)(REAL(0.5));           \
    V change = 0, change_after = 0;                                                      \
    if (IS_EVEN_MAP(round)) {                                                            \
      for (int m = taps - 1; m >= 0; m--) {                                              \
        ONE_BY_ONE((weights)[m])                                                         \
        const V both = NODE(before - m) + NODE(after + m);                               \
        change = MAD((V)((weights)[m]), both - twice, change);                           \
      }                                                                                  \
    } else {                                                                             \
      __global const real* const of_before = (weights) + (long)(place).phase * 2 * taps; \
      __global const real* const of_after = of_before + taps;                            \
      for (int m = taps - 1; m >= 0; m--) {                                              \
        ONE_BY_ONE(of_before[m])                                                         \
        change = MAD((V)(of_before[m]), NODE(before - m) - here, change);                \
        change_after = MAD((V)(of_after[m]), NODE(after + m) - here, change_after);      \
      }                                                                                  \
      change += change_after;                                                            \
    }                                                                                    \
    (result) = MAD((V)((round)->scale), change, here);                                   \
  }
