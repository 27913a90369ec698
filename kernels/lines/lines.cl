/* SPDX-License-Identifier: BSD-3-Clause */
/* Where lines lie, and how LANES of them are read and written row by row: across the memory, or
 * along it when ALONG_MEMORY is defined.
 *
 * Rows are counted from the first node of the segment: row p of a lane is node first + p of its
 * line. Whole lines begin at 0.
 *
 * SEGMENT      rows beyond those of a tile are asked for: of neighbours, or ghosts
 * WHOLE_LINES  they are ghosts: the tile's own rows are all that the line has */
#include "lines/division.cl"

#ifdef ALONG_MEMORY
#include "lines/lines_along.cl"
#else
#include "lines/lines_across.cl"
#endif
