/* SPDX-License-Identifier: BSD-3-Clause */
/* As grid_to_particles.cl, with the same bits, for GPUs and particles that are sorted by cell: a
 * group has a tile of cells, and goes through its planes with those planes of points in local
 * memory that particles of a plane of cells read. A work-item has one particle after the other.
 *
 * The set has as many cells as the grid has points.
 *
 * INDEX                     as in runs.cl, where BY_CELL is 1
 * BLOCKS, LINES_OF_ITEM     as in tile.cl */
#include "common/common.cl"
#include "interpolation/numbers.cl"
#include "interpolation/pairs.cl"
#include "interpolation/runs.cl"
#include "interpolation/sampled.cl"
#include "interpolation/stencil.cl"
#include "interpolation/tile.cl"
#include "sets/ends.cl"

/* Points of a plane that particles of the tile read; those of plane p and component c begin at
 * (p % PLANES_REACHED * ALL_COMPONENTS + c) * POINTS_READ. */
#define LINES_READ (LINES + REACHED(1) - 1)
#define COLUMNS_READ (COLUMNS + REACHED(2) - 1)
#define POINTS_READ (LINES_READ * COLUMNS_READ)

/* Where a tile's points are, and which are the first ones that its particles read. */
typedef struct {
  __local real* points;
  int first[3];
} PlanesRead;

INLINE __local real* plane_of(const PlanesRead* read, const int plane) {
  return read->points + (plane - read->first[0]) % PLANES_REACHED * ALL_COMPONENTS * POINTS_READ;
}

INLINE void read_plane(const PlanesRead* read, const int plane, const TileRange* tile,
                       const Axis* axes, const long first_plane, __global FIELD* const* fields,
                       const long stride_of_component, const long stride0, const long stride1,
                       const long stride2) {
  /* Along a periodic axis nobody reads the first one, which a part may lack. */
  if (IS_AXIS_0 && !PLANES_HAVE_ENDS && plane == read->first[0]) return;
  const long of_plane =
      plane_in_part(stored_point(plane, axes[0]), first_plane, axes[0].points) * stride0;
  for (int k = get_local_id(0); k < POINTS_READ; k += GROUP) {
    const int line = k / COLUMNS_READ, column = k % COLUMNS_READ;
    if (line >= tile->count[1] + REACHED(1) - 1 || column >= tile->count[2] + REACHED(2) - 1)
      continue;
    const long point = of_plane + stored_point(read->first[1] + line, axes[1]) * stride1 +
                       stored_point(read->first[2] + column, axes[2]) * stride2;
    for (int c = 0; c < ALL_COMPONENTS; c++)
      plane_of(read, plane)[c * POINTS_READ + k] =
          LOAD_AS(FIELD, field_component_at(fields, c, stride_of_component) + point);
  }
}

INLINE real sample(const PlanesRead* read, const int component, const ParticleStencil* stencil,
                   const WeightsOfPlanes* weights) {
  const int first = ((int)stencil->first[1] - read->first[1]) * COLUMNS_READ +
                    (int)stencil->first[2] - read->first[2];
  real of_planes[PLANES][APART];
  FOR_PLANES(j0) {
    UNROLL
    for (int g = 0; g < APART; g++) of_planes[j0][g] = 0;
    if (j0 >= WEIGHTS_ALONG(0)) continue;
    __local const real* const points =
        plane_of(read, (int)stencil->first[0] + j0) + component * POINTS_READ + first;
    V of_lines[VECTORS];
    UNROLL
    for (int k = 0; k < VECTORS; k++) {
      of_lines[k] = weighed((V)(points[k]), (V)(stencil->weight[1][0]));
      UNROLL
      for (int j1 = 1; j1 < WEIGHTS_ALONG(1); j1++)
        of_lines[k] = add_weighed((V)(points[j1 * COLUMNS_READ + k]), (V)(stencil->weight[1][j1]),
                                  of_lines[k]);
    }
    sum_along(of_lines, stencil, weights->of[j0], of_planes[j0]);
  }
  return sum_of_planes(of_planes);
}

KERNEL void tile_to_particles(__global const CELL* cells, __global const OFFSET* offsets,
                              __global const INDEX* starts, const long cells0, const long cells1,
                              const long cells2, const long points0, const long points1,
                              const long points2, const int ends0, const int ends1, const int ends2,
                              const long first_own, const long own_planes, const long first_plane,
                              const long tile0, FOR_PAIRS(FIELD_OF_PAIR),
                              const long stride_of_component, const long stride0,
                              const long stride1, const long stride2, FOR_PAIRS(VALUES_OF_PAIR),
                              FOR_PAIRS(RESULTS_OF_PAIR), const int adds) {
  const PairValues before[] = {FOR_PAIRS(PAIR_VALUES)};
  const PairResults results[] = {FOR_PAIRS(PAIR_RESULTS)};
  __global FIELD* const fields[] = {FOR_PAIRS(PAIR_FIELD)};
  const Axis axes[] = {
      {cells0, points0, ends0}, {cells1, points1, ends1}, {cells2, points2, ends2}};
  __local real points[PLANES_REACHED * ALL_COMPONENTS * POINTS_READ];
  __local long firsts[LINES], lasts[LINES];
  TileRange tile = tile_of_group(tile0, own_planes, cells1, cells2);
  tile.first[0] += (int)first_own;
  PlanesRead read = {points};
  for (int axis = 0; axis < 3; axis++)
    read.first[axis] = (int)first_reached(axis, tile.first[axis], axes[axis]);
  for (int k = 0; k + 1 < PLANES_REACHED; k++)
    read_plane(&read, read.first[0] + k, &tile, axes, first_plane, fields, stride_of_component,
               stride0, stride1, stride2);
  for (int plane = 0; plane < tile.count[0]; plane++) {
    read_plane(&read, read.first[0] + plane + PLANES_REACHED - 1, &tile, axes, first_plane, fields,
               stride_of_component, stride0, stride1, stride2);
    const long first_line = (tile.first[0] + plane) * cells1 + tile.first[1];
    for (int k = get_local_id(0); k < 2 * tile.count[1]; k += GROUP) {
      const bool is_end = k % 2;
      const long begin =
          begin_of_cells(first_line + k / 2, tile.first[2] + (is_end ? tile.count[2] : 0), cells2,
                         is_end, starts, cells, starts);
      if (is_end)
        lasts[k / 2] = begin;
      else
        firsts[k / 2] = begin;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int line = BLOCK; line < tile.count[1]; line += BLOCKS) {
      const long first_cell = (first_line + line) * cells2;
      const long last = lasts[line];
      for (long first = firsts[line]; first < last; first += COLUMNS) {
        const long i = min(first + COLUMN, last - 1); /* beyond the last particle that one again */
        const long along = (long)cells[i] - first_cell, end = tile.first[2] + tile.count[2];
        /* As in a ring, a particle that is elsewhere, after a launch that the device has lost. */
        const long cell[] = {tile.first[0] + plane, tile.first[1] + line,
                             WITHIN(along, tile.first[2], end - 1)};
        const ParticleStencil stencil = stencil_of_particle(cell, offsets + i * AXES, axes);
        const WeightsOfPlanes weights = weights_of_planes(&stencil);
        for (int c = 0; c < ALL_COMPONENTS; c++) {
          real result = sample(&read, c, &stencil, &weights);
          if (first + COLUMN >= last) continue;
          if (adds) result += LOAD_AS(VALUE, value_at(before, c, i));
          STORE_AS(VALUE, result, result_at(results, c, i));
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
