/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a formula of particles finds what is known of them and leaves its results: stands for the
 * text that is generated for so many attributes and dtypes. */
#include "common/typed.cl"

#define VALUES 1
#define RESULTS 1
#define COLUMN_PARAMETERS                                                        \
  __global float *target0, const long target0_offset, const long target0_stride, \
      __global const float *value0, const long value0_offset, const long value0_stride,
#define LOAD_VALUES \
  values[0] = load_float(value0 + value0_offset + i * value0_stride, value0_stride, count);
#define STORE_RESULTS \
  store_float(results[0], target0 + target0_offset + i * target0_stride, target0_stride, count);
#define NUMBER_PARAMETERS
#define GIVEN_NUMBERS {0}
