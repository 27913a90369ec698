/* SPDX-License-Identifier: BSD-3-Clause */
/* What particles carry that come in through an end (0 low, 1 high) at a time: stands for the text
 * that is generated from the user's formulas. */
#include "common/common.cl"
#include "common/trigonometry.cl"

INLINE V inflow_value(const int component, const int end, const V time) { return (V)(REAL(0.0)); }
