/* SPDX-License-Identifier: BSD-3-Clause */
/* The form of a sweep: what a work-item has of its lines, how they lie, and where it keeps rows of
 * them. Every form gives the same bits. LANES is in common.cl; each of these is 0 or 1.
 *
 * ALONG_MEMORY     lines run along the memory; else across it
 * SEGMENT          rows beyond those of a tile are asked for: of neighbours, or ghosts
 * WHOLE_LINES      they are ghosts: the tile's own rows are all that the line has
 * LINES_IN_LOCAL   rows are kept in local memory, interleaved with those of the other work-items of
 *                  the group
 * LINES_IN_GLOBAL  in a field of the device itself; else in private memory
 *
 * LINE_CAPACITY    rows of a line, or of a segment, that fit in private memory */
#include "common/common.cl"

#ifndef ALONG_MEMORY
#define ALONG_MEMORY 0
#endif
#ifndef SEGMENT
#define SEGMENT 0
#endif
#ifndef WHOLE_LINES
#define WHOLE_LINES 0
#endif
#ifndef LINES_IN_LOCAL
#define LINES_IN_LOCAL 0
#endif
#ifndef LINES_IN_GLOBAL
#define LINES_IN_GLOBAL 0
#endif
#ifndef LINE_CAPACITY
#define LINE_CAPACITY 4096
#endif

/* Distances of rows that are kept, in V. `DECLARE_ROWS(name, count)` declares where a work-item
 * keeps rows: `count` of them in private memory. In local memory the kernel's argument `local_rows`
 * says where; in global memory they are where their field is. */
#if LINES_IN_LOCAL
#define LINE_SPACE __local
typedef int Pitch;
#define DECLARE_ROWS(name, count) __local V* const name = local_rows + get_local_id(0)
#elif LINES_IN_GLOBAL
#define LINE_SPACE __global
typedef long Pitch;
#define DECLARE_ROWS(name, count) __global V* const name = 0
#else
#define LINE_SPACE __private
typedef int Pitch;
#define DECLARE_ROWS(name, count) V name[count]
#endif

INLINE Pitch pitch_of_rows(const long row_stride) {
  return LINES_IN_LOCAL    ? (Pitch)get_local_size(0)
         : LINES_IN_GLOBAL ? (Pitch)(row_stride / LANES)
                           : 1;
}

/* How many there is a place for, where a work-item's share of local memory has `in_local`. */
INLINE int capacity_of_rows(const int in_private, const int in_local) {
  return LINES_IN_LOCAL ? in_local : LINES_IN_GLOBAL ? 0 : in_private;
}
