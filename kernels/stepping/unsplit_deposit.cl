/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds all particles to the nodes around them, with the product of one kernel along each axis.
 *
 * Every work-item owns a patch of nodes: it alone writes them, so there is no race. It goes through
 * all particles that may reach the patch, in ascending order, and adds to its own nodes what they
 * give: every node receives its particles in the order of the natural serial loop, however the grid
 * is cut into patches.
 *
 * COMPONENTS  numbers that a particle carries
 * WIDTH       nodes of a row that are added to at once: 1, or a vector of 4, 8 or 16 */
#include "common/common.cl"
#include "generated/weights.cl"
#include "lines/boundary.cl"
#include "stepping/unsplit_grid.cl"

#ifndef COMPONENTS
#define COMPONENTS 1
#endif
#ifndef WIDTH
#define WIDTH 1
#endif
#define PIECES ((STENCIL + WIDTH - 1) / WIDTH) /* of the stencil along a row */

#if WIDTH == 1
typedef real Piece;
typedef real LoosePiece;
#else
typedef JOIN(REAL_NAME, WIDTH) Piece;
typedef Piece LoosePiece __attribute__((aligned(sizeof(real)))); /* it begins at any node */
#endif
#ifdef USE_FMA
#define MAD_PIECE(a, b, c) fma(a, b, c)
#else
#define MAD_PIECE(a, b, c) ((a) * (b) + (c))
#endif

typedef struct {
  int first[3], count[3];
  int room; /* elements from the first node of a row on that nobody else writes */
  __global real* sums;
  long component, stride0, stride1;
} Patch;

INLINE Patch patch_at(long job, __private const int* n, __private const int* size) {
  Patch patch;
  UNROLL
  for (int a = 2; a >= 0; a--) {
    const int patches = (n[a] + size[a] - 1) / size[a];
    patch.first[a] = (int)(job % patches) * size[a];
    patch.count[a] = min(size[a], n[a] - patch.first[a]);
    job /= patches;
  }
  return patch;
}

/* Whether particles first .. last of an axis may reach the patch, moving by cells reach[0] ..
 * reach[1]: nodes low .. high, counted from the patch's first, go around the axis. */
INLINE int may_reach(const Patch* patch, const int a, const int n, const int first, const int last,
                     __global const int* reach) {
  const int least = reach[2 * a], greatest = reach[2 * a + 1];
  const int low = wrap(first + least - STENCIL_BEFORE - patch->first[a], n);
  return low < patch->count[a] || last - first + greatest - least + STENCIL > n - low;
}

/* Neighbouring particles as the patch sees them. */
typedef struct {
  I node[3]; /* of the first weight, counted from the patch's first: 0 .. n - 1 */
  I meets;   /* whether one of their nodes is the patch's */
  V weight[3][STENCIL];
} Particles;

INLINE Particles particles_at(const Patch* patch, __private const int* n, const int p0,
                              const int p1, const int p2, __global const real* moved,
                              const long component) {
  const I along = p2 + (I)(LANE_NUMBERS), here[3] = {(I)((lane_int)p0), (I)((lane_int)p1), along};
  Particles p;
  V offset[3];
  p.node[0] = p.node[1] = 0;
  p.meets = along < (lane_int)n[2];
  FOR_AXES(a) {
    const V cells = *(__global const V*)(moved + p2 + (a - FIRST_AXIS) * component);
    const V whole = FLOOR(cells);
    offset[a] = cells - whole;
    const I low = here[a] + TO_INT(whole) - (lane_int)(STENCIL_BEFORE + patch->first[a]);
    p.node[a] = wrap_lanes(low, n[a]);
    p.meets &= (p.node[a] < (lane_int)patch->count[a]) | (p.node[a] > (lane_int)(n[a] - STENCIL));
  }
  if (ANY(p.meets != 0)) {
    FOR_AXES(a) remeshing_weights(offset[a] - REAL(0.5), p.weight[a]);
  }
  return p;
}

#define NODE_OF(p, a) ((int)((__private const lane_int*)&(p)->node[a])[lane])
#define WEIGHT(p, a, j) (((__private const real*)&(p)->weight[a][j])[lane])
/* The strength of a particle times its weights along the first axes. */
#define PLANE(p, j0, strength) (FIRST_AXIS > 0 ? (strength) : WEIGHT(p, 0, j0) * (strength))
#define LINE(p, j1, plane) (FIRST_AXIS > 1 ? (plane) : WEIGHT(p, 1, j1) * (plane))
#define NODES_ALONG(a) ((a) < FIRST_AXIS ? 1 : STENCIL)

/* The stencil of a particle along a row. */
typedef struct {
  Piece weight[PIECES]; /* 0 beyond the stencil */
  int node[STENCIL];
  int whole; /* the pieces lie in the patch, with room beyond the stencil */
} Stencil;

INLINE Stencil stencil_of(const Patch* patch, const int n, const Particles* p, const int lane) {
  Stencil s;
  const int first = NODE_OF(p, 2);
  s.whole = first + PIECES * WIDTH <= patch->room && first + STENCIL <= patch->count[2];
  UNROLL
  for (int j = 0; j < PIECES * WIDTH; j++)
    ((__private real*)s.weight)[j] = j < STENCIL ? WEIGHT(p, 2, j) : 0;
  UNROLL
  for (int j = 0; j < STENCIL; j++) s.node[j] = first + j;
  if (first + STENCIL > n)
    for (int j = 0; j < STENCIL; j++) s.node[j] = wrap(first + j, n);
  return s;
}

