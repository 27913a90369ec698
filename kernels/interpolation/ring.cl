/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings of planes of points around particles, and the weights of 16 particles together, for kernels
 * of up to 8 weights along each axis.
 *
 * Planes of points along axis 0 are kept in a ring of SLOTS. What belongs to one place along axes 1
 * and 2 lies together, slot by slot. Not what is in the ring is turned, but the weights along axis
 * 0.
 *
 * Weights are found for a particle in each lane. A particle needs those along axis 0 slot by slot,
 * which takes a transposition, and those along axes 1 and 2 one by one in many lanes: these are
 * read from memory, as moves from lane to lane, of which a processor starts one or two a cycle,
 * would take most of a particle's time.
 *
 * Along an axis with ends points lie in the middle of cells: the particles of a row of cells are
 * around one point more. What is beyond an end is read from the points that stand for it, and given
 * to them, see stencil.cl. Such an axis has 2 STENCIL points at least: a particle reaches beyond
 * one end alone.
 *
 * The set has as many cells as the grid has points. */
#ifndef LANES
#define LANES 16
#endif
#ifndef INDEX
#define INDEX int
#endif
#ifndef IN_ORDER
#define IN_ORDER 0
#endif
#include "common/common.cl"
#include "generated/weights.cl"
#include "interpolation/stencil.cl"
#include "sets/ends.cl"
#include "sets/sixteen_places.cl"

#define PLANES_AROUND (STENCIL + PLANES_HAVE_ENDS)
#define SLOTS (PLANES_AROUND <= 4 ? 4 : 8)
#define PARTICLES_AT_ONCE 16 /* particles whose weights are found */

#define RING_BEFORE (STENCIL_BEFORE + 1)       /* points before the first one along axis 2 */
#define RING_BEHIND (STENCIL - STENCIL_BEFORE) /* and behind the last one */

/* Slot by slot, of one place. */
#if PLANES_AROUND <= 4
typedef JOIN(REAL_NAME, 4) Column;
typedef JOIN(INT_NAME, 4) ColumnI;
#define SLOT_NUMBERS 0, 1, 2, 3
#else
typedef JOIN(REAL_NAME, 8) Column;
typedef JOIN(INT_NAME, 8) ColumnI;
#define SLOT_NUMBERS 0, 1, 2, 3, 4, 5, 6, 7
#endif

/* Places along axis 2 that a vector has side by side, and its vectors along that axis. */
#define BESIDE (16 / SLOTS)
#define RING_VECTORS ((STENCIL + BESIDE - 1) / BESIDE)
#if PLANES_AROUND <= 4
#define BESIDE_EACH_OTHER(column) \
  __builtin_shufflevector(column, column, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3)
#else
#define BESIDE_EACH_OTHER(column) \
  __builtin_shufflevector(column, column, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7)
#endif

/* Slots that have no point of particles whose first points are in `slot`. */
INLINE ColumnI empty_slots(const int slot) {
  return (((ColumnI)(SLOT_NUMBERS) - (ColumnI)((lane_int)slot)) & (ColumnI)(SLOTS - 1)) >=
         (ColumnI)(STENCIL);
}

/* Of PARTICLES_AT_ONCE particles the weights, and the first points along axis 2. Those along axis
 * 1, and along axis 2 of kernels of more than 4 weights, have particle k in lane k. The others lie
 * particle by particle: those of particle k begin at number COLUMN_OF(k) of all.
 *
 * Along an axis with ends a particle is `above` the middle of its cell or not; its first point is
 * the first around its row, or the next one. */
typedef struct {
  V across[STENCIL], along[SLOTS], in_ring[SLOTS];
  I first, above[2];
} RingWeights;

#define COLUMN_OF(k) (((k) & (SLOTS - 1)) * 16 + ((k) & ~(uint)(SLOTS - 1)))

/* Four numbers of each of 16 particles, which lie particle by particle in lanes 0 .. 3, 4 .. 7 and
 * so on of four vectors afterwards: of particles 0, 4, 8, 12, of 1, 5, 9, 13 and so on. */
INLINE void transpose_by_four(__private const V* of, __private V* to) {
#define LOWER(x, y) PICK_FROM(x, y, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define UPPER(x, y) PICK_FROM(x, y, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define LOWER_TWO(x, y) PICK_FROM(x, y, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define UPPER_TWO(x, y) PICK_FROM(x, y, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
  const V low = LOWER(of[0], of[1]), high = UPPER(of[0], of[1]);
  const V next_low = LOWER(of[2], of[3]), next_high = UPPER(of[2], of[3]);
  to[0] = LOWER_TWO(low, next_low), to[1] = UPPER_TWO(low, next_low);
  to[2] = LOWER_TWO(high, next_high), to[3] = UPPER_TWO(high, next_high);
}

