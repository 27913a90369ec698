/* SPDX-License-Identifier: BSD-3-Clause */
/* What a launch sweeps, and what is kept of it where others overwrite it too early. */
#include "lines/ghosts.cl"

/* The fields of a launch, as one tile sees them. */
typedef struct {
  __global stored* u[COMPONENTS];
  __global const stored* kept[COMPONENTS]; /* particles of other segments, or all of them */
  Strides strides;
  Tile tile;
  Place place, next; /* of the tile, and of the one to come */
  int n, segment;
#ifdef BOUNDED
  Ends* ends;
#endif
} Fields;

#define STRIDE_PARAMETERS const long row_stride, const long lane_stride, const long outer_stride
#define DECLARE_FIELDS                                                                 \
  Fields f = {FIELD_POINTERS, KEPT_POINTERS, {row_stride, lane_stride, outer_stride}}; \
  f.n = n, f.segment = segment
