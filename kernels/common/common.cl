/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of the whole core: `real`, and V = LANES reals side by side, one for each of LANES
 * neighbouring lines.
 *
 * REAL_IS_DOUBLE   real is double
 * WORD             real is an unsigned integer as wide as this one, which is moved and no more
 * STORED_IS_HALF   fields hold halves, rounded to nearest even, which are real once they are loaded
 * LANES            1 (a line per work-item), 4, 8 or 16
 * USE_FMA          MAD(a,b,c) is a*b+c rounded once; it is never left to the compiler whether, so
 * that every form gives the same bits. DEFINE_MAD makes one for another type
 *
 * FUSE_BY_CONTRACTION  it is so because the compiler may fuse in MAD: it knows the instruction, but
 * not for fma() */
#ifndef LANES
#define LANES 1
#endif

#pragma OPENCL FP_CONTRACT OFF

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#ifdef REAL_IS_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef long lane_int; /* as wide as real: what a comparison of V yields */
#define REAL(literal) literal
#define REAL_NAME double
#define INT_NAME long
#define GREATEST_INT LONG_MAX
#define UINT_NAME ulong
#elif defined WORD
#define REAL_NAME JOIN(u, WORD)
#define INT_NAME WORD
#define UINT_NAME JOIN(u, WORD)
typedef REAL_NAME real;
typedef WORD lane_int;
#define REAL(literal) literal
#else
typedef float real;
typedef int lane_int;
#define GREATEST_INT INT_MAX
#define REAL(literal) literal##f
#define REAL_NAME float
#define INT_NAME int
#define UINT_NAME uint
#endif

#if LANES == 1
typedef real V;
typedef lane_int I;
typedef JOIN(u, INT_NAME) U;
#define AS_UNSIGNED JOIN(as_, JOIN(u, INT_NAME))
#define AS_V JOIN(as_, REAL_NAME)
#else
typedef JOIN(REAL_NAME, LANES) V;
typedef JOIN(INT_NAME, LANES) I;
typedef JOIN(UINT_NAME, LANES) U;
#define AS_UNSIGNED JOIN(as_, JOIN(UINT_NAME, LANES))
#define AS_V JOIN(as_, JOIN(REAL_NAME, LANES))
#endif

/* Of one lane of a vector that is a variable. */
#define REAL_OF(vector, lane) (((__private real*)&(vector))[lane])
#define INT_OF(vector, lane) ((int)((__private const lane_int*)&(vector))[lane])

#define INLINE static __attribute__((always_inline)) inline
/* Where time of the compiler counts for more: functions that are long and called from several
 * places, and loops that seldom run. */
#define OUT_OF_LINE static __attribute__((noinline)) inline
#define AS_A_LOOP _Pragma("unroll 1") /* NVIDIA tells of no other pragma */
#ifndef USE_FMA
#define MAD(a, b, c) ((a) * (b) + (c))
#define MAD_ONE MAD
#define DEFINE_MAD(name, type) \
  INLINE type name(const type a, const type b, const type c) { return a * b + c; }
#elif defined FUSE_BY_CONTRACTION
#ifndef __FMA__
#error "the processor has no fused multiply-add"
#endif
#define DEFINE_MAD(name, type)                                 \
  INLINE type name(const type a, const type b, const type c) { \
    _Pragma("OPENCL FP_CONTRACT ON") return a * b + c;         \
  }
DEFINE_MAD(fused, V)
DEFINE_MAD(fused_one, real)
#define MAD(a, b, c) fused((V)(a), (V)(b), (V)(c))
#define MAD_ONE(a, b, c) fused_one((real)(a), (real)(b), (real)(c))
#else
#define MAD(a, b, c) fma((V)(a), (V)(b), (V)(c))
#define MAD_ONE(a, b, c) fma((real)(a), (real)(b), (real)(c))
#define DEFINE_MAD(name, type) \
  INLINE type name(const type a, const type b, const type c) { return fma(a, b, c); }
#endif
#define UNROLL _Pragma("unroll")
/* Lanes are vectors. A compiler that makes vectors of work-items, as Intel's does, is told to leave
 * them alone: else it writes ten times as much code, takes half a minute, and gains nothing. */
#if LANES == 1
#define KERNEL __kernel
#else
#define KERNEL __kernel __attribute__((vec_type_hint(V)))
#endif
/* The mask must be a plain comparison, or masks joined by & and |: compilers lower that to one
 * instruction. */
#define SELECT(mask, yes, no) ((mask) ? (yes) : (no))
#define LEAST_OF(a, b) SELECT((b) < (a), b, a)
#define GREATEST_OF(a, b) SELECT((b) > (a), b, a)
/* Not min() and so on, where it counts: PoCL 3.0 calls them, before which all registers are stored.
 */
#define WITHIN(x, least, greatest) \
  SELECT((x) < (least), least, SELECT((x) > (greatest), greatest, x))

/* ANY takes a mask: any() of the language looks at the highest bit of each lane alone.
 * Clang's vector builtins are twice as fast on PoCL as the library functions that say the same. */
