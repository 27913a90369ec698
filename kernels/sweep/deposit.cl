/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds particles to the nodes of their line, in ascending order of the particles.
 *
 * A particle reaches `count` nodes of a row of sums, the first of them `before` before its cell:
 * what the kernel reaches, or less. Both are constants wherever these functions are used.
 *
 * `sums` holds a row per node. The rows around the current particles live in registers: a row is
 * loaded when it enters this window and stored when it leaves, so every node receives its particles
 * exactly in the order of the natural serial loop over the line, whichever lines share the lanes
 * and whatever takes the slow way. A line by itself has one window for all of its particles, lanes
 * have one for each run (lines/shifts.cl).
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

/* Whether the rows of nodes node .. node+count-1 follow one another. Particles may move so far that
 * node + count is beyond all integers. */
INLINE int are_in_a_row(const Sums* s, const int node, const int count) {
  if (BOUNDED) return node >= 0 && node <= s->count - count;
  return node <= (SEGMENT ? s->count : s->n) - count;
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

/* Loops over a window run to a constant that is known before anything is inlined, and leave out
 * what is not below `count`. Loops to `count` are taken for moves of memory by then, and the window
 * would never be in registers. */
#define FOR_WINDOW(count, act)             \
  UNROLL                                   \
  for (int j = 0; j < STENCIL + WIDE; j++) \
    if (j < (count)) act;

typedef struct {
  V sum[STENCIL + WIDE];
  int first; /* node of sum[0], not wrapped */
  int node;  /* the same node, wrapped */
  int open;
} Window;

INLINE void close_window(const Sums* s, Window* w, const int count) {
  if (w->open) FOR_WINDOW(count + 1, *sum_of(s, w->node + j) = w->sum[j])
  w->open = 0;
}

INLINE void open_window(const Sums* s, Window* w, const int first, const int count) {
  w->first = first;
  w->node = NODE_ON_LINE(first, s->n);
  FOR_WINDOW(count + 1, w->sum[j] = *sum_of(s, w->node + j))
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
    FOR_WINDOW(count, w->sum[j] = w->sum[j + 1])
    w->sum[count] = *sum_of(s, w->node + count);
  }
}

/* weight[j] * strength goes to node p + shifts->common + j - before. */
INLINE void deposit(const Sums* s, Window* w, const int p, const Shifts* shifts,
                    __private const V* weight, const V strength, const int before,
                    const int count) {
  const int first = p + shifts->common - before;
  if (s->n <= count) {
    close_window(s, w, count);
    FOR_SUMS(s, NODE_ON_LINE(first, s->n), count, *sum = MAD(weight[j], strength, *sum));
    return;
  }
  move_window(s, w, first, count);
  FOR_WINDOW(count, w->sum[j] = MAD(weight[j], strength, w->sum[j]))
}

/* to[j] = from[j - by] where the mask says so, else from[j], which has `count` entries; those that
 * there are not are never used. */
#define SPREAD(to, from, mask, by, count)                            \
  FOR_WINDOW((count) + by, (to)[j] = j < by         ? (from)[j]      \
                                     : j >= (count) ? (from)[j - by] \
                                                    : SELECT(mask, (from)[j - by], (from)[j]))

/* The same where a line has fewer nodes than a run may reach: lane by lane. */
INLINE void deposit_lane_by_lane(const Sums* s, const int p, const Shifts shifts,
                                 __private const V* weight, const V strength, const int before,
                                 const int count) {
  for (int lane = 0; lane < LANES; lane++) {
    const int first = p - before + INT_OF(shifts.whole, lane);
    for (int j = 0; j < count; j++) {
      LINE_SPACE real* const sum =
          (LINE_SPACE real*)sum_of(s, NODE_ON_LINE(first + j, s->n)) + lane;
      *sum = MAD_ONE(REAL_OF(weight[j], lane), REAL_OF(strength, lane), *sum);
    }
  }
}

#define SUMS_OF_RUN ROWS_AROUND(LANES, STENCIL) /* that its particles may reach */

/* What of the particles of a row goes to the nodes that they may reach. */
typedef struct {
  V weight[STENCIL + WIDE];
  V shift; /* nodes before the first one that a lane reaches */
} Shares;

INLINE void find_shares(Shares* to, const V shift, __private const V* weight, const int count,
                        const int spread) {
  to->shift = shift;
  if (spread == SINGLE) {
    FOR_WINDOW(count, to->weight[j] = weight[j])
  } else if (spread == NARROW) {
    SPREAD(to->weight, weight, shift > 0, 1, count)
  } else {
    const I b1 = BIT_1(shift), b2 = BIT_2(shift);
    V one[STENCIL + 1];
    SPREAD(one, weight, b1, 1, count)
    SPREAD(to->weight, one, b2, 2, count + 1)
  }
}

