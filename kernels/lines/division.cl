/* SPDX-License-Identifier: BSD-3-Clause */
/* How the lines of a grid are counted, and cut into segments where they do not fit into a
 * work-item's memory or are too few to fill the lanes.
 *
 * A line runs along one axis of an array. Lines are numbered along the lane axis first, then along
 * the outer axis. */
#include "lines/boundary.cl"

#ifndef LINE_CAPACITY
#define LINE_CAPACITY 4096 /* rows of a line, or of a segment, that fit in private memory */
#endif

/* What the tile to come needs is fetched while one is worked on. Of longer lines two tiles do not
 * fit in the cache: there it is what comes some rows later. */
#define NODES_AHEAD 2048
#define ROWS_AHEAD 64

/* Which axis runs along the line, across its lanes, and further across; COORDINATE picks what
 * belongs to an axis from `row`, `lane` and `outer`. */
#ifndef ROW_AXIS
#define ROW_AXIS 0
#define LANE_AXIS 1
#define OUTER_AXIS 2
#endif
#define COORDINATE(axis) (ROW_AXIS == axis ? row : LANE_AXIS == axis ? lane : outer)

/* Distances in elements: along the line, across its lanes, and further across. */
typedef struct {
  long row, lane, outer;
} Strides;

/* How the lines of a grid are divided. */
typedef struct {
  int n;             /* nodes of a line */
  int lines, outers; /* how many along the lane axis, and along the outer axis */
  int segment;       /* nodes of a segment; the last of a line may be shorter */
} Division;

#define DIVISION_PARAMETERS \
  const int n, const int lines, const int outers, const int segment, const int tiles_each
#define DECLARE_DIVISION const Division division = {n, lines, outers, segment}

INLINE int segments_of(const Division d) {
#ifdef SEGMENT
  return (d.n + d.segment - 1) / d.segment;
#else
  return 1;
#endif
}
