/* SPDX-License-Identifier: BSD-3-Clause */
/* What a kernel holds of motion that lies in memory: the velocity on nodes, or displacements.
 *
 * LEVELS           2: the velocity at two times
 * COARSE           cells of the particles to a cell of the velocity, along the line
 * COPY_MOTION      rows are copied to private memory before they are used; ALONG_MEMORY always does
 * MOTION_IN_IMAGE  it lies in an image, not in a buffer: for lanes of one */
#include "lines/cells.cl"
#include "motion/continued.cl"
#include "lines/lines.cl"
#include "motion/scheme.cl"

#ifndef LEVELS
#define LEVELS 1
#endif
#if LEVELS == 2
#define MOMENTS 3 /* of a scheme */
#else
#define MOMENTS 1
#endif

#if defined(ALONG_MEMORY) && !defined(COPY_MOTION)
#define COPY_MOTION
#endif

typedef struct {
  __global const real* from; /* unless in an image */
  Place place, next;         /* of the tile, and of the one to come */
  Strides strides;
#ifdef COPY_MOTION
  __private V* rows; /* copies of the line, or of rows low .. high-1 of segments */
#endif
} Level;

typedef struct {
  Level level[LEVELS];
  real scale; /* cells of the particles per unit of what is stored */
  Tile tile;
  int n; /* nodes of a line of the velocity */
#ifdef COPY_MOTION
  int low, high;
#endif
#if LEVELS == 2
  real shares[3]; /* of the later level, at the times of a scheme */
#endif
#ifdef COARSE
  real shift; /* from the velocity's first node to the particles', in cells of the particles */
  V phase;    /* from row 0 of the velocity to that of the particles */
#endif
#ifdef CONTINUED
  I first;                  /* node of row 0, of the velocity */
  Cubic beyond[2][MOMENTS]; /* the ends, through the velocity's first nodes from there */
#endif
} Motion;

#ifdef COPY_MOTION
#ifdef SEGMENT
#define MOTION_MARGIN 256 /* rows beyond either end of a segment that may be copied */
#define COPIED_ROWS (LINE_CAPACITY + 2 * MOTION_MARGIN + LANES)
#else
#define MOTION_MARGIN 32 /* the first rows of a line again, past its end */
#define COPIED_ROWS (LINE_CAPACITY + 2 * MOTION_MARGIN)
#endif
#define DECLARE_COPIES                         \
  V copied_rows[LEVELS * COPIED_ROWS];         \
  for (int level = 0; level < LEVELS; level++) \
  m->level[level].rows = copied_rows + level * COPIED_ROWS
#else
#define DECLARE_COPIES
#endif

#ifdef MOTION_IN_IMAGE /* an image can be in no struct */
#if LEVELS == 2
#define LEVEL_PARAMETERS __read_only image3d_t image, __read_only image3d_t later_image,
#define MOTION_PARAMETER \
  Motion *m, __read_only image3d_t image, __read_only image3d_t later_image MEETS_PARAMETER
#define MOTION_WHICH(meets) m, image, later_image MEETS_ARGUMENT(meets)
#else
#define LEVEL_PARAMETERS __read_only image3d_t image,
#define MOTION_PARAMETER Motion *m, __read_only image3d_t image MEETS_PARAMETER
#define MOTION_WHICH(meets) m, image MEETS_ARGUMENT(meets)
#endif
#define DECLARE_LEVELS                                        \
  for (int level = 0; level < LEVELS; level++) {              \
    const Strides none = {0, 0, 0};                           \
    m->level[level].from = 0, m->level[level].strides = none; \
  }
#else
#define LEVEL_PARAMETERS_OF(name)                                                     \
  __global const real *name, const ulong name##_offset, const long name##_row_stride, \
      const long name##_lane_stride, const long name##_outer_stride,
#define DECLARE_LEVEL(number, name)                                                            \
  const Strides name##_strides = {name##_row_stride, name##_lane_stride, name##_outer_stride}; \
  m->level[number].from = name + name##_offset, m->level[number].strides = name##_strides;
#if LEVELS == 2
#define LEVEL_PARAMETERS LEVEL_PARAMETERS_OF(motion) LEVEL_PARAMETERS_OF(later_motion)
#define DECLARE_LEVELS DECLARE_LEVEL(0, motion) DECLARE_LEVEL(1, later_motion)
#else
#define LEVEL_PARAMETERS LEVEL_PARAMETERS_OF(motion)
#define DECLARE_LEVELS DECLARE_LEVEL(0, motion)
#endif
#define MOTION_PARAMETER Motion* m MEETS_PARAMETER
#define MOTION_WHICH(meets) m MEETS_ARGUMENT(meets)
#endif
#define MOTION_ARGUMENT MOTION_WHICH(meets_ends)

#if LEVELS == 2
#define SHARE_PARAMETERS const real begin_share, const real middle_share, const real end_share,
#define DECLARE_SHARES                                                    \
  m->shares[AT_BEGIN] = begin_share, m->shares[AT_MIDDLE] = middle_share, \
  m->shares[AT_END] = end_share;
#else
#define SHARE_PARAMETERS
#define DECLARE_SHARES
#endif

#ifdef COARSE
#define SHIFT_PARAMETERS const real shift,
#define DECLARE_SHIFT m->shift = shift, m->n = n / COARSE;
#else
#define SHIFT_PARAMETERS
#define DECLARE_SHIFT m->n = n;
#endif

#define MOTION_PARAMETERS LEVEL_PARAMETERS SHARE_PARAMETERS SHIFT_PARAMETERS const real scale

#define DECLARE_MOTION                         \
  Motion held_motion, *const m = &held_motion; \
  DECLARE_MEETS                                \
  m->scale = scale;                            \
  DECLARE_LEVELS DECLARE_SHARES DECLARE_SHIFT DECLARE_COPIES

/* The row of the velocity that the particles' row p is in or after. */
#ifdef COARSE
#define COARSE_ROW(p) (((p) < 0 ? (p) - (COARSE - 1) : (p)) / COARSE)
#else
#define COARSE_ROW(p) (p)
#endif

#ifdef COARSE
/* The tile of the velocity that begins where a tile of particles does, or just before. */
INLINE Tile coarse_tile(Tile t) {
#ifdef ALONG_MEMORY
  for (int j = 0; j < LANES; j++) t.first[j] /= COARSE;
#else
  t.first /= COARSE;
#endif
  t.least_first /= COARSE, t.greatest_first /= COARSE;
  return t;
}
#else
#define coarse_tile(tile) (tile)
#endif

INLINE void aim_levels(Motion* m, const Tile* tile, const Tile* next) {
  m->tile = coarse_tile(*tile);
  const Tile own_next = coarse_tile(*next);
  for (int level = 0; level < LEVELS; level++) {
    m->level[level].place = place_of(&m->tile, m->level[level].strides);
    m->level[level].next = place_of(&own_next, m->level[level].strides);
  }
#ifdef COARSE
  m->phase = TO_REAL(FIRST_NODES(*tile) - FIRST_NODES(m->tile) * COARSE);
#endif
}
