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
 * INDEX, IN_ORDER, BY_CELL         as in runs.cl
 * BLOCKS, LINES_OF_ITEM, PASSED_0  as in tile.cl */
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

/* Particles of a line of cells, each with its weights along axes 1 and 2, and with those along axis
 * 0 times what it carries. */
typedef struct {
  real strength[ALL_COMPONENTS][STENCIL][BATCH], across[STENCIL][BATCH], along[STENCIL][BATCH];
  int first[3][BATCH];
} Batch;
/* Which of them give to each point of a line, and to those beyond the ends: the first one is the
 * highest bit of two words. */
#define RECEIVERS (COLUMNS + BEYOND)
#define GIVERS (2 * RECEIVERS)

/* What a work-item's points have received, of the planes from one on. */
typedef struct {
  real of[ALL_COMPONENTS][PLANES_REACHED][LINES_OF_ITEM];
} OwnSums;

/* Along axis 2: the tile's points, and those beyond the low and the high end that it stands for, if
 * there are any; which cells reach them, and which receivers they are from one on. Where the cells
 * are among those that reach the tile's points, these are gone through once for both. */
typedef enum { OWN_POINTS, POINTS_BELOW, POINTS_ABOVE, KINDS } PointKind;
typedef struct {
  int first, count;
  int first_cell, last_cell;
  int receiver;
  int with_own;
} PointsOfKind;

/* What all work-items of a group share. */
typedef struct {
  TileRange at;
  int own_plane;                /* of those that there are, the tile's first one */
  __local PointsOfKind* points; /* by kind */
  int pieces;                   /* of a line of cells */
  __local real* beyond;         /* sums of points beyond the ends */
  bool has_beyond;
} GroupTile;

/* Particles of some cells of a line, low to high - 1, which reach points of a kind. Their points
 * along each axis are counted on from the box's ends by `shift`. */
typedef struct {
  long first, last; /* particles, some of other cells */
  long first_cell;  /* of the line */
  int low, high, kind, line;
  int shift[3];
} Piece;

/* Those of a line in a plane. */
INLINE __local real* sums_beyond(const GroupTile* tile, const int component, const int plane,
                                 const int line) {
  const int planes = component * PLANES_REACHED + plane % PLANES_REACHED;
  return tile->beyond + (planes * LINES + line) * BEYOND;
}

