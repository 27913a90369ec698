/* SPDX-License-Identifier: BSD-3-Clause */
/* As particles_to_grid.cl, with the same bits, in vectors: a work-item goes through the planes of
 * cells that reach its tile, and keeps the sums of SLOTS planes of points in a ring. A plane whose
 * sums are complete is written, and its slot is cleared by a choice: a product with 0 would keep
 * what is not finite. The lines beside the tile are written by others: their sums go on.
 *
 * INDEX, IN_ORDER  as there */
#ifndef LANES
#define LANES 16
#endif
#include "common/common.cl"
#include "common/regions.cl"
#include "generated/weights.cl"
#include "interpolation/numbers.cl"
#include "interpolation/pairs.cl"
#include "interpolation/ring.cl"
#include "interpolation/stencil.cl"
#include "sets/cell_rows.cl"
#include "sets/ends.cl"
#include "sets/sixteen_places.cl"

/* Whether a vector has just as many places as a line to which a particle gives. With more weights
 * there would be several vectors, which cross as many borders of cache lines as they save; with
 * fewer, lanes would add products to points that the particle does not reach. */
#if STENCIL == 4 && PLANES_AROUND == 4 && !defined REAL_IS_DOUBLE
#define HAS_LINE_VECTORS
#endif
#define FEW_NEAR 3 /* of 15; in a row of 256 cells it is seldom more than one by chance */

DEFINE_MAD(mad_of_columns, Column)
DEFINE_WEIGHED(weighed_column, add_weighed_column, Column, mad_of_columns)

/* The weight of particle k along axis 2 of its point j. */
#if PLANES_AROUND <= 4
#define WEIGHT_ALONG_RING(found, j, k) ((__private const real*)(found)->along)[COLUMN_OF(k) + j]
#else
#define WEIGHT_ALONG_RING(found, j, k) ((__private const real*)&(found)->along[j])[k]
#endif

/* Where in the ring the lines are to which the particles of a row give: one after the other, or,
 * beyond the ends of axis 1, where those are that stand for them. */
typedef struct {
  long width;
#if LINES_HAVE_ENDS
  long at[STENCIL + 1];
#endif
} RingLines;

#if LINES_HAVE_ENDS
#define LINE_AT(lines, j) ((lines)->at[j])
#else
#define LINE_AT(lines, j) ((j) * (lines)->width)
#endif
#define FIRST_LINE(weights, k) (LINES_HAVE_ENDS ? IS_ABOVE(weights, 1, k) : 0)

/* What particle k gives to each plane of the ring; nothing to planes that it does not reach. */
INLINE Column given_to_planes(const RingWeights* weights, const uint k, const real value,
                              const ColumnI empty) {
  const Column strength = weighed_column((Column)(value), weights_in_ring(weights, k));
  return STENCIL < SLOTS ? SELECT(empty, (Column)(REAL(0.0)), strength) : strength;
}

/* What particle k gives, to one place of a line of the ring after the other. So a particle that is
 * near reads what it adds to as it was stored: processors hand a store on to a load only if it
 * holds all that is loaded. Beside ends there are sums in the slots of `others`, too: 0 added to
 * them would change the sign of a zero. */
INLINE void give_by_place(const RingWeights* weights, const uint k, const Column strength,
                          const ColumnI others, __global real* first, const RingLines* lines) {
  const int line = FIRST_LINE(weights, k);
  Column along[STENCIL], given[STENCIL];
  UNROLL
  for (int j2 = 0; j2 < STENCIL; j2++) {
    along[j2] = (Column)(WEIGHT_ALONG_RING(weights, j2, k));
    given[j2] = weighed_column(strength, along[j2]);
  }
  UNROLL
  for (int j1 = 0; j1 < WEIGHTS_ALONG(1); j1++) {
    __global Column* const sums = (__global Column*)(first + LINE_AT(lines, line + j1));
    const Column across = (Column)(WEIGHT_ACROSS(weights, j1, k));
    UNROLL
    for (int j2 = 0; j2 < STENCIL; j2++) {
      const Column sum = IS_AXIS_1 ? add_weighed_column(given[j2], across, sums[j2])
                                   : add_weighed_column(strength, along[j2], sums[j2]);
      sums[j2] = PLANES_HAVE_ENDS ? SELECT(others, sums[j2], sum) : sum;
    }
  }
}

#if PLANES_HAVE_ENDS
/* The same to the plane that stands for one beyond the ends of axis 0. */
INLINE void give_beyond(const RingWeights* weights, const uint k, const Column strength,
                        const long beyond, const Axis axis, __global real* first,
                        const RingLines* lines) {
  const lane_int to = (lane_int)(stored_point(beyond, axis) & (SLOTS - 1));
  const real given = ((__private const real*)&strength)[beyond & (SLOTS - 1)];
  const ColumnI others = (ColumnI)(SLOT_NUMBERS) != (ColumnI)(to);
  give_by_place(weights, k, (Column)(given), others, first, lines);
}

