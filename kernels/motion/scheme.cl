/* SPDX-License-Identifier: BSD-3-Clause */
/* Explicit Runge-Kutta schemes for the path of a particle, dx/dt = a(x, t), over one duration.
 *
 * Stage s = 1 .. STAGES (generated/scheme.cl) takes a slope, the velocity at the time TIME_s and at
 * a place; stage 1 is at the beginning of both. PLACE_s(scale, slope, place, sum) is where it
 * leads, counted from the beginning: where the next stage is, by the place that this one was at,
 * and after the last stage where the particle ends, by the sum of all places before. `scale` is the
 * duration over the spacing. SUM_s(sum, place) is that sum with the place that stage s has led to.
 * The final weights are positive and add up to one: no particle ends further away than the greatest
 * speed brings it. A stage looks at most LOOKS times as far. */
#define STAGES_AT_MOST 4
#define AT_BEGIN 0
#define AT_MIDDLE 1
#define AT_END 2

/* Stage s of one particle. */
#define TAKE_STAGE(s, scale, slope, sum, place) \
  place = PLACE_##s(scale, slope, place, sum), sum = SUM_##s(sum, place)
