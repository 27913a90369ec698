/* SPDX-License-Identifier: BSD-3-Clause */
/* What the particles of a tile carry. */
#include "common/common.cl"
#include "lines/boundary.cl"
#include "lines/form.cl"
#include "lines/lines.cl"
#include "sweep/swept.cl"

/* A component of the particles on LANES rows, from row `first` on. */
typedef struct {
  __global const stored* from;
  int first, low;
#if ALONG_MEMORY
  V rows[LANES];
#endif
} Strengths;

/* Only nodes low .. high-1, counted on beyond the ends of the line, have particles here. */
INLINE void aim_strengths(Strengths* p, const Swept* f, const int c, const int first, const int low,
                          const int high) {
  const int is_own = SEGMENT ? low == 0 && are_own(f, first) : !LINES_IN_GLOBAL;
  p->first = first, p->low = low;
  p->from = is_own ? f->u[c] : f->kept[c];
#if ALONG_MEMORY
  if (SEGMENT)
    read_continued_block(p->rows, p->from, &f->tile, &f->starts, f->n, first, low, high, REAL(1.0));
  else
    read_block(p->rows, p->from, &f->starts, first);
#endif
}

/* What particle k carries. */
INLINE V strength_of(const Strengths* p, const Swept* f, const int k) {
  prefetch_row(p->from, &f->next, f->strides, p->first, k);
#if ALONG_MEMORY
  return p->rows[k];
#else
  int row = p->first + k;
  if (SEGMENT && p->low != 0) row = STORED_NODE(f->tile.first + row, f->n) - f->tile.first;
  return read_row(p->from, &f->starts, f->strides, row);
#endif
}