/* SLOTS numbers of each of 16 particles. */
INLINE void transpose_slots(__private const V* of, __private V* to) {
#if PLANES_AROUND <= 4
  transpose_by_four(of, to);
#else
  V near[4], far[4];
  transpose_by_four(of, near);
  transpose_by_four(of + 4, far);
  UNROLL
  for (int k = 0; k < 4; k++) {
    to[k] = PICK_FROM(near[k], far[k], 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
    to[4 + k] =
        PICK_FROM(near[k], far[k], 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
  }
#endif
}

/* Where particles are. */
typedef struct {
  V offset[AXES];
  I cell; /* of their row */
} RowPlaces;

INLINE void take_place(RowPlaces* places, const int k, __global const CELL* cells,
                       __global const OFFSET* offsets, const long row, const long i) {
  ((__private lane_int*)&places->cell)[k] = (lane_int)((long)cells[i] - row);
  UNROLL
  for (int axis = 0; axis < AXES; axis++)
    ((__private real*)&places->offset[axis])[k] = (real)offsets[i * AXES + axis];
}

#if !IN_ORDER
INLINE void take_places(RowPlaces* places, __global const CELL* cells,
                        __global const OFFSET* offsets, const long row, const long first) {
  places->cell = TO_INT(sixteen_cells(cells + first) - (LooseCells)((CELL)row));
  sixteen_offsets(offsets + first * AXES, places->offset);
}
#endif

/* How far particles are beyond the middle of two points, as spot_of() says, where points lie in the
 * middle of cells. */
INLINE V beyond_middle(const V offset, __private I* above) {
  *above = offset >= (V)(REAL(0.5));
  return offset - SELECT(*above, (V)(REAL(1.0)), (V)(REAL(0.0)));
}

/* Of the particles from `first` on and before `end`, but of PARTICLES_AT_ONCE at most; cells are
 * counted from `row`, and the first points around it along axis 0 are in `slot`.
 *
 * After a launch that the device has lost a particle may be in a cell of another row, which would
 * be beyond the ring: it is taken for one at an end of this row. */
INLINE void find_weights(RingWeights* found, __global const CELL* cells,
                         __global const OFFSET* offsets, __global const INDEX* order,
                         const long first, const long end, const long row, const Axis along,
                         const int slot) {
  V turned[SLOTS], weights[SLOTS] = {0};
  RowPlaces places = {{0}};
  if (first + PARTICLES_AT_ONCE <= end) {
#if IN_ORDER
    UNROLL
    for (int k = 0; k < PARTICLES_AT_ONCE; k++)
      take_place(&places, k, cells, offsets, row, order[first + k]);
#else
    take_places(&places, cells, offsets, row, first);
#endif
  } else {
    AS_A_LOOP
    for (int k = 0; first + k < end; k++)
      take_place(&places, k, cells, offsets, row, IN_ORDER ? order[first + k] : first + k);
  }
  UNROLL
  for (int k = 0; k < SLOTS; k++) turned[k] = 0;
#if PLANES_HAVE_ENDS
  remeshing_weights(beyond_middle(places.offset[0], found->above), weights);
  for (int j = 0; j <= STENCIL; j++) {
    const V below = j < STENCIL ? weights[j] : (V)(REAL(0.0));
    const V above = j > 0 ? weights[j - 1] : (V)(REAL(0.0));
    turned[(slot + j) & (SLOTS - 1)] = SELECT(found->above[0], above, below);
  }
#else
  remeshing_weights(places.offset[0] - REAL(0.5), weights);
  for (int j = 0; j < STENCIL; j++) turned[(slot + j) & (SLOTS - 1)] = weights[j];
#endif
  transpose_slots(turned, found->in_ring);
#if LINES_HAVE_ENDS
  remeshing_weights(beyond_middle(places.offset[1], found->above + 1), found->across);
#else
  if (IS_AXIS_1) remeshing_weights(places.offset[1] - REAL(0.5), found->across);
#endif
  const I last_cell = (I)((lane_int)(along.cells - 1));
  I point = WITHIN(places.cell, (I)(0), last_cell);
  V t = places.offset[AXES - 1];
  if (along.ends & ENDS_MEET) {
    t -= REAL(0.5);
  } else { /* as spot_of() */
    const I is_below = t < REAL(0.5);
    point = SELECT(is_below, point - 1, point);
    t -= SELECT(is_below, (V)(REAL(0.0)), (V)(REAL(1.0)));
  }
  found->first = point - STENCIL_BEFORE;
#if PLANES_AROUND <= 4
  remeshing_weights(t, weights);
  transpose_by_four(weights, found->along);
#else
  remeshing_weights(t, found->along);
#endif
}

/* Of particle k the weight along axis 1 of its point j, or 1 if there is no such axis. */
#define WEIGHT_ACROSS(found, j, k) \
  (IS_AXIS_1 ? ((__private const real*)&(found)->across[j])[k] : REAL(1.0))

/* Whether it is above the middle of its cell along axis 0 or 1; that has ends. */
#define IS_ABOVE(found, axis, k) (((__private const lane_int*)&(found)->above[axis])[k] ? 1 : 0)

/* The first of its points along axis 2. */
#define FIRST_POINT(found, k) ((long)((__private const lane_int*)&(found)->first)[k])

/* Its weights along axis 0 where the ring has them. */
INLINE Column weights_in_ring(const RingWeights* found, const int k) {
  return *(__private const Column*)((__private const real*)found->in_ring + COLUMN_OF(k));
}

/* The weights of particle k along axis 2, of the BESIDE points of a vector of the ring. */
INLINE V weights_beside(const RingWeights* found, const int k, const int vector) {
#if PLANES_AROUND <= 4
  const Column column =
      *(__private const Column*)((__private const real*)found->along + COLUMN_OF(k));
  return __builtin_shufflevector(column, column, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
#else
  const real one = ((__private const real*)&found->along[2 * vector])[k];
  const real next = ((__private const real*)&found->along[2 * vector + 1])[k];
  return SELECT((I)(LANE_NUMBERS) < (I)(8), (V)(one), (V)(next));
#endif
}
