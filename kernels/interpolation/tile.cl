/* SPDX-License-Identifier: BSD-3-Clause */
/* A group's tile of points or cells on a GPU, which goes through its planes: a work-item has one
 * place along axis 2 and some lines along axis 1.
 *
 * BLOCKS         a group has so many times as many work-items as the tile's lines have points
 * LINES_OF_ITEM  of the tile
 * PASSED_0, 1, 2  points that a particle passes at most on its way through a cell, where the set
 *                 has not as many cells as the grid has points */
#ifndef BLOCKS
#define BLOCKS 4
#endif
#ifndef LINES_OF_ITEM
#define LINES_OF_ITEM 8
#endif
#ifndef PASSED_0
#define PASSED_0 0
#define PASSED_1 0
#define PASSED_2 0
#endif
#include "common/common.cl"
#include "generated/weights.cl"
#include "interpolation/stencil.cl"
#include "sets/ends.cl"

#define COLUMNS 64 /* as interpolation.cpp has it */
#define GROUP (COLUMNS * BLOCKS)
#define LINES (LINES_OF_ITEM * BLOCKS)
#define COLUMN ((int)get_local_id(0) % COLUMNS)
#define BLOCK ((int)get_local_id(0) / COLUMNS)

/* Points along an axis that particles of a cell may give to: those of a periodic axis one less. */
#define PASSED(axis) ((axis) == 0 ? PASSED_0 : (axis) == 1 ? PASSED_1 : PASSED_2)
#define REACHED(axis) (IS_AXIS(axis) ? STENCIL + 1 + PASSED(axis) : 1)
#define PLANES_REACHED REACHED(0)

/* Of cells that are counted on beyond the ends of the axis. */
INLINE long first_reached(const int axis, const long cell, const Axis along) {
  if (!IS_AXIS(axis)) return cell;
  const long scaled = cell * along.points;
  const long point = SAME_CELLS ? cell : (scaled - modulo_of(scaled, along.cells)) / along.cells;
  return point - (STENCIL_BEFORE + 1);
}

typedef struct {
  int first[3], count[3];
} TileRange;

INLINE TileRange tile_of_group(const long planes, const long n0, const long n1, const long n2) {
  const long number = get_group_id(0);
  const long tiles1 = (n1 + LINES - 1) / LINES, tiles2 = (n2 + COLUMNS - 1) / COLUMNS;
  TileRange tile;
  tile.first[0] = (int)(number / (tiles1 * tiles2) * planes);
  tile.first[1] = (int)(number / tiles2 % tiles1 * LINES);
  tile.first[2] = (int)(number % tiles2 * COLUMNS);
  tile.count[0] = (int)min(planes, n0 - tile.first[0]);
  tile.count[1] = (int)min((long)LINES, n1 - tile.first[1]);
  tile.count[2] = (int)min((long)COLUMNS, n2 - tile.first[2]);
  return tile;
}
