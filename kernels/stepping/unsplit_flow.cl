/* SPDX-License-Identifier: BSD-3-Clause */
/* All components of the velocity where LANES neighbouring particles of a row are.
 *
 * FORMULA  it is evaluated there; else it lies on the nodes of a grid and is interpolated along all
 *          axes, the last one first
 * COARSE   that grid is coarser than the particles'
 * SERIES   there are two such fields, `flow` and `next`; the time is 0 at the first, 1 at the other
 */
#include "common/common.cl"
#include "common/long_lanes.cl"
#include "generated/velocity_formulas.cl"
#include "motion/interpolation.cl"
#include "stepping/unsplit_grid.cl"
#include "common/formula_parameters.cl"

#ifdef FORMULA

typedef struct {
  int n[3];
  real origin[3], spacing[3];
} Flow;

#define FLOW_PARAMETERS                                                            \
  const real origin0, const real origin1, const real origin2, const real spacing0, \
      const real spacing1, const real spacing2 FORMULA_PARAMETERS
#define DECLARE_FLOW \
  const Flow flow_at = {{n0, n1, n2}, {origin0, origin1, origin2}, {spacing0, spacing1, spacing2}}

/* The velocity of particles that have moved from their nodes by so many cells; the formula is
 * continued periodically. */
INLINE void velocity_of_particles(const Flow* f, __private const I* node, __private const V* moved,
                                  const Instants* at, __private V* velocity) {
  V x[6] = {0, 0, 0, 0, 0, 0};
  FOR_AXES(a) {
    const I own = IS_CUT(a) ? wrap_lanes(node[a], f->n[a]) : node[a];
    const V place = TO_REAL(own) + moved[a];
    const V cells = place - (real)f->n[a] * FLOOR(place * (REAL(1.0) / (real)f->n[a]));
    x[a] = MAD((V)(f->spacing[a]), cells, (V)(f->origin[a]));
  }
  velocity_formulas(x[FIRST_AXIS], x[FIRST_AXIS + 1], x[FIRST_AXIS + 2], at, velocity + FIRST_AXIS);
}

#else

/* Nodes of the velocity; cells of the particles' grid to one of its own, and how many of them its
 * first node comes before theirs. Of SOME_ROWS, which lie where they are counted: which
 * one memory begins with, and how many nodes the particles' grid has there. */
typedef struct {
  int n[3], ratio[3];
  real shift[3];
  Array from, next;
  int first_row, whole;
} Flow;

#ifdef SERIES
#define FLOW_FIELDS ARRAY_PARAMETERS(flow), ARRAY_PARAMETERS(next)
#define NEXT_FIELD ARRAY_OF(next)
#else
#define FLOW_FIELDS ARRAY_PARAMETERS(flow)
#define NEXT_FIELD ARRAY_OF(flow)
#endif
#define FLOW_PARAMETERS                                                                \
  FLOW_FIELDS, const int nodes0, const int nodes1, const int nodes2, const int ratio0, \
      const int ratio1, const int ratio2, const real shift0, const real shift1, const real shift2
#define DECLARE_FLOW                              \
  const Flow flow_at = {{nodes0, nodes1, nodes2}, \
                        {ratio0, ratio1, ratio2}, \
                        {shift0, shift1, shift2}, \
                        ARRAY_OF(flow),           \
                        NEXT_FIELD,               \
                        rows.first,               \
                        FIRST_AXIS == 0 ? n0 : n1}

INLINE V gathered(__global const real* from, const L at) {
  V values;
  UNROLL
  for (int j = 0; j < LANES; j++)
    ((__private real*)&values)[j] = from[((__private const long*)&at)[j]];
  return values;
}

/* The cell of the velocity's grid that a particle is in, and where in it. */
INLINE I cell_of(const Flow* f, const int a, const I node, const V moved, __private V* offset) {
#ifdef COARSE
  const real inverse = REAL(1.0) / (real)f->ratio[a];
  const I own = IS_CUT(a) ? wrap_lanes(node, f->whole) : node;
  const I found = TO_INT(FLOOR(TO_REAL(own) * inverse)), rest = own - found * (lane_int)f->ratio[a];
  const I cell = IS_CUT(a) ? found + (node - own) / (lane_int)f->ratio[a] : found;
  const V place = (TO_REAL(rest) + (f->shift[a] + moved)) * inverse;
#else
  const I cell = node;
  const V place = moved;
#endif
  const V whole = FLOOR(place);
  *offset = place - whole;
  return cell + TO_INT(whole);
}

#define POINTS_ALONG(a) ((a) < FIRST_AXIS ? 1 : POINTS)
#define BETWEEN(a, values, offset) ((a) < FIRST_AXIS ? (values)[0] : between(values, offset))

/* Where the first node around a particle lies. Compilers that may keep it would rather keep one for
 * each of many rows, more than there are registers. */
#if INTERPOLATION == CUBIC
typedef volatile long Place;
#else
typedef long Place;
#endif

#if LANES > 1
DEFINE_NUMBERS_FROM(values_in_row, POINTS, Place)
#endif

/* A component at the offsets of cells whose nodes lie in planes, rows and columns `at`; or, as no
 * row ends between them, at so many strides from the `first`. */
