/* SPDX-License-Identifier: BSD-3-Clause */
/* One directional sweep out of place: a work-item walks along a line, or a SEGMENT of it, with the
 * sums of the STENCIL nodes around its particle in registers. A node is stored when this window
 * leaves it. Nothing is zeroed first and nothing lies in local memory, so that registers alone
 * limit how many work-items a GPU has under way, however long lines are.
 *
 * Sums are the results, in `u`, but where results are limited, or rounded when they are stored
 * (LINES_IN_GLOBAL): there they lie in memory of their own, and walk_results.cl stores what comes
 * of them.
 *
 * RACES. Particles are read from `kept` and sums written to different memory. A work-item alone
 * writes those of its nodes, and reads what it has written itself.
 *
 * The window meets a node again where a periodic line closes, or where particles have overtaken
 * others: it goes on with what it has left there. So every displacement is right, and every node
 * receives its particles in the order of the serial loop, as in all other forms. Whatever the
 * displacements are, NaN among them, a window that has far to go is opened anew there, and each
 * node is cleared once at most: no work-item runs for long. A periodic line that is shorter than
 * the window is in memory all the time.
 *
 * Ghosts come before all particles of a line with ends, or after them, and there is no window
 * meanwhile: they add to sums in memory. They are few, and what tells when they come in needs the
 * registers.
 *
 * ONE_TILE  1: a work-item has one alone, and nothing is kept for the next */
#include "common/common.cl"
#include "generated/swept_fields.cl"
#include "generated/weights.cl"
#include "lines/boundary.cl"
#include "lines/form.cl"
#include "lines/lines.cl"
#include "lines/shifts.cl"
#include "motion/motion_formula.cl"
#include "motion/motion_stored.cl"
#include "motion/push.cl"
#include "sweep/arrival.cl"
#include "sweep/limiter_kinds.cl"
#include "sweep/sums.cl"
#include "sweep/swept.cl"
#include "sweep/walked_sums.cl"

/* Nodes are counted from the first that has a row; those before and behind it are nobody's. Nodes
 * of a whole periodic line are counted from that which the first particle reaches first, and go
 * around. */
typedef struct {
  int nodes;                 /* that it owns */
  int begin;                 /* row of node 0 */
  int node;                  /* of sum[.][0] */
  int end, far;              /* nodes .. end - 1 and from `far` on have been in the window */
  __global V* at[LINE_SUMS]; /* row 0 of each */
  long pitch;
  V sum[LINE_SUMS][STENCIL];
} Walk;

#ifndef ONE_TILE
#define ONE_TILE 0
#endif
#define GOES_AROUND (!SEGMENT)
/* Rows beyond the ends of a line, or of what is here of it, that results depend on. */
#define ROWS_AT_ENDS (BOUNDED || PART ? MARGIN : 0)

/* A node as it is counted, `ahead` after that of the first sum. */
INLINE int node_ahead(const Walk* w, const int ahead) {
  const int node = w->node + ahead;
  if (!GOES_AROUND) return node;
  return node < 0 ? node + w->nodes : node >= w->nodes ? node - w->nodes : node;
}

/* Whether a particle may meet a node twice, or nodes at both ends of a PART. */
INLINE int is_short_for(const Walk* w, const int n) {
  return GOES_AROUND ? n < STENCIL : PART && !BOUNDED && w->nodes > n - STENCIL;
}

INLINE int is_own_node(const Walk* w, const int node) {
  return GOES_AROUND || (uint)node < (uint)w->nodes;
}

INLINE int row_of_own(const Walk* w, const int node) {
  const int row = node + w->begin;
  return GOES_AROUND && row >= w->nodes ? row - w->nodes : row;
}

INLINE void clear_row(const Walk* w, const int row) {
  for (int k = 0; k < LINE_SUMS; k++) w->at[k][row * w->pitch] = 0;
}

INLINE void clear_node(const Walk* w, const int node) { clear_row(w, row_of_own(w, node)); }

INLINE void leave_node(const Walk* w, const int j) {
  const int node = node_ahead(w, j);
  if (!is_own_node(w, node)) return;
  for (int k = 0; k < LINE_SUMS; k++) w->at[k][row_of_own(w, node) * w->pitch] = w->sum[k][j];
}

/* Those that have not been in the window follow one another: a new one is the first or the last of
 * them. */
