/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds particles to the nodes of their line, in ascending order of the particles.
 *
 * A particle reaches `count` nodes of a row of sums, the first of them `before` before its cell:
 * what the kernel reaches, or less. Both are constants wherever these functions are used.
 *
 * `sums` holds a row per node. The count + 1 rows around the current particle live in registers:
 * a row is loaded when it enters this window and stored when it leaves, so every node receives its
 * particles exactly in the order of the natural serial loop over the line, whichever lines share
 * the lanes and whatever takes the slow way.
 *
 * With SEGMENT only the nodes of the segment have a row; all others share one more that nobody
 * reads. Nodes are counted from the first that has a row. */
#include "common/common.cl"
#include "generated/weights.cl"
#include "lines/boundary.cl"
#include "lines/form.cl"
#include "lines/shifts.cl"

typedef struct {
  LINE_SPACE V* at;
  Pitch pitch; /* between rows, in V: work-items of a group interleave theirs in local memory */
  int n;       /* nodes of the line */
  int count;   /* nodes that have a row */
} Sums;

/* Place of the node `node`, 0 <= node < 2 n unless the line is bounded. */
INLINE LINE_SPACE V* sum_of(const Sums* s, int node) {
  if (BOUNDED) {
    node = (uint)node < (uint)s->count ? node : s->count;
  } else {
    node = node >= s->n ? node - s->n : node;
    if (SEGMENT) node = min(node, s->count);
  }
  return s->at + node * s->pitch;
}

/* Whether the rows of nodes node .. node+count-1 follow one another. */
INLINE int are_in_a_row(const Sums* s, const int node, const int count) {
  if (BOUNDED) return node >= 0 && node + count <= s->count;
  return node + count <= (SEGMENT ? s->count : s->n);
}

/* For the rows of nodes node .. node+COUNT-1 does what `act` says with `*sum` and `j`. */
#define FOR_SUMS(s, node, COUNT, act)                                        \
  if (are_in_a_row(s, node, COUNT)) {                                        \
    LINE_SPACE V* const sums = sum_of(s, node);                              \
    UNROLL                                                                   \
    for (int j = 0; j < COUNT; j++) {                                        \
      LINE_SPACE V* const sum = sums + j * (s)->pitch;                       \
      act;                                                                   \
    }                                                                        \
  } else {                                                                   \
    for (int j = 0; j < COUNT; j++) {                                        \
      LINE_SPACE V* const sum = sum_of(s, NODE_ON_LINE((node) + j, (s)->n)); \
      act;                                                                   \
    }                                                                        \
  }

/* Loops over a window run to STENCIL, which is a constant before anything is inlined, and leave out
 * what is not below `count`. Loops to `count` are taken for moves of memory by then, and the window
 * would never be in registers. */
typedef struct {
  V sum[STENCIL + 1];
  int first; /* node of sum[0], not wrapped */
  int node;  /* the same node, wrapped */
  int open;
} Window;

INLINE void close_window(const Sums* s, Window* w, const int count) {
  if (w->open) {
    UNROLL
    for (int j = 0; j <= STENCIL; j++)
      if (j <= count) *sum_of(s, w->node + j) = w->sum[j];
  }
  w->open = 0;
}

INLINE void open_window(const Sums* s, Window* w, const int first, const int count) {
  w->first = first;
  w->node = NODE_ON_LINE(first, s->n);
  UNROLL
  for (int j = 0; j <= STENCIL; j++)
    if (j <= count) w->sum[j] = *sum_of(s, w->node + j);
  w->open = 1;
}

INLINE void move_window(const Sums* s, Window* w, const int first, const int count) {
  int steps = first - w->first;
  if (!w->open || (uint)steps > 2u) {
    close_window(s, w, count);
    open_window(s, w, first, count);
    return;
  }
  for (; steps > 0; steps--) {
    *sum_of(s, w->node) = w->sum[0];
    w->first++;
    w->node = NEXT_NODE(w->node, s->n);
    UNROLL
    for (int j = 0; j < STENCIL; j++)
      if (j < count) w->sum[j] = w->sum[j + 1];
    w->sum[count] = *sum_of(s, w->node + count);
  }
}

