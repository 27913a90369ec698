/* SPDX-License-Identifier: BSD-3-Clause */
/* Motion by velocity_formula(), evaluated at the exact places and times. What depends on the time
 * alone is computed once for each stage. What depends on the place along the line alone is the same
 * on the same node of all lines: there it is computed for LANES nodes at once, not for LANES lines.
 *
 * STEADY  1: the time does not occur in the formula */
#include "common/common.cl"
#include "generated/velocity_formula.cl"
#include "lines/boundary.cl"
#include "lines/form.cl"
#include "lines/lines.cl"
#include "motion/continued.cl"
#include "motion/cubic.cl"
#include "motion/motion_kinds.cl"
#include "motion/scheme.cl"
#include "common/formula_parameters.cl"

#if MOTION == FORMULA

#ifndef STEADY
#define STEADY 0
#endif
#define INSTANTS (STEADY ? 1 : 3) /* of a scheme */
#define INSTANT_OF(when) (STEADY ? AT_BEGIN : (when))

typedef struct {
  V lane, outer;               /* coordinates across the line */
  I first;                     /* node of row 0 */
  int lane_begin, outer_begin; /* nodes of the whole grid where it begins across the line */
  real row_origin, row_spacing, lane_origin, lane_spacing, outer_origin, outer_spacing;
  Instant instants[3]; /* of the stages */
  real scale;          /* cells per unit of velocity: duration / spacing */
  int n;
  Cubic beyond[2][INSTANTS];     /* the ends, through places 0, 1, 2, 3 cells from there */
  int first_of_all, last_of_all; /* nodes of row 0 in all lanes are between these */
  int terms_begin;               /* row of the first of LANES nodes that terms are of */
  __private V* terms;
#ifdef CHAINED
  int row_axis, lane_axis, outer_axis;
#endif
} Motion;

#define MOTION_PARAMETERS                                                                     \
  const int lane_begin, const int outer_begin, const real row_origin, const real row_spacing, \
      const real lane_origin, const real lane_spacing, const real outer_origin,               \
      const real outer_spacing, const real begin_time, const real middle_time,                \
      const real end_time FORMULA_PARAMETERS, const real scale

#define INSTANT(time) instant_at(time FORMULA_ARGUMENTS)
#define MOTION_STATE Motion* m
#define MOTION_ARGUMENT m
/* They lie apart, as compilers keep in memory what has a member that is found by a number. */
#define DECLARE_TERMS      \
  V held_terms[ROW_TERMS]; \
  m->terms = held_terms
#define DECLARE_MOTION                                                                  \
  Motion held_motion = {0,                                                              \
                        0,                                                              \
                        0,                                                              \
                        lane_begin,                                                     \
                        outer_begin,                                                    \
                        row_origin,                                                     \
                        row_spacing,                                                    \
                        lane_origin,                                                    \
                        lane_spacing,                                                   \
                        outer_origin,                                                   \
                        outer_spacing,                                                  \
                        {INSTANT(begin_time), INSTANT(middle_time), INSTANT(end_time)}, \
                        scale,                                                          \
                        n},                                                             \
         *const m = &held_motion;                                                       \
  DECLARE_TERMS

INLINE V row_coordinate(const Motion* m, const V cells) {
  return MAD((V)(m->row_spacing), cells, (V)(m->row_origin));
}

INLINE V velocity_on_line(const Motion* m, const V cells, const int when) {
  const V row = row_coordinate(m, cells), lane = m->lane, outer = m->outer;
  return velocity_formula(COORDINATE(0), COORDINATE(1), COORDINATE(2), &m->instants[when]);
}

INLINE void continue_beyond(Motion* m, const int end) {
  for (int instant = 0; instant < INSTANTS; instant++) {
    V at[CUBIC_PLACES];
    for (int k = 0; k < CUBIC_PLACES; k++) {
      const int cells = min(k, m->n);
      const real place = (real)(end == LOW ? cells : m->n - cells) - REAL(0.5);
      at[k] = velocity_on_line(m, (V)(place), instant);
    }
    m->beyond[end][instant] = cubic_through(at, m->n + 1);
  }
}

#define NO_ROW INT_MIN

INLINE void aim_motion(MOTION_STATE, const Tile* tile, const Tile* next, const int rows,
                       const int reach) {
  m->lane = m->lane_origin + m->lane_spacing * TO_REAL(LANE_LINES(*tile) + (lane_int)m->lane_begin);
  m->outer =
      m->outer_origin + m->outer_spacing * TO_REAL(OUTER_LINES(*tile) + (lane_int)m->outer_begin);
  m->first = FIRST_NODES(*tile);
  m->first_of_all = tile->least_first;
  m->last_of_all = tile->greatest_first;
  m->terms_begin = NO_ROW;
  if (LOW_END == INFLOW) continue_beyond(m, LOW);
  if (HIGH_END == INFLOW) continue_beyond(m, HIGH);
}

