/* SPDX-License-Identifier: BSD-3-Clause */
/* Between which whole cells particles move along each axis: six numbers for every chunk, then for
 * every row, then for every plane. */
#include "common/common.cl"
#include "stepping/unsplit_grid.cl"

KERNEL void unsplit_reach(__global int* reach, __global real* moves, const ulong moves_offset,
                          const long moves_component, const long moves_stride0,
                          const long moves_stride1, const long moves_stride2, const int n0,
                          const int n1, const int n2) {
  const int n[3] = {n0, n1, n2};
  const int chunks = chunks_of_row(n[2]);
  const long chunk = get_global_id(0), row = chunk / chunks;
  const int first = (int)(chunk % chunks) * CHUNK, end = min(first + CHUNK, n[2]);
  __global const real* from = ROW_OF(moves, row / n[1], row % n[1]);
  FOR_AXES(a) {
    __global const real* moved = from + (a - FIRST_AXIS) * moves_component;
    V low = *(__global const V*)(moved + first), high = low;
    /* Beyond the end of the row particles move as the last one. */
    for (int p = first + LANES; p < end; p += LANES) {
      const V here = *(__global const V*)(moved + p);
      low = SELECT(here < low, here, low);
      high = SELECT(here > high, here, high);
    }
    real least = FIRST(low), greatest = FIRST(high);
    for (int j = 1; j < LANES; j++) {
      least = min(least, ((__private const real*)&low)[j]);
      greatest = max(greatest, ((__private const real*)&high)[j]);
    }
    reach[6 * chunk + 2 * a] = (int)floor(least);
    reach[6 * chunk + 2 * a + 1] = (int)floor(greatest);
  }
}

/* Of what has `each` parts that follow one another. */
KERNEL void unsplit_reach_of_all(__global int* reach, const ulong parts, const ulong wholes,
                                 const int each) {
  __global const int* part = reach + 6 * (parts + get_global_id(0) * each);
  __global int* whole = reach + 6 * (wholes + get_global_id(0));
  FOR_AXES(a) {
    int least = part[2 * a], greatest = part[2 * a + 1];
    for (int i = 1; i < each; i++) {
      least = min(least, part[6 * i + 2 * a]);
      greatest = max(greatest, part[6 * i + 2 * a + 1]);
    }
    whole[2 * a] = least;
    whole[2 * a + 1] = greatest;
  }
}
