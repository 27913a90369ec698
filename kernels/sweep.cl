/* SPDX-License-Identifier: BSD-3-Clause */
/* One directional sweep: push the particles of every line, remesh them onto the nodes of the same
 * line, store.
 *
 * RACES. A line's result depends on that line alone. A work-item owns `tiles_each` consecutive
 * tiles and nobody else touches their lines, so nothing races and the order of every sum is fixed:
 * any number of threads gives the same bits. In place is right because a line is stored after its
 * last particle was read. A SEGMENT owns only `segment` nodes of its lines and reads particles of
 * its neighbours, who write theirs: out != u there.
 *
 * LINES_IN_LOCAL  node sums lie in local memory, local_capacity rows for each work-item, instead of
 * private memory */
#include "deposit.cl"
#include "fields.cl"

/* Particles on LANES rows of a tile, from row `first` on. */
typedef struct {
  __global const real* u; /* of one component, lane 0 */
  long ahead;             /* to the same place in the tile to come */
  Strides strides;
  int first;
#ifdef ALONG_MEMORY
  V rows[LANES];
#endif
} Block;

/* What particle k carries. */
INLINE V strength_of(const Block* b, const int k) {
#ifdef ALONG_MEMORY
  PREFETCH(b->u + b->ahead + k * b->strides.lane + b->first);
  return b->rows[k];
#else
  PREFETCH(b->u + b->ahead + (b->first + k) * b->strides.row);
  return read_row(b->u, b->strides, b->first + k);
#endif
}

INLINE void give(const Sums* sums, Window* window, const Block* b, const int k, const Cells* cells,
                 __private const V* weight) {
  const V strength = strength_of(b, k);
  V part[STENCIL];
  UNROLL
  for (int j = 0; j < STENCIL; j++) part[j] = weight[j] * strength;
  deposit(sums, window, b->first + k, cells, part);
}

/* Particles from..to-1 of a tile, in ascending order. */
INLINE void carry(const Motion* m, const Sums* sums, Window* windows,
                  __global const real* __private const* u, const long ahead,
                  const Strides strides, const Tile tile, const int from, const int to) {
  for (int first = from; first < to; first += LANES) {
    const int rows = min(LANES, to - first);
    /* All pushes, then the deposits: the rows of a stage are independent of one another, which hides
     * latency. */
    V moved[LANES];
    displacements(m, first, rows, moved);
    Block block[COMPONENTS];
    for (int c = 0; c < COMPONENTS; c++) {
      block[c].u = u[c], block[c].ahead = ahead, block[c].strides = strides, block[c].first = first;
#ifdef ALONG_MEMORY
      read_block(block[c].rows, u[c], tile, strides, first);
#endif
    }
#if COMPONENTS == 1
    for (int k = 0; k < rows; k++) {
      prefetch_motion(m, first, k);
      const Cells cells = cells_of(moved[k]);
      V weight[STENCIL];
      remeshing_weights(cells.offset - REAL(0.5), weight);
      give(sums, windows, block, k, &cells, weight);
    }
#else
    /* The window of one component at a time fits in registers. */
    Cells cells[LANES];
    V weight[LANES][STENCIL];
    for (int k = 0; k < rows; k++) {
      prefetch_motion(m, first, k);
      cells[k] = cells_of(moved[k]);
      remeshing_weights(cells[k].offset - REAL(0.5), weight[k]);
    }
    UNROLL
    for (int c = 0; c < COMPONENTS; c++) {
      Window window = windows[c];
      for (int k = 0; k < rows; k++) give(&sums[c], &window, &block[c], k, &cells[k], weight[k]);
      windows[c] = window;
    }
#endif
  }
}

/* Stores the rows of a tile at nodes first_node.. and leaves zeros behind for the next tile. */
INLINE void store(const Sums* sums, __global real* out, const Strides strides, const Tile tile,
                  const int first_node, const int count) {
#ifdef ALONG_MEMORY
  for (int first = 0; first < count; first += LANES) {
    write_block(sums->at + first, out, tile, strides, first_node + first);
    for (int k = 0; k < LANES; k++) sums->at[first + k] = 0;
  }
#else
  for (int p = 0; p < count; p++) {
    write_row(sums->at[p * sums->pitch], out, strides, first_node + p);
    sums->at[p * sums->pitch] = 0;
  }
#endif
}

