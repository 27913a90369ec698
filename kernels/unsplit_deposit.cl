/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds all particles to the nodes around them, with the product of one kernel along each axis.
 *
 * Every work-item owns a box of nodes: it alone writes them, so there is no race. It goes through
 * all particles that may reach the box, in ascending order, and adds to its own nodes what they
 * give: every node receives its particles in the order of the natural serial loop, however the grid
 * is cut into boxes. */
#include "unsplit_grid.cl"
#include "weights.cl"

#ifndef COMPONENTS
#define COMPONENTS 1
#endif

typedef struct {
  int first[3], count[3];
} Box;

INLINE Box box_at(long job, __private const int* n, __private const int* size) {
  Box box;
  UNROLL
  for (int a = 2; a >= 0; a--) {
    const int boxes = (n[a] + size[a] - 1) / size[a];
    box.first[a] = (int)(job % boxes) * size[a];
    box.count[a] = min(size[a], n[a] - box.first[a]);
    job /= boxes;
  }
  return box;
}

/* Whether nodes low .. high of an axis, counted on beyond its ends, meet the box. */
INLINE int meets(const Box* box, const int a, const int n, const int low, const int high) {
  const int from_box = wrap(low - box->first[a], n);
  return from_box < box->count[a] || high - low >= n - from_box;
}

/* Whether particles first .. last of an axis may reach the box, moving by cells reach[0] ..
 * reach[1]. */
INLINE int may_reach(const Box* box, const int a, const int n, const int first, const int last,
                     __global const int* reach) {
  return meets(box, a, n, first + reach[0] - STENCIL_LEFT,
               last + reach[1] - STENCIL_LEFT + STENCIL - 1);
}

/* A particle as the box sees it. */
typedef struct {
  int node[3]; /* of the first weight, counted from the box's first: 0 .. n - 1 */
  real weight[3][STENCIL], strength[COMPONENTS];
} Particle;

typedef struct {
  __global real* at; /* first node of the box */
  long component, stride[3];
} Sums;

/* The row of sums that node j0, j1 of a particle's stencil is on. */
#define SUMS_ROW(s, i0, i1) ((s)->at + (i0) * (s)->stride[0] + (i1) * (s)->stride[1])

/* A stencil that lies in the box as a whole. */
INLINE void add_whole(const Sums* s, const Particle* p) {
  UNROLL
  for (int j0 = 0; j0 < (FIRST_AXIS > 0 ? 1 : STENCIL); j0++) {
    for (int j1 = 0; j1 < (FIRST_AXIS > 1 ? 1 : STENCIL); j1++) {
      __global real* row = SUMS_ROW(s, p->node[0] + j0, p->node[1] + j1) + p->node[2];
      UNROLL
      for (int c = 0; c < COMPONENTS; c++) {
        const real plane = FIRST_AXIS > 0 ? p->strength[c] : p->weight[0][j0] * p->strength[c];
        const real line = FIRST_AXIS > 1 ? plane : p->weight[1][j1] * plane;
        __global real* sums = row + c * s->component;
        UNROLL
        for (int j = 0; j < STENCIL; j++) sums[j] = MAD(p->weight[2][j], line, sums[j]);
      }
    }
  }
}

/* A stencil that lies in the box in part, or around the ends of an axis. */
INLINE void add_part(const Sums* s, const Particle* p, const Box* box, __private const int* n) {
  for (int j0 = 0; j0 < (FIRST_AXIS > 0 ? 1 : STENCIL); j0++) {
    const int i0 = wrap(p->node[0] + j0, n[0]);
    for (int j1 = 0; i0 < box->count[0] && j1 < (FIRST_AXIS > 1 ? 1 : STENCIL); j1++) {
      const int i1 = wrap(p->node[1] + j1, n[1]);
      for (int j = 0; i1 < box->count[1] && j < STENCIL; j++) {
        const int i2 = wrap(p->node[2] + j, n[2]);
        if (i2 >= box->count[2]) continue;
        for (int c = 0; c < COMPONENTS; c++) {
          const real plane = FIRST_AXIS > 0 ? p->strength[c] : p->weight[0][j0] * p->strength[c];
          const real line = FIRST_AXIS > 1 ? plane : p->weight[1][j1] * plane;
          __global real* sum = SUMS_ROW(s, i0, i1) + i2 + c * s->component;
          *sum = MAD(p->weight[2][j], line, *sum);
        }
      }
    }
  }
}

__kernel void unsplit_deposit(ARRAY_PARAMETERS(sums), ARRAY_PARAMETERS(u),
                              ARRAY_PARAMETERS(moves), __global const int* reach,
                              NODES_PARAMETERS, const int size0, const int size1,
                              const int size2) {
  DECLARE_NODES;
  const int size[3] = {size0, size1, size2};
  const Box box = box_at(get_global_id(0), n, size);
  const Sums own = {ROW_OF(sums, box.first[0], box.first[1]) + box.first[2],
                    sums_component,
                    {sums_stride0, sums_stride1, sums_stride2}};
  for (int c = 0; c < COMPONENTS; c++)
    for (int i0 = 0; i0 < box.count[0]; i0++)
      for (int i1 = 0; i1 < box.count[1]; i1++)
        for (int i2 = 0; i2 < box.count[2]; i2++)
          SUMS_ROW(&own, i0, i1)[i2 + c * own.component] = 0;
  for (int p0 = 0; p0 < n[0]; p0++)
    for (int p1 = 0; p1 < n[1]; p1++)
      for (int first = 0; first < n[2]; first += CHUNK) {
        const int chunks = chunks_of_row(n[2]), last = min(first + CHUNK, n[2]) - 1;
        __global const int* cells =
            reach + 6 * (((long)p0 * n[1] + p1) * chunks + first / CHUNK);
        int reaches = may_reach(&box, 2, n[2], first, last, cells + 4);
        if (FIRST_AXIS <= 1) reaches = reaches && may_reach(&box, 1, n[1], p1, p1, cells + 2);
        if (FIRST_AXIS == 0) reaches = reaches && may_reach(&box, 0, n[0], p0, p0, cells);
        if (!reaches) continue;
        __global const real* moved = ROW_OF(moves, p0, p1);
        __global const real* strength = ROW_OF(u, p0, p1);
        for (int p2 = first; p2 <= last; p2++) {
          const int node[3] = {p0, p1, p2};
          Particle p;
          int whole = 1, meeting = 1;
          p.node[0] = p.node[1] = 0;
          FOR_AXES(a) {
            const real cells = moved[p2 + (a - FIRST_AXIS) * moves_component];
            const int low = node[a] + (int)floor(cells) - STENCIL_LEFT;
            p.node[a] = wrap(low - box.first[a], n[a]);
            meeting = meeting && (p.node[a] < box.count[a] || p.node[a] + STENCIL > n[a]);
            whole = whole && p.node[a] + STENCIL <= box.count[a];
          }
          if (!meeting) continue;
          FOR_AXES(a) {
            const real cells = moved[p2 + (a - FIRST_AXIS) * moves_component];
            remeshing_weights(cells - floor(cells) - REAL(0.5), p.weight[a]);
          }
          for (int c = 0; c < COMPONENTS; c++)
            p.strength[c] = strength[p2 * u_stride2 + c * u_component];
          if (whole)
            add_whole(&own, &p);
          else
            add_part(&own, &p, &box, n);
        }
      }
}
