/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives what particles carry to the points around them, of particles that are sorted by row, in
 * memory or by an order.
 *
 * A work-item has a window of sums for a tile of points, which nobody else writes. It goes through
 * all rows of cells whose particles may reach the tile, in ascending order beyond the ends of a
 * periodic axis too, and adds to the points of the tile what they give. So every point receives its
 * particles by row and then in their order, whatever tiles there are and whoever has which.
 *
 * INDEX     a signed integer for particles
 * IN_ORDER  they are sorted by an order, which is not read otherwise */
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
#include "interpolation/pairs.cl"
#include "interpolation/reach.cl"
#include "interpolation/stencil.cl"
#include "sets/cell_rows.cl"
#include "sets/ends.cl"

/* Elements before the first point of a window and behind its last one: what a particle gives beside
 * its points, in whole vectors. */
#define ROOM_LOW STENCIL
#define ROOM_HIGH (STENCIL + 16)

typedef struct {
  long first[3], count[3]; /* points */
  __global real* sums;     /* of the first one */
  long width, component;   /* elements of a line, and of all lines */
} SumWindow;

/* The windows of a tile: its points; points beyond the low end of axis 2; those beyond the high
 * one. Where the tile is at that end, its own window goes on there. */
typedef enum { OWN_POINTS, POINTS_BELOW, POINTS_ABOVE, WINDOWS } WindowKind;

INLINE bool stands_for(const SumWindow* own, const long beyond, const Axis along) {
  const long point = stored_point(beyond, along) - own->first[2];
  return point >= 0 && point < own->count[2];
}

/* The window of a kind, empty where the tile needs none. */
INLINE SumWindow window_of(const WindowKind kind, const SumWindow* own, const long tile2,
                           const Axis along) {
  SumWindow window = *own;
  if (kind == OWN_POINTS) return window;
  const bool is_below = kind == POINTS_BELOW;
  const long first = is_below ? -BEYOND_LOW : along.points;
  const long count = is_below ? BEYOND_LOW : BEYOND_HIGH;
  const bool is_at_end = is_below ? own->first[2] == 0 : own->first[2] + own->count[2] == first;
  window.first[2] = first;
  window.count[2] = 0;
  if (is_at_end || GOES_ROUND(along)) return window;
  for (long k = first; k < first + count; k++)
    if (stands_for(own, k, along)) window.count[2] = count;
  window.sums += tile2 + ROOM_HIGH + ROOM_LOW + (is_below ? 0 : BEYOND_LOW + ROOM_HIGH + ROOM_LOW);
  return window;
}

INLINE void give_to_points(const SumWindow* window, const Axis* axes,
                           const ParticleStencil* stencil, const real* values) {
  long row1[WEIGHTS_ALONG(1)];
  UNROLL
  for (int j = 0; j < WEIGHTS_ALONG(1); j++)
    row1[j] = line_in_tile(stencil->first[1] + j, axes[1], window->first[1]);
  __global real* const column = window->sums + stencil->first[2] - window->first[2];
  for (int j0 = 0; j0 < WEIGHTS_ALONG(0); j0++) {
    const long row0 = line_in_tile(stencil->first[0] + j0, axes[0], window->first[0]);
    if (row0 < 0 || row0 >= window->count[0]) continue;
    UNROLL
    for (int c = 0; c < ALL_COMPONENTS; c++) {
      const real strength = weighed_one(values[c], stencil->weight[0][j0]);
      __global real* const plane =
          column + c * window->component + row0 * window->count[1] * window->width;
      V given[VECTORS];
      UNROLL
      for (int k = 0; k < VECTORS; k++) given[k] = weighed((V)(strength), stencil->along[k]);
      UNROLL
      for (int j1 = 0; j1 < WEIGHTS_ALONG(1); j1++) {
        if (row1[j1] < 0 || row1[j1] >= window->count[1]) continue;
        __global real* const sums = plane + row1[j1] * window->width;
        UNROLL
        for (int k = 0; k < VECTORS; k++) {
          __global LooseV* const sum = (__global LooseV*)(sums + k * LANES);
          const V before = *sum;
          const V after = IS_AXIS_1 ? add_weighed(given[k], (V)(stencil->weight[1][j1]), before)
                                    : add_weighed((V)(strength), stencil->along[k], before);
          *sum = SELECT(lanes_of(k), after, before);
        }
      }
    }
  }
}

/* Particles from place first to end give to the points of a window. `shift` are points that they
 * are beyond the ends of each axis. */
INLINE void give_row(const SumWindow* window, const Axis* axes, const long first, const long end,
                     const long row0, const long row1, const long begin2,
                     __private const long* shift, __global const CELL* cells,
                     __global const OFFSET* offsets, const PairValues* pairs,
                     __global const INDEX* order) {
  for (long place = first; place < end; place++) {
    const long i = IN_ORDER ? order[place] : place;
    const long cell[] = {row0, row1, (long)cells[i] - begin2};
    const Spot spot = spot_of(cell[2], (real)offsets[i * AXES + AXES - 1], axes[2]);
    const long in_window = spot.point - STENCIL_BEFORE + shift[2] - window->first[2];
    if (in_window <= -STENCIL || in_window >= window->count[2]) continue;
    ParticleStencil stencil = stencil_of_particle(cell, offsets + i * AXES, axes);
    UNROLL
    for (int axis = 0; axis < 3; axis++) stencil.first[axis] += shift[axis];
    real value[ALL_COMPONENTS];
    for (int c = 0; c < ALL_COMPONENTS; c++) value[c] = LOAD_AS(VALUE, value_at(pairs, c, i));
    give_to_points(window, axes, &stencil, value);
  }
}

