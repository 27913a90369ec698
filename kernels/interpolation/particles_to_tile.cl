/* SPDX-License-Identifier: BSD-3-Clause */
/* As particles_to_grid.cl, with the same bits, for GPUs: a group has a tile, and goes through the
 * planes of cells that reach it. It keeps the sums of RING planes of points in local memory; a
 * plane whose sums are complete is written.
 *
 * The work-items bring a batch of particles of a line of cells with their weights into local
 * memory. Then each adds to the points that are its own, one along axis 2 and all along the others,
 * what the particles around them give, one after the other. So there is no race, and every point
 * receives its particles in their order.
 *
 * The set has as many cells as the grid has points, and there is one component.
 *
 * VALUE, FIELD, INDEX, IN_ORDER  as there
 * BY_CELL                        particles of a row are sorted by cell; else all of a row are read
 * GROUP                          work-items, and points of a tile along axis 2; 64 at most
 * LINES                          points of a tile along axis 1 */
#ifndef VALUE
#define VALUE float
#endif
#ifndef FIELD
#define FIELD float
#endif
#ifndef INDEX
#define INDEX int
#endif
#ifndef IN_ORDER
#define IN_ORDER 0
#endif
#ifndef BY_CELL
#define BY_CELL 0
#endif
#ifndef GROUP
#define GROUP 64
#endif
#ifndef LINES
#define LINES 8
#endif
#include "common/common.cl"
#include "generated/weights.cl"
#include "interpolation/numbers.cl"
#include "interpolation/reach.cl"
#include "interpolation/stencil.cl"
#include "sets/cell_rows.cl"

/* Points that particles of a plane of cells may give to, and one more. */
#define RING (IS_AXIS_0 ? STENCIL + 2 : 1)
/* A line of sums: those of the tile's points, then those of points beyond the ends of axis 2. */
#define BEYOND (BEYOND_LOW + BEYOND_HIGH)
#define PLACES (GROUP + BEYOND)

/* Particles of a row, each with its weights along the axes, the first ones times what it carries.
 * Some are not there: they are NOWHERE along axis 2. */
typedef struct {
  real weight[3][STENCIL][GROUP];
  int first[3][GROUP];
} Batch;
#define NOWHERE (INT_MIN / 2)

/* Along axis 2: the tile's points, and those beyond the low and the high end that it stands for, if
 * there are any; which cells reach them, and where their sums are. */
typedef enum { OWN_POINTS, POINTS_BELOW, POINTS_ABOVE, KINDS } PointKind;
typedef struct {
  long first, count;
  CellRows reach;
  int place;
} PointsOfKind;

typedef struct {
  long first[3], count[3], next; /* points, and the next plane that is to be written */
  PointsOfKind points[KINDS];
  long pieces;        /* of a line of cells */
  __local real* sums; /* those of plane i and line j at (i * LINES + j) * PLACES */
} GroupTile;

INLINE __local real* line_of_sums(const GroupTile* tile, const long plane, const long line) {
  return tile->sums + ((int)plane % RING * LINES + (int)line) * PLACES;
}

INLINE long point_beyond(const int beyond, const Axis along) {
  return beyond < BEYOND_LOW ? beyond - BEYOND_LOW : along.points + beyond - BEYOND_LOW;
}

/* The points beyond the ends that a point stands for, a bit for each. */
INLINE ulong points_stood_for(const long point, const Axis along) {
  ulong bits = 0;
  for (int k = 0; k < BEYOND && !GOES_ROUND(along); k++)
    if (stored_point(point_beyond(k, along), along) == point) bits |= (ulong)1 << k;
  return bits;
}

/* Whether the tile stands for points beyond the ends from one of them on. */
INLINE bool tile_stands_for(const GroupTile* tile, const int first, const int end,
                            const Axis along) {
  bool does = false;
  for (int k = first; k < end && !GOES_ROUND(along); k++) {
    const long point = stored_point(point_beyond(k, along), along) - tile->first[2];
    does |= point >= 0 && point < tile->count[2];
  }
  return does;
}

