/* SPDX-License-Identifier: BSD-3-Clause */
/* As particles_to_grid.cl, for GPUs and particles that are sorted by cell: a group has a tile, and
 * goes through the planes of cells that reach it. It keeps the sums of RING planes of points in
 * local memory; a plane whose sums are complete is written.
 *
 * The work-items bring a batch of particles of a row of cells with their weights into local memory.
 * Then each adds to the points that are its own, one along axis 2 and all along the others, what
 * the particles around them give, one after the other. So there is no race, and every point
 * receives its particles in their order.
 *
 * The set has as many cells as the grid has points, and there is one component. What would come to
 * points beyond an end that is not periodic is given to those that stand for them: they are among
 * the points that the particle gives to.
 *
 * VALUE, FIELD, INDEX, IN_ORDER  as there
 * GROUP                          work-items, and points of a tile along axis 2
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
#include "sets/ends.cl"

/* Points that particles of a plane of cells may give to, and one more. */
#define RING (IS_AXIS_0 ? STENCIL + 2 : 1)

/* Particles of a row, each with its weights along the axes, the first ones times what it carries.
 */
typedef struct {
  real weight[3][STENCIL][GROUP];
  int first[3][GROUP], cell[GROUP];
} Batch;

typedef struct {
  long first[3], count[3], next; /* points, and the next plane that is to be written */
  __local real* sums;            /* those of the work-item: of plane i and line j at
                                    (i * LINES + j) * GROUP */
} OwnTile;

INLINE __local real* sum_at(const OwnTile* tile, const long plane, const long line) {
  return tile->sums + ((int)plane % RING * LINES + (int)line) * GROUP;
}

/* Weights along an axis from a point on; those of points beyond an end go to what stands for them.
 */
INLINE void fold_weights(__private real* weight, const long first, const Axis along) {
  if (along.ends & ENDS_MEET) return;
  for (int j = 0; j < STENCIL; j++) {
    const long point = stored_point(first + j, along);
    if (point == first + j) continue;
    weight[point - first] += weight[j];
    weight[j] = 0;
  }
}

INLINE void bring(__local Batch* batch, const int item, __private const long* cell,
                  __private const long* shift, __global const OFFSET* offset, const real value,
                  const Axis* axes) {
  const ParticleStencil stencil = stencil_of_particle(cell, offset, axes);
  batch->cell[item] = (int)(cell[2] + shift[2]);
  for (int axis = 0; axis < 3; axis++) {
    real weight[STENCIL];
    for (int j = 0; j < WEIGHTS_ALONG(axis); j++)
      weight[j] = axis < 2 ? stencil.weight[axis < 2 ? axis : 0][j]
                           : ((__private const real*)stencil.along)[j];
    if (IS_AXIS(axis)) fold_weights(weight, stencil.first[axis], axes[axis]);
    batch->first[axis][item] = (int)(stencil.first[axis] + shift[axis]);
    for (int j = 0; j < WEIGHTS_ALONG(axis); j++)
      batch->weight[axis][j][item] = axis == 0 ? weight[j] * value : weight[j];
  }
}

#define CELL_OF(i) cells[IN_ORDER ? (long)order[i] : (i)]

/* The first particle in a cell or behind it. It is looked for where it is if cells have
 * equally many, and from there in steps that double. */
