/* SPDX-License-Identifier: BSD-3-Clause */
/* As particles_to_grid.cl, with the same bits, for GPUs: a group has a tile, and goes through the
 * planes of cells that reach it. A work-item has the points of one place along axis 2 in some lines
 * of the tile, and keeps what they have of the planes that particles of a plane of cells give to in
 * registers. A plane that no particle reaches any more is written.
 *
 * Work-items bring a batch of particles of a line of cells with their weights into local memory,
 * and set bits, in any order, for the points that each gives to. Then each adds to the points that
 * are its own what the particles of their bits give, one after the other. So there is no race, and
 * every point receives its particles in their order.
 *
 * The set has as many cells as the grid has points, and there is one component, of one pair.
 *
 * INDEX, IN_ORDER, BY_CELL  as in runs.cl
 * BLOCKS, LINES_OF_ITEM     as in tile.cl */
#ifndef INDEX
#define INDEX int
#endif
#ifndef IN_ORDER
#define IN_ORDER 0
#endif
#ifndef BY_CELL
#define BY_CELL 0
#endif
#ifndef BLOCKS
#define BLOCKS 4
#endif
#ifndef LINES_OF_ITEM
#define LINES_OF_ITEM 8
#endif
#include "common/common.cl"
#include "generated/weights.cl"
#include "interpolation/numbers.cl"
#include "interpolation/pairs.cl"
#include "interpolation/reach.cl"
#include "interpolation/runs.cl"
#include "interpolation/stencil.cl"
#include "interpolation/tile.cl"
#include "sets/ends.cl"

/* Points beyond the ends of axis 2, which have sums of their own. */
#define BEYOND (BEYOND_LOW + BEYOND_HIGH)
#define BATCH 64  /* particles: a bit of a long word for each */
#define PIECES 16 /* of lines of cells, looked for at the same time */

/* Particles of a line of cells, each with its weights along the axes, the first ones times what it
 * carries. */
typedef struct {
  real weight[3][STENCIL][BATCH];
  int first[3][BATCH];
} Batch;
/* Which of them give to each point of a line, and to those beyond the ends: the first one is the
 * highest bit of two words. */
#define RECEIVERS (COLUMNS + BEYOND)
#define GIVERS (2 * RECEIVERS)

/* What a work-item's points have received, of the planes from one on. */
typedef struct {
  real of[PLANES_REACHED][LINES_OF_ITEM];
} OwnSums;

/* Along axis 2: the tile's points, and those beyond the low and the high end that it stands for, if
 * there are any; which cells reach them, and which receivers they are from one on. Where the cells
 * are among those that reach the tile's points, these are gone through once for both. */
typedef enum { OWN_POINTS, POINTS_BELOW, POINTS_ABOVE, KINDS } PointKind;
typedef struct {
  long first, count;
  CellRows reach;
  int receiver;
  bool with_own;
} PointsOfKind;

typedef struct {
  TileRange at;
  PointsOfKind points[KINDS];
  long pieces;          /* of a line of cells */
  __local real* beyond; /* sums of points beyond the ends */
  bool has_beyond;
} GroupTile;