/* to[j] = from[j - by] where the mask says so, else from[j]; `from` has count - by entries. */
#define SPREAD(to, from, mask, by, count) \
  UNROLL                                  \
  for (int j = 0; j < count; j++)         \
    (to)[j] = SELECT(mask, j < by ? zero : (from)[j - by], j < count - by ? (from)[j] : zero);

/* weight[j] * strength goes to node p + common + j - before + shift, whatever the shifts of
 * the lanes. Between their stencils weights are 0: nothing is added there, not even 0 times
 * infinity. */
#define ADD_PART(sum, weight) *sum = SELECT((weight) != 0, MAD(weight, strength, *sum), *sum)

INLINE void deposit_anywhere(const Sums* s, const int p, Shifts shifts, __private const V* weight,
                             const V strength, const int before, const int count) {
  int node = NODE_ON_LINE(p + shifts.common - before, s->n);
#if LANES == 1
  FOR_SUMS(s, node, count, *sum = MAD(weight[j], strength, *sum));
#else
  const V zero = 0;
  if (all_shifts_below(&shifts, FEW_SHIFTS)) {
    const I b1 = BIT_1_OF_FEW(shifts.shift), b2 = BIT_2_OF_FEW(shifts.shift);
    V one[STENCIL + 1], few[STENCIL + 3];
    SPREAD(one, weight, b1, 1, (count + 1));
    SPREAD(few, one, b2, 2, (count + 3));
    FOR_SUMS(s, node, (count + 3), ADD_PART(sum, few[j]));
    return;
  }
  I waiting = (I)(-1);
  while (1) {
    const I take = waiting & (AS_UNSIGNED(shifts.shift) < (U)(MANY_SHIFTS));
    const I b1 = BIT_1(shifts.shift), b2 = BIT_2(shifts.shift), b4 = BIT_4(shifts.shift);
    V own[STENCIL], one[STENCIL + 1], few[STENCIL + 3], many[STENCIL + 7];
    UNROLL
    for (int j = 0; j < count; j++) own[j] = SELECT(take != 0, weight[j], zero);
    SPREAD(one, own, b1, 1, (count + 1));
    SPREAD(few, one, b2, 2, (count + 3));
    SPREAD(many, few, b4, 4, (count + 7));
    FOR_SUMS(s, node, (count + 7), ADD_PART(sum, many[j]));
    waiting &= ~take;
    if (!ANY(waiting)) return;
    next_pass(&shifts, waiting);
    node = NODE_ON_LINE(p + shifts.common - before, s->n);
  }
#endif
}

INLINE void deposit(const Sums* s, Window* w, const int p, const Shifts* shifts,
                    __private const V* weight, const V strength, const int before,
                    const int count) {
  if (!shifts->uniform || s->n <= count) {
    close_window(s, w, count);
    deposit_anywhere(s, p, *shifts, weight, strength, before, count);
    return;
  }
  move_window(s, w, p + shifts->common - before, count);
#if LANES == 1
  UNROLL
  for (int j = 0; j < STENCIL; j++)
    if (j < count) w->sum[j] = MAD(weight[j], strength, w->sum[j]);
#else
  const I moved = shifts->shift > 0;
  w->sum[0] = SELECT(moved, w->sum[0], MAD(weight[0], strength, w->sum[0]));
  UNROLL
  for (int j = 1; j < STENCIL; j++)
    if (j < count) w->sum[j] = MAD(SELECT(moved, weight[j - 1], weight[j]), strength, w->sum[j]);
  const V last = MAD(weight[count - 1], strength, w->sum[count]);
  w->sum[count] = SELECT(moved, last, w->sum[count]);
#endif
}
