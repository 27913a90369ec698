/* SPDX-License-Identifier: BSD-3-Clause */
/* Explicit Runge-Kutta schemes for the path of a particle, dx/dt = a(x, t), over one duration.
 *
 * Stage s = 1 .. STAGES (generated/scheme.cl) takes a slope, the velocity at the time TIME_s and at
 * a place; stage 1 is at the beginning of both. AFTER_s(scale, slope, sum, place) says where the
 * next stage is, counted from the beginning, and after the last stage where the particle ends.
 * `scale` is the duration over the spacing, `sum` are the weighted slopes so far. The final weights
 * are positive and add up to one: no particle ends further away than the greatest speed brings it.
 * A stage looks at most LOOKS times as far. */
#define STAGES_AT_MOST 4
#define AT_BEGIN 0
#define AT_MIDDLE 1
#define AT_END 2
