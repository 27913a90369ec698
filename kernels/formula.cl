/* SPDX-License-Identifier: BSD-3-Clause */
/* Velocity along the line: stands for the text that is generated from the user's formula. */
#include "common.cl"

INLINE V velocity_formula(const V x, const V y, const V z, const real t) { return (V)(REAL(0.0)); }
