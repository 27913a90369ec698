/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds particles to the nodes of their line, in ascending order of the particles.
 *
 * `sums` holds a row per node. The STENCIL + 1 rows around the current particle live in registers:
 * a row is loaded when it enters this window and stored when it leaves, so every node receives its
 * particles exactly in the order of the natural serial loop over the line, whichever lines share
 * the lanes and whatever takes the slow way.
 *
 * With SEGMENT only some nodes of the line have a row; all others share one more that nobody
 * reads. */
#include "push.cl"
#include "weights.cl"

#ifdef LINES_IN_LOCAL
#define LINE_SPACE __local
#else
#define LINE_SPACE __private
#endif

typedef struct {
  LINE_SPACE V* at;
  int pitch; /* between rows, in V: work-items of a group interleave theirs in local memory */
  int n;     /* nodes of the line */
#ifdef SEGMENT
  int first, count; /* nodes of the segment */
#endif
} Sums;

/* Place of the node `node`, 0 <= node < 2 n. */
INLINE LINE_SPACE V* sum_of(const Sums* s, int node) {
  node = node >= s->n ? node - s->n : node;
#ifdef SEGMENT
  node = (uint)(node - s->first) < (uint)s->count ? node - s->first : s->count;
#endif
  return s->at + node * s->pitch;
}

typedef struct {
  V sum[STENCIL + 1];
  int first; /* node of sum[0], not wrapped */
  int node;  /* the same node, wrapped */
  int open;
} Window;

INLINE void close_window(const Sums* s, Window* w) {
  if (w->open) {
    UNROLL
    for (int j = 0; j <= STENCIL; j++) *sum_of(s, w->node + j) = w->sum[j];
  }
  w->open = 0;
}

INLINE void open_window(const Sums* s, Window* w, const int first) {
  w->first = first;
  w->node = wrap(first, s->n);
  UNROLL
  for (int j = 0; j <= STENCIL; j++) w->sum[j] = *sum_of(s, w->node + j);
  w->open = 1;
}

INLINE void move_window(const Sums* s, Window* w, const int first) {
  int steps = first - w->first;
  if (!w->open || (uint)steps > 2u) {
    close_window(s, w);
    open_window(s, w, first);
    return;
  }
  for (; steps > 0; steps--) {
    *sum_of(s, w->node) = w->sum[0];
    w->first++;
    w->node = w->node + 1 == s->n ? 0 : w->node + 1;
    UNROLL
    for (int j = 0; j < STENCIL; j++) w->sum[j] = w->sum[j + 1];
    w->sum[STENCIL] = *sum_of(s, w->node + STENCIL);
  }
}

/* part[j] goes to node p + common + j - STENCIL_LEFT + shift, whatever the shifts of the lanes. */
#if LANES == 1
INLINE void deposit_anywhere(const Sums* s, const int p, const Cells c, __private const V* part) {
  const int first = p + c.common - STENCIL_LEFT;
  for (int j = 0; j < STENCIL; j++) *sum_of(s, wrap(first + j, s->n)) += part[j];
}
#else
/* Lanes with shifts 0..7 at once, pass by pass. */
INLINE void deposit_anywhere(const Sums* s, const int p, Cells c, __private const V* part) {
  const V zero = 0;
  I left = (I)(-1);
  while (1) {
    const I take = lanes_in_reach(&c, left);
    const I s1 = SHIFT_HAS_1(c.shift), s2 = SHIFT_HAS_2(c.shift), s4 = SHIFT_HAS_4(c.shift);
    V a[STENCIL + SHIFTS], b[STENCIL + SHIFTS];
    UNROLL
    for (int j = 0; j < STENCIL + SHIFTS; j++)
      a[j] = j < STENCIL ? SELECT(take != 0, part[j], zero) : zero;
    UNROLL
    for (int j = 0; j < STENCIL + SHIFTS; j++) b[j] = SELECT(s1, j < 1 ? zero : a[j - 1], a[j]);
    UNROLL
    for (int j = 0; j < STENCIL + SHIFTS; j++) a[j] = SELECT(s2, j < 2 ? zero : b[j - 2], b[j]);
    UNROLL
    for (int j = 0; j < STENCIL + SHIFTS; j++) b[j] = SELECT(s4, j < 4 ? zero : a[j - 4], a[j]);
    const int first = p + c.common - STENCIL_LEFT;
    for (int j = 0; j < STENCIL + SHIFTS - 1; j++) *sum_of(s, wrap(first + j, s->n)) += b[j];
    left &= ~take;
    if (!ANY(left)) return;
    next_pass(&c, left);
  }
}
#endif

INLINE void deposit(const Sums* s, Window* w, const int p, const Cells* c,
                    __private const V* part) {
  if (!c->uniform || s->n <= STENCIL) {
    close_window(s, w);
    deposit_anywhere(s, p, *c, part);
    return;
  }
  move_window(s, w, p + c->common - STENCIL_LEFT);
#if LANES == 1
  UNROLL
  for (int j = 0; j < STENCIL; j++) w->sum[j] += part[j];
#else
  const V zero = 0;
  const I moved = c->shift > 0;
  w->sum[0] += SELECT(moved, zero, part[0]);
  UNROLL
  for (int j = 1; j < STENCIL; j++) w->sum[j] += SELECT(moved, part[j - 1], part[j]);
  w->sum[STENCIL] += SELECT(moved, part[STENCIL - 1], zero);
#endif
}