#ifdef SEGMENT
#define SEGMENT_PARAMETERS \
  , const int segment, const int reach /* nodes: no particle is deposited further away */
#else
#define SEGMENT_PARAMETERS
#endif
#ifdef LINES_IN_LOCAL
#define LOCAL_PARAMETERS , __local V *local_rows, const int local_capacity
#else
#define LOCAL_PARAMETERS
#endif

__kernel void sweep(FIELD_PARAMETERS, const long row_stride, const long lane_stride,
                    const long outer_stride, const long out_row_stride, const long out_lane_stride,
                    const long out_outer_stride, const int lines, const long tiles,
                    const int tiles_each, MOTION_PARAMETERS SEGMENT_PARAMETERS LOCAL_PARAMETERS) {
  const Strides strides = {row_stride, lane_stride, outer_stride};
  const Strides out_strides = {out_row_stride, out_lane_stride, out_outer_stride};
  __global const real* u[COMPONENTS] = FIELD_POINTERS;
  __global real* out[COMPONENTS] = OUT_POINTERS;
#ifdef LINES_IN_LOCAL
  const int pitch = get_local_size(0), capacity = local_capacity;
  __local V* rows = local_rows + get_local_id(0);
#else
  const int pitch = 1, capacity = LINE_CAPACITY + LANES;
  V rows[COMPONENTS * (LINE_CAPACITY + LANES)];
#endif
#ifdef SEGMENT
  const int segments = (n + segment - 1) / segment;
#else
  const int segments = 1, segment = n;
#endif
  Sums sums[COMPONENTS];
  Window windows[COMPONENTS];
  for (int c = 0; c < COMPONENTS; c++) {
    sums[c].at = rows + c * capacity * pitch;
    sums[c].pitch = pitch;
    sums[c].n = n;
    for (int p = 0; p < min(segment + LANES, capacity); p++) sums[c].at[p * pitch] = 0;
  }
  DECLARE_MOTION;
  const long jobs = tiles * segments, begin = (long)get_global_id(0) * tiles_each;
  for (long job = begin; job < min(begin + tiles_each, jobs); job++) {
    const Tile tile = tile_at(job / segments, lines);
    const int first_node = (int)(job % segments) * segment, count = min(segment, n - first_node);
    __global const real* from[COMPONENTS];
    for (int c = 0; c < COMPONENTS; c++) {
      from[c] = u[c] + tile_start(tile, strides);
      windows[c].open = 0;
    }
    const Tile next = tile_at(min(job + 1, jobs - 1) / segments, lines);
    const long ahead = tile_start(next, strides) - tile_start(tile, strides);
    AIM_MOTION(tile, next);
#ifdef SEGMENT
    for (int c = 0; c < COMPONENTS; c++) sums[c].first = first_node, sums[c].count = count;
    /* The particles that may reach the segment: wrapped, one range or two, still in ascending
     * order. */
    const int low = first_node - reach, high = first_node + count + reach;
    const int all = high - low >= n, over_left = !all && low < 0, over_right = !all && high > n;
    const int from_particle[2] = {all || over_left || over_right ? 0 : low, over_left    ? low + n
                                                                            : over_right ? low
                                                                                         : n};
    const int to_particle[2] = {all ? n : over_right ? high - n : high, n};
    for (int r = 0; r < 2; r++)
      carry(&m, sums, windows, from, ahead, strides, tile, from_particle[r], to_particle[r]);
#else
    carry(&m, sums, windows, from, ahead, strides, tile, 0, n);
#endif
    for (int c = 0; c < COMPONENTS; c++) {
      close_window(&sums[c], &windows[c]);
      store(&sums[c], out[c] + tile_start(tile, out_strides), out_strides, tile, first_node, count);
#ifdef SEGMENT
      sums[c].at[count * pitch] = 0;
#endif
    }
  }
}