INLINE long point_beyond(const int beyond, const Axis along) {
  return beyond < BEYOND_LOW ? beyond - BEYOND_LOW : along.points + beyond - BEYOND_LOW;
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

INLINE PointsOfKind points_of_kind(const int first, const int count, const int receiver,
                                   const CellRows* own, const Axis along) {
  const CellRows reach = cells_of_line_that_reach(first, count, along);
  const PointsOfKind points = {
      first,          count,    (int)reach.first,
      (int)reach.end, receiver, reach.first >= own->first && reach.end <= own->end};
  return points;
}

/* Whether the particles of a piece of a line, which is for points of a kind, give to those of
 * another kind as well. */
INLINE bool is_for(const int piece, const int kind, __local const PointsOfKind* points) {
  return points->count > 0 && (piece == kind || (piece == OWN_POINTS && points->with_own));
}

INLINE void bring(__local Batch* batch, __local uint* givers, __local const Piece* piece,
                  const GroupTile* tile, const int place, __private const long* cell,
                  __global const OFFSET* offset, __private const PairValues* pairs, const long i,
                  const bool gives, const Axis* axes) {
  const ParticleStencil stencil = stencil_of_particle(cell, offset, axes);
  for (int axis = 0; axis < 3; axis++)
    batch->first[axis][place] = (int)stencil.first[axis] + piece->shift[axis];
  UNROLL
  for (int c = 0; c < ALL_COMPONENTS; c++) {
    const real value = LOAD_AS(VALUE, value_at(pairs, c, i));
    for (int j = 0; j < WEIGHTS_ALONG(0); j++)
      batch->strength[c][j][place] = weighed_one(value, stencil.weight[0][j]);
  }
  for (int j = 0; j < WEIGHTS_ALONG(1); j++) batch->across[j][place] = stencil.weight[1][j];
  for (int j = 0; j < WEIGHTS_ALONG(2); j++)
    batch->along[j][place] = ((__private const real*)stencil.along)[j];
  for (int kind = 0; kind < KINDS; kind++) {
    __local const PointsOfKind* const points = tile->points + kind;
    if (!gives || !is_for(piece->kind, kind, points)) continue;
    for (int j = 0; j < WEIGHTS_ALONG(2); j++) {
      const int point = batch->first[2][place] + j - points->first;
      if (point >= 0 && point < points->count)
        atomic_or(&givers[2 * (points->receiver + point) + place / 32],
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
INLINE real received(const real sum, const real along, const real across, const real strength) {
  return IS_AXIS_1 ? add_weighed_one(weighed_one(strength, along), across, sum)
                   : add_weighed_one(strength, along, sum);
}

/* What particles of a line of cells give to the points of a work-item, of planes from one on; no
 * point that they reach stands for another one along axes 0 and 1. */
INLINE void receive(OwnSums* sums, const GroupTile* tile, __local const Batch* batch,
                    const ulong givers, const int point, const int first_plane,
                    const int first_line) {
  UNROLL
  for (int l = 0; l < LINES_OF_ITEM; l++) {
    const int line = tile->at.first[1] + l * BLOCKS + BLOCK;
    if (line < first_line || line >= first_line + REACHED(1)) continue;
    ulong left = givers;
    while (left) {
      const int q = next_of(&left);
      const int j1 = line - batch->first[1][q];
      if (j1 < 0 || j1 >= WEIGHTS_ALONG(1)) continue;
      const real along = batch->along[point - batch->first[2][q]][q];
      const real across = batch->across[j1][q];
      const int skipped = batch->first[0][q] - first_plane; /* 0 to 1 + PASSED_0 */
      UNROLL
      for (int k = 0; k < PLANES_REACHED; k++) {
        const int j0 = k - skipped;
        const bool is_reached = j0 >= 0 && j0 < WEIGHTS_ALONG(0);
        UNROLL
        for (int c = 0; c < ALL_COMPONENTS; c++) {
          const real strength = batch->strength[c][is_reached ? j0 : 0][q];
          const real after = received(sums->of[c][k][l], along, across, strength);
          sums->of[c][k][l] = is_reached ? after : sums->of[c][k][l];
        }
      }
    }
  }
}

/* The same where points may stand for others, which are beyond a wall or an open end. */
INLINE void receive_at_ends(OwnSums* sums, const GroupTile* tile, __local const Batch* batch,
                            ulong givers, const int point, const int first_plane,
                            const Axis* axes) {
  while (givers) {
    const int q = next_of(&givers);
    const real along = batch->along[point - batch->first[2][q]][q];
    for (int j0 = 0; j0 < WEIGHTS_ALONG(0); j0++) {
      const int plane = (int)line_in_tile(batch->first[0][q] + j0, axes[0], first_plane);
      for (int j1 = 0; j1 < WEIGHTS_ALONG(1); j1++) {
        const int line =
            (int)line_in_tile(batch->first[1][q] + j1, axes[1], tile->at.first[1]) - BLOCK;
        if (line < 0 || line % BLOCKS != 0) continue;
        UNROLL
        for (int c = 0; c < ALL_COMPONENTS; c++) {
          UNROLL
          for (int k = 0; k < PLANES_REACHED; k++) {
            UNROLL
            for (int l = 0; l < LINES_OF_ITEM; l++) {
              const real after = received(sums->of[c][k][l], along, batch->across[j1][q],
                                          batch->strength[c][j0][q]);
              sums->of[c][k][l] = k == plane && l * BLOCKS == line ? after : sums->of[c][k][l];
            }
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
    const real along = batch->along[point - batch->first[2][q]][q];
    for (int j0 = 0; j0 < WEIGHTS_ALONG(0); j0++) {
      const int plane = (int)line_in_tile(batch->first[0][q] + j0, axes[0], tile->at.first[0]);
      if (plane < 0 || plane >= tile->at.count[0]) continue;
      for (int j1 = 0; j1 < WEIGHTS_ALONG(1); j1++) {
        const int line = (int)line_in_tile(batch->first[1][q] + j1, axes[1], tile->at.first[1]);
        if (line < 0 || line >= tile->at.count[1] || line % BLOCKS != BLOCK) continue;
        for (int c = 0; c < ALL_COMPONENTS; c++) {
          __local real* const sum = sums_beyond(tile, c, plane, line) + beyond;
          *sum = received(*sum, along, batch->across[j1][q], batch->strength[c][j0][q]);
        }
      }
    }
  }
}

/* A sum of a point of the work-item in a line, and those of the points beyond the ends of axis 2
 * that it stands for. */
INLINE real with_beyond(real sum, const GroupTile* tile, const int component, const int plane,
                        const int line, const Axis along) {
  AS_A_LOOP
  for (int k = 0; k < BEYOND && !GOES_ROUND(along); k++)
    if (stored_point(point_beyond(k, along), along) == tile->at.first[2] + COLUMN)
      sum += sums_beyond(tile, component, plane, line)[k];
  return sum;
}

/* Sums of points beyond the ends begin again, for another plane. */
INLINE void begin_beyond(const GroupTile* tile, const int plane) {
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int c = 0; c < ALL_COMPONENTS; c++)
    for (int k = get_local_id(0); k < LINES * BEYOND; k += GROUP)
      sums_beyond(tile, c, plane, 0)[k] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* Writes the first of the planes that there are sums of, if it is the tile's, and begins another
 * one behind the last. A loop that takes the sums of a line after the other to the same place holds
 * one address, and not one for each line, all the time. */
INLINE void leave_plane(OwnSums* sums, const GroupTile* tile, const int plane, const Axis along,
                        __global FIELD* const* fields, const long stride_of_component,
                        const long stride0, const long stride1, const long stride2,
                        const int adds) {
  if (plane >= 0 && plane < tile->at.count[0]) {
    UNROLL
    for (int c = 0; c < ALL_COMPONENTS; c++) {
      __global FIELD* to =
          field_component_at(fields, c, stride_of_component) + (tile->own_plane + plane) * stride0 +
          (tile->at.first[1] + BLOCK) * stride1 + (tile->at.first[2] + COLUMN) * stride2;
      AS_A_LOOP
      for (int line = BLOCK; line < LINES; line += BLOCKS, to += BLOCKS * stride1) {
        real sum = sums->of[c][0][0];
        UNROLL
        for (int l = 1; l < LINES_OF_ITEM; l++) sums->of[c][0][l - 1] = sums->of[c][0][l];
        if (line >= tile->at.count[1] || COLUMN >= tile->at.count[2]) continue;
        if (tile->has_beyond) sum = with_beyond(sum, tile, c, plane, line, along);
        STORE_AS(FIELD, adds ? LOAD_AS(FIELD, to) + sum : sum, to);
      }
    }
    if (tile->has_beyond) begin_beyond(tile, plane);
  }
  UNROLL
  for (int c = 0; c < ALL_COMPONENTS; c++) {
    UNROLL
    for (int k = 0; k < PLANES_REACHED; k++) {
      UNROLL
      for (int l = 0; l < LINES_OF_ITEM; l++)
        sums->of[c][k][l] = k + 1 < PLANES_REACHED ? sums->of[c][k + 1][l] : 0;
    }
  }
}

/* Whether points beyond an end need a piece of each line of cells for themselves. */
INLINE bool has_own_piece(__local const PointsOfKind* points) {
  return points->count > 0 && !points->with_own;
}

/* Of the lines of a plane of cells that reach a tile, one after the other; beyond the last one, of
 * that. A line has a piece for the tile's points, and one for those beyond either end if they need
 * it, or a piece for each time that it is gone round. */
INLINE void find_piece(__local Piece* piece, const int number, const Wrapped plane,
                       const CellRows* lines, const GroupTile* tile, const Axis* axes,
                       const long first_cells, __global const INDEX* starts,
                       __global const CELL* cells, __global const INDEX* order) {
  const long cells_of_line = axes[2].cells;
  const int k = number % tile->pieces;
  const Wrapped line =
      wrapped(min(lines->first + number / tile->pieces, lines->end - 1), axes[1].cells);
  long begin = 0;
  int kind = OWN_POINTS;
  if (GOES_ROUND(axes[2]))
    begin = wrapped(tile->points[OWN_POINTS].first_cell, cells_of_line).shift + k * cells_of_line;
  else if (k > 0)
    kind = k == 1 && has_own_piece(tile->points + POINTS_BELOW) ? POINTS_BELOW : POINTS_ABOVE;
  const long low = max(tile->points[kind].first_cell - begin, (long)0);
  const long high = min(tile->points[kind].last_cell - begin, cells_of_line);
  const long in_set =
      plane_in_part(plane.inside, first_cells, axes[0].cells) * axes[1].cells + line.inside;
  piece->first = begin_of_cells(in_set, low, cells_of_line, false, starts, cells, order);
  piece->last = begin_of_cells(in_set, high, cells_of_line, true, starts, cells, order);
  piece->first_cell = in_set * cells_of_line;
  piece->low = (int)low, piece->high = (int)high;
  piece->kind = kind;
  piece->line = (int)line.inside;
  const long shift[] = {plane.shift, line.shift, begin};
  for (int axis = 0; axis < 3; axis++)
    piece->shift[axis] = (int)(shift[axis] / axes[axis].cells * axes[axis].points);
}

/* Whether a particle of a cell may give to points beyond an end, of an axis with ends. */
INLINE bool reaches_an_end(const int axis, const long cell, const Axis along) {
  const long first = first_reached(axis, cell, along);
  return first < 0 || first + REACHED(axis) > along.points;
}

KERNEL void particles_to_tile(__global const CELL* cells, __global const OFFSET* offsets,
                              FOR_PAIRS(VALUES_OF_PAIR), __global const INDEX* starts,
                              __global const INDEX* order, const long cells0, const long cells1,
                              const long cells2, const long points0, const long points1,
                              const long points2, const int ends0, const int ends1, const int ends2,
                              const long own_planes, const long first_plane, const long first_cells,
                              const long tile0, FOR_PAIRS(FIELD_OF_PAIR),
                              const long stride_of_component, const long stride0,
                              const long stride1, const long stride2, const int adds) {
  const PairValues pairs[] = {FOR_PAIRS(PAIR_VALUES)};
  __global FIELD* const fields[] = {FOR_PAIRS(PAIR_FIELD)};
  const Axis axes[] = {
      {cells0, points0, ends0}, {cells1, points1, ends1}, {cells2, points2, ends2}};
  __local Batch batch;
  __local uint givers[2 * GIVERS]; /* of two batches: one is brought while the other is cleared */
  __local real beyond[ALL_COMPONENTS * PLANES_REACHED * LINES * BEYOND];
  __local PointsOfKind points[KINDS];
  __local Piece pieces[PIECES];
  const int item = get_local_id(0);
  GroupTile tile;
  tile.at = tile_of_group(tile0, own_planes, points1, points2);
  tile.own_plane = tile.at.first[0];
  tile.at.first[0] += (int)first_plane;
  tile.beyond = beyond;
  tile.points = points;
  const bool has_below = tile_stands_for(&tile.at, 0, BEYOND_LOW, axes[2]);
  const bool has_above = tile_stands_for(&tile.at, BEYOND_LOW, BEYOND, axes[2]);
  if (item == 0) {
    const CellRows reach = cells_of_line_that_reach(tile.at.first[2], tile.at.count[2], axes[2]);
    points[OWN_POINTS] = points_of_kind(tile.at.first[2], tile.at.count[2], 0, &reach, axes[2]);
    points[POINTS_BELOW] =
        points_of_kind(-BEYOND_LOW, has_below ? BEYOND_LOW : 0, COLUMNS, &reach, axes[2]);
    points[POINTS_ABOVE] = points_of_kind((int)points2, has_above ? BEYOND_HIGH : 0,
                                          COLUMNS + BEYOND_LOW, &reach, axes[2]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  tile.has_beyond = has_below || has_above;
  tile.pieces = 1 + (has_own_piece(points + POINTS_BELOW) ? 1 : 0) +
                (has_own_piece(points + POINTS_ABOVE) ? 1 : 0);
  if (GOES_ROUND(axes[2])) {
    const long begin = wrapped(points[OWN_POINTS].first_cell, cells2).shift;
    tile.pieces = (int)((points[OWN_POINTS].last_cell - begin + cells2 - 1) / cells2);
  }
  for (int k = item; k < ALL_COMPONENTS * PLANES_REACHED * LINES * BEYOND; k += GROUP)
    beyond[k] = 0;
  for (int k = item; k < 2 * GIVERS; k += GROUP) givers[k] = 0;
  OwnSums sums;
  UNROLL
  for (int c = 0; c < ALL_COMPONENTS; c++) {
    UNROLL
    for (int k = 0; k < PLANES_REACHED; k++) {
      UNROLL
      for (int l = 0; l < LINES_OF_ITEM; l++) sums.of[c][k][l] = 0;
    }
  }
  const CellRows planes = rows_that_reach(0, axes[0], tile.at.first[0], tile.at.count[0]);
  const CellRows lines = rows_that_reach(1, axes[1], tile.at.first[1], tile.at.count[1]);
  const int pieces_of_plane = (int)(lines.end - lines.first) * tile.pieces;
  int turn = 0, reached = (int)first_reached(0, planes.first, axes[0]);
  for (int plane = (int)planes.first; plane < planes.end; plane++) {
    for (int number = 0; number < pieces_of_plane; number++) {
      /* The next pieces are looked for together, by a work-item each. */
      if (number % PIECES == 0) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < PIECES)
          find_piece(pieces + item, number + item, wrapped(plane, cells0), &lines, &tile, axes,
                     first_cells, starts, cells, order);
        barrier(CLK_LOCAL_MEM_FENCE);
      }
      __local const Piece* const here = pieces + number % PIECES;
      const long line = lines.first + number / tile.pieces;
      const bool at_ends =
          (PLANES_HAVE_ENDS && reaches_an_end(0, modulo_of(plane, cells0), axes[0])) ||
          (LINES_HAVE_ENDS && reaches_an_end(1, here->line, axes[1]));
      for (long first = here->first; first < here->last; first += BATCH) {
        if (item < BATCH) { /* beyond the last particle they all read that */
          const long place = min(first + item, here->last - 1);
          const long i = IN_ORDER ? order[place] : place;
          const long cell[] = {modulo_of(plane, cells0), here->line,
                               (long)cells[i] - here->first_cell};
          const bool gives =
              first + item < here->last && cell[2] >= here->low && cell[2] < here->high;
          bring(&batch, givers + turn * GIVERS, here, &tile, item, cell, offsets + i * AXES, pairs,
                i, gives, axes);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const ulong to_own = givers_to(givers + turn * GIVERS, COLUMN);
        const ulong to_beyond =
            COLUMN < BEYOND ? givers_to(givers + turn * GIVERS, COLUMNS + COLUMN) : 0;
        turn = 1 - turn;
        for (int k = item; k < GIVERS; k += GROUP) givers[turn * GIVERS + k] = 0;
        if (at_ends)
          receive_at_ends(&sums, &tile, &batch, to_own, tile.at.first[2] + COLUMN, reached, axes);
        else
          receive(&sums, &tile, &batch, to_own, tile.at.first[2] + COLUMN, reached,
                  (int)first_reached(1, line, axes[1]));
        if (to_beyond)
          receive_beyond(&tile, &batch, to_beyond, (int)point_beyond(COLUMN, axes[2]), COLUMN,
                         axes);
        barrier(CLK_LOCAL_MEM_FENCE);
      }
    }
    /* Behind the last plane of cells all that there are sums of. */
    const int next = plane + 1 < planes.end ? (int)first_reached(0, plane + 1, axes[0])
                                            : reached + PLANES_REACHED;
    for (; reached < next; reached++)
      leave_plane(&sums, &tile, reached - tile.at.first[0], axes[2], fields, stride_of_component,
                  stride0, stride1, stride2, adds);
  }
}
