// SPDX-License-Identifier: BSD-3-Clause
// Reads two numbers and writes one: as fast as memory allows. A work-item does one vector of four.

__kernel void triad(float s, __global const float4* a, __global const float4* b,
                    __global float4* c) {
  const size_t i = get_global_id(0);
  c[i] = a[i] + s * b[i];
}
