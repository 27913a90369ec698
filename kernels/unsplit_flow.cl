/* SPDX-License-Identifier: BSD-3-Clause */
/* All components of the velocity where LANES neighbouring particles of a row are.
 *
 * FORMULA        it is evaluated there; else it lies on the nodes of the grid and is interpolated,
 * INTERPOLATION  linearly (2 nodes along each axis) or by cubics (4 nodes) */
#include "trigonometry.cl"
#include "unsplit_formulas.cl"
#include "unsplit_grid.cl"

#ifndef INTERPOLATION
#define INTERPOLATION 2
#endif

#if LANES == 1
typedef long L;
#define TO_LONG(x) ((L)(x))
#else
typedef JOIN(long, LANES) L;
#if __has_builtin(__builtin_convertvector)
#define TO_LONG(x) __builtin_convertvector(x, L)
#else
#define TO_LONG(x) JOIN(convert_long, LANES)(x)
#endif
#endif

#ifdef FORMULA

typedef struct {
  int n[3];
  real origin[3], spacing[3];
} Flow;

#define FLOW_PARAMETERS                                                                       \
  const real origin0, const real origin1, const real origin2, const real spacing0,            \
      const real spacing1, const real spacing2
#define DECLARE_FLOW                                                                       \
  const Flow flow = {                                                                      \
      {n0, n1, n2}, {origin0, origin1, origin2}, {spacing0, spacing1, spacing2}}

/* The velocity of particles that have moved from their nodes by so many cells; the formula is
 * continued periodically. */
INLINE void velocity_at(const Flow* f, __private const I* node, __private const V* moved,
                        const real time, __private V* velocity) {
  V x[6] = {0, 0, 0, 0, 0, 0};
  FOR_AXES(a) {
    const V place = TO_REAL(node[a]) + moved[a];
    const V cells = place - (real)f->n[a] * FLOOR(place * (REAL(1.0) / (real)f->n[a]));
    x[a] = MAD((V)(f->spacing[a]), cells, (V)(f->origin[a]));
  }
  velocity_formulas(x[FIRST_AXIS], x[FIRST_AXIS + 1], x[FIRST_AXIS + 2], time,
                    velocity + FIRST_AXIS);
}

INLINE void velocity_of_nodes(const Flow* f, __private const I* node, const real time,
                              __private V* velocity) {
  const V moved[3] = {0, 0, 0};
  velocity_at(f, node, moved, time, velocity);
}

#else

typedef struct {
  int n[3];
  __global const real* from;
  long component, stride[3];
} Flow;

#define FLOW_PARAMETERS ARRAY_PARAMETERS(flow_from)
#define DECLARE_FLOW                                        \
  const Flow flow = {{n0, n1, n2},                          \
                     flow_from + flow_from_offset,          \
                     flow_from_component,                   \
                     {flow_from_stride0, flow_from_stride1, flow_from_stride2}}

INLINE V gathered(__global const real* from, const L at) {
  V values;
  UNROLL
  for (int j = 0; j < LANES; j++)
    ((__private real*)&values)[j] = from[((__private const long*)&at)[j]];
  return values;
}

/* Between the nodes v[0] and v[1], or v[1] and v[2]: Everett's form of the cubic through four, a
 * line and a share of the second differences at either end. */
INLINE V interpolated(__private const V* v, const V share) {
#if INTERPOLATION == 2
  return MAD(share, v[1] - v[0], v[0]);
#else
  const V rest = REAL(1.0) - share, sixth = REAL(1.0) / REAL(6.0);
  const V left = v[0] - REAL(2.0) * v[1] + v[2], right = v[1] - REAL(2.0) * v[2] + v[3];
  const V line = MAD(share, v[2] - v[1], v[1]);
  const V at_left = rest * MAD(rest, rest, (V)(REAL(-1.0))) * sixth;
  const V at_right = share * MAD(share, share, (V)(REAL(-1.0))) * sixth;
  return MAD(at_right, right, MAD(at_left, left, line));
#endif
}

#define NODES_ALONG(a) ((a) < FIRST_AXIS ? 1 : INTERPOLATION)
#define BETWEEN(a, values, share) ((a) < FIRST_AXIS ? (values)[0] : interpolated(values, share))

INLINE void velocity_at(const Flow* f, __private const I* node, __private const V* moved,
                        const real time, __private V* velocity) {
  L at[3][INTERPOLATION] = {{0}};
  V share[3] = {0, 0, 0};
  FOR_AXES(a) {
    const V whole = FLOOR(moved[a]);
    share[a] = moved[a] - whole;
    const I first = wrap_lanes(node[a] + TO_INT(whole), f->n[a]) - (INTERPOLATION / 2 - 1);
    UNROLL
    for (int j = 0; j < INTERPOLATION; j++)
      at[a][j] = TO_LONG(wrap_lanes(first + j, f->n[a])) * f->stride[a];
  }
  FOR_AXES(c) {
    __global const real* from = f->from + (c - FIRST_AXIS) * f->component;
    V planes[INTERPOLATION], rows[INTERPOLATION], values[INTERPOLATION];
    UNROLL
    for (int i = 0; i < NODES_ALONG(0); i++) {
      UNROLL
      for (int j = 0; j < NODES_ALONG(1); j++) {
        UNROLL
        for (int k = 0; k < INTERPOLATION; k++)
          values[k] = gathered(from, at[0][i] + at[1][j] + at[2][k]);
        rows[j] = BETWEEN(2, values, share[2]);
      }
      planes[i] = BETWEEN(1, rows, share[1]);
    }
    velocity[c] = BETWEEN(0, planes, share[0]);
  }
}

INLINE void velocity_of_nodes(const Flow* f, __private const I* node, const real time,
                              __private V* velocity) {
  L at = 0;
  FOR_AXES(a) at += TO_LONG(node[a]) * f->stride[a];
  FOR_AXES(c) velocity[c] = gathered(f->from + (c - FIRST_AXIS) * f->component, at);
}

#endif

/* The nodes of LANES neighbouring particles. Those beyond the end of the row are its last one. */
typedef struct {
  I node[3];
  long row0, row1;
  int first;
} Neighbours;

INLINE long vectors_of(__private const int* n) {
  return (long)n[0] * n[1] * ((n[2] + LANES - 1) / LANES);
}

INLINE Neighbours neighbours_at(const long vector, __private const int* n) {
  const int vectors = (n[2] + LANES - 1) / LANES;
  const long row = vector / vectors;
  Neighbours p;
  p.row0 = row / n[1];
  p.row1 = row % n[1];
  p.first = (int)(vector % vectors) * LANES;
  const I along = p.first + (I)(LANE_NUMBERS), last = (I)((lane_int)(n[2] - 1));
  p.node[0] = (I)((lane_int)p.row0);
  p.node[1] = (I)((lane_int)p.row1);
  p.node[2] = SELECT(along < last, along, last);
  return p;
}