INLINE void enter_node(Walk* w, const int j) {
  const int node = node_ahead(w, j), is_own = is_own_node(w, node);
  const int is_new = node >= w->end && node < w->far;
  if (is_own && is_new) {
    if (node == w->end)
      w->end++;
    else
      w->far--;
  }
  for (int k = 0; k < LINE_SUMS; k++)
    w->sum[k][j] = is_own && !is_new ? w->at[k][row_of_own(w, node) * w->pitch] : (V)(REAL(0.0));
}

INLINE void leave_all(const Walk* w) {
  UNROLL
  for (int j = 0; j < STENCIL; j++) leave_node(w, j);
}

/* Clears those before a node that have not been in the window. */
INLINE void clear_to(Walk* w, const int node) {
  AS_A_LOOP
  for (; w->end < min(node, w->far); w->end++) clear_node(w, w->end);
}

/* Opens the window anew, when all nodes before it, or behind it, have been cleared. */
INLINE void walk_anew(Walk* w, const int node) {
  leave_all(w);
  if (node > w->end && node < w->far) {
    if (node - w->end <= w->far - node) {
      clear_to(w, node);
    } else {
      AS_A_LOOP
      while (w->far > node) clear_node(w, --w->far);
    }
  }
  w->node = node;
  UNROLL
  for (int j = 0; j < STENCIL; j++) enter_node(w, j);
}

INLINE void walk_to(Walk* w, const int node) {
  const int ahead = node - w->node;
  int on = GOES_AROUND && ahead < 0 ? ahead + w->nodes : ahead;
  int back = GOES_AROUND ? w->nodes - on : -ahead;
  if ((uint)on <= (uint)STENCIL) {
    AS_A_LOOP
    for (; on > 0; on--) {
      leave_node(w, 0);
      UNROLL
      for (int j = 0; j + 1 < STENCIL; j++)
        for (int k = 0; k < LINE_SUMS; k++) w->sum[k][j] = w->sum[k][j + 1];
      w->node = node_ahead(w, 1);
      enter_node(w, STENCIL - 1);
    }
  } else if ((uint)back <= (uint)STENCIL) {
    AS_A_LOOP
    for (; back > 0; back--) {
      leave_node(w, STENCIL - 1);
      UNROLL
      for (int j = STENCIL - 1; j > 0; j--)
        for (int k = 0; k < LINE_SUMS; k++) w->sum[k][j] = w->sum[k][j - 1];
      w->node = node_ahead(w, -1);
      enter_node(w, 0);
    }
  } else {
    walk_anew(w, node);
  }
}

/* The first node that a particle of a row reaches. */
INLINE int node_reached(Walk* w, const int row, const Shifts* shifts, const int n) {
  const int place = row + shifts->common - STENCIL_BEFORE;
  if (BOUNDED) return place - w->begin;
  const int node = wrap(SEGMENT ? place - w->begin : place, n);
  if (SEGMENT) return node > n - STENCIL ? node - n : node;
  if (row == 0) w->begin = node;
  return node >= w->begin ? node - w->begin : node - w->begin + n;
}

/* What a particle gives to node j of those that it reaches, as the sums of a component. */
#if LIMITED
#define FOR_GIVEN(j, act)                                               \
  {                                                                     \
    const int linear = (j) - STENCIL_BEFORE;                            \
    if (linear >= 0 && linear < LINEAR_STENCIL) act(0, weight[linear]); \
    if ((j) < FACES) act(SUMS_EACH - 1, weight[LINEAR_STENCIL + (j)]);  \
  }
#else
#define FOR_GIVEN(j, act) act(0, weight[j])
#endif

INLINE void add_to_window(Walk* w, const int c, __private const V* weight, const V strength) {
#define ADD_TO_WINDOW(kind, given) \
  w->sum[c * SUMS_EACH + kind][j] = MAD(given, strength, w->sum[c * SUMS_EACH + kind][j])
  UNROLL
  for (int j = 0; j < STENCIL; j++) FOR_GIVEN(j, ADD_TO_WINDOW);
}

/* A node of a short line may be reached several times, and one of a PART from both sides. Nobody
 * asks for those that ghosts reach beyond the ends. */
INLINE void add_in_memory(const Walk* w, const int first, const int n, const int c,
                          __private const V* weight, const V strength) {
  for (int j = 0; j < STENCIL; j++) {
    const int node = first + j - w->begin;
    const int row = BOUNDED ? first + j : PART ? wrap(node, n) + w->begin : wrap(first + j, n);
    if (!is_own_node(w, row - w->begin)) continue;
#define ADD_IN_MEMORY(kind, given)                                        \
  {                                                                       \
    __global V* const sum = w->at[c * SUMS_EACH + kind] + row * w->pitch; \
    *sum = MAD(given, strength, *sum);                                    \
  }
    FOR_GIVEN(j, ADD_IN_MEMORY);
  }
}