INLINE long particle_from(const long cell, const long cells_of_row, __global const INDEX* starts,
                          __global const CELL* cells, __global const INDEX* order) {
  const long row = cell / cells_of_row, before = cell - row * cells_of_row;
  long low = starts[row], step = 8;
  if (before == 0) return low;
  long high = starts[row + 1];
  if (low == high) return low;
  const long guess = low + (high - low) * before / cells_of_row;
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

/* The first particle of a batch in a cell or behind it. */
INLINE int first_from(__local const Batch* batch, const int count, const long cell) {
  int low = 0, high = count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (batch->cell[middle] < cell)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* What a batch gives to the points of a work-item. */
INLINE void receive(const OwnTile* tile, __local const Batch* batch, const int count) {
  const long point = tile->first[2] + (long)get_local_id(0);
  const long low = point + BEFORE_ALONG(2) + 1 - WEIGHTS_ALONG(2);
  const long high = point + BEFORE_ALONG(2) + 1;
  for (int q = first_from(batch, count, low); q < count && batch->cell[q] <= high; q++) {
    const long j2 = point - batch->first[2][q];
    if (j2 < 0 || j2 >= WEIGHTS_ALONG(2)) continue;
    for (int j0 = 0; j0 < WEIGHTS_ALONG(0); j0++) {
      const long plane = batch->first[0][q] + j0 - tile->first[0];
      if (plane < 0 || plane >= tile->count[0]) continue;
      const real strength = batch->weight[0][j0][q] * batch->weight[2][j2][q];
      for (int j1 = 0; j1 < WEIGHTS_ALONG(1); j1++) {
        const long line = batch->first[1][q] + j1 - tile->first[1];
        if (line < 0 || line >= tile->count[1]) continue;
        *sum_at(tile, plane, line) += strength * batch->weight[1][j1][q];
      }
    }
  }
}

/* Planes before one are complete. */
INLINE void write_planes(OwnTile* tile, const long before, __global FIELD* field, const long field0,
                         const long field1, const long field2, const int adds) {
  const long item = get_local_id(0);
  for (; tile->next < min(before, tile->count[0]); tile->next++)
    for (long line = 0; line < tile->count[1]; line++) {
      __local real* const sum = sum_at(tile, tile->next, line);
      if (item < tile->count[2]) {
        __global FIELD* const to = field + (tile->first[0] + tile->next) * field0 +
                                   (tile->first[1] + line) * field1 +
                                   (tile->first[2] + item) * field2;
        STORE_AS(FIELD, adds ? LOAD_AS(FIELD, to) + *sum : *sum, to);
      }
      *sum = 0;
    }
}

/* Cells low to high - 1 of a row, which begins that many cells from the box's low end. */
typedef struct {
  Wrapped row;
  long begin, low, high;
} PieceOfRow;

/* Of the rows that reach a tile, one after the other; beyond the last one, of that. A row has a
 * piece for each time that it is gone round. */
INLINE PieceOfRow piece_of_row(const long number, const long turns, const CellRows* rows,
                               const CellRows* reach, const Axis* axes) {
  const long cells = axes[2].cells;
  PieceOfRow piece;
  piece.row = wrapped(min(rows->first + number / turns, rows->end - 1), axes[1].cells);
  piece.begin = wrapped(reach->first, cells).shift + number % turns * cells;
  piece.low = max(reach->first - piece.begin, (long)0);
  piece.high = min(reach->end - piece.begin, cells);
  return piece;
}

KERNEL void particles_to_tile(__global const CELL* cells, __global const OFFSET* offsets,
                              __global const VALUE* values, const long values_offset,
                              const long values_stride, __global const INDEX* starts,
                              __global const INDEX* order, const long cells0, const long cells1,
                              const long cells2, const long points0, const long points1,
                              const long points2, const int ends0, const int ends1, const int ends2,
                              const long cells_of_row, const long tile0, __global FIELD* field,
                              const long field_offset, const long field_component,
                              const long field0, const long field1, const long field2,
                              const int adds) {
  const Axis axes[] = {
      {cells0, points0, ends0}, {cells1, points1, ends1}, {cells2, points2, ends2}};
  __local Batch batch;
  __local real sums[RING * LINES * GROUP];
  __local long firsts[GROUP], lasts[GROUP];
  const int item = get_local_id(0);
  const long tiles1 = (points1 + LINES - 1) / LINES, tiles2 = (points2 + GROUP - 1) / GROUP;
  const long number = get_group_id(0);
  OwnTile tile;
  tile.first[0] = number / (tiles1 * tiles2) * tile0;
  tile.first[1] = number / tiles2 % tiles1 * LINES;
  tile.first[2] = number % tiles2 * GROUP;
  tile.count[0] = min(tile0, points0 - tile.first[0]);
  tile.count[1] = min((long)LINES, points1 - tile.first[1]);
  tile.count[2] = min((long)GROUP, points2 - tile.first[2]);
  tile.next = 0;
  tile.sums = sums + item;
  for (int k = 0; k < RING * LINES; k++) tile.sums[k * GROUP] = 0;
  const CellRows rows0 = rows_that_reach(0, axes[0], tile.first[0], tile.count[0]);
  const CellRows rows1 = rows_that_reach(1, axes[1], tile.first[1], tile.count[1]);
  const CellRows reach = rows_that_reach(2, axes[2], tile.first[2], tile.count[2]);
  const long turns = (reach.end - wrapped(reach.first, cells2).shift + cells2 - 1) / cells2;
  const long pieces = (rows1.end - rows1.first) * turns;
  field += field_offset;
  for (long r0 = rows0.first; r0 < rows0.end; r0++) {
    const Wrapped in0 = wrapped(r0, cells0);
    for (long piece = 0; piece < pieces; piece++) {
      /* Where the particles of the next pieces begin and end, one piece a work-item. */
      if (piece % GROUP == 0) {
        const PieceOfRow mine = piece_of_row(piece + item, turns, &rows1, &reach, axes);
        const long first_cell = (in0.inside * cells1 + mine.row.inside) * cells2;
        barrier(CLK_LOCAL_MEM_FENCE);
        firsts[item] = particle_from(first_cell + mine.low, cells_of_row, starts, cells, order);
        lasts[item] = particle_from(first_cell + mine.high, cells_of_row, starts, cells, order);
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      const PieceOfRow here = piece_of_row(piece, turns, &rows1, &reach, axes);
      const long first_cell = (in0.inside * cells1 + here.row.inside) * cells2;
      const long shift[] = {in0.shift / cells0 * points0, here.row.shift / cells1 * points1,
                            here.begin / cells2 * points2};
      const long last = lasts[piece % GROUP];
      for (long first = firsts[piece % GROUP]; first < last; first += GROUP) {
        const int count = (int)min((long)GROUP, last - first);
        if (item < count) {
          const long i = IN_ORDER ? order[first + item] : first + item;
          const long cell[] = {in0.inside, here.row.inside, (long)cells[i] - first_cell};
          bring(&batch, item, cell, shift, offsets + i * AXES,
                LOAD_AS(VALUE, values + values_offset + i * values_stride), axes);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        receive(&tile, &batch, count);
        barrier(CLK_LOCAL_MEM_FENCE);
      }
    }
    write_planes(&tile, r0 - tile.first[0] - BEFORE_ALONG(0), field, field0, field1, field2, adds);
  }
  write_planes(&tile, tile.count[0], field, field0, field1, field2, adds);
}
