/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives what particles carry to the points around them, of particles that are sorted by row, in
 * memory or by an order.
 *
 * A work-item has a window of sums for a tile of rows of points, which nobody else writes. It goes
 * through all rows of cells whose particles may reach the tile, in ascending order beyond the ends
 * of a periodic axis too, and adds to the points of the tile what they give. So every point
 * receives its particles by row and then in their order, whatever tiles there are and whoever has
 * which. Along the rows a window goes on beyond the ends; what is there is added last. In one
 * dimension rows are runs of cells, tiles are runs of points, and a window has what is beside one.
 *
 * COMPONENTS  of a particle
 * VALUE       the type of what a particle carries; FIELD  of what a point has
 * INDEX       a signed integer for particles
 * IN_ORDER    they are sorted by an order, which is not read otherwise */
#ifndef COMPONENTS
#define COMPONENTS 1
#endif
#ifndef VALUE
#define VALUE float
#endif
#ifndef FIELD
#define FIELD float
#endif
#ifndef INDEX
#define INDEX int
#endif
#ifndef IN_ORDER
#define IN_ORDER 0
#endif
#include "common/common.cl"
#include "common/regions.cl"
#include "generated/weights.cl"
#include "interpolation/numbers.cl"
#include "interpolation/reach.cl"
#include "interpolation/stencil.cl"
#include "sets/ends.cl"

/* A particle of the first or last cells has points so far beyond the ends. */
#define BEYOND_LOW (BEFORE_ALONG(2) + 1)
#define BEYOND_HIGH (WEIGHTS_ALONG(2) - BEFORE_ALONG(2))
/* Elements of a window before its first point. */
#define ROOM_LOW (IS_ONE_DIMENSIONAL ? STENCIL : BEYOND_LOW)

#define IS_ONE_DIMENSIONAL (!IS_AXIS_0 && !IS_AXIS_1)

typedef struct {
  long first[3], count[3]; /* points */
  __global real* sums;     /* begins before the first point along axis 2 */
  long width, component;   /* elements of a row, and of all rows */
} SumWindow;

/* The row of a tile that a point is in, or one beyond it. */
INLINE long row_in_tile(const long point, const Axis along, const long first) {
  return (along.ends & ENDS_MEET ? point : stored_point(point, along)) - first;
}

INLINE void give_to_points(const SumWindow* window, const Axis* axes,
                           const ParticleStencil* stencil, const real* values) {
  long row1[WEIGHTS_ALONG(1)];
  UNROLL
  for (int j = 0; j < WEIGHTS_ALONG(1); j++)
    row1[j] = row_in_tile(stencil->first[1] + j, axes[1], window->first[1]);
  __global real* const column = window->sums + stencil->first[2] - window->first[2] + ROOM_LOW;
  for (int j0 = 0; j0 < WEIGHTS_ALONG(0); j0++) {
    const long row0 = row_in_tile(stencil->first[0] + j0, axes[0], window->first[0]);
    if (row0 < 0 || row0 >= window->count[0]) continue;
    UNROLL
    for (int c = 0; c < COMPONENTS; c++) {
      const real strength = stencil->weight[0][j0] * values[c];
      __global real* const plane =
          column + c * window->component + row0 * window->count[1] * window->width;
      V given[VECTORS];
      UNROLL
      for (int k = 0; k < VECTORS; k++) given[k] = stencil->along[k] * (V)(strength);
      UNROLL
      for (int j1 = 0; j1 < WEIGHTS_ALONG(1); j1++) {
        if (row1[j1] < 0 || row1[j1] >= window->count[1]) continue;
        __global real* const sums = plane + row1[j1] * window->width;
        UNROLL
        for (int k = 0; k < VECTORS; k++) {
          __global LooseV* const sum = (__global LooseV*)(sums + k * LANES);
          const V before = *sum;
          const V after = IS_AXIS_1 ? MAD(given[k], stencil->weight[1][j1], before)
                                    : MAD(stencil->along[k], strength, before);
          *sum = SELECT(lanes_of(k), after, before);
        }
      }
    }
  }
}

/* Particles from place first to end give to the points of a tile. `shift` are points that they are
 * beyond the ends of each axis. */
INLINE void give_row(const SumWindow* window, const Axis* axes, const long first, const long end,
                     const long row0, const long row1, const long begin2,
                     __private const long* shift, __global const CELL* cells,
                     __global const OFFSET* offsets, __global const VALUE* values,
                     const long values_offset, const long values_stride,
                     __global const INDEX* order) {
  for (long place = first; place < end; place++) {
    const long i = IN_ORDER ? order[place] : place;
    const long cell[] = {row0, row1, (long)cells[i] - begin2};
    ParticleStencil stencil = stencil_of_particle(cell, offsets + i * AXES, axes);
    UNROLL
    for (int axis = 0; axis < 3; axis++) stencil.first[axis] += shift[axis];
    const long from_tile = stencil.first[2] - window->first[2];
    if (IS_ONE_DIMENSIONAL && (from_tile <= -STENCIL || from_tile >= window->count[2])) continue;
    real value[COMPONENTS];
    for (int c = 0; c < COMPONENTS; c++)
      value[c] = LOAD_AS(VALUE, values + values_offset + i * values_stride + c);
    give_to_points(window, axes, &stencil, value);
  }
}

