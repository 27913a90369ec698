/* SPDX-License-Identifier: BSD-3-Clause */
/* Where along axes 1, 2, 3 of a box its points lie: the grid's axes are the last ones.
 *
 * NDIM  axes of the grid */
#ifndef NDIM
#define NDIM 1
#endif
#include "common/common.cl"

#if NDIM == 3
#define COORDINATES r1, r2, r3
#elif NDIM == 2
#define COORDINATES r2, r3, (V)(REAL(0.0))
#else
#define COORDINATES r3, (V)(REAL(0.0)), (V)(REAL(0.0))
#endif

INLINE V coordinate(const long first, const I lanes, const real spacing, const real origin) {
  return MAD((V)(spacing), TO_REAL((I)((lane_int)first) + lanes), (V)(origin));
}
