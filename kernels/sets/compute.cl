/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets attributes of particles to what a formula makes of their attributes, of where they are, and
 * of some numbers. No particle depends on another one, and of each all values are read before any
 * result is written.
 *
 * AXES         of the box
 * WITH_PLACES  the formula reads where particles are
 * CELL         a signed integer; OFFSET  the type of offsets */
#include "arrays/group.cl"
#include "common/common.cl"
#include "common/regions.cl"
#include "generated/columns.cl"
#include "generated/results.cl"
#include "sets/places.cl"

/* Integers are cut off as by NumPy's astype; what is too large becomes the largest, and NaN 0. */
#define DEFINE_LOAD(name, type)                                                         \
  INLINE V load_##name(__global const type* from, const long stride, const int count) { \
    V u;                                                                                \
    if (stride == 1 && count == LANES) {                                                \
      UNROLL                                                                            \
      for (int lane = 0; lane < LANES; lane++) REAL_OF(u, lane) = (real)from[lane];     \
      return u;                                                                         \
    }                                                                                   \
    for (int lane = 0; lane < LANES; lane++)                                            \
      REAL_OF(u, lane) = (real)from[LEAST_OF(lane, count - 1) * stride];                \
    return u;                                                                           \
  }
#define DEFINE_INTEGERS(type, least, greatest)                                                 \
  DEFINE_LOAD(type, type)                                                                      \
  INLINE type type##_of(const real x) {                                                        \
    if (x > (real)(least) && x < (real)(greatest)) return (type)x;                             \
    return x >= 1 ? (greatest) : x <= -1 ? (least) : 0;                                        \
  }                                                                                            \
  INLINE void store_##type(const V u, __global type* to, const long stride, const int count) { \
    for (int lane = 0; lane < count; lane++) to[lane * stride] = type##_of(REAL_OF(u, lane));  \
  }

DEFINE_INTEGERS(uchar, 0, UCHAR_MAX)
DEFINE_INTEGERS(int, INT_MIN, INT_MAX)
DEFINE_INTEGERS(uint, 0, UINT_MAX)
DEFINE_INTEGERS(long, LONG_MIN, LONG_MAX)
DEFINE_INTEGERS(ulong, 0, ULONG_MAX)

DEFINE_LOAD(truth, uchar)
INLINE void store_truth(const V u, __global uchar* to, const long stride, const int count) {
  for (int lane = 0; lane < count; lane++)
    to[lane * stride] = ((__private const real*)&u)[lane] != 0;
}

KERNEL void compute(COLUMN_PARAMETERS
#ifdef WITH_PLACES
                        __global const CELL* cells,
                    __global const OFFSET* offsets, const long n1, const long n2, const long n3,
                    const real low1, const real low2, const real low3, const real spacing1,
                    const real spacing2, const real spacing3,
#endif
                    const long n NUMBER_PARAMETERS) {
  const real numbers[] = GIVEN_NUMBERS;
  const Share share = share_of(n);
#ifdef WITH_PLACES
  const long shape[] = {n1, n2, n3};
  const real low[] = {low1, low2, low3}, spacing[] = {spacing1, spacing2, spacing3};
  CellOfParticle at = no_cell(shape);
  const bool are_exact = sizeof(real) > sizeof(CELL); /* numbers of cells as real ones */
#endif
  for (long i = share.first + (long)get_local_id(0) * LANES; i < share.last; i += GROUP * LANES) {
    const int count = (int)min((long)LANES, share.last - i);
    V values[VALUES + 1], results[RESULTS];
    V place[3] = {(V)(REAL(0.0)), (V)(REAL(0.0)), (V)(REAL(0.0))};
    LOAD_VALUES
#ifdef WITH_PLACES
    V number, offset[AXES];
    for (int lane = 0; lane < LANES; lane++) {
      const long particle = i + LEAST_OF(lane, count - 1);
      REAL_OF(number, lane) = (real)cells[particle];
      if (!are_exact) {
        find_cell(&at, cells[particle], shape);
        UNROLL
        for (int axis = 0; axis < AXES; axis++) REAL_OF(place[axis], lane) = (real)at.along[axis];
      }
      UNROLL
      for (int axis = 0; axis < AXES; axis++)
        REAL_OF(offset[axis], lane) = (real)offsets[particle * AXES + axis];
    }
    if (are_exact) cells_of_lanes(number, shape, place);
    UNROLL
    for (int axis = 0; axis < AXES; axis++)
      place[axis] = MAD((V)(spacing[axis]), place[axis] + offset[axis], (V)(low[axis]));
#endif
    results_of(values, place[0], place[1], place[2], numbers, results);
    STORE_RESULTS
  }
}