/* Whether a particle whose first node is this one reaches some that is owned. */
INLINE int meets_own(const Walk* w, const int node) { return node > -STENCIL && node < w->nodes; }

/* Pushes and remeshes the particles of rows from..to-1 of a tile, in ascending order. `low`: of the
 * nodes that they are on, counted on beyond the ends of the line. */
INLINE void walk_rows(MOTION_STATE, Walk* w, const Swept* f, const int from, const int to,
                      const int low) {
  const int is_short = is_short_for(w, f->n);
  for (int row = from; row < to; row++) {
    V moved[LANES];
    push_rows(MOTION_ARGUMENT, &f->tile, f->n, f->reach, row, 0, 1, moved);
    const int side = BOUNDED ? side_of(f, row, 0) : FAR_FROM_ENDS;
    const Shifts shifts = shifts_of(moved[0]);
    const int node = node_reached(w, row, &shifts, f->n);
    const int is_asked_for = !SEGMENT || is_short || meets_own(w, node);
    if (!is_asked_for && side == FAR_FROM_ENDS) continue;
    if (is_asked_for && !is_short) walk_to(w, node);
    V weight[WEIGHTS];
    weights_of(shifts.offset - REAL(0.5), weight);
    const int stored_row =
        SEGMENT && low != 0 ? STORED_NODE(f->tile.first + row, f->n) - f->tile.first : row;
    UNROLL
    for (int c = 0; c < COMPONENTS; c++) {
      const V strength =
          read_row(particles_of(f, c, stored_row), &f->starts, f->strides, stored_row);
      if (is_short)
        add_in_memory(w, row + shifts.common - STENCIL_BEFORE, f->n, c, weight, strength);
      else if (is_asked_for)
        add_to_window(w, c, weight, strength);
      if (BOUNDED) count_crossing(f->ends, c, side, row, &shifts, weight, strength);
    }
  }
}

/* The same of ghosts, beyond one end, without a window. */
INLINE void bring_ghosts(MOTION_STATE, Walk* w, const Swept* f, const int from, const int to,
                         const int side) {
  for (int row = from; row < to; row++) {
    V moved[LANES];
    int begin = 0, end = 1;
    push_rows(MOTION_ARGUMENT, &f->tile, f->n, f->reach, row, 0, 1, moved);
    expect_ghosts(MOTION_ARGUMENT, f->ends, side, row, &begin, &end, moved);
    if (begin == end) continue;
    const Shifts shifts = shifts_of(moved[0]);
    const int node = node_reached(w, row, &shifts, f->n);
    if (meets_own(w, node)) clear_to(w, node + STENCIL);
    V weight[WEIGHTS];
    weights_of(shifts.offset - REAL(0.5), weight);
    const int stored_row = STORED_NODE(f->tile.first + row, f->n) - f->tile.first;
    UNROLL
    for (int c = 0; c < COMPONENTS; c++) {
      const V of_node =
          read_row(particles_of(f, c, stored_row), &f->starts, f->strides, stored_row);
      const V strength = strength_at_ends(f->ends, side, c, 0, of_node);
      if (meets_own(w, node)) add_in_memory(w, node + w->begin, f->n, c, weight, strength);
      count_crossing(f->ends, c, side, row, &shifts, weight, strength);
    }
  }
}

/* Where the sums of a tile lie, and which of them are its own. */
INLINE Walk begin_walk(const Swept* f, const WalkedSums* sums) {
  const int n = f->n, first = f->tile.first, count = min(f->segment, END_OF(f) - first);
  const int before = first == f->tile.begin ? ROWS_AT_ENDS : 0;
  const int behind = first + count == END_OF(f) ? ROWS_AT_ENDS : 0;
  const int nodes = ROWS_OF_LINE(before + count + behind, n);
  Walk w = {nodes, -before, 0, SEGMENT ? 0 : STENCIL, nodes};
  w.pitch = LINES_IN_GLOBAL ? sums->row_stride : f->strides.row;
  for (int k = 0; k < LINE_SUMS; k++) {
#if LINES_IN_GLOBAL
    w.at[k] = first_sum(sums, &f->tile, k) + MARGIN * w.pitch;
#else
    w.at[k] = f->u[k] + f->starts.start;
#endif
  }
  return w;
}

