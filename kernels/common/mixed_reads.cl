/* SPDX-License-Identifier: BSD-3-Clause */
/* What a kernel reads in one type while it works in another: READ_ONE and READ, for LANES numbers
 * side by side, make it real.
 *
 * SOURCE_IS_DOUBLE  it is double
 * SOURCE_IS_HALF    it is half; else it is float, or the same WORD */
#include "common/common.cl"
#include "common/round_to_odd.cl"

#if defined SOURCE_IS_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define SOURCE double
#elif defined SOURCE_IS_HALF
#define SOURCE half
#elif defined WORD
#define SOURCE REAL_NAME
#else
#define SOURCE float
#endif

#if defined SOURCE_IS_DOUBLE && defined STORED_IS_HALF
#define READ_ONE(from) rounded_to_odd(*(from))
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
#ifdef WORD
#define READ(from) (*(__global const LooseSource*)(from))
#else
#define READ(from) CONVERT(*(__global const LooseSource*)(from))
#endif
#endif
#endif