/* The same near an end of axis 0, in the order of the planes, which begin with `plane`: one for
 * which another stands comes by itself, as it may be the same as one of the others. */
INLINE void give_near_end(const RingWeights* weights, const uint k, const Column strength,
                          const long plane, const Axis axis, __global real* first,
                          const RingLines* lines) {
  for (long beyond = plane; beyond < 0; beyond++)
    give_beyond(weights, k, strength, beyond, axis, first, lines);
  ColumnI is_inside = 0;
  for (long inside = max(plane, (long)0); inside < min(plane + STENCIL, axis.points); inside++)
    is_inside |= (ColumnI)(SLOT_NUMBERS) == (ColumnI)((lane_int)(inside & (SLOTS - 1)));
  give_by_place(weights, k, strength, ~is_inside, first, lines);
  for (long beyond = axis.points; beyond < plane + STENCIL; beyond++)
    give_beyond(weights, k, strength, beyond, axis, first, lines);
}
#endif

#ifdef HAS_LINE_VECTORS
/* The same, sooner, to all places of a line together: for particles that follow each other at
 * random. */
INLINE void give_by_line(const RingWeights* weights, const uint k, const real value,
                         __global real* first, const RingLines* lines) {
  const int line = FIRST_LINE(weights, k);
  const Column in_ring = weights_in_ring(weights, k);
  const V strength = weighed((V)(value), BESIDE_EACH_OTHER(in_ring));
  const V along = weights_beside(weights, k, 0), given = weighed(strength, along);
  UNROLL
  for (int j1 = 0; j1 < WEIGHTS_ALONG(1); j1++) {
    __global LooseV* const sums = (__global LooseV*)(first + LINE_AT(lines, line + j1));
    *sums = IS_AXIS_1 ? add_weighed(given, (V)(WEIGHT_ACROSS(weights, j1, k)), *sums)
                      : add_weighed(strength, along, *sums);
  }
}

/* Whether few of the particles have points that the one before has as well. Lanes without particles
 * count as near, so a short rest goes place by place. */
