/* SPDX-License-Identifier: BSD-3-Clause */
/* Before a sweep: copies what others may need of every segment, `reach` rows at either end. */
#ifndef SEGMENT
#define SEGMENT
#endif
#include "sweep/swept.cl"

KERNEL void keep_edges(FIELD_PARAMETERS, STRIDE_PARAMETERS, DIVISION_PARAMETERS, const int reach) {
  DECLARE_DIVISION;
  DECLARE_FIELDS;
  __global stored* kept[COMPONENTS] = KEPT_POINTERS;
  const long begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, tiles_of(division)); job++) {
    const Tile tile = tile_at(job, division);
    const Place place = place_of(&tile, f.strides);
    for (int c = 0; c < COMPONENTS; c++)
      copy_ends(f.u[c], kept[c], &tile, &place, f.strides, n, segment, reach);
  }
}
