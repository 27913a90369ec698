/* SPDX-License-Identifier: BSD-3-Clause */
/* A double on its way to a half, which is to be rounded once. */
#include "common/common.cl"

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

/* Of the two floats around x the odd one, unless x is a float: that becomes the same half as x
 * itself, as a float has more than two digits that a half lacks. */
INLINE float rounded_to_odd(const double x) {
  const float near = (float)x;
  const uint bits = as_uint(near);
  if (near == x || bits % 2 == 1) return near;
  return as_float(fabs(x) > fabs((double)near) ? bits + 1 : bits - 1);
}
#endif
