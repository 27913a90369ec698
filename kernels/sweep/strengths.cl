/* SPDX-License-Identifier: BSD-3-Clause */
/* What the particles of a tile carry. */
#include "common/common.cl"
#include "lines/boundary.cl"
#include "lines/form.cl"
#include "lines/lines.cl"
#include "sweep/swept.cl"

/* Of a component, on LANES rows. */
typedef struct {
  __global const stored* from;
  int first, low;
  V rows[LANES];
} Strengths;

#define ARE_READ_FIRST (ALONG_MEMORY || SEGMENT) /* before what comes of them is added up */

/* Rows first+begin .. first+end-1. Only nodes low .. high-1, counted on beyond the ends of the
 * line, have particles here. */
INLINE void aim_strengths(Strengths* p, const Swept* f, const int c, const int first,
                          const int begin, const int end, const int low, const int high) {
  const int is_own = SEGMENT ? low == 0 && are_own(f, first) : !LINES_IN_GLOBAL;
  p->first = first, p->low = low;
  p->from = is_own ? f->u[c] : f->kept[c];
  if (!ARE_READ_FIRST) return;
#if ALONG_MEMORY
  if (SEGMENT)
    read_continued_block(p->rows, p->from, &f->tile, &f->starts, f->n, first, low, high, REAL(1.0));
  else
    read_block(p->rows, p->from, &f->starts, first);
#else
  int own_end = is_own ? end : begin;
  if (PART) own_end = min(own_end, f->part_end - f->tile.least_first - first);
  for (int k = begin; k < own_end; k++)
    p->rows[k] = read_row(f->u[c], &f->starts, f->strides, first + k);
  for (int k = max(begin, own_end); k < end; k++) {
    const int row =
        low == 0 ? first + k : STORED_NODE(f->tile.first + first + k, f->n) - f->tile.first;
    p->rows[k] = read_row(f->kept[c], &f->starts, f->strides, row);
  }
#endif
}

/* What particle k carries. */
INLINE V strength_of(const Strengths* p, const Swept* f, const int k) {
  prefetch_row(p->from, &f->next, f->strides, p->first, k);
#if !ALONG_MEMORY
  if (!ARE_READ_FIRST) return read_row(p->from, &f->starts, f->strides, p->first + k);
#endif
  return p->rows[k];
}
