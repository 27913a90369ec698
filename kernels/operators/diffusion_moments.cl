/* SPDX-License-Identifier: BSD-3-Clause */
/* What has come in at the ends of lines: by how much two sums over a field have changed, that of
 * the values, and that of values times a place which is 0 at the low end and 1 at the high one. The
 * second one is known to change by what comes in at the high end, but for the difference of the
 * values at both ends over the number of nodes, while a line spreads by one: as that place has no
 * second difference. */
#ifndef LOW_END
#define LOW_END INFLOW
#endif
#ifndef HIGH_END
#define HIGH_END OUTFLOW
#endif
#include "common/common.cl"
#include "common/compensated.cl"
#include "common/regions.cl"
#include "lines/boundary.cl"
#include "operators/diffusion.cl"

/* Adds `factor` times both sums to those of this work-item: each in LANES parts, and what rounding
 * took from them. */
KERNEL void diffusion_moments(__global const stored* source, const long s_offset, const long s0,
                              const long s1, const long s2, const long s3, const long n0,
                              const long n1, const long n2, const long n3, const real factor,
                              __global V* moments, __global const Round* rounds,
                              const int first_round, const int count TIME_PARAMETERS) {
  const long item = get_local_id(0) * LANES, step = get_local_size(0) * LANES;
  const Share share = share_of(n0 * n1 * n2 * blocks_of_row(n3));
#ifdef ALONG
  const long n = n3;
#else
  const long n = n2;
#endif
  __global V* const own = moments + 4 * (component * get_global_size(0) + get_global_id(0));
  FOR_BLOCKS(b, share, n1, n2, n3) {
    __global const stored* const row = source + s_offset + row_offset(b, s0, s1, s2);
    V sums[2] = {0, 0};
    for (long x = b.first + item; x < b.end; x += step) {
      const I lanes = (I)(LANE_NUMBERS);
      const V value = SELECT(lanes < (I)((lane_int)min(b.end - x, (long)LANES)),
                             factor * LOAD(row + x * s3), (V)(REAL(0.0)));
#ifdef ALONG
      const V place = ((V)((real)x + REAL(0.5)) + TO_REAL(lanes)) / (real)n;
#else
      const V place = ((real)(b.i2) + REAL(0.5)) / (real)n;
#endif
      sums[0] += value;
      sums[1] = MAD(value, place, sums[1]);
    }
    for (int k = 0; k < 2; k++) add_compensated(own + 2 * k, own + 2 * k + 1, sums[k]);
  }
#if LOW_END == INFLOW && HIGH_END == INFLOW
  if (factor < 0 || get_global_id(0) != 0) return;
  const real more = moment_gained((int)n, rounds + first_round, count TIME_ARGUMENTS);
  const V in_first_lane = SELECT((I)(LANE_NUMBERS) == (I)(0), (V)(more), (V)(REAL(0.0)));
  add_compensated(own + 2, own + 3, in_first_lane * (real)(n0 * n1 * n2 * n3 / n));
#endif
}
