/* SPDX-License-Identifier: BSD-3-Clause */
/* Explicit Runge-Kutta schemes for the path of a particle, dx/dt = a(x, t), over one duration.
 *
 * Stage s = 1 .. STAGES takes a slope, the velocity at the time TIME_s and at a place; stage 1 is
 * at the beginning of both. AFTER_s(scale, slope, sum, place) says where the next stage is, counted
 * from the beginning, and after the last stage where the particle ends. `scale` is the duration
 * over the spacing, `sum` are the weighted slopes so far. The final weights are positive and add up
 * to one: no particle ends further away than the greatest speed brings it. A stage looks at most
 * LOOKS times as far.
 *
 * SCHEME  EULER, RK2 (midpoint rule), HEUN, RK3 (Kutta's) or RK4 (the classical one) */
#include "common/common.cl"

#define EULER 1
#define RK2 2
#define HEUN 3
#define RK3 4
#define RK4 5
#ifndef SCHEME
#define SCHEME RK2
#endif

#define AT_BEGIN 0
#define AT_MIDDLE 1
#define AT_END 2
#define TIME_1 AT_BEGIN

#define HALF_OF(scale) (REAL(0.5) * (scale))
#define SIXTH_OF(scale) (REAL(0.16666666666666666667) * (scale))

#if SCHEME == EULER
#define STAGES 1
#define AFTER_1(scale, slope, sum, place) place = (scale) * (slope)
#elif SCHEME == RK2
#define STAGES 2
#define AFTER_1(scale, slope, sum, place) place = HALF_OF(scale) * (slope)
#define TIME_2 AT_MIDDLE
#define AFTER_2(scale, slope, sum, place) place = (scale) * (slope)
#elif SCHEME == HEUN
#define STAGES 2
#define AFTER_1(scale, slope, sum, place) sum = (slope), place = (scale) * (slope)
#define TIME_2 AT_END
#define AFTER_2(scale, slope, sum, place) place = HALF_OF(scale) * ((sum) + (slope))
#elif SCHEME == RK3
#define STAGES 3
#define LOOKS 3
#define AFTER_1(scale, slope, sum, place) sum = (slope), place = HALF_OF(scale) * (slope)
#define TIME_2 AT_MIDDLE
#define AFTER_2(scale, slope, sum, place) \
  place = (scale) * MAD((V)(REAL(2.0)), slope, -(sum)), sum = MAD((V)(REAL(4.0)), slope, sum)
#define TIME_3 AT_END
#define AFTER_3(scale, slope, sum, place) place = SIXTH_OF(scale) * ((sum) + (slope))
#elif SCHEME == RK4
#define STAGES 4
#define AFTER_1(scale, slope, sum, place) sum = (slope), place = HALF_OF(scale) * (slope)
#define TIME_2 AT_MIDDLE
#define AFTER_2(scale, slope, sum, place) \
  sum = MAD((V)(REAL(2.0)), slope, sum), place = HALF_OF(scale) * (slope)
#define TIME_3 AT_MIDDLE
#define AFTER_3(scale, slope, sum, place) \
  sum = MAD((V)(REAL(2.0)), slope, sum), place = (scale) * (slope)
#define TIME_4 AT_END
#define AFTER_4(scale, slope, sum, place) place = SIXTH_OF(scale) * ((sum) + (slope))
#endif
#ifndef LOOKS
#define LOOKS 1
#endif