INLINE V component_at(const Array* array, const int c, __private const Place* first,
                      L (*at)[POINTS], __private const V* offset) {
  __global const real* const from = array->at + (c - FIRST_AXIS) * array->component;
  V planes[POINTS], rows[POINTS], values[POINTS];
  for (int i = 0; i < POINTS_ALONG(0); i++) { /* loops, as unrolled ones take long to compile */
    for (int j = 0; j < POINTS_ALONG(1); j++) {
#if LANES > 1
      if (first != 0) {
        values_in_row(from + i * array->stride[0] + j * array->stride[1], first, values);
      } else
#endif
      {
        const L row = at[0][i] + at[1][j];
        UNROLL
        for (int k = 0; k < POINTS; k++) values[k] = gathered(from, row + at[2][k]);
      }
      rows[j] = between(values, offset[2]);
    }
    planes[i] = BETWEEN(1, rows, offset[1]);
  }
  return BETWEEN(0, planes, offset[0]);
}

/* Wherever rows end, which few particles see: seldom run, and long to compile at each stage. */
#if LANES > 1
#define ANYWHERE OUT_OF_LINE
#else
#define ANYWHERE INLINE
#endif
ANYWHERE void components_anywhere(const Array* array, __private const int* n, const int first_row,
                                  __private const I* first, __private const V* offset,
                                  __private V* components) {
  L at[3][POINTS] = {{0}};
  FOR_AXES(a) {
    UNROLL
    for (int j = 0; j < POINTS; j++) {
      const I row = first[a] + (lane_int)j;
      at[a][j] =
          TO_LONG(IS_CUT(a) ? row - (lane_int)first_row : wrap_lanes(row, n[a])) * array->stride[a];
    }
  }
  FOR_AXES(c) components[c] = component_at(array, c, 0, at, offset);
}

INLINE void components_at(const Array* array, __private const int* n, const int first_row,
                          __private const I* first, __private const V* offset,
                          __private V* components) {
#if LANES > 1
  L place = 0;
  I are_apart = array->stride[2] == 1 ? 0 : -1;
  FOR_AXES(a) {
    const I begin = IS_CUT(a) ? first[a] - (lane_int)first_row : first[a];
    place += TO_LONG(begin) * array->stride[a];
    if (!IS_CUT(a)) are_apart |= (begin < 0) | (begin > (I)((lane_int)(n[a] - POINTS)));
  }
  if (!ANY(are_apart)) {
    FOR_AXES(c) components[c] = component_at(array, c, (__private const Place*)&place, 0, offset);
    return;
  }
#endif
  components_anywhere(array, n, first_row, first, offset, components);
}

INLINE void velocity_of_particles(const Flow* f, __private const I* node, __private const V* moved,
                                  const Instants* at, __private V* velocity) {
  I first[3];
  V offset[3] = {0, 0, 0};
  FOR_AXES(a) first[a] = cell_of(f, a, node[a], moved[a], &offset[a]) - (lane_int)POINTS_BEFORE;
  components_at(&f->from, f->n, f->first_row, first, offset, velocity);
#ifdef SERIES
  V next[3];
  components_at(&f->next, f->n, f->first_row, first, offset, next);
  FOR_AXES(c) velocity[c] = MAD((V)(*at), next[c] - velocity[c], velocity[c]);
#endif
}

#endif

/* The velocity of particles on their nodes. */
INLINE void velocity_of_nodes(const Flow* f, __private const I* node, const Instants* at,
                              __private V* velocity) {
#if defined(FORMULA) || defined(COARSE) || defined(SERIES)
  const V moved[3] = {0, 0, 0};
  velocity_of_particles(f, node, moved, at, velocity);
#else
  L place = 0;
  FOR_AXES(a)
  place += TO_LONG(IS_CUT(a) ? node[a] - (lane_int)f->first_row : node[a]) * f->from.stride[a];
  FOR_AXES(c) velocity[c] = gathered(f->from.at + (c - FIRST_AXIS) * f->from.component, place);
#endif
}

/* LANES neighbouring particles. Those beyond the end of the row are its last one. Of SOME_ROWS
 * nodes are counted on beyond the ends of the axis; rows are those of particles. */
typedef struct {
  I node[3];
  long row0, row1;
  int first;
} Neighbours;

INLINE long vectors_of(__private const int* n, const StartRows* rows) {
  const long vectors = (n[2] + LANES - 1) / LANES;
  if (FIRST_AXIS == 2) return vectors;
  return vectors * rows->count * (FIRST_AXIS == 0 ? n[1] : 1);
}

INLINE Neighbours neighbours_at(const long vector, __private const int* n, const StartRows* rows) {
  const int vectors = (n[2] + LANES - 1) / LANES;
  const long row = vector / vectors;
  Neighbours p;
  p.row0 = FIRST_AXIS == 0 ? row / n[1] : 0;
  p.row1 = FIRST_AXIS == 0 ? row % n[1] : row;
  p.first = (int)(vector % vectors) * LANES;
  const I along = p.first + (I)(LANE_NUMBERS), last = (I)((lane_int)(n[2] - 1));
  p.node[0] = (I)((lane_int)p.row0);
  p.node[1] = (I)((lane_int)p.row1);
  p.node[2] = SELECT(along < last, along, last);
  if (IS_CUT(FIRST_AXIS)) {
    const int own = (int)(FIRST_AXIS == 0 ? p.row0 : p.row1);
    const int node = own < rows->tail ? own + rows->head : own - rows->tail + rows->low;
    p.node[FIRST_AXIS] = (I)((lane_int)node);
  }
  return p;
}
