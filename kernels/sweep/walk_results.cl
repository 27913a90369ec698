/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores what comes of the sums that a walk has left: limited, or rounded to what fields hold.
 *
 * RACES. Sums are only read, and a work-item alone writes the nodes of its tiles. */
#ifndef LINES_IN_GLOBAL
#define LINES_IN_GLOBAL 1
#endif
#include "common/common.cl"
#include "generated/swept_fields.cl"
#include "lines/boundary.cl"
#include "lines/lines.cl"
#include "sweep/arrival.cl"
#include "sweep/deposit.cl"
#include "sweep/limiter.cl"
#include "sweep/limiter_kinds.cl"
#include "sweep/sums.cl"
#include "sweep/swept.cl"
#include "sweep/walked_sums.cl"

INLINE void store_walked(const Sums* sums, const Swept* f, const int c, const int count) {
  Results results = begin_results(sums, c);
  if (BOUNDED && LIMITED) count_flux_in(f->ends, c, flux_into(&results));
  for (int p = 0; p < count; p++) {
    const V result = next_result(&results);
    if (BOUNDED && LIMITED) count_flux_out(f->ends, c, p, flux_into(&results));
    write_row(result, f->u[c], &f->starts, f->strides, p);
  }
}

KERNEL void walk_results(FIELD_PARAMETERS, const long row_stride, const long lane_stride,
                         const long outer_stride, const int n, const int lines, const int outers,
                         const int segment, const int tiles_each PART_PARAMETERS,
#if BOUNDED
                         __global V* crossed,
#endif
                         WALKED_SUMS_PARAMETERS) {
  const Lines grid = {n, lines, outers, segment PART_NODES};
  const Strides strides = {row_stride, lane_stride, outer_stride};
  const WalkedSums walked = {sums, sums_row_stride, sums_outer_stride, sums_kind_stride};
  Swept f = {FIELD_POINTERS, KEPT_POINTERS, strides, n, segment};
#if PART
  f.part_end = part_end;
#endif
#if BOUNDED
  Ends ends = {0, 0, n, segment};
  ends.crossed = crossed + get_global_id(0) * (4 * COMPONENTS);
  f.ends = &ends;
#endif
  const long begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles_of(grid)); job++) {
    aim_at(&f, grid, job);
    Sums of_tile[LINE_SUMS];
    for (int k = 0; k < LINE_SUMS; k++) {
      of_tile[k].at = first_sum(&walked, &f.tile, k);
      of_tile[k].pitch = sums_row_stride;
    }
    const int count = min(segment, END_OF(&f) - f.tile.first);
    for (int c = 0; c < COMPONENTS; c++) store_walked(of_tile, &f, c, count);
    if (BOUNDED) settle(f.ends);
  }
}