/* Where weights are 0, nothing is added. */
INLINE void add_row(const Patch* patch, __global real* row, const Stencil* s, const real strength) {
  if (s->whole) {
    UNROLL
    for (int k = 0; k < PIECES; k++) {
      __global LoosePiece* sum = (__global LoosePiece*)(row + s->node[0] + k * WIDTH);
      const Piece weight = s->weight[k], before = *sum,
                  after = MAD_PIECE(weight, (Piece)strength, before);
      *sum = SELECT(weight != 0, after, before);
    }
  } else {
    UNROLL
    for (int j = 0; j < STENCIL; j++) {
      const real weight = ((__private const real*)s->weight)[j];
      __global real* sum = row + s->node[j];
      if (s->node[j] < patch->count[2] && weight != 0) *sum = MAD_PIECE(weight, strength, *sum);
    }
  }
}

INLINE void deposit_particle(const Patch* patch, __private const int* n, const Particles* p,
                             const int lane, __private const real* strength) {
  const Stencil along = stencil_of(patch, n[2], p, lane);
  for (int j0 = 0; j0 < NODES_ALONG(0); j0++) {
    const int i0 = wrap(NODE_OF(p, 0) + j0, n[0]);
    if (i0 >= patch->count[0]) continue;
    for (int j1 = 0; j1 < NODES_ALONG(1); j1++) {
      const int i1 = wrap(NODE_OF(p, 1) + j1, n[1]);
      if (i1 >= patch->count[1]) continue;
      __global real* row = patch->sums + i0 * patch->stride0 + i1 * patch->stride1;
      UNROLL
      for (int c = 0; c < COMPONENTS; c++)
        add_row(patch, row + c * patch->component, &along, LINE(p, j1, PLANE(p, j0, strength[c])));
    }
  }
}

INLINE void clear(const Patch* patch) {
  for (int c = 0; c < COMPONENTS; c++)
    for (int i0 = 0; i0 < patch->count[0]; i0++)
      for (int i1 = 0; i1 < patch->count[1]; i1++) {
        __global real* row =
            patch->sums + i0 * patch->stride0 + i1 * patch->stride1 + c * patch->component;
        for (int i2 = 0; i2 < patch->count[2]; i2++) row[i2] = 0;
      }
}

/* Particles begin .. end - 1 of row p0, p1. */
INLINE void add_chunk(const Patch* patch, __private const int* n, const int p0, const int p1,
                      const int begin, const int end, __global const real* moved,
                      const long moves_component, __global const real* u, const long u_component,
                      const long u_stride) {
  for (int p2 = begin; p2 < end; p2 += LANES) {
    const Particles p = particles_at(patch, n, p0, p1, p2, moved, moves_component);
    if (!ANY(p.meets != 0)) continue;
    for (int lane = 0; lane < LANES; lane++) {
      if (!((__private const lane_int*)&p.meets)[lane]) continue;
      real strength[COMPONENTS];
      for (int c = 0; c < COMPONENTS; c++)
        strength[c] = u[(p2 + lane) * u_stride + c * u_component];
      deposit_particle(patch, n, &p, lane, strength);
    }
  }
}

KERNEL void unsplit_deposit(__global real* sums, const ulong sums_offset, const long sums_component,
                            const long sums_stride0, const long sums_stride1,
                            const long sums_stride2, __global real* u, const ulong u_offset,
                            const long u_component, const long u_stride0, const long u_stride1,
                            const long u_stride2, __global real* moves, const ulong moves_offset,
                            const long moves_component, const long moves_stride0,
                            const long moves_stride1, const long moves_stride2,
                            __global const int* reach, const int n0, const int n1, const int n2,
                            const int size0, const int size1, const int size2) {
  const int n[3] = {n0, n1, n2};
  const int size[3] = {size0, size1, size2}, chunks = chunks_of_row(n[2]);
  const long rows = (long)n[0] * n[1];
  __global const int *of_rows = reach + 6 * rows * chunks, *of_planes = of_rows + 6 * rows;
  Patch patch = patch_at(get_global_id(0), n, size);
  patch.sums = ROW_OF(sums, patch.first[0], patch.first[1]) + patch.first[2];
  patch.component = sums_component, patch.stride0 = sums_stride0, patch.stride1 = sums_stride1;
  const int end = patch.first[2] + patch.count[2];
  patch.room = (end == n[2] ? (end + 15) / 16 * 16 : end) - patch.first[2];
  clear(&patch);
  for (int p0 = 0; p0 < n[0]; p0++) {
    if (FIRST_AXIS < 1 && !may_reach(&patch, 0, n[0], p0, p0, of_planes + 6 * p0)) continue;
    for (int p1 = 0; p1 < n[1]; p1++) {
      const long row = (long)p0 * n[1] + p1;
      if (FIRST_AXIS < 1 && !may_reach(&patch, 0, n[0], p0, p0, of_rows + 6 * row)) continue;
      if (FIRST_AXIS < 2 && !may_reach(&patch, 1, n[1], p1, p1, of_rows + 6 * row)) continue;
      for (int chunk = 0; chunk < chunks; chunk++) {
        __global const int* cells = reach + 6 * (row * chunks + chunk);
        const int begin = chunk * CHUNK, end = min(begin + CHUNK, n[2]);
        if (FIRST_AXIS < 1 && !may_reach(&patch, 0, n[0], p0, p0, cells)) continue;
        if (FIRST_AXIS < 2 && !may_reach(&patch, 1, n[1], p1, p1, cells)) continue;
        if (!may_reach(&patch, 2, n[2], begin, end - 1, cells)) continue;
        add_chunk(&patch, n, p0, p1, begin, end, ROW_OF(moves, p0, p1), moves_component,
                  ROW_OF(u, p0, p1), u_component, u_stride2);
      }
    }
  }
}