/* Those of a line in a plane. */
INLINE __local real* sums_beyond(const GroupTile* tile, const long plane, const long line) {
  return tile->beyond + ((int)plane % PLANES_REACHED * LINES + (int)line) * BEYOND;
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
INLINE bool tile_stands_for(const TileRange* tile, const int first, const int end,
                            const Axis along) {
  bool does = false;
  for (int k = first; k < end && !GOES_ROUND(along); k++) {
    const long point = stored_point(point_beyond(k, along), along) - tile->first[2];
    does |= point >= 0 && point < tile->count[2];
  }
  return does;
}

/* The cells whose particles may have some of `count` points; beyond the ends only of what is gone
 * round. */
INLINE CellRows cells_of_line_that_reach(const long first, const long count, const Axis along) {
  CellRows cells = rows_that_reach(2, along, first, count);
  if (!GOES_ROUND(along)) {
    cells.first = max(cells.first, (long)0);
    cells.end = min(cells.end, along.cells);
  }
  return cells;
}

INLINE PointsOfKind points_of_kind(const long first, const long count, const int receiver,
                                   const CellRows* own, const Axis along) {
  const CellRows reach = cells_of_line_that_reach(first, count, along);
  const PointsOfKind points = {first, count, reach, receiver,
                               reach.first >= own->first && reach.end <= own->end};
  return points;
}

/* Whether the particles of a piece of a line, which is for points of a kind, give to those of
 * another kind as well. */
INLINE bool is_for(const PointKind piece, const PointKind kind, const GroupTile* tile) {
  const PointsOfKind points = tile->points[kind];
  return points.count > 0 && (piece == kind || (piece == OWN_POINTS && points.with_own));
}

INLINE void bring(__local Batch* batch, __local uint* givers, const PointKind piece,
                  const GroupTile* tile, const int place, __private const long* cell,
                  __private const long* shift, __global const OFFSET* offset, const real value,
                  const bool gives, const Axis* axes) {
  const ParticleStencil stencil = stencil_of_particle(cell, offset, axes);
  for (int axis = 0; axis < 3; axis++)
    batch->first[axis][place] = (int)(stencil.first[axis] + shift[axis]);
  for (int j = 0; j < WEIGHTS_ALONG(0); j++)
    batch->weight[0][j][place] = weighed_one(value, stencil.weight[0][j]);
  for (int j = 0; j < WEIGHTS_ALONG(1); j++) batch->weight[1][j][place] = stencil.weight[1][j];
  for (int j = 0; j < WEIGHTS_ALONG(2); j++)
    batch->weight[2][j][place] = ((__private const real*)stencil.along)[j];
  for (int kind = 0; kind < KINDS; kind++) {
    if (!gives || !is_for(piece, (PointKind)kind, tile)) continue;
    const PointsOfKind points = tile->points[kind];
    for (int j = 0; j < WEIGHTS_ALONG(2); j++) {
      const int point = batch->first[2][place] + j - (int)points.first;
      if (point >= 0 && point < points.count)
        atomic_or(&givers[2 * (points.receiver + point) + place / 32],
                  (uint)1 << (31 - place % 32));
    }
  }
}

INLINE ulong givers_to(__local const uint* givers, const int receiver) {
  return (ulong)givers[2 * receiver] << 32 | givers[2 * receiver + 1];
}

/* The next of those who give, which is none of them any more. */
INLINE int next_of(ulong* givers) {
  const int place = (int)clz(*givers);
  *givers &= ~((ulong)1 << (63 - place));
  return place;
}

/* What is added to a sum by weights along axes 2, 1 and 0, of which the last one is a strength. */
INLINE real received(const real sum, const real along, const real weight, const real strength) {
  return IS_AXIS_1 ? add_weighed_one(weighed_one(strength, along), weight, sum)
                   : add_weighed_one(strength, along, sum);
}

/* What particles of a line of cells give to the points of a work-item, of planes from one on; no
 * point that they reach stands for another one along axes 0 and 1. */
INLINE void receive(OwnSums* sums, const GroupTile* tile, __local const Batch* batch,
                    const ulong givers, const int point, const int first_plane,
                    const int first_line) {
  UNROLL
  for (int l = 0; l < LINES_OF_ITEM; l++) {
    const int line = (int)tile->at.first[1] + l * BLOCKS + BLOCK;
    if (line < first_line || line >= first_line + REACHED(1)) continue;
    ulong left = givers;
    while (left) {
      const int q = next_of(&left);
      const int j1 = line - batch->first[1][q];
      if (j1 < 0 || j1 >= WEIGHTS_ALONG(1)) continue;
      const real along = batch->weight[2][point - batch->first[2][q]][q];
      const real weight = batch->weight[1][j1][q];
      const int skipped = batch->first[0][q] - first_plane; /* 0 or 1 */
      UNROLL
      for (int k = 0; k < PLANES_REACHED; k++) {
        const int j0 = k - skipped;
        const bool is_reached = j0 >= 0 && j0 < WEIGHTS_ALONG(0);
        const real strength = batch->weight[0][is_reached ? j0 : 0][q];
        const real after = received(sums->of[k][l], along, weight, strength);
        sums->of[k][l] = is_reached ? after : sums->of[k][l];
      }
    }
  }
}

/* The same where points may stand for others, which are beyond a wall or an open end. */
INLINE void receive_at_ends(OwnSums* sums, const GroupTile* tile, __local const Batch* batch,
                            ulong givers, const int point, const long first_plane,
                            const Axis* axes) {
  while (givers) {
    const int q = next_of(&givers);
    const real along = batch->weight[2][point - batch->first[2][q]][q];
    for (int j0 = 0; j0 < WEIGHTS_ALONG(0); j0++) {
      const int plane = (int)line_in_tile(batch->first[0][q] + j0, axes[0], first_plane);
      for (int j1 = 0; j1 < WEIGHTS_ALONG(1); j1++) {
        const long line = line_in_tile(batch->first[1][q] + j1, axes[1], tile->at.first[1]) - BLOCK;
        if (line < 0 || line % BLOCKS != 0) continue;
        UNROLL
        for (int k = 0; k < PLANES_REACHED; k++) {
          UNROLL
          for (int l = 0; l < LINES_OF_ITEM; l++) {
            const real after =
                received(sums->of[k][l], along, batch->weight[1][j1][q], batch->weight[0][j0][q]);
            sums->of[k][l] = k == plane && l * BLOCKS == line ? after : sums->of[k][l];
          }
        }
      }
    }
  }
}

/* What a batch gives to one of the points beyond the ends of axis 2, in the work-item's lines. */
INLINE void receive_beyond(const GroupTile* tile, __local const Batch* batch, ulong givers,
                           const int point, const int beyond, const Axis* axes) {
  while (givers) {
    const int q = next_of(&givers);
    const real along = batch->weight[2][point - batch->first[2][q]][q];
    for (int j0 = 0; j0 < WEIGHTS_ALONG(0); j0++) {
      const long plane = line_in_tile(batch->first[0][q] + j0, axes[0], tile->at.first[0]);
      if (plane < 0 || plane >= tile->at.count[0]) continue;
      for (int j1 = 0; j1 < WEIGHTS_ALONG(1); j1++) {
        const long line = line_in_tile(batch->first[1][q] + j1, axes[1], tile->at.first[1]);
        if (line < 0 || line >= tile->at.count[1] || line % BLOCKS != BLOCK) continue;
        __local real* const sum = sums_beyond(tile, plane, line) + beyond;
        *sum = received(*sum, along, batch->weight[1][j1][q], batch->weight[0][j0][q]);
      }
    }
  }
}

/* Writes the first of the planes that there are sums of, if it is the tile's, and begins another
 * one behind the last. `stood_for` are the points that the work-item's stand for. */
INLINE void leave_plane(OwnSums* sums, const GroupTile* tile, const long plane,
                        const ulong stood_for, __global FIELD* field, const long stride0,
                        const long stride1, const long stride2, const int adds) {
  if (plane >= 0 && plane < tile->at.count[0]) {
    UNROLL
    for (int l = 0; l < LINES_OF_ITEM; l++) {
      const long line = l * BLOCKS + BLOCK;
      if (line >= tile->at.count[1] || COLUMN >= tile->at.count[2]) continue;
      real sum = sums->of[0][l];
      for (int k = 0; k < BEYOND && stood_for; k++)
        if (stood_for >> k & 1) sum += sums_beyond(tile, plane, line)[k];
      __global FIELD* const to = field + (tile->at.first[0] + plane) * stride0 +
                                 (tile->at.first[1] + line) * stride1 +
                                 (tile->at.first[2] + COLUMN) * stride2;
      STORE_AS(FIELD, adds ? LOAD_AS(FIELD, to) + sum : sum, to);
    }
    if (tile->has_beyond) {
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int k = get_local_id(0); k < LINES * BEYOND; k += GROUP)
        sums_beyond(tile, plane, 0)[k] = 0;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  UNROLL
  for (int k = 0; k < PLANES_REACHED; k++) {
    UNROLL
    for (int l = 0; l < LINES_OF_ITEM; l++)
      sums->of[k][l] = k + 1 < PLANES_REACHED ? sums->of[k + 1][l] : 0;
  }
}

/* Whether points beyond an end need a piece of each line of cells for themselves. */
INLINE bool has_own_piece(const PointsOfKind* points) {
  return points->count > 0 && !points->with_own;
}

/* Cells low to high - 1 of a line, which begins that many cells from the box's low end, reach
 * points of a kind. */
typedef struct {
  Wrapped line;
  PointKind kind;
  long begin, low, high;
} PieceOfLine;

/* Of the lines that reach a tile, one after the other; beyond the last one, of that. A line has a
 * piece for the tile's points, and one for those beyond either end if they need it, or a piece for
 * each time that it is gone round. */
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
    piece.kind = k == 1 && has_own_piece(&tile->points[POINTS_BELOW]) ? POINTS_BELOW : POINTS_ABOVE;
  const CellRows reach = tile->points[piece.kind].reach;
  piece.low = max(reach.first - piece.begin, (long)0);
  piece.high = min(reach.end - piece.begin, cells);
  return piece;
}

/* Whether a particle of a cell may give to points beyond an end that others stand for. */
INLINE bool reaches_an_end(const int axis, const long cell, const Axis along) {
  const long first = first_reached(axis, cell);
  return IS_AXIS(axis) && !(along.ends & ENDS_MEET) &&
         (first < 0 || first + REACHED(axis) > along.points);
}

KERNEL void particles_to_tile(__global const CELL* cells, __global const OFFSET* offsets,
                              VALUES_OF_PAIR(0), __global const INDEX* starts,
                              __global const INDEX* order, const long cells0, const long cells1,
                              const long cells2, const long points0, const long points1,
                              const long points2, const int ends0, const int ends1, const int ends2,
                              const long tile0, FIELD_OF_PAIR(0), const long stride_of_component,
                              const long stride0, const long stride1, const long stride2,
                              const int adds) {
  const Axis axes[] = {
      {cells0, points0, ends0}, {cells1, points1, ends1}, {cells2, points2, ends2}};
  __local Batch batch;
  __local uint givers[2 * GIVERS]; /* of two batches: one is brought while the other is cleared */
  __local real beyond[PLANES_REACHED * LINES * BEYOND];
  __local long firsts[PIECES], lasts[PIECES];
  const int item = get_local_id(0);
  GroupTile tile;
  tile.at = tile_of_group(tile0, points0, points1, points2);
  tile.beyond = beyond;
  const CellRows reach = cells_of_line_that_reach(tile.at.first[2], tile.at.count[2], axes[2]);
  const bool has_below = tile_stands_for(&tile.at, 0, BEYOND_LOW, axes[2]);
  const bool has_above = tile_stands_for(&tile.at, BEYOND_LOW, BEYOND, axes[2]);
  tile.points[OWN_POINTS] = points_of_kind(tile.at.first[2], tile.at.count[2], 0, &reach, axes[2]);
  tile.points[POINTS_BELOW] =
      points_of_kind(-BEYOND_LOW, has_below ? BEYOND_LOW : 0, COLUMNS, &reach, axes[2]);
  tile.points[POINTS_ABOVE] =
      points_of_kind(points2, has_above ? BEYOND_HIGH : 0, COLUMNS + BEYOND_LOW, &reach, axes[2]);
  tile.has_beyond = has_below || has_above;
  tile.pieces = 1 + (has_own_piece(&tile.points[POINTS_BELOW]) ? 1 : 0) +
                (has_own_piece(&tile.points[POINTS_ABOVE]) ? 1 : 0);
  if (GOES_ROUND(axes[2]))
    tile.pieces = (reach.end - wrapped(reach.first, cells2).shift + cells2 - 1) / cells2;
  const ulong stood_for = points_stood_for(tile.at.first[2] + COLUMN, axes[2]);
  for (int k = item; k < PLANES_REACHED * LINES * BEYOND; k += GROUP) beyond[k] = 0;
  for (int k = item; k < 2 * GIVERS; k += GROUP) givers[k] = 0;
  OwnSums sums;
  UNROLL
  for (int k = 0; k < PLANES_REACHED; k++) {
    UNROLL
    for (int l = 0; l < LINES_OF_ITEM; l++) sums.of[k][l] = 0;
  }
  const CellRows rows0 = rows_that_reach(0, axes[0], tile.at.first[0], tile.at.count[0]);
  const CellRows rows1 = rows_that_reach(1, axes[1], tile.at.first[1], tile.at.count[1]);
  const long pieces = (rows1.end - rows1.first) * tile.pieces;
  __global FIELD* const field = PAIR_FIELD(0);
  int turn = 0;
  long first_plane = first_reached(0, rows0.first);
  for (long r0 = rows0.first; r0 < rows0.end; r0++) {
    const Wrapped in0 = wrapped(r0, cells0);
    for (long piece = 0; piece < pieces; piece++) {
      /* Where the particles of the next pieces begin and end, one piece a work-item. */
      if (piece % PIECES == 0) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < PIECES) {
          const PieceOfLine mine = piece_of_line(piece + item, &rows1, &tile, axes);
          const long line = in0.inside * cells1 + mine.line.inside;
          firsts[item] = begin_of_cells(line, mine.low, cells2, false, starts, cells, order);
          lasts[item] = begin_of_cells(line, mine.high, cells2, true, starts, cells, order);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      const PieceOfLine here = piece_of_line(piece, &rows1, &tile, axes);
      const long first_cell = (in0.inside * cells1 + here.line.inside) * cells2;
      const long shift[] = {in0.shift / cells0 * points0, here.line.shift / cells1 * points1,
                            here.begin / cells2 * points2};
      const bool at_ends =
          reaches_an_end(0, in0.inside, axes[0]) || reaches_an_end(1, here.line.inside, axes[1]);
      const int point = (int)tile.at.first[2] + COLUMN;
      const int beyond_end = COLUMN < BEYOND ? (int)point_beyond(COLUMN, axes[2]) : 0;
      const long last = lasts[piece % PIECES];
      for (long first = firsts[piece % PIECES]; first < last; first += BATCH) {
        if (item < BATCH) { /* beyond the last particle they all read that */
          const long place = min(first + item, last - 1);
          const long i = IN_ORDER ? order[place] : place;
          const long cell[] = {in0.inside, here.line.inside, (long)cells[i] - first_cell};
          const bool gives = first + item < last && cell[2] >= here.low && cell[2] < here.high;
          bring(&batch, givers + turn * GIVERS, here.kind, &tile, item, cell, shift,
                offsets + i * AXES, LOAD_AS(VALUE, values0 + values0_offset + i * values0_stride),
                gives, axes);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const ulong to_own = givers_to(givers + turn * GIVERS, COLUMN);
        const ulong to_beyond =
            COLUMN < BEYOND ? givers_to(givers + turn * GIVERS, COLUMNS + COLUMN) : 0;
        turn = 1 - turn;
        for (int k = item; k < GIVERS; k += GROUP) givers[turn * GIVERS + k] = 0;
        if (at_ends)
          receive_at_ends(&sums, &tile, &batch, to_own, point, first_plane, axes);
        else
          receive(&sums, &tile, &batch, to_own, point, (int)first_plane,
                  (int)first_reached(1, here.line.inside + here.line.shift));
        receive_beyond(&tile, &batch, to_beyond, beyond_end, COLUMN, axes);
        barrier(CLK_LOCAL_MEM_FENCE);
      }
    }
    leave_plane(&sums, &tile, first_plane - tile.at.first[0], stood_for, field, stride0, stride1,
                stride2, adds);
    first_plane++;
  }
  for (int k = 1; k < PLANES_REACHED; k++, first_plane++)
    leave_plane(&sums, &tile, first_plane - tile.at.first[0], stood_for, field, stride0, stride1,
                stride2, adds);
}