INLINE PointsOfKind points_of_kind(const long first, const long count, const int place,
                                   const Axis along) {
  const PointsOfKind points = {first, count, rows_that_reach(2, along, first, count), place};
  return points;
}

INLINE void bring(__local Batch* batch, const int item, __private const long* cell,
                  __private const long* shift, __global const OFFSET* offset, const real value,
                  const Axis* axes) {
  const ParticleStencil stencil = stencil_of_particle(cell, offset, axes);
  for (int axis = 0; axis < 3; axis++)
    batch->first[axis][item] = (int)(stencil.first[axis] + shift[axis]);
  for (int j = 0; j < WEIGHTS_ALONG(0); j++)
    batch->weight[0][j][item] = stencil.weight[0][j] * value;
  for (int j = 0; j < WEIGHTS_ALONG(1); j++) batch->weight[1][j][item] = stencil.weight[1][j];
  for (int j = 0; j < WEIGHTS_ALONG(2); j++)
    batch->weight[2][j][item] = ((__private const real*)stencil.along)[j];
}

#define CELL_OF(i) cells[IN_ORDER ? (long)order[i] : (i)]

/* The first particle in a cell or behind it. It is looked for where it is if cells have
 * equally many, and from there in steps that double. */
INLINE long particle_from(const long cell, const long cells_of_line, __global const INDEX* starts,
                          __global const CELL* cells, __global const INDEX* order) {
  const long line = cell / cells_of_line, in_line = cell - line * cells_of_line;
  const long row = line * rows_of_line(cells_of_line) + in_line / CELLS_OF_ROW;
  const long before = in_line % CELLS_OF_ROW;
  long low = starts[row], step = 8;
  if (before == 0) return low;
  long high = starts[row + 1];
  if (low == high) return low;
  const long guess = low + (high - low) * before / CELLS_OF_ROW;
  if (CELL_OF(guess) < cell) {
    low = guess + 1;
    for (; low + step < high && CELL_OF(low + step) < cell; step *= 2) low += step + 1;
    high = min(high, low + step);
  } else {
    high = guess;
    for (; high - step > low && CELL_OF(high - step) >= cell; step *= 2) high -= step;
    low = max(low, high - step);
  }
  while (low < high) {
    const long middle = (low + high) / 2;
    if (CELL_OF(middle) < cell)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Where the particles of some cells of a line begin; or, if these are not sorted, those of the rows
 * that the cells are in: then the end is rounded up. */
INLINE long begin_of_cells(const long line, const long cell, const long cells_of_line,
                           const bool is_end, __global const INDEX* starts,
                           __global const CELL* cells, __global const INDEX* order) {
  if (BY_CELL)
    return particle_from(line * cells_of_line + cell, cells_of_line, starts, cells, order);
  const long row = (cell + (is_end ? CELLS_OF_ROW - 1 : 0)) / CELLS_OF_ROW;
  return starts[line * rows_of_line(cells_of_line) + row];
}

/* What a batch gives to one of the points of a kind, which is the work-item's. */
INLINE void receive(const GroupTile* tile, __local const Batch* batch, const int count,
                    const PointsOfKind points, const Axis* axes) {
  const int item = get_local_id(0);
  if (item >= points.count) return;
  const int point = (int)points.first + item;
  ulong reach = 0; /* the first particle is the highest bit */
  for (int q = 0; q < count; q++) {
    const int j2 = point - batch->first[2][q];
    reach |= (ulong)(j2 >= 0 && j2 < WEIGHTS_ALONG(2)) << (63 - q);
  }
  while (reach) {
    const int q = (int)clz(reach);
    reach &= ~((ulong)1 << (63 - q));
    const real along = batch->weight[2][point - batch->first[2][q]][q];
    for (int j0 = 0; j0 < WEIGHTS_ALONG(0); j0++) {
      const long plane = line_in_tile(batch->first[0][q] + j0, axes[0], tile->first[0]);
      if (plane < 0 || plane >= tile->count[0]) continue;
      const real strength = batch->weight[0][j0][q];
      for (int j1 = 0; j1 < WEIGHTS_ALONG(1); j1++) {
        const long line = line_in_tile(batch->first[1][q] + j1, axes[1], tile->first[1]);
        if (line < 0 || line >= tile->count[1]) continue;
        __local real* const sum = line_of_sums(tile, plane, line) + points.place + item;
        *sum = IS_AXIS_1 ? MAD_ONE(along * strength, batch->weight[1][j1][q], *sum)
                         : MAD_ONE(along, strength, *sum);
      }
    }
  }
}

/* Planes before one are complete. `beyond` are the points that the work-item's stands for. */
INLINE void write_planes(GroupTile* tile, const long before, const ulong beyond,
                         __global FIELD* field, const long field0, const long field1,
                         const long field2, const int adds) {
  const int item = get_local_id(0);
  for (; tile->next < min(before, tile->count[0]); tile->next++) {
    for (long line = 0; line < tile->count[1] && item < tile->count[2]; line++) {
      __local real* const sums = line_of_sums(tile, tile->next, line);
      real sum = sums[item];
      for (int k = 0; k < BEYOND && beyond; k++)
        if (beyond >> k & 1) sum += sums[GROUP + k];
      __global FIELD* const to = field + (tile->first[0] + tile->next) * field0 +
                                 (tile->first[1] + line) * field1 +
                                 (tile->first[2] + item) * field2;
      STORE_AS(FIELD, adds ? LOAD_AS(FIELD, to) + sum : sum, to);
      sums[item] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int line = 0; line < LINES && item < BEYOND; line++)
      line_of_sums(tile, tile->next, line)[GROUP + item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

/* Cells low to high - 1 of a line, which begins that many cells from the box's low end, reach
 * points of a kind. */
typedef struct {
  Wrapped line;
  PointKind kind;
  long begin, low, high;
} PieceOfLine;

/* Of the lines that reach a tile, one after the other; beyond the last one, of that. A line has a
 * piece for each kind of points, or for each time that it is gone round. */
INLINE PieceOfLine piece_of_line(const long number, const CellRows* lines, const GroupTile* tile,
                                 const Axis* axes) {
  const long cells = axes[2].cells, k = number % tile->pieces;
  PieceOfLine piece;
  piece.line = wrapped(min(lines->first + number / tile->pieces, lines->end - 1), axes[1].cells);
  piece.kind = OWN_POINTS;
  piece.begin = 0;
  if (GOES_ROUND(axes[2]))
    piece.begin = wrapped(tile->points[OWN_POINTS].reach.first, cells).shift + k * cells;
  else if (k > 0)
    piece.kind = k == 1 && tile->points[POINTS_BELOW].count > 0 ? POINTS_BELOW : POINTS_ABOVE;
  const CellRows reach = tile->points[piece.kind].reach;
  piece.low = max(reach.first - piece.begin, (long)0);
  piece.high = min(reach.end - piece.begin, cells);
  return piece;
}

KERNEL void particles_to_tile(__global const CELL* cells, __global const OFFSET* offsets,
                              __global const VALUE* values, const long values_offset,
                              const long values_stride, __global const INDEX* starts,
                              __global const INDEX* order, const long cells0, const long cells1,
                              const long cells2, const long points0, const long points1,
                              const long points2, const int ends0, const int ends1, const int ends2,
                              const long tile0, __global FIELD* field, const long field_offset,
                              const long field_component, const long field0, const long field1,
                              const long field2, const int adds) {
  const Axis axes[] = {
      {cells0, points0, ends0}, {cells1, points1, ends1}, {cells2, points2, ends2}};
  __local Batch batch;
  __local real sums[RING * LINES * PLACES];
  __local long firsts[GROUP], lasts[GROUP];
  const int item = get_local_id(0);
  const long tiles1 = (points1 + LINES - 1) / LINES, tiles2 = (points2 + GROUP - 1) / GROUP;
  const long number = get_group_id(0);
  GroupTile tile;
  tile.first[0] = number / (tiles1 * tiles2) * tile0;
  tile.first[1] = number / tiles2 % tiles1 * LINES;
  tile.first[2] = number % tiles2 * GROUP;
  tile.count[0] = min(tile0, points0 - tile.first[0]);
  tile.count[1] = min((long)LINES, points1 - tile.first[1]);
  tile.count[2] = min((long)GROUP, points2 - tile.first[2]);
  tile.next = 0;
  tile.sums = sums;
  tile.points[OWN_POINTS] = points_of_kind(tile.first[2], tile.count[2], 0, axes[2]);
  const bool has_below = tile_stands_for(&tile, 0, BEYOND_LOW, axes[2]);
  const bool has_above = tile_stands_for(&tile, BEYOND_LOW, BEYOND, axes[2]);
  tile.points[POINTS_BELOW] =
      points_of_kind(-BEYOND_LOW, has_below ? BEYOND_LOW : 0, GROUP, axes[2]);
  tile.points[POINTS_ABOVE] =
      points_of_kind(points2, has_above ? BEYOND_HIGH : 0, GROUP + BEYOND_LOW, axes[2]);
  tile.pieces = 1 + (has_below ? 1 : 0) + (has_above ? 1 : 0);
  const CellRows reach = tile.points[OWN_POINTS].reach;
  if (GOES_ROUND(axes[2]))
    tile.pieces = (reach.end - wrapped(reach.first, cells2).shift + cells2 - 1) / cells2;
  const ulong beyond = points_stood_for(tile.first[2] + item, axes[2]);
  for (int k = item; k < RING * LINES * PLACES; k += GROUP) sums[k] = 0;
  const CellRows rows0 = rows_that_reach(0, axes[0], tile.first[0], tile.count[0]);
  const CellRows rows1 = rows_that_reach(1, axes[1], tile.first[1], tile.count[1]);
  const long pieces = (rows1.end - rows1.first) * tile.pieces;
  field += field_offset;
  for (long r0 = rows0.first; r0 < rows0.end; r0++) {
    const Wrapped in0 = wrapped(r0, cells0);
    for (long piece = 0; piece < pieces; piece++) {
      /* Where the particles of the next pieces begin and end, one piece a work-item. */
      if (piece % GROUP == 0) {
        const PieceOfLine mine = piece_of_line(piece + item, &rows1, &tile, axes);
        const long line = in0.inside * cells1 + mine.line.inside;
        barrier(CLK_LOCAL_MEM_FENCE);
        firsts[item] = begin_of_cells(line, mine.low, cells2, false, starts, cells, order);
        lasts[item] = begin_of_cells(line, mine.high, cells2, true, starts, cells, order);
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      const PieceOfLine here = piece_of_line(piece, &rows1, &tile, axes);
      const long first_cell = (in0.inside * cells1 + here.line.inside) * cells2;
      const long shift[] = {in0.shift / cells0 * points0, here.line.shift / cells1 * points1,
                            here.begin / cells2 * points2};
      const long last = lasts[piece % GROUP];
      for (long first = firsts[piece % GROUP]; first < last; first += GROUP) {
        const int count = (int)min((long)GROUP, last - first);
        if (item < count) {
          const long i = IN_ORDER ? order[first + item] : first + item;
          const long cell[] = {in0.inside, here.line.inside, (long)cells[i] - first_cell};
          if (cell[2] >= here.low && cell[2] < here.high)
            bring(&batch, item, cell, shift, offsets + i * AXES,
                  LOAD_AS(VALUE, values + values_offset + i * values_stride), axes);
          else
            batch.first[2][item] = NOWHERE;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        receive(&tile, &batch, count, tile.points[here.kind], axes);
        barrier(CLK_LOCAL_MEM_FENCE);
      }
    }
    const long done = r0 + 1 < rows0.end ? r0 - tile.first[0] - BEFORE_ALONG(0) : tile.count[0];
    write_planes(&tile, done, beyond, field, field0, field1, field2, adds);
  }
}