INLINE bool are_apart(const I first) {
  const I before = PICK_FROM(first, first, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
  const I distance = first - before;
  const I is_near = ((I)(-STENCIL) < distance) & (distance < (I)(STENCIL));
  const int8 eight = is_near.lo + is_near.hi;
  const int4 four = eight.lo + eight.hi;
  const int2 two = four.lo + four.hi;
  return -(two.x + two.y) <= FEW_NEAR + 1; /* lane 0 is near itself */
}
#endif

KERNEL void particles_to_ring(__global const CELL* cells, __global const OFFSET* offsets,
                              FOR_PAIRS(VALUES_OF_PAIR), __global const INDEX* starts,
                              __global const INDEX* order, const long cells0, const long cells1,
                              const long cells2, const long points0, const long points1,
                              const long points2, const int ends0, const int ends1, const int ends2,
                              const long own_planes, const long first_plane, const long first_cells,
                              const long tile0, const long tile1, __global real* windows,
                              const long width, FOR_PAIRS(FIELD_OF_PAIR),
                              const long stride_of_component, const long stride0,
                              const long stride1, const long stride2, const int adds) {
  const PairValues pairs[] = {FOR_PAIRS(PAIR_VALUES)};
  __global FIELD* const fields[] = {FOR_PAIRS(PAIR_FIELD)};
  const Axis planes = {cells0, points0, ends0}, across = {cells1, points1, ends1};
  const Axis along = {cells2, points2, ends2};
  const long tiles0 = (own_planes + tile0 - 1) / tile0, tiles1 = (points1 + tile1 - 1) / tile1;
  /* Lines of a tile, and those beside it that its particles give to as well. */
  const long beside = IS_AXIS_1 ? STENCIL - 1 + LINES_HAVE_ENDS : 0;
  const long component = (tile1 + 2 * beside) * width, elements = ALL_COMPONENTS * component;
  __global real* const ring = windows + get_group_id(0) * elements;
  const long per_line = rows_of_line(cells2);
  const Share share = share_of(tiles0 * tiles1);
  for (long tile = share.first; tile < share.last; tile++) {
    const long begin0 = first_plane + tile / tiles1 * tile0, begin1 = tile % tiles1 * tile1;
    const long end0 = min(begin0 + tile0, first_plane + own_planes);
    const long end1 = min(begin1 + tile1, points1);
    for (long i = 0; i < elements; i += 16) *(__global LooseV*)(ring + i) = 0;
    const long before = STENCIL_BEFORE + PLANES_HAVE_ENDS;
    for (long plane = begin0 - (STENCIL - 1 - STENCIL_BEFORE); plane < end0 + before; plane++) {
      const long first_plane_around = plane - before;
      const int first_slot = (int)first_plane_around & (SLOTS - 1);
      const ColumnI empty[] = {empty_slots(first_slot), empty_slots(first_slot + 1)};
      const long first_line = begin1 - (IS_AXIS_1 ? STENCIL - 1 - STENCIL_BEFORE : 0);
      const long last_line = end1 + (IS_AXIS_1 ? STENCIL_BEFORE + LINES_HAVE_ENDS : 0);
#if PLANES_HAVE_ENDS
      const bool is_near_end = first_plane_around < 0 || first_plane_around + STENCIL >= points0;
#endif
      const bool has_cells = !PLANES_HAVE_ENDS || (plane >= 0 && plane < cells0);
      for (long line = first_line; has_cells && line < last_line; line++) {
        if (LINES_HAVE_ENDS && (line < 0 || line >= cells1)) continue;
        RingLines lines = {width};
#if LINES_HAVE_ENDS
        for (int j = 0; j <= STENCIL; j++)
          lines.at[j] =
              (stored_point(line - STENCIL_BEFORE - 1 + j, across) - (begin1 - beside)) * width;
#endif
        const long cells_plane = plane_in_part(modulo_of(plane, cells0), first_cells, cells0);
        const long row = cells_plane * cells1 + modulo_of(line, cells1);
        const long last = starts[(row + 1) * per_line];
        __global real* const of_line =
            ring + (LINES_HAVE_ENDS ? 0 : line - first_line) * width + RING_BEFORE * SLOTS;
        for (long first = starts[row * per_line]; first < last; first += PARTICLES_AT_ONCE) {
          RingWeights weights;
          find_weights(&weights, cells, offsets, order, first, last, row * cells2, along,
                       first_slot);
          const long ahead = first + PARTICLES_AT_ONCE, end = LEAST_OF(ahead, last);
#ifdef HAS_LINE_VECTORS
          const bool apart = are_apart(weights.first);
#endif
          const uint count = (uint)(end - first);
          for (uint k = 0; k < count; k++) {
            const long i = IN_ORDER ? order[first + k] : first + k;
            __global real* const of_first = of_line + FIRST_POINT(&weights, k) * SLOTS;
            UNROLL
            for (int c = 0; c < ALL_COMPONENTS; c++) {
              const real value = LOAD_AS(VALUE, value_at(pairs, c, i));
              __global real* const to = of_first + c * component;
#ifdef HAS_LINE_VECTORS
              if (apart) {
                give_by_line(&weights, k, value, to, &lines);
                continue;
              }
#endif
              const int is_above = PLANES_HAVE_ENDS ? IS_ABOVE(&weights, 0, k) : 0;
              const ColumnI others = empty[is_above];
              const Column strength = given_to_planes(&weights, k, value, others);
#if PLANES_HAVE_ENDS
              if (is_near_end) {
                give_near_end(&weights, k, strength, first_plane_around + is_above, planes, to,
                              &lines);
                continue;
              }
#endif
              give_by_place(&weights, k, strength, others, to, &lines);
            }
          }
        }
      }
      if (first_plane_around >= begin0) {
        for (int c = 0; c < ALL_COMPONENTS; c++)
          for (long line = begin1; line < end1; line++) {
            __global real* const sums = ring + c * component + (line - begin1 + beside) * width +
                                        RING_BEFORE * SLOTS + first_slot;
            for (long k = -RING_BEFORE; k < 0; k++)
              sums[stored_point(k, along) * SLOTS] += sums[k * SLOTS];
            for (long k = points2; k < points2 + RING_BEHIND; k++)
              sums[stored_point(k, along) * SLOTS] += sums[k * SLOTS];
            __global FIELD* const to = field_component_at(fields, c, stride_of_component) +
                                       (first_plane_around - first_plane) * stride0 +
                                       line * stride1;
            for (long k = 0; k < points2; k++) {
              const real sum =
                  adds ? LOAD_AS(FIELD, to + k * stride2) + sums[k * SLOTS] : sums[k * SLOTS];
              STORE_AS(FIELD, sum, to + k * stride2);
            }
          }
      }
      const I is_done = ((I)(LANE_NUMBERS) & (I)(SLOTS - 1)) == (I)(first_slot);
      for (int c = 0; c < ALL_COMPONENTS; c++)
        for (long i = beside * width; i < (beside + tile1) * width; i += 16) {
          __global LooseV* const sums = (__global LooseV*)(ring + c * component + i);
          *sums = SELECT(is_done, (V)(REAL(0.0)), *sums);
        }
    }
  }
}
