/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of a walk that are not its results: memory of their own, where neighbouring lines lie side
 * by side, and MARGIN rows beyond either end of each. */
#include "common/common.cl"
#include "lines/boundary.cl"
#include "lines/form.cl"
#include "lines/lines.cl"

#define WALKED_SUMS_PARAMETERS                                                \
  __global V *sums, const long sums_row_stride, const long sums_outer_stride, \
      const long sums_kind_stride
#if LINES_IN_GLOBAL
#define DECLARE_WALKED_SUMS \
  const WalkedSums walked = {sums, sums_row_stride, sums_outer_stride, sums_kind_stride}
#else
#define DECLARE_WALKED_SUMS const WalkedSums walked = {0}
#endif

typedef struct {
  __global V* at;
  long row_stride, outer_stride, kind_stride;
} WalkedSums;

/* The row MARGIN before that of a tile's first node. */
INLINE __global V* first_sum(const WalkedSums* s, const Tile* t, const int kind) {
  return s->at + kind * s->kind_stride + t->outer * s->outer_stride + t->lane +
         (PART ? t->first - t->begin : t->first) * s->row_stride;
}
