/* SPDX-License-Identifier: BSD-3-Clause */
/* As grid_to_particles.cl, with the same bits, for particles that are sorted by row and are in some
 * planes of cells: a work-item goes through those of its tile, and has the planes of points around
 * one in a ring. What four particles read is summed up together.
 *
 * INDEX  a signed integer for particles */
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

#define TOGETHER 4
/* A loop whose results do not lie side by side: AVX-512 scatters vectors, which takes longer. */
#define WITHOUT_SCATTERING _Pragma("clang loop vectorize(disable)")

/* Lanes 0, 2, ... of sums over neighbours, 0, 1 + 2, 3 and so on, at some distance: of two vectors,
 * of which each gives half of the lanes, or of one, whose sums are in all lanes. */
#define SUMS_1(x, y)                                                            \
  (PICK_FROM(x, y, 0, 17, 2, 19, 4, 21, 6, 23, 8, 25, 10, 27, 12, 29, 14, 31) + \
   PICK_FROM(x, y, 1, 16, 3, 18, 5, 20, 7, 22, 9, 24, 11, 26, 13, 28, 15, 30))
#define SUMS_2(x, y)                                                           \
  (PICK_FROM(x, y, 0, 1, 18, 19, 4, 5, 22, 23, 8, 9, 26, 27, 12, 13, 30, 31) + \
   PICK_FROM(x, y, 2, 3, 16, 17, 6, 7, 20, 21, 10, 11, 24, 25, 14, 15, 28, 29))
#define SUMS_4(x, y)                                                           \
  (PICK_FROM(x, y, 0, 1, 2, 3, 20, 21, 22, 23, 8, 9, 10, 11, 28, 29, 30, 31) + \
   PICK_FROM(x, y, 4, 5, 6, 7, 16, 17, 18, 19, 12, 13, 14, 15, 24, 25, 26, 27))
#define SUMS_8(x, y)                                                         \
  (PICK_FROM(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 24, 25, 26, 27, 28, 29, 30, 31) + \
   PICK_FROM(x, y, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23))

typedef JOIN(REAL_NAME, 4) Four;
typedef Four LooseFour __attribute__((aligned(sizeof(real))));

/* The sum of each of four vectors, of planes first, of those first that are half of them apart. */
INLINE Four sums_of(const V* of) {
#if PLANES_AROUND <= 4
  const V x = SUMS_2(of[0], of[1]), y = SUMS_2(of[2], of[3]), both = SUMS_1(x, y);
  const V far = SUMS_8(both, both), all = SUMS_4(far, far);
  return __builtin_shufflevector(all, all, 0, 2, 1, 3);
#else
  const V x = SUMS_4(of[0], of[1]), y = SUMS_4(of[2], of[3]), both = SUMS_2(x, y);
  const V near = SUMS_1(both, both), all = SUMS_8(near, near);
  return __builtin_shufflevector(all, all, 0, 4, 2, 6);
#endif
}