INLINE void open_walk(Walk* w) {
  w->node = SEGMENT ? -STENCIL : 0;
  for (int k = 0; k < LINE_SUMS; k++)
    for (int j = 0; j < STENCIL; j++) w->sum[k][j] = 0;
}

INLINE void close_walk(Walk* w) {
  leave_all(w);
  clear_to(w, w->nodes);
}

/* Of a periodic line rows beyond its ends are those of its last nodes, and of its first ones. */
INLINE void repeat_rows(const Swept* f, const Walk* w) {
  if (!LIMITED || BOUNDED) return;
  const int n = f->n, first = f->tile.first, count = min(f->segment, END_OF(f) - first);
  if (PART) {
    const int end = first + count == END_OF(f) ? count + MARGIN : count;
    for (int p = w->begin + w->nodes; p < end; p++)
      for (int k = 0; k < LINE_SUMS; k++) w->at[k][p * w->pitch] = w->at[k][(p - n) * w->pitch];
    return;
  }
  for (int p = -MARGIN; p < n + MARGIN; p = p == -1 ? n : p + 1) {
    const int row = wrap(p, n) - first;
    if ((uint)row >= (uint)count) continue;
    for (int k = 0; k < LINE_SUMS; k++) w->at[k][(p - first) * w->pitch] = w->at[k][row * w->pitch];
  }
}

/* The particles that may reach a tile, each once, in the order of the serial loop (sweep.cl). */
INLINE void walk_tile(MOTION_STATE, const Swept* f, const WalkedSums* sums) {
  const int n = f->n, first = f->tile.first, count = min(f->segment, END_OF(f) - first);
  Walk w = begin_walk(f, sums);
  const int is_short = is_short_for(&w, n);
  AS_A_LOOP
  for (int node = 0; is_short && node < w.nodes; node++) clear_row(&w, node + w.begin);
  AS_A_LOOP
  for (int part = 0; part < PARTS; part++) {
    const RowRange rows = rows_of_part(f, count, part);
    if (BOUNDED && part != OWN_PART) {
      bring_ghosts(MOTION_ARGUMENT, &w, f, rows.from, rows.to, part == 0 ? LOW : HIGH);
      continue;
    }
    if (BOUNDED || part == 0) open_walk(&w);
    walk_rows(MOTION_ARGUMENT, &w, f, rows.from, rows.to, rows.low);
    if ((BOUNDED || part == PARTS - 1) && !is_short) close_walk(&w);
  }
  repeat_rows(f, &w);
}

/* Arguments are those of the kernel `sweep`. */
KERNEL void walk(FIELD_PARAMETERS, const long row_stride, const long lane_stride,
                 const long outer_stride, const int n, const int lines, const int outers,
                 const int segment, const int tiles_each PART_PARAMETERS ROWS_OF_OTHERS,
                 const int reach,
#if BOUNDED
                 __global V* crossed, const real sweep_begin, const real sweep_duration,
#endif
#if CROSSFLOW > 0
                 const int others_are_swept, __global const real* rates_across,
                 const real lane_lead, const real outer_lead,
#endif
#if LINES_IN_GLOBAL
                 WALKED_SUMS_PARAMETERS,
#endif
                 MOTION_PARAMETERS) {
  const Lines grid = {n, lines, outers, segment PART_NODES};
  const Strides strides = {row_stride, lane_stride, outer_stride};
  Swept f = {FIELD_POINTERS, KEPT_POINTERS, strides, n, segment, reach};
  AIM_AT_OTHERS(&f);
  DECLARE_WALKED_SUMS;
  DECLARE_MOTION;
#if BOUNDED
  Ends ends = {sweep_begin, sweep_duration, n, segment};
  ends.crossed = crossed + get_global_id(0) * (4 * COMPONENTS);
  f.ends = &ends;
#endif
#if CROSSFLOW > 0
  const Crossflow crossflow = {
      others_are_swept, rates_across, {lane_lead, outer_lead}, lines, (long)lines * outers};
  ends.crossflow = crossflow;
#endif
  const long begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles_of(grid)); job++) {
    const Tile next = aim_at(&f, grid, job);
    aim_motion(MOTION_ARGUMENT, &f.tile, &next, OWN_ROWS(f.tile, grid), reach);
    walk_tile(MOTION_ARGUMENT, &f, &walked);
    if (BOUNDED) settle(f.ends);
    if (ONE_TILE) break;
  }
}
