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
    real least = moved[first], greatest = least;
    for (int p = first + 1; p < end; p++) {
      least = min(least, moved[p]);
      greatest = max(greatest, moved[p]);
    }
    reach[6 * chunk + 2 * a] = (int)floor(least);
    reach[6 * chunk + 2 * a + 1] = (int)floor(greatest);
  }
}
