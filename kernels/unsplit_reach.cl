/* SPDX-License-Identifier: BSD-3-Clause */
/* Between which whole cells the particles of a chunk move along each axis: six numbers a chunk. */
#include "unsplit_grid.cl"

__kernel void unsplit_reach(__global int* reach, ARRAY_PARAMETERS(moves), NODES_PARAMETERS) {
  DECLARE_NODES;
  const int chunks = chunks_of_row(n[2]);
  const long chunk = get_global_id(0), row = chunk / chunks;
  const int first = (int)(chunk % chunks) * CHUNK, end = min(first + CHUNK, n[2]);
  __global const real* from = ROW_OF(moves, row / n[1], row % n[1]);
  FOR_AXES(a) {
    __global const real* moved = from + (a - FIRST_AXIS) * moves_component;
    V low = *(__global const V*)(moved + first), high = low;
    for (int p = first + LANES; p < end;
         p += LANES) { /* beyond the end particles move as the last */
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
