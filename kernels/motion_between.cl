/* SPDX-License-Identifier: BSD-3-Clause */
/* Motion that lies in memory, at the nodes and the places of particles. */
#include "motion_stored.cl"

#define AMONG_4(b1, b2, r) SELECT(b2, SELECT(b1, (r)[3], (r)[2]), SELECT(b1, (r)[1], (r)[0]))
#define AMONG_8(b1, b2, b4, r) SELECT(b4, AMONG_4(b1, b2, (r) + 4), AMONG_4(b1, b2, r))

/* What is stored, interpolated between nodes, so many cells after its row i. */
INLINE V motion_after(MOTION_PARAMETER, const int i, Cells c, const int when) {
  V at[POINTS];
#if LANES == 1
  READ_MOTION(i + c.common - POINTS_LEFT, POINTS, at, when);
#else
  if (c.uniform) {
    V row[POINTS + 1];
    READ_MOTION(i + c.common - POINTS_LEFT, (POINTS + 1), row, when);
    const I moved = c.shift > 0;
    UNROLL
    for (int j = 0; j < POINTS; j++) at[j] = SELECT(moved, row[j + 1], row[j]);
  } else if (all_shifts_below(&c, FEW_SHIFTS)) {
    V row[FEW_SHIFTS - 1 + POINTS];
    READ_MOTION(i + c.common - POINTS_LEFT, (FEW_SHIFTS - 1 + POINTS), row, when);
    const I b1 = BIT_1_OF_FEW(c.shift), b2 = BIT_2_OF_FEW(c.shift);
    UNROLL
    for (int j = 0; j < POINTS; j++) at[j] = AMONG_4(b1, b2, row + j);
  } else {
    UNROLL
    for (int j = 0; j < POINTS; j++) at[j] = 0;
    I left = (I)(-1);
    while (1) {
      const I take = left & (AS_UNSIGNED(c.shift) < (U)(MANY_SHIFTS));
      const I b1 = BIT_1(c.shift), b2 = BIT_2(c.shift), b4 = BIT_4(c.shift);
      V row[MANY_SHIFTS - 1 + POINTS];
      READ_MOTION(i + c.common - POINTS_LEFT, (MANY_SHIFTS - 1 + POINTS), row, when);
      UNROLL
      for (int j = 0; j < POINTS; j++)
        at[j] = SELECT(take != 0, AMONG_8(b1, b2, b4, row + j), at[j]);
      left &= ~take;
      if (!ANY(left)) break;
      next_pass(&c, left);
    }
  }
#endif
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
