/* SPDX-License-Identifier: BSD-3-Clause */
/* Velocity along the line: stands for the text that is generated from the user's formula. */
#include "common/common.cl"
#include "common/trigonometry.cl"

typedef struct {
  real t;
} Instant;

INLINE Instant instant_at(const real t) {
  const Instant at = {t};
  return at;
}

INLINE V velocity_formula(const V x, const V y, const V z, const Instant* at) {
  return (V)(REAL(0.0));
}