KERNEL void ring_to_particles(__global const CELL* cells, __global const OFFSET* offsets,
                              __global const INDEX* starts, const long cells0, const long cells1,
                              const long cells2, const long points0, const long points1,
                              const long points2, const int ends0, const int ends1, const int ends2,
                              const long first_own, const long own_planes, const long first_plane,
                              const long tile0, const long tile1, __global real* windows,
                              const long width, FOR_PAIRS(FIELD_OF_PAIR),
                              const long stride_of_component, const long stride0,
                              const long stride1, const long stride2, FOR_PAIRS(VALUES_OF_PAIR),
                              FOR_PAIRS(RESULTS_OF_PAIR), const int adds) {
  const PairValues before[] = {FOR_PAIRS(PAIR_VALUES)};
  const PairResults results[] = {FOR_PAIRS(PAIR_RESULTS)};
  __global FIELD* const fields[] = {FOR_PAIRS(PAIR_FIELD)};
  const Axis planes = {cells0, points0, ends0}, across = {cells1, points1, ends1};
  const Axis along = {cells2, points2, ends2};
  const long tiles0 = (own_planes + tile0 - 1) / tile0, tiles1 = (points1 + tile1 - 1) / tile1;
  const long lines = tile1 + (IS_AXIS_1 ? STENCIL - 1 + LINES_HAVE_ENDS : 0);
  const long component = lines * width, elements = ALL_COMPONENTS * component;
  __global real* const ring = windows + get_group_id(0) * elements;
  for (long i = 0; i < elements; i += 16) *(__global LooseV*)(ring + i) = 0;
  /* Numbers of another size are of another type. */
  const bool are_neighbours = COMPONENTS == 1 && !adds && sizeof(VALUE) == sizeof(real);
  const long per_line = rows_of_line(cells2);
  const Share share = share_of(tiles0 * tiles1);
  for (long tile = share.first; tile < share.last; tile++) {
    const long begin0 = first_own + tile / tiles1 * tile0, begin1 = tile % tiles1 * tile1;
    const long end0 = min(begin0 + tile0, first_own + own_planes);
    const long end1 = min(begin1 + tile1, points1);
    const long ahead = STENCIL - 1 - STENCIL_BEFORE;
    const long before0 = STENCIL_BEFORE + PLANES_HAVE_ENDS;
    const long first_line = begin1 - (IS_AXIS_1 ? STENCIL_BEFORE + LINES_HAVE_ENDS : 0);
    const long last_line = end1 + (IS_AXIS_1 ? ahead : 0);
    for (long next = begin0 - before0; next < end0 + ahead; next++) {
      const int slot = (int)next & (SLOTS - 1);
      const long there = plane_in_part(stored_point(next, planes), first_plane, points0);
      for (int c = 0; c < ALL_COMPONENTS; c++)
        for (long line = first_line; line < last_line; line++) {
          __global real* const to =
              ring + c * component + (line - first_line) * width + RING_BEFORE * SLOTS + slot;
          __global const FIELD* const from = field_component_at(fields, c, stride_of_component) +
                                             there * stride0 + stored_point(line, across) * stride1;
          WITHOUT_SCATTERING
          for (long k = 0; k < points2; k++) to[k * SLOTS] = LOAD_AS(FIELD, from + k * stride2);
          for (long k = -RING_BEFORE; k < 0; k++)
            to[k * SLOTS] = LOAD_AS(FIELD, from + stored_point(k, along) * stride2);
          for (long k = points2; k < points2 + RING_BEHIND; k++)
            to[k * SLOTS] = LOAD_AS(FIELD, from + stored_point(k, along) * stride2);
        }
      const long plane = next - ahead;
      if (plane < begin0) continue;
      const int first_slot = (int)(plane - before0) & (SLOTS - 1);
      const ColumnI empty = empty_slots(first_slot), next_empty = empty_slots(first_slot + 1);
      const I has_no_weight = (I)(LANE_NUMBERS) >= (I)(STENCIL * SLOTS);
      const I is_empty[] = {BESIDE_EACH_OTHER(empty) | has_no_weight,
                            BESIDE_EACH_OTHER(next_empty) | has_no_weight};
      for (long line = begin1; line < end1; line++) {
        const long row = plane * cells1 + line, last = starts[(row + 1) * per_line];
        __global const real* const of_line = ring + (line - begin1) * width + RING_BEFORE * SLOTS;
        RingWeights weights;
        const long begin = starts[row * per_line];
        for (long batch = begin; batch < last; batch += PARTICLES_AT_ONCE) {
          find_weights(&weights, cells, offsets, 0, batch, last, row * cells2, along, first_slot);
          for (int of_batch = 0; of_batch < PARTICLES_AT_ONCE; of_batch += TOGETHER) {
            const long first = batch + of_batch;
            if (first >= last) break;
            V read[ALL_COMPONENTS][TOGETHER];
            UNROLL
            for (int u = 0; u < TOGETHER; u++) {
              const int k = of_batch + u;
              const int is_above = PLANES_HAVE_ENDS ? IS_ABOVE(&weights, 0, k) : 0;
              const int next_line = LINES_HAVE_ENDS ? IS_ABOVE(&weights, 1, k) : 0;
              __global const real* const column =
                  of_line + next_line * width + FIRST_POINT(&weights, k) * SLOTS;
              const Column weight = weights_in_ring(&weights, k);
              const V in_ring = BESIDE_EACH_OTHER(weight);
              UNROLL
              for (int c = 0; c < ALL_COMPONENTS; c++) {
                V sum = 0;
                UNROLL
                for (int vector = 0; vector < RING_VECTORS; vector++) {
                  const V beside = weights_beside(&weights, k, vector);
                  __global const real* const points = column + c * component + 16 * vector;
                  V of_lines =
                      weighed(*(__global const LooseV*)points, (V)(WEIGHT_ACROSS(&weights, 0, k)));
                  UNROLL
                  for (int j = 1; j < WEIGHTS_ALONG(1); j++)
                    of_lines = add_weighed(*(__global const LooseV*)(points + j * width),
                                           (V)(WEIGHT_ACROSS(&weights, j, k)), of_lines);
                  sum =
                      vector == 0 ? weighed(of_lines, beside) : add_weighed(of_lines, beside, sum);
                }
                sum = weighed(sum, in_ring);
                if (STENCIL < SLOTS) sum = SELECT(is_empty[is_above], (V)(REAL(0.0)), sum);
                read[c][u] = sum;
              }
            }
            UNROLL
            for (int c = 0; c < ALL_COMPONENTS; c++) {
              const Four sums = sums_of(read[c]);
              if (are_neighbours && results[c].stride == 1 && first + TOGETHER <= last) {
                *(__global LooseFour*)result_at(results, c, first) = sums;
                continue;
              }
              AS_A_LOOP
              for (int u = 0; u < TOGETHER; u++) {
                const long i = first + u;
                if (i >= last) continue;
                real result = ((__private const real*)&sums)[u];
                if (adds) result += LOAD_AS(VALUE, value_at(before, c, i));
                STORE_AS(VALUE, result, result_at(results, c, i));
              }
            }
          }
        }
      }
    }
  }
}
