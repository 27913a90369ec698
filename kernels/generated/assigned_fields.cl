/* SPDX-License-Identifier: BSD-3-Clause */
/* Where an assignment finds its operands and leaves its results: stands for the text that is
 * generated for so many fields and dtypes. */
#include "common/regions.cl"
#include "common/typed.cl"

#define VALUES 1
#define RESULTS 1
#define FIELD_PARAMETERS \
  __global float *target_, STRIDES(target_), __global const float *operand0_, STRIDES(operand0_)
#define LOAD_VALUES values[0] = load_float_row(ELEMENT(operand0_, i0), count);
#define STORE_RESULTS store_float_row(results[0], ELEMENT(target_, i0), count);
#define NUMBER_PARAMETERS
#define GIVEN_NUMBERS {0}
