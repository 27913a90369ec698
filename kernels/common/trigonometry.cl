/* SPDX-License-Identifier: BSD-3-Clause */
/* sine(), cosine() and tangent() of V, for formulas: several times faster than the
 * library's on CPUs, and the same operations, so the same bits, for any number of lanes.
 *
 * x = k pi + r with |r| <= pi/2; sin r = r + r^3 P(r^2), P the interpolant at Chebyshev's nodes. pi
 * is cut in parts. Where MAD rounds once these are two: x - k PI_1 is exact, as it is small and a
 * multiple of the last bit of x or of PI_1, or it is not small and rounded once. Elsewhere they are
 * three, the first two so short that their products with k are exact. Correct to about one unit in
 * the last place for |x| < FARTHEST; the library serves the lanes beyond. What is called near is
 * for numbers that are known to be nearer, NaN or infinite. */
#include "common/common.cl"

#ifdef REAL_IS_DOUBLE
#define FARTHEST REAL(524288.0)
#ifdef USE_FMA
#define PI_1 REAL(3.141592653589793)
#define PI_2 REAL(1.2246467991473532e-16)
#else
#define PI_1 REAL(3.1415926534682512283)
#define PI_2 REAL(1.2154201018028942816e-10)
#define PI_3 REAL(-5.0165576126683320236e-20)
#endif
INLINE V sine_polynomial(const V z) {
  V p = (V)(REAL(2.7314447669863993424e-15));
  p = MAD(z, p, (V)(REAL(-7.6439702967985720524e-13)));
  p = MAD(z, p, (V)(REAL(1.6058977312464087621e-10)));
  p = MAD(z, p, (V)(REAL(-2.5052107616996182891e-8)));
  p = MAD(z, p, (V)(REAL(2.7557319219163233416e-6)));
  p = MAD(z, p, (V)(REAL(-0.00019841269841254973769)));
  p = MAD(z, p, (V)(REAL(0.0083333333333333158688)));
  return MAD(z, p, (V)(REAL(-0.16666666666666666633)));
}
#else
#define FARTHEST REAL(8192.0)
#ifdef USE_FMA
#define PI_1 REAL(3.1415927410125732)
#define PI_2 REAL(-8.742277657347586e-8)
#else
#define PI_1 REAL(3.140625)
#define PI_2 REAL(0.000967502593994140625)
#define PI_3 REAL(1.5099579909783764338e-7)
#endif
INLINE V sine_polynomial(const V z) {
  V p = (V)(REAL(2.6347563918117812731e-6));
  p = MAD(z, p, (V)(REAL(-0.00019822739488631101798)));
  p = MAD(z, p, (V)(REAL(0.0083332421350969387576)));
  return MAD(z, p, (V)(REAL(-0.1666666596382118729)));
}
#endif
#define ONE_OVER_PI REAL(0.31830988618379067154)

/* Adding this leaves an integer in the lowest bits, rounded to nearest. */
#ifdef REAL_IS_DOUBLE
#define ROUNDER REAL(6755399441055744.0)
#define SIGN_SHIFT 63
#else
#define ROUNDER REAL(12582912.0)
#define SIGN_SHIFT 31
#endif

/* (-1)^turns sin(x - k pi); `turns` still has ROUNDER in it */
INLINE V sine_of_rest(const V x, const V k, const V turns) {
  V r = MAD(-k, (V)(PI_2), MAD(-k, (V)(PI_1), x));
#ifndef USE_FMA
  r = MAD(-k, (V)(PI_3), r);
#endif
  const V z = r * r;
  const V rest = MAD(r * z, sine_polynomial(z), r);
  return AS_V(AS_UNSIGNED(rest) ^ (AS_UNSIGNED(turns) << SIGN_SHIFT));
}

/* fabs() would be a call in PoCL 3.0, before which all registers are stored. Squares beyond all
 * numbers are infinite, and the greatest that is near is exact. */
INLINE I is_far(const V x) { return x * x > (V)(FARTHEST * FARTHEST); }

INLINE V near_sine(const V x) {
  const V turns = MAD(x, (V)(ONE_OVER_PI), (V)(ROUNDER));
  return sine_of_rest(x, turns - ROUNDER, turns);
}

/* cos x = sin(x + pi/2): k is halfway between integers */
INLINE V near_cosine(const V x) {
  const V turns = MAD(x, (V)(ONE_OVER_PI), (V)(REAL(0.5))) + ROUNDER;
  return sine_of_rest(x, (turns - ROUNDER) - REAL(0.5), turns);
}

INLINE V sine(const V x) {
  const V near = near_sine(x);
  const I far = is_far(x);
  return ANY(far) ? SELECT(far, sin(x), near) : near;
}

INLINE V cosine(const V x) {
  const V near = near_cosine(x);
  const I far = is_far(x);
  return ANY(far) ? SELECT(far, cos(x), near) : near;
}

/* A vector of the library may spoil the tangents of numbers near zero beside great ones. */
INLINE V near_tangent(const V x) { return near_sine(x) / near_cosine(x); }
INLINE V tangent(const V x) { return sine(x) / cosine(x); }

/* Of the library lane by lane: in PoCL 3.0, fmod of 8 doubles is wrong, or never ends, and one lane
 * of pow spoils others, as a number below the smallest normal one does. */
#if LANES == 1
#define modulo(a, b) fmod(a, b)
#define power(a, b) pow(a, b)
#else
#define DEFINE_BY_LANES(name, function)                                                   \
  INLINE V name(const V a, const V b) {                                                   \
    V result;                                                                             \
    for (int lane = 0; lane < LANES; lane++)                                              \
      ((__private real*)&result)[lane] =                                                  \
          function(((__private const real*)&a)[lane], ((__private const real*)&b)[lane]); \
    return result;                                                                        \
  }
DEFINE_BY_LANES(modulo, fmod)
#ifdef REAL_IS_DOUBLE
DEFINE_BY_LANES(power, pow)
#else
#define power(a, b) pow(a, b)
#endif
#endif
