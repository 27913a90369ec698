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
#include "common/typed.cl"
#include "generated/columns.cl"
#include "generated/results.cl"
#include "sets/places.cl"

#if LANES == 1
#define DEFINE_LOOSE(name, type) typedef type Loose_##name;
#else
#define DEFINE_LOOSE(name, type) \
  typedef JOIN(type, LANES) Loose_##name __attribute__((aligned(sizeof(type))));
#endif

/* Most CPUs convert integers of 64 bits one by one only. In a double whose exponent is that of 2^52
 * or 2^84 the last digits count ones or 2^32: both halves of an integer become such doubles, and
 * reals below MOST_AT_ONCE. */
#if defined REAL_IS_DOUBLE && LANES > 1
#define MOST_AT_ONCE 0x1p51
#define REALS_OF(x, bias)                                                       \
  ((AS_V((x) >> 32 | (U)(0x4530000000000000UL)) - (0x1p84 + (bias) + 0x1p52)) + \
   AS_V(((x) & (U)(0xffffffffUL)) | (U)(0x4330000000000000UL)))
#define REALS_OF_ULONG(x) REALS_OF(AS_UNSIGNED(x), 0.0)
#define REALS_OF_LONG(x) REALS_OF(AS_UNSIGNED(x) ^ (U)(1UL << 63), 0x1p63)
#define TO_LONGS(type, u) \
  (TO_TYPE(type, AS_UNSIGNED(SELECT(u < 0, -FLOOR(-u), FLOOR(u)) + 0x1.8p52)) - 0x4338000000000000)
#else
#define MOST_AT_ONCE INFINITY
#define REALS_OF_ULONG TO_REAL
#define REALS_OF_LONG TO_REAL
#define TO_LONGS TO_TYPE
#endif

#define DEFINE_LOAD(name, type, REALS)                                                    \
  DEFINE_LOOSE(name, type)                                                                \
  INLINE V load_##name(__global const type* from, const long stride, const int count) {   \
    if (stride == 1 && count == LANES) return REALS(*(__global const Loose_##name*)from); \
    V u;                                                                                  \
    for (int lane = 0; lane < LANES; lane++)                                              \
      REAL_OF(u, lane) = (real)from[LEAST_OF(lane, count - 1) * stride];                  \
    return u;                                                                             \
  }
/* Integers are cut off as by NumPy's astype; what is too large becomes the largest, and NaN 0. */
#define DEFINE_INTEGERS(type, least, greatest, REALS, INTEGERS)                                \
  DEFINE_LOAD(type, type, REALS)                                                               \
  INLINE type type##_of(const real x) {                                                        \
    if (x > (real)(least) && x < (real)(greatest)) return (type)x;                             \
    return x >= 1 ? (greatest) : x <= -1 ? (least) : 0;                                        \
  }                                                                                            \
  INLINE void store_##type(const V u, __global type* to, const long stride, const int count) { \
    const V low = GREATEST_OF((real)(least) - ((least) == 0 ? 1 : 0), -MOST_AT_ONCE),          \
            high = LEAST_OF((real)(greatest), MOST_AT_ONCE);                                   \
    if (stride == 1 && count == LANES && !ANY((u <= low) | (u >= high) | (u != u))) {          \
      *(__global Loose_##type*)to = INTEGERS(type, u);                                         \
      return;                                                                                  \
    }                                                                                          \
    for (int lane = 0; lane < count; lane++) to[lane * stride] = type##_of(REAL_OF(u, lane));  \
  }

DEFINE_INTEGERS(uchar, 0, UCHAR_MAX, TO_REAL, TO_TYPE)
DEFINE_INTEGERS(int, INT_MIN, INT_MAX, TO_REAL, TO_TYPE)
DEFINE_INTEGERS(uint, 0, UINT_MAX, TO_REAL, TO_TYPE)
DEFINE_INTEGERS(long, LONG_MIN, LONG_MAX, REALS_OF_LONG, TO_LONGS)
DEFINE_INTEGERS(ulong, 0, ULONG_MAX, REALS_OF_ULONG, TO_LONGS)

DEFINE_LOAD(truth, uchar, TO_REAL)
INLINE void store_truth(const V u, __global uchar* to, const long stride, const int count) {
  const V is_true = SELECT(u != 0, (V)(REAL(1.0)), (V)(REAL(0.0)));
  store_uchar(is_true, to, stride, count);
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