/* Adds what points beyond the ends of axis 2 have received to a line of the tile, which stands for
 * them; `line` is the element of its first point. */
INLINE void fold_ends(const SumWindow* windows, const Axis along, const long line) {
  const SumWindow own = windows[OWN_POINTS];
  if (GOES_ROUND(along)) return;
  for (long beyond = -BEYOND_LOW; beyond < BEYOND_HIGH; beyond++) {
    const long k = beyond < 0 ? beyond : along.points + beyond;
    if (!stands_for(&own, k, along)) continue;
    const SumWindow there = windows[beyond < 0 ? POINTS_BELOW : POINTS_ABOVE];
    const SumWindow from = there.count[2] > 0 ? there : own;
    own.sums[line + stored_point(k, along) - own.first[2]] += from.sums[line + k - from.first[2]];
  }
}

KERNEL void particles_to_grid(__global const CELL* cells, __global const OFFSET* offsets,
                              FOR_PAIRS(VALUES_OF_PAIR), __global const INDEX* starts,
                              __global const INDEX* order, const long cells0, const long cells1,
                              const long cells2, const long points0, const long points1,
                              const long points2, const int ends0, const int ends1, const int ends2,
                              const long own_planes, const long first_plane, const long first_cells,
                              const long tile0, const long tile1, const long tile2,
                              __global real* windows, const long width, FOR_PAIRS(FIELD_OF_PAIR),
                              const long stride_of_component, const long stride0,
                              const long stride1, const long stride2, const int adds) {
  const PairValues pairs[] = {FOR_PAIRS(PAIR_VALUES)};
  __global FIELD* const fields[] = {FOR_PAIRS(PAIR_FIELD)};
  const Axis axes[] = {
      {cells0, points0, ends0}, {cells1, points1, ends1}, {cells2, points2, ends2}};
  const long tiles0 = (own_planes + tile0 - 1) / tile0, tiles1 = (points1 + tile1 - 1) / tile1;
  const long tiles2 = (points2 + tile2 - 1) / tile2;
  const long elements = ALL_COMPONENTS * tile0 * tile1 * width, per_line = rows_of_line(cells2);
  __global real* const sums = windows + get_group_id(0) * elements;
  const Share share = share_of(tiles0 * tiles1 * tiles2);
  for (long tile = share.first; tile < share.last; tile++) {
    SumWindow own;
    const long own_plane = tile / (tiles1 * tiles2) * tile0;
    own.first[0] = first_plane + own_plane;
    own.first[1] = tile / tiles2 % tiles1 * tile1;
    own.first[2] = tile % tiles2 * tile2;
    own.count[0] = min(tile0, own_planes - own_plane);
    own.count[1] = min(tile1, points1 - own.first[1]);
    own.count[2] = min(tile2, points2 - own.first[2]);
    own.sums = sums + ROOM_LOW;
    own.width = width;
    own.component = own.count[0] * own.count[1] * width;
    for (long i = 0; i < ALL_COMPONENTS * own.component; i++) sums[i] = 0;
    const CellRows rows0 = rows_that_reach(0, axes[0], own.first[0], own.count[0]);
    const CellRows rows1 = rows_that_reach(1, axes[1], own.first[1], own.count[1]);
    SumWindow of_kinds[WINDOWS];
    for (int kind = 0; kind < WINDOWS; kind++) {
      of_kinds[kind] = window_of((WindowKind)kind, &own, tile2, axes[2]);
      const SumWindow window = of_kinds[kind];
      if (window.count[2] == 0) continue;
      const CellRows reach = rows_that_reach(2, axes[2], window.first[2], window.count[2]);
      const bool goes_round = GOES_ROUND(axes[2]);
      const long last_turn = goes_round ? reach.end : 1;
      for (long turn = goes_round ? wrapped(reach.first, cells2).shift : 0; turn < last_turn;
           turn += cells2) {
        const long low = max(reach.first - turn, (long)0) / CELLS_OF_ROW;
        const long high = (min(reach.end - turn, cells2) + CELLS_OF_ROW - 1) / CELLS_OF_ROW;
        for (long r0 = rows0.first; r0 < rows0.end; r0++) {
          const Wrapped in0 = wrapped(r0, cells0);
          for (long r1 = rows1.first; r1 < rows1.end; r1++) {
            const Wrapped in1 = wrapped(r1, cells1);
            const long line = plane_in_part(in0.inside, first_cells, cells0) * cells1 + in1.inside;
            const long shift[] = {in0.shift / cells0 * points0, in1.shift / cells1 * points1,
                                  turn / cells2 * points2};
            give_row(&window, axes, starts[line * per_line + low], starts[line * per_line + high],
                     in0.inside, in1.inside, line * cells2, shift, cells, offsets, pairs, order);
          }
        }
      }
    }
    for (int c = 0; c < ALL_COMPONENTS; c++)
      for (long row0 = 0; row0 < own.count[0]; row0++)
        for (long row1 = 0; row1 < own.count[1]; row1++) {
          const long line = c * own.component + (row0 * own.count[1] + row1) * width;
          fold_ends(of_kinds, axes[2], line);
          __global FIELD* const to = field_component_at(fields, c, stride_of_component) +
                                     (own_plane + row0) * stride0 +
                                     (own.first[1] + row1) * stride1 + own.first[2] * stride2;
          for (long k = 0; k < own.count[2]; k++) {
            const real sum = own.sums[line + k];
            STORE_AS(FIELD, adds ? LOAD_AS(FIELD, to + k * stride2) + sum : sum, to + k * stride2);
          }
        }
  }
}
