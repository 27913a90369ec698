/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets the elements of a box to what a formula makes of the values at the same point, of where that
 * is, and of some numbers. No point depends on another one, and at each all values are read before
 * any result is written. */
#include "common/common.cl"
#include "common/coordinates.cl"
#include "common/regions.cl"
#include "generated/assigned_fields.cl"
#include "generated/results.cl"

#define ELEMENT(place, component) \
  place + place##_offset + (component) * place##0 + i1* place##1 + i2* place##2 + i3* place##3

/* Of the lanes from i3 on as many as `count` says. */
#define SET_ELEMENTS                                                      \
  const I lanes = (I)(LANE_NUMBERS) * (lane_int)step3;                    \
  const V r3 = coordinate(first3 + i3 * step3, lanes, spacing3, origin3); \
  V values[VALUES + 1], results[RESULTS];                                 \
  LOAD_VALUES                                                             \
  results_of(values, COORDINATES, numbers, results);                      \
  STORE_RESULTS

KERNEL void assign(FIELD_PARAMETERS, const long n0, const long n1, const long n2, const long n3,
                   const long first1, const long step1, const long first2, const long step2,
                   const long first3, const long step3, const real origin1, const real spacing1,
                   const real origin2, const real spacing2, const real origin3,
                   const real spacing3 NUMBER_PARAMETERS) {
  const real numbers[] = GIVEN_NUMBERS;
  const long item = get_local_id(0), items = get_local_size(0);
  const Share share = share_of(n0 * n1 * n2 * blocks_of_row(n3));
  FOR_BLOCKS(b, share, n1, n2, n3) {
    const long i0 = b.i0, i1 = b.i1, i2 = b.i2;
    const V r1 = coordinate(first1 + i1 * step1, (I)(0), spacing1, origin1);
    const V r2 = coordinate(first2 + i2 * step2, (I)(0), spacing2, origin2);
    long i3 = b.first + item * LANES;
    /* Where compilers know the count nothing is decided, which would take as long as all else. */
    for (; i3 + LANES <= b.end; i3 += items * LANES) {
      const int count = LANES;
      SET_ELEMENTS
    }
    if (LANES > 1 && i3 < b.end) {
      const int count = (int)(b.end - i3);
      SET_ELEMENTS
    }
  }
}
