// SPDX-License-Identifier: BSD-3-Clause
// One kernel that every device must get right.

__kernel void saxpy(float a, __global const float* x, __global float* y) {
  const size_t i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}
