/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates of change: stands for the text that is generated from the user's formula. */
#include "common/common.cl"
#include "common/trigonometry.cl"

INLINE void rates_of(const V* values, const V x, const V y, const V z, const real t, V* rates) {
  rates[0] = values[1];
}