INLINE void prefetch_motion(const Motion* m, const int first, const int k) {}

/* Nodes of a line: on a whole one that goes around they are its own, while a segment looks beyond
 * its ends. */
INLINE I nodes_on_line(const Motion* m, const I nodes) {
  I node = nodes;
  if (SEGMENT && !BOUNDED) {
    node = SELECT(node < 0, node + (lane_int)m->n, node);
    node = SELECT(node >= (I)((lane_int)m->n), node - (lane_int)m->n, node);
  }
  return node;
}

/* The velocity `displacement` cells after node p, wrapped into the box: the formula is continued
 * periodically, or as beyond the ends of a bounded line. */
INLINE V velocity_at(MOTION_STATE, const int p, const V displacement, const int when) {
  const V place = TO_REAL(nodes_on_line(m, m->first + (lane_int)p)) + displacement;
#if BOUNDED
  const V n = (real)m->n;
  V sign;
  const V folded = place_between_walls(place + REAL(0.5), (real)m->n, &sign);
  const V cells = place_on_line(folded, (real)m->n) - REAL(0.5);
  V velocity = velocity_on_line(m, cells, when);
  if (LOW_END == INFLOW && ANY(folded < 0))
    velocity = SELECT(folded < 0, continued(&m->beyond[LOW][INSTANT_OF(when)], folded), velocity);
  if (HIGH_END == INFLOW && ANY(folded > n))
    velocity =
        SELECT(folded > n, continued(&m->beyond[HIGH][INSTANT_OF(when)], n - folded), velocity);
  return sign * velocity;
#else
  const V cells = place - (real)m->n * FLOOR(place * (REAL(1.0) / (real)m->n));
  return velocity_on_line(m, cells, when);
#endif
}

/* Places of LANES nodes in cells, computed as there; of those that the line lacks, its last one. */
INLINE V cells_of_nodes(const Motion* m, const int p) {
  const I nodes = nodes_on_line(m, (I)(LANE_NUMBERS) + (lane_int)(m->first_of_all + p));
  const V cells = TO_REAL(min(nodes, (I)((lane_int)m->n - 1)));
  return BOUNDED ? (cells + REAL(0.5)) - REAL(0.5) : cells;
}

INLINE V velocity_of_row(Motion* m, const int p) {
  if ((uint)p - (uint)m->terms_begin >= LANES) {
    row_terms(row_coordinate(m, cells_of_nodes(m, p)), &m->instants[AT_BEGIN], m->terms);
    m->terms_begin = p;
  }
  V terms[ROW_TERMS];
  for (int k = 0; k < ROW_TERMS; k++)
    terms[k] = (V)(((__private const real*)&m->terms[k])[p - m->terms_begin]);
  const V row = 0, lane = m->lane, outer = m->outer; /* the terms have what depends on `row` */
  return velocity_of_terms(COORDINATE(0), COORDINATE(1), COORDINATE(2), &m->instants[AT_BEGIN],
                           terms);
}

INLINE V motion_of_node(MOTION_STATE, const int p) {
  const int node = m->first_of_all + p, is_same = m->last_of_all == m->first_of_all;
  if (LANES > 1 && IS_SHORT && is_same && (!BOUNDED || (node >= 0 && node < m->n)))
    return velocity_of_row(m, p);
  return BOUNDED ? velocity_at(MOTION_ARGUMENT, p, (V)(REAL(0.0)), AT_BEGIN)
                 : velocity_on_line(m, TO_REAL(nodes_on_line(m, m->first + (lane_int)p)), AT_BEGIN);
}

/* Whether places about rows low .. high are so far from the ends that none is wrapped, nor rounded
 * to be. The squares of how far they are moved add up to `squares`. */
INLINE int are_inside(const Motion* m, const int low, const int high, const V squares) {
  const int last = (int)(REAL(0.999) * (real)m->n);
  const int nearest = min(m->first_of_all + low, last - m->last_of_all - high);
  const real bound = REAL(0.999) * (real)nearest;
  return IS_SHORT && nearest > 0 && !ANY(~(squares <= bound * bound));
}

/* The velocity `displacement` cells after node p where both are inside. */
INLINE V velocity_inside(MOTION_STATE, const int p, const V displacement, const int when) {
  const V place = TO_REAL(m->first + (lane_int)p) + displacement;
  return velocity_on_line(m, BOUNDED ? (place + REAL(0.5)) - REAL(0.5) : place, when);
}

INLINE V motion_at(MOTION_STATE, const int p, const V displacement, const int when) {
  return velocity_at(MOTION_ARGUMENT, p, displacement, when);
}

#endif
