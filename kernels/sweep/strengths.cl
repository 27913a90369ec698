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
  for (int k = begin; k < end; k++) prefetch_row(p->from, &f->next, f->strides, first, k);
#if ALONG_MEMORY
  if (SEGMENT)
    read_continued_block(p->rows, p->from, &f->tile, &f->starts, f->n, first, low, high, REAL(1.0));
  else
    read_block(p->rows, p->from, &f->starts, first);
#else
  for (int k = begin; k < end; k++) {
    const int row =
        low == 0 ? first + k : STORED_NODE(f->tile.first + first + k, f->n) - f->tile.first;
    __global const stored* const here = low == 0 && is_own_row(f, row) ? f->u[c] : f->kept[c];
    __global const stored* const from = PART ? here : p->from;
    p->rows[k] = read_row(from, &f->starts, f->strides, row);
  }
#endif
}

/* What particle k carries. */
INLINE V strength_of(const Strengths* p, const Swept* f, const int k) {
#if !ALONG_MEMORY
  if (!ARE_READ_FIRST) {
    prefetch_row(p->from, &f->next, f->strides, p->first, k);
    return read_row(p->from, &f->starts, f->strides, p->first + k);
  }
#endif
  return p->rows[k];
}
