/* SPDX-License-Identifier: BSD-3-Clause */
/* LANES numbers of a half, float or double each, which are real while they are computed with.
 * `load_half(from, stride, count)` reads `count` of them, the other lanes repeat the last one;
 * `load_half_row(from, count)` reads neighbours. `store_...` writes in the same ways. Neighbours
 * that fill all lanes are read and written at once. */
#include "common/common.cl"
#include "common/round_to_odd.cl"

#ifdef REAL_IS_DOUBLE
#define AS_FLOAT rounded_to_odd /* on its way to a half */
#else
#define AS_FLOAT
#endif

#if LANES == 1
#define TO_TYPE(type, x) ((type)(x))
#define HALVES_AT(from) vload_half(0, from)
#else
#if __has_builtin(__builtin_convertvector)
#define TO_TYPE(type, x) __builtin_convertvector(x, JOIN(type, LANES))
#else
#define TO_TYPE(type, x) JOIN(convert_, JOIN(type, LANES))(x)
#endif
#define HALVES_AT(from) JOIN(vload_half, LANES)(0, from)
#endif
#ifdef REAL_IS_DOUBLE
INLINE void store_halves(const V u, __global half* to) {
  for (int lane = 0; lane < LANES; lane++)
    vstore_half_rte(AS_FLOAT(((__private const real*)&u)[lane]), lane, to);
}
#elif LANES == 1
#define store_halves(u, to) vstore_half_rte(u, 0, to)
#else
#define store_halves(u, to) JOIN(JOIN(vstore_half, LANES), _rte)(u, 0, to)
#endif

#define HALF_AT(from) vload_half(0, from)
#define STORE_HALF(u, to) vstore_half_rte(AS_FLOAT(u), 0, to)
#define NUMBER_AT(from) (*(from))

/* Memory of others begins anywhere: vectors need no more than the alignment of an element. */
#if LANES == 1
typedef float LooseFloats;
#else
typedef JOIN(float, LANES) LooseFloats __attribute__((aligned(sizeof(float))));
#endif
#define FLOATS_AT(from) (*(__global const LooseFloats*)(from))
#define STORE_FLOAT(u, to) (*(to) = (float)(u))
#define store_floats(u, to) (*(__global LooseFloats*)(to) = TO_TYPE(float, u))

#define DEFINE_TYPED(type, one_at, row_at, store_one, store_row)                               \
  INLINE V load_##type(__global const type* from, const long stride, const int count) {        \
    if (stride == 1 && count == LANES) return TO_REAL(row_at(from));                           \
    V u;                                                                                       \
    for (int lane = 0; lane < LANES; lane++)                                                   \
      ((__private real*)&u)[lane] = one_at(from + LEAST_OF(lane, count - 1) * stride);         \
    return u;                                                                                  \
  }                                                                                            \
  INLINE V load_##type##_row(__global const type* from, const int count) {                     \
    return load_##type(from, 1, count);                                                        \
  }                                                                                            \
  INLINE void store_##type(const V u, __global type* to, const long stride, const int count) { \
    if (stride == 1 && count == LANES) {                                                       \
      store_row(u, to);                                                                        \
      return;                                                                                  \
    }                                                                                          \
    for (int lane = 0; lane < count; lane++)                                                   \
      store_one(((__private const real*)&u)[lane], to + lane * stride);                        \
  }                                                                                            \
  INLINE void store_##type##_row(const V u, __global type* to, const int count) {              \
    store_##type(u, to, 1, count);                                                             \
  }

DEFINE_TYPED(half, HALF_AT, HALVES_AT, STORE_HALF, store_halves)
DEFINE_TYPED(float, NUMBER_AT, FLOATS_AT, STORE_FLOAT, store_floats)

#ifdef REAL_IS_DOUBLE
#if LANES == 1
typedef double LooseDoubles;
#else
typedef JOIN(double, LANES) LooseDoubles __attribute__((aligned(sizeof(double))));
#endif
#define DOUBLES_AT(from) (*(__global const LooseDoubles*)(from))
#define STORE_DOUBLE(u, to) (*(to) = (u))
#define store_doubles(u, to) (*(__global LooseDoubles*)(to) = (u))
DEFINE_TYPED(double, NUMBER_AT, DOUBLES_AT, STORE_DOUBLE, store_doubles)
#endif
