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

/* Terms: what depends on the coordinate along the line, and on no other. IS_SHORT: a kernel may
 * have several copies of the formula, and is built soon nevertheless. */
enum { ROW_TERMS = 1, IS_SHORT = 1 };
INLINE void row_terms(const V row, const Instant* at, __private V* terms) { terms[0] = row; }

INLINE V velocity_of_terms(const V x, const V y, const V z, const Instant* at,
                           __private const V* terms) {
  return (V)(REAL(0.0));
}

INLINE V velocity_formula(const V x, const V y, const V z, const Instant* at) {
  return (V)(REAL(0.0));
}
