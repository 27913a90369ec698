/* SPDX-License-Identifier: BSD-3-Clause */
/* Motion by velocity_formula(), evaluated at the exact places and times. What depends on the time
 * alone is computed once for each stage. */
#include "lines.cl"
#include "scheme.cl"
#include "trigonometry.cl"
#include "formula.cl"

typedef struct {
  V lane, outer; /* coordinates across the line */
  I first;       /* node of row 0 */
  real row_origin, row_spacing, lane_origin, lane_spacing, outer_origin, outer_spacing;
  Moment moments[3]; /* of the stages */
  real scale;        /* cells per unit of velocity: duration / spacing */
  int n;
} Motion;

#define MOTION_PARAMETERS                                                                         \
  const real row_origin, const real row_spacing, const real lane_origin, const real lane_spacing, \
      const real outer_origin, const real outer_spacing, const real begin_time,                   \
      const real middle_time, const real end_time, const real scale

#define MOTION_ARGUMENT m
#define MOTION_PARAMETER Motion* m
#define DECLARE_MOTION                                                                        \
  Motion held_motion = {0,                                                                    \
                        0,                                                                    \
                        0,                                                                    \
                        row_origin,                                                           \
                        row_spacing,                                                          \
                        lane_origin,                                                          \
                        lane_spacing,                                                         \
                        outer_origin,                                                         \
                        outer_spacing,                                                        \
                        {moment_at(begin_time), moment_at(middle_time), moment_at(end_time)}, \
                        scale,                                                                \
                        n},                                                                   \
         *const m = &held_motion

INLINE void aim_motion(MOTION_PARAMETER, const Tile* tile, const Tile* next, const int rows,
                       const int reach) {
  m->lane = m->lane_origin + m->lane_spacing * TO_REAL(LANE_LINES(*tile));
  m->outer = m->outer_origin + m->outer_spacing * TO_REAL(OUTER_LINES(*tile));
  m->first = FIRST_NODES(*tile);
}

INLINE void prefetch_motion(const Motion* m, const int first, const int k) {}

/* The velocity `displacement` cells after node p, wrapped into the box: the formula is continued
 * periodically, or as beyond the ends of a bounded line. */
INLINE V velocity_at(const Motion* m, const int p, const V displacement, const Moment* at) {
  I node = m->first + (lane_int)p;
#if defined(SEGMENT) && !defined(BOUNDED)
  node = SELECT(node < 0, node + (lane_int)m->n, node);
  node = SELECT(node >= (I)((lane_int)m->n), node - (lane_int)m->n, node);
#endif
  const V place = TO_REAL(node) + displacement;
#ifdef BOUNDED
  V sign;
  const V cells = place_on_line(place + REAL(0.5), (real)m->n, &sign) - REAL(0.5);
#else
  const V cells = place - (real)m->n * FLOOR(place * (REAL(1.0) / (real)m->n));
#endif
  const V row = MAD((V)(m->row_spacing), cells, (V)(m->row_origin)), lane = m->lane,
          outer = m->outer;
  const V velocity = velocity_formula(COORDINATE(0), COORDINATE(1), COORDINATE(2), at);
#ifdef BOUNDED
  return sign * velocity;
#else
  return velocity;
#endif
}

INLINE V motion_of_node(MOTION_PARAMETER, const int p) {
  return velocity_at(m, p, (V)(REAL(0.0)), &m->moments[AT_BEGIN]);
}

INLINE V motion_at(MOTION_PARAMETER, const int p, const V displacement, const int when) {
  return velocity_at(m, p, displacement, &m->moments[when]);
}
