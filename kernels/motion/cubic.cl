/* SPDX-License-Identifier: BSD-3-Clause */
/* The cubic through four places 0 .. 3, in Newton's form: beyond these it is as exact as between
 * them, to its order, and what is constant there is so to the bit. */
#include "common/common.cl"

#define CUBIC_PLACES 4

/* The value at place 0, and the differences. */
typedef struct {
  V first, slope, bend, twist;
} Cubic;

/* Through the values at places 0 .. count-1, of which there are CUBIC_PLACES. */
INLINE Cubic cubic_through(__private const V* at, const int count) {
  const V zero = 0, slope = at[1] - at[0], next = at[2] - at[1], bend = next - slope;
  const V twist = ((at[3] - at[2]) - next) - bend;
  const Cubic c = {at[0], count > 1 ? slope : zero, count > 2 ? bend : zero,
                   count > 3 ? twist : zero};
  return c;
}

INLINE V value_of(const Cubic* c, const V place) {
  const V third = (place - 2) * REAL(0.33333333333333333333), second = (place - 1) * REAL(0.5);
  return MAD(place, MAD(second, MAD(third, c->twist, c->bend), c->slope), c->first);
}

INLINE V derivative_of(const Cubic* c, const V place) {
  const V bend = place - REAL(0.5);
  const V twist =
      MAD(place, MAD((V)(REAL(0.5)), place, (V)(REAL(-1.0))), (V)(REAL(0.33333333333333333333)));
  return MAD(twist, c->twist, MAD(bend, c->bend, c->slope));
}