/* What is beyond the ends of axis 2 goes where it belongs; in one dimension round as it is given.
 */
INLINE void fold_ends(const SumWindow* window, const Axis along, __global real* sums) {
  if (IS_ONE_DIMENSIONAL && along.ends & ENDS_MEET) return;
  const long first = window->first[2], end = first + window->count[2];
  for (long beyond = -BEYOND_LOW; beyond < BEYOND_HIGH; beyond++) {
    const long k = beyond < 0 ? beyond : along.points + beyond, point = stored_point(k, along);
    if (point >= first && point < end && k >= first - ROOM_LOW && k < end + STENCIL)
      sums[point - first] += sums[k - first];
  }
}

KERNEL void particles_to_grid(__global const CELL* cells, __global const OFFSET* offsets,
                              __global const VALUE* values, const long values_offset,
                              const long values_stride, __global const INDEX* starts,
                              __global const INDEX* order, const long cells0, const long cells1,
                              const long cells2, const long points0, const long points1,
                              const long points2, const int ends0, const int ends1, const int ends2,
                              const long cells_of_row, const long tile0, const long tile1,
                              const long tile2, __global real* windows, const long width,
                              __global FIELD* field, const long field_offset,
                              const long field_component, const long field0, const long field1,
                              const long field2, const int adds) {
  const Axis axes[] = {
      {cells0, points0, ends0}, {cells1, points1, ends1}, {cells2, points2, ends2}};
  const long tiles0 = (points0 + tile0 - 1) / tile0, tiles1 = (points1 + tile1 - 1) / tile1;
  const long tiles2 = (points2 + tile2 - 1) / tile2;
  const long elements = COMPONENTS * tile0 * tile1 * width;
  SumWindow window;
  window.width = width;
  window.sums = windows + get_group_id(0) * elements;
  const Share share = share_of(tiles0 * tiles1 * tiles2);
  for (long tile = share.first; tile < share.last; tile++) {
    window.first[0] = tile / (tiles1 * tiles2) * tile0;
    window.first[1] = tile / tiles2 % tiles1 * tile1;
    window.first[2] = tile % tiles2 * tile2;
    window.count[0] = min(tile0, points0 - window.first[0]);
    window.count[1] = min(tile1, points1 - window.first[1]);
    window.count[2] = min(tile2, points2 - window.first[2]);
    window.component = window.count[0] * window.count[1] * width;
    for (long i = 0; i < COMPONENTS * window.component; i++) window.sums[i] = 0;
    const CellRows rows0 = rows_that_reach(0, axes[0], window.first[0], window.count[0]);
    const CellRows rows1 = rows_that_reach(1, axes[1], window.first[1], window.count[1]);
    if (IS_ONE_DIMENSIONAL) {
      const CellRows reach = rows_that_reach(2, axes[2], window.first[2], window.count[2]);
      for (long begin = wrapped(reach.first, cells2).shift; begin < reach.end; begin += cells2) {
        const long low = max(reach.first - begin, (long)0), high = min(reach.end - begin, cells2);
        const long shift[] = {0, 0, begin / cells2 * points2};
        for (long row = low / cells_of_row; row * cells_of_row < high; row++)
          give_row(&window, axes, starts[row], starts[row + 1], 0, 0, 0, shift, cells, offsets,
                   values, values_offset, values_stride, order);
      }
    } else {
      for (long r0 = rows0.first; r0 < rows0.end; r0++) {
        const Wrapped in0 = wrapped(r0, cells0);
        for (long r1 = rows1.first; r1 < rows1.end; r1++) {
          const Wrapped in1 = wrapped(r1, cells1);
          const long row = in0.inside * cells1 + in1.inside;
          const long shift[] = {in0.shift / cells0 * points0, in1.shift / cells1 * points1, 0};
          give_row(&window, axes, starts[row], starts[row + 1], in0.inside, in1.inside,
                   row * cells2, shift, cells, offsets, values, values_offset, values_stride,
                   order);
        }
      }
    }
    for (int c = 0; c < COMPONENTS; c++)
      for (long row0 = 0; row0 < window.count[0]; row0++)
        for (long row1 = 0; row1 < window.count[1]; row1++) {
          __global real* const sums = window.sums + c * window.component +
                                      (row0 * window.count[1] + row1) * width + ROOM_LOW;
          fold_ends(&window, axes[2], sums);
          __global FIELD* const to = field + field_offset + c * field_component +
                                     (window.first[0] + row0) * field0 +
                                     (window.first[1] + row1) * field1 + window.first[2] * field2;
          for (long k = 0; k < window.count[2]; k++) {
            const real sum = adds ? LOAD_AS(FIELD, to + k * field2) + sums[k] : sums[k];
            STORE_AS(FIELD, sum, to + k * field2);
          }
        }
  }
}