#ifndef __has_builtin
#define __has_builtin(x) 0
#endif
#if LANES == 1
#define FLOOR(x) floor(x)
#define TO_INT(x) ((I)(x))
#define TO_REAL(x) ((V)(x))
#define ANY(mask) (mask)
#define FIRST(x) (x)
#define LAST(x) (x)
#define LEAST(x) (x)
#define LANE_NUMBERS 0
#else
#if __has_builtin(__builtin_elementwise_floor)
#define FLOOR(x) __builtin_elementwise_floor(x)
#else
#define FLOOR(x) floor(x)
#endif
#if __has_builtin(__builtin_convertvector)
#define TO_INT(x) __builtin_convertvector(x, I)
#define TO_REAL(x) __builtin_convertvector(x, V)
#else
#define TO_INT(x) JOIN(convert_, JOIN(INT_NAME, LANES))(x)
#define TO_REAL(x) JOIN(convert_, JOIN(REAL_NAME, LANES))(x)
#endif
#if __has_builtin(__builtin_reduce_or)
#define ANY(mask) (__builtin_reduce_or(mask) != 0)
#else
#define ANY(mask) any(mask)
#endif
#define FIRST(x) (x).s0
#if LANES == 16
#define LAST(x) (x).sf
#define LANE_NUMBERS 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#elif LANES == 8
#define LAST(x) (x).s7
#define LANE_NUMBERS 0, 1, 2, 3, 4, 5, 6, 7
#else
#define LAST(x) (x).s3
#define LANE_NUMBERS 0, 1, 2, 3
#endif
#if __has_builtin(__builtin_reduce_min)
#define LEAST(x) __builtin_reduce_min(x)
#else
INLINE lane_int LEAST(const I x) {
  lane_int least = FIRST(x);
  for (int j = 1; j < LANES; j++) least = min(least, ((__private const lane_int*)&x)[j]);
  return least;
}
#endif
#endif
/* For CPUs: GPUs have other work-items to run meanwhile, and compilers that take the address for
 * one of private memory. What a chain of sweeps works on is in the cache. */
#if LANES > 1 && !defined CHAINED && defined ON_CPU && __has_builtin(__builtin_prefetch)
#define PREFETCH(pointer) __builtin_prefetch((const void*)(size_t)(pointer), 0, 3)
#else
#define PREFETCH(pointer)
#endif

/* Memory of others, and rows of a line, begin anywhere: vectors that need no more than the
 * alignment of an element. */
#if LANES > 1
typedef V LooseV __attribute__((aligned(sizeof(real))));
#else
typedef V LooseV;
#endif

/* What lies in a field's memory, one number or LANES of them. */
#ifdef STORED_IS_HALF
typedef half stored;
#define LOAD_ONE(from) vload_half(0, from)
#define STORE_ONE(value, to) vstore_half_rte(value, 0, to)
#if LANES == 1
#define LOAD(from) LOAD_ONE(from)
#define STORE(value, to) STORE_ONE(value, to)
#elif LANES == 16 && defined(__AVX512F__) && __has_builtin(__builtin_ia32_vcvtph2ps512_mask)
/* One instruction, where the library functions of PoCL take two and go through memory. */
typedef short Halves __attribute__((vector_size(LANES * sizeof(short)), aligned(sizeof(short))));
typedef float Singles __attribute__((vector_size(LANES * sizeof(float))));
#define ALL_LANES (-1)
#define AS_SET 4 /* nothing is rounded */
#define TO_NEAREST_EVEN 0
INLINE V LOAD(__global const stored* from) {
  const Singles none = __builtin_astype((V)(0.0f), Singles);
  const Halves halves = *(__global const Halves*)from;
  return __builtin_astype(__builtin_ia32_vcvtph2ps512_mask(halves, none, ALL_LANES, AS_SET), V);
}
INLINE void STORE(const V value, __global stored* to) {
  const Halves none = __builtin_astype((short16)(0), Halves);
  *(__global Halves*)to = __builtin_ia32_vcvtps2ph512_mask(__builtin_astype(value, Singles),
                                                           TO_NEAREST_EVEN, none, ALL_LANES);
}
#else
#define LOAD(from) JOIN(vload_half, LANES)(0, from)
#define STORE(value, to) JOIN(JOIN(vstore_half, LANES), _rte)(value, 0, to)
#endif
#else
typedef real stored;
#define LOAD_ONE(from) (*(from))
#define STORE_ONE(value, to) (*(to) = (value))
#define LOAD(from) (*(__global const V*)(from))
#define STORE(value, to) (*(__global V*)(to) = (value))
#endif

/* What moves particles is real, whatever fields hold. Functions that read both take NUMBERS and
 * tell them apart by their size, which is known when the program is built. */
#define NUMBERS __global const void *from, const size_t number_bytes
#define NUMBERS_OF(from) from, sizeof(*(from))

INLINE real load_number(NUMBERS, const long at) {
#ifdef STORED_IS_HALF
  if (number_bytes == sizeof(stored)) return LOAD_ONE((__global const stored*)from + at);
#endif
  return ((__global const real*)from)[at];
}

INLINE V load_numbers(NUMBERS, const long at) {
#ifdef STORED_IS_HALF
  if (number_bytes == sizeof(stored)) return LOAD((__global const stored*)from + at);
#endif
  return *(__global const V*)((__global const real*)from + at);
}