/* What a sum becomes that is j nodes after the first one that lanes may reach. */
INLINE V with_share(const V sum, const Shares* of, const V strength, const int j, const int count,
                    const int spread) {
  V added = MAD(of->weight[j], strength, sum);
  if (j < spread) added = SELECT(of->shift > (V)(REAL(1.0) * j), sum, added);
  if (j >= count) added = SELECT(of->shift > (V)(REAL(1.0) * (j - count)), added, sum);
  return added;
}

INLINE void add_shares(__private V* sum, const Shares* of, const V strength, const int count,
                       const int spread){
    FOR_WINDOW(count + spread, sum[j] = with_share(sum[j], of, strength, j, count, spread))}
/* Rows before the first and behind the last one. Of a segment runs near its ends may add to them as
 * well: nobody reads them. Of a whole line the first rows stand behind the last one while a run
 * works on both. */
#define ROWS_TO_SPARE (LANES > 1 && !LINES_IN_LOCAL && !LINES_IN_GLOBAL ? SUMS_OF_RUN : 0)

/* Whether rows node .. node+rows-1 belong to nobody here: node is on the line, unless it is
 * bounded. */
INLINE int are_others(const Sums* s, const int node, const int rows) {
  if (BOUNDED) return node >= s->count || node <= -rows;
  return SEGMENT && node >= s->count && node <= s->n - rows;
}

/* The same of all that a run may reach, of which a place in cell 0 has node `first`. */
INLINE int reaches_nothing(const Sums* s, const Groups* groups, const int first, const int rows) {
  if (!SEGMENT) return 0;
  for (int g = 0; g < groups->count; g++)
    if (!are_others(s, NODE_ON_LINE(first + groups->cell[g], s->n), rows)) return 0;
  return 1;
}

/* The row of a node from which on `rows` follow one another, rows to spare among them; INT_MIN
 * where they do not. */
INLINE int row_of_run(const Sums* s, const int node, const int rows) {
  if (!SEGMENT) return node;
  const int is_before = !BOUNDED && node >= s->count && node > s->n - rows;
  const int row = is_before ? node - s->n : node, last = s->count + ROWS_TO_SPARE - rows;
  return row >= -ROWS_TO_SPARE && row <= (BOUNDED ? last : min(last, s->n - rows)) ? row : INT_MIN;
}

/* Where the sums of a run are, `rows` of them, the first of which a place in cell 0 may reach on
 * node `first`: copies, unless they follow one another. */
INLINE __private V* sums_of_run(const Sums* s, const Groups* groups, const int first,
                                const int rows, __private V* copies) {
  for (int g = 0; g < groups->count; g++) {
    const int node = NODE_ON_LINE(first + groups->cell[g], s->n);
#if !LINES_IN_LOCAL && !LINES_IN_GLOBAL
    const int row = row_of_run(s, node, rows);
    if (groups->count == 1 && row != INT_MIN) {
      AS_A_LOOP
      for (int j = s->n; !SEGMENT && j < row + rows; j++) s->at[j] = s->at[j - s->n];
      return s->at + row;
    }
#endif
    const I lanes = g == 0 ? (I)(-1) : groups->lanes[g];
    AS_A_LOOP
    for (int j = 0; j < rows; j++) copies[j] = SELECT(lanes != 0, *sum_of(s, node + j), copies[j]);
  }
  return copies;
}

INLINE void keep_sums_of_run(const Sums* s, const Groups* groups, const int first, const int rows,
                             __private const V* sums, __private const V* copies) {
#if !LINES_IN_LOCAL && !LINES_IN_GLOBAL
  if (sums != copies) {
    const int end = (int)(sums - s->at) + rows;
    AS_A_LOOP
    for (int j = s->n; !SEGMENT && j < end; j++) s->at[j - s->n] = s->at[j], s->at[j] = 0;
    return;
  }
#endif
  for (int g = 0; g < groups->count; g++) {
    const int node = NODE_ON_LINE(first + groups->cell[g], s->n);
    const I lanes = groups->count == 1 ? (I)(-1) : groups->lanes[g];
    AS_A_LOOP
    for (int j = 0; j < rows; j++) {
      LINE_SPACE V* const sum = sum_of(s, node + j);
      *sum = SELECT(lanes != 0, copies[j], *sum);
    }
  }
}
