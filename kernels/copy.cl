/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies or fills boxes of elements n0 x n1 x n2 that lie at any strides.
 * Work-items: one element of a row along dimension 0; rows and slices, dealt out along the others.
 *
 * SOURCE, TARGET  float or double: the type copied from, and the type copied to or filled
 * USE_DOUBLE      one of them is double */
#ifdef USE_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#ifndef SOURCE
#define SOURCE float
#endif
#ifndef TARGET
#define TARGET float
#endif

__kernel void copy(__global const SOURCE* source, long source_offset, long s0, long s1, long s2,
                   __global TARGET* target, long target_offset, long t0, long t1, long t2, long n0,
                   long n1, long n2) {
  const long k = get_global_id(0);
  if (k >= n2) return;
  for (long i = get_global_id(2); i < n0; i += get_global_size(2)) {
    for (long j = get_global_id(1); j < n1; j += get_global_size(1)) {
      target[target_offset + i * t0 + j * t1 + k * t2] =
          source[source_offset + i * s0 + j * s1 + k * s2];
    }
  }
}

__kernel void fill(__global TARGET* target, long target_offset, long t0, long t1, long t2, long n0,
                   long n1, long n2, TARGET value) {
  const long k = get_global_id(0);
  if (k >= n2) return;
  for (long i = get_global_id(2); i < n0; i += get_global_size(2)) {
    for (long j = get_global_id(1); j < n1; j += get_global_size(1)) {
      target[target_offset + i * t0 + j * t1 + k * t2] = value;
    }
  }
}
