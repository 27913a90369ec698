// SPDX-License-Identifier: BSD-3-Clause
// Read two numbers and write one, as fast as memory allows: to a third array, and in place. A
// work-item does one vector of four.

__kernel void triad(float s, __global const float4* a, __global const float4* b,
                    __global float4* c) {
  const size_t i = get_global_id(0);
  c[i] = a[i] + s * b[i];
}

__kernel void axpy(float s, __global const float4* b, __global float4* a) {
  const size_t i = get_global_id(0);
  a[i] += s * b[i];
}
