/* SPDX-License-Identifier: BSD-3-Clause */
/* What a kernel reads in one type while it works in another: READ_ONE and READ, for LANES numbers
 * side by side, make it real.
 *
 * SOURCE_IS_DOUBLE  it is double
 * SOURCE_IS_HALF    it is half; else it is float */
#include "common.cl"

#if defined SOURCE_IS_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define SOURCE double
#elif defined SOURCE_IS_HALF
#define SOURCE half
#else
#define SOURCE float
#endif

#if defined SOURCE_IS_DOUBLE && defined STORED_IS_HALF
/* Of the two floats around x the odd one, unless x is a float: that becomes the same half as x
 * itself, as a float has more than two digits that a half lacks. */
INLINE real odd_real(const double x) {
  const real near = (real)x;
  const uint bits = as_uint(near);
  if (near == x || bits % 2 == 1) return near;
  return as_float(fabs(x) > fabs((double)near) ? bits + 1 : bits - 1);
}
#define READ_ONE(from) odd_real(*(from))
#elif defined SOURCE_IS_HALF
#define READ_ONE(from) ((real)vload_half(0, from))
#else
#define READ_ONE(from) ((real) * (from))
#endif

#if LANES == 1
#define READ(from) READ_ONE(from)
#elif defined SOURCE_IS_DOUBLE && defined STORED_IS_HALF
INLINE V READ(__global const double* from) {
  V u;
  for (int lane = 0; lane < LANES; lane++) ((__private real*)&u)[lane] = READ_ONE(from + lane);
  return u;
}
#else
#define CONVERT JOIN(convert_, JOIN(REAL_NAME, LANES))
#ifdef SOURCE_IS_HALF
#define READ(from) CONVERT(JOIN(vload_half, LANES)(0, from))
#else
typedef JOIN(SOURCE, LANES) LooseSource __attribute__((aligned(sizeof(SOURCE))));
#define READ(from) CONVERT(*(__global const LooseSource*)(from))
#endif
#endif
