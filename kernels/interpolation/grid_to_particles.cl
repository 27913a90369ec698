/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples fields at particles, wherever these are: no particle depends on another one. Axis 2 of
 * stencil.cl is the last one of the box here.
 *
 * IN_ROWS  points of a row are neighbours in memory */
#ifndef IN_ROWS
#define IN_ROWS 1
#endif
#include "arrays/group.cl"
#include "common/common.cl"
#include "common/regions.cl"
#include "interpolation/numbers.cl"
#include "interpolation/pairs.cl"
#include "interpolation/sampled.cl"
#include "interpolation/stencil.cl"
#include "sets/ends.cl"

/* Where a row has a stencil's points, which all rows and components have in common: from `first`
 * on, where they and those that are read with them are neighbours, else where `of` says. */
typedef struct {
  bool are_neighbours;
  long first, of[WEIGHTS_ALONG(2)];
} Columns;

INLINE Columns columns_of(const long first, const Axis along, const long stride) {
  Columns columns;
  columns.first = first;
  columns.are_neighbours =
      LANES > 1 && IN_ROWS && first >= 0 && first + VECTORS * LANES <= along.points;
  if (columns.are_neighbours) return columns;
  UNROLL
  for (int j = 0; j < WEIGHTS_ALONG(2); j++)
    columns.of[j] = stored_point(first + j, along) * stride;
  return columns;
}

/* Values of a row at a vector of a stencil's points; 0 where there is no weight. */
INLINE V values_at(__global const FIELD* row, const Columns* columns, const int piece) {
#if LANES == 1
  return LOAD_AS(FIELD, row + columns->of[piece]);
#else
  V values = 0;
  if (columns->are_neighbours) {
    values = LOAD_ROW_AS(FIELD, row + columns->first + piece * LANES);
    return SELECT(lanes_of(piece), values, (V)(REAL(0.0)));
  }
  UNROLL
  for (int lane = 0; lane < LANES; lane++) {
    const int j = piece * LANES + lane;
    if (j < WEIGHTS_ALONG(2))
      ((__private real*)&values)[lane] = LOAD_AS(FIELD, row + columns->of[j]);
  }
  return values;
#endif
}

KERNEL void grid_to_particles(__global const CELL* cells, __global const OFFSET* offsets,
                              const long n, const long cells0, const long cells1, const long cells2,
                              const long points0, const long points1, const long points2,
                              const int ends0, const int ends1, const int ends2,
                              const long first_plane, FOR_PAIRS(FIELD_OF_PAIR),
                              const long stride_of_component, const long stride0,
                              const long stride1, const long stride2, FOR_PAIRS(VALUES_OF_PAIR),
                              FOR_PAIRS(RESULTS_OF_PAIR), const int adds) {
  const Axis axes[] = {
      {cells0, points0, ends0}, {cells1, points1, ends1}, {cells2, points2, ends2}};
  const PairValues before[] = {FOR_PAIRS(PAIR_VALUES)};
  const PairResults results[] = {FOR_PAIRS(PAIR_RESULTS)};
  __global FIELD* const fields[] = {FOR_PAIRS(PAIR_FIELD)};
  const Share share = share_of(n);
  long cell[] = {0, 0, 0}, row = -1, row_begin = 0;
  for (long i = share.first + (long)get_local_id(0); i < share.last; i += GROUP) {
    const long number = cells[i];
    if (row < 0 || number < row_begin || number >= row_begin + cells2) {
      row = number / cells2;
      row_begin = row * cells2;
      cell[0] = row / cells1;
      cell[1] = row - cell[0] * cells1;
    }
    cell[2] = number - row_begin;
    const ParticleStencil stencil = stencil_of_particle(cell, offsets + i * AXES, axes);
    const Columns columns = columns_of(stencil.first[2], axes[2], stride2);
    const WeightsOfPlanes weights = weights_of_planes(&stencil);
    long row1[WEIGHTS_ALONG(1)];
    UNROLL
    for (int j = 0; j < WEIGHTS_ALONG(1); j++)
      row1[j] = stored_point(stencil.first[1] + j, axes[1]) * stride1;
    for (int c = 0; c < ALL_COMPONENTS; c++) {
      real of_planes[PLANES][APART];
      FOR_PLANES(j0) {
        UNROLL
        for (int g = 0; g < APART; g++) of_planes[j0][g] = 0;
        if (j0 >= WEIGHTS_ALONG(0)) continue;
        const long point = stored_point(stencil.first[0] + j0, axes[0]);
        __global const FIELD* const plane = field_component_at(fields, c, stride_of_component) +
                                            plane_in_part(point, first_plane, points0) * stride0;
        V of_lines[VECTORS];
        UNROLL
        for (int k = 0; k < VECTORS; k++) {
          of_lines[k] = weighed(values_at(plane + row1[0], &columns, k), (V)(stencil.weight[1][0]));
          UNROLL
          for (int j1 = 1; j1 < WEIGHTS_ALONG(1); j1++)
            of_lines[k] = add_weighed(values_at(plane + row1[j1], &columns, k),
                                      (V)(stencil.weight[1][j1]), of_lines[k]);
        }
        sum_along(of_lines, &stencil, weights.of[j0], of_planes[j0]);
      }
      real result = sum_of_planes(of_planes);
      if (adds) result += LOAD_AS(VALUE, value_at(before, c, i));
      STORE_AS(VALUE, result, result_at(results, c, i));
    }
  }
}
