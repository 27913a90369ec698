/* SPDX-License-Identifier: BSD-3-Clause */
/* Motion that lies in memory, at the nodes and the places of particles. */
#include "motion/motion_stored.cl"

/* What is stored, interpolated between nodes, so many cells after its row i. */
INLINE V motion_after(MOTION_PARAMETER, const int i, const Cells c, const int when) {
  V at[POINTS];
#define READ_NOW(i, COUNT, to) READ_MOTION(i, COUNT, to, when)
  READ_CELLS(READ_NOW, i - POINTS_LEFT, c, POINTS, at)
  return as_wide_as_lines(m, between(at, c.offset));
}

/* What is stored in row i of the line. */
INLINE V motion_of_row(MOTION_PARAMETER, const int i, const int when) {
  V row;
  READ_MOTION(i, 1, &row, when);
  return as_wide_as_lines(m, row);
}

#ifdef COARSE

/* `displacement` cells of the particles after particle p: these are COARSE to a row. Which of them
 * it is does not depend on where its segment begins, so that this is rounded alike everywhere. */
INLINE V motion_at(MOTION_PARAMETER, const int p, const V displacement, const int when) {
  const int i = COARSE_ROW(p);
  V cell = (real)(p - i * COARSE);
#ifdef SEGMENT
  cell += m->phase;
  const I beyond = cell >= (V)(REAL(1.0) * COARSE);
  const V rows = SELECT(beyond, (V)(REAL(1.0)), (V)(REAL(0.0)));
  cell = SELECT(beyond, cell - COARSE, cell);
#else
  const V rows = 0;
#endif
  const V place = ((cell + m->shift) + displacement) * (REAL(1.0) / COARSE), whole = FLOOR(place);
  return motion_after(MOTION_ARGUMENT, i, cells_at(whole + rows, place - whole), when);
}

INLINE V motion_of_node(MOTION_PARAMETER, const int p) {
#ifdef SEGMENT
  return motion_at(MOTION_ARGUMENT, p, (V)(REAL(0.0)), AT_BEGIN);
#else /* whole periodic lines begin at a node of the coarse grid in all lanes */
  const int i = COARSE_ROW(p);
  const real place = (real)(p - i * COARSE) * (REAL(1.0) / COARSE);
  V at[POINTS];
  READ_MOTION(i - POINTS_LEFT, POINTS, at, AT_BEGIN);
  return as_wide_as_lines(m, between(at, (V)(place)));
#endif
}

#else

INLINE V motion_at(MOTION_PARAMETER, const int p, const V displacement, const int when) {
  return motion_after(MOTION_ARGUMENT, p, cells_of(displacement), when);
}

INLINE V motion_of_node(MOTION_PARAMETER, const int p) {
  return motion_of_row(MOTION_ARGUMENT, p, AT_BEGIN);
}

#endif

/* For the tile to come; k counts rows or lanes, as they are read. */
INLINE void prefetch_motion(const Motion* m, const int first, const int k) {
  UNROLL
  for (int level = 0; level < LEVELS; level++) {
    const Level* l = &m->level[level];
#ifdef ALONG_MEMORY
    prefetch_row(l->from, &l->next, l->strides, COARSE_ROW(first), k);
#else
    prefetch_row(l->from, &l->next, l->strides, COARSE_ROW(first + k), 0);
#endif
  }
}
