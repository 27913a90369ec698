/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines as they were before a sweep, held by a work-item while it overwrites them; and what they
 * are around any place. Nothing here knows what places are read for.
 *
 * A whole line is held with its first rows once more, past its end. A SEGMENT, or a line with ends,
 * is held with what lies around it: what particles may reach, but ROWS_BEYOND rows at most on
 * either side. What is further away is read where it lies, or made of what is held (WHOLE_LINES).
 * In LINES_IN_GLOBAL nothing is held: all of the line is read where a copy of it lies. */
#include "sweep/arrival.cl"
#include "generated/weights.cl"
#include "lines/work_memory.cl"

#ifndef ROWS_BEYOND
#define ROWS_BEYOND 64 /* a multiple of LANES */
#endif

#ifdef SEGMENT
#define ROWS_HELD (LINE_CAPACITY + 2 * ROWS_BEYOND + LANES)
#else
#define ROWS_HELD (LINE_CAPACITY + ROWS_READ(STENCIL) + LANES)
#endif

typedef struct {
  const Fields* f;
  LINE_SPACE V* at; /* row `low` of the first component; nothing where they are not held */
  Pitch pitch;      /* between rows, in V */
  int capacity;     /* rows of a component */
  int low;          /* the first row that has a place */
  int begin, end;   /* rows that are held, begin .. end - 1 */
} Held;

#define ROW_HELD(h, c, row) ((h)->at[((c) * (h)->capacity + (row) - (h)->low) * (h)->pitch])

/* Row `row` of a component where it lies, or that of which it is made. */
INLINE V row_as_stored(const Fields* f, const int c, const int row, __global const stored* from) {
#ifdef ALONG_MEMORY
  V nodes;
  for (int j = 0; j < LANES; j++) {
    const int first = f->tile.first[j];
    ((__private real*)&nodes)[j] =
        LOAD_ONE(from + f->place.start[j] - first + STORED_NODE(first + row, f->n));
  }
  return nodes;
#else
  const int stored_row = STORED_NODE(f->tile.first + row, f->n) - f->tile.first;
  return read_row(from, &f->place, f->strides, stored_row);
#endif
}

#ifdef HAS_INFLOW
/* Whether some lane of so many rows lies beyond the ends of its line. */
INLINE int are_ghosts(const Fields* f, const int row, const int count) {
  return f->tile.least_first + row < 0 || f->tile.greatest_first + row + count > f->n;
}
#endif

#if defined(LINES_IN_GLOBAL)

INLINE void hold(MOTION_PARAMETER, Held* h, const int reach) {}

/* Rows i .. i+COUNT-1 of component `c`. */
#define READ_HELD(i, COUNT, to)                                                      \
  {                                                                                  \
    const int read_from = wrap(i, h->f->n), is_whole = read_from + COUNT <= h->f->n; \
    for (int j = 0; j < COUNT; j++)                                                  \
      (to)[j] = read_row(h->f->kept[c], &h->f->place, h->f->strides,                 \
                         is_whole ? read_from + j : wrap(read_from + j, h->f->n));   \
  }

#elif !defined(SEGMENT)

INLINE void hold(MOTION_PARAMETER, Held* h, const int reach) {
  const Fields* f = h->f;
  h->low = 0;
  for (int c = 0; c < COMPONENTS; c++) {
    for (int first = 0; first < f->n; first += LANES) {
#ifdef ALONG_MEMORY
      V rows[LANES];
      read_block(rows, f->u[c], &f->place, first);
#endif
      for (int k = 0; k < min(LANES, f->n - first); k++) {
        prefetch_row(f->u[c], &f->next, f->strides, first, k);
#ifdef ALONG_MEMORY
        ROW_HELD(h, c, first + k) = rows[k];
#else
        ROW_HELD(h, c, first + k) = read_row(f->u[c], &f->place, f->strides, first + k);
#endif
      }
    }
    for (int j = 0; j < ROWS_READ(STENCIL); j++)
      ROW_HELD(h, c, f->n + j) = ROW_HELD(h, c, j % f->n);
  }
}

#define READ_HELD(i, COUNT, to)                                              \
  {                                                                          \
    const int read_from = wrap(i, h->f->n);                                  \
    UNROLL                                                                   \
    for (int j = 0; j < COUNT; j++) (to)[j] = ROW_HELD(h, c, read_from + j); \
  }

#else

/* LANES rows from row `first` on as they were before the sweep: nobody but this work-item
 * overwrites those of its own nodes; those of others are kept. */
INLINE void rows_before(const Fields* f, const int c, const int first, __private V* rows) {
  const int is_own = first >= 0 && first < f->segment;
#ifdef ALONG_MEMORY
  read_continued_block(rows, is_own ? f->u[c] : f->kept[c], &f->tile, &f->place, f->n, first,
                       is_own ? 0 : INT_MIN, is_own ? f->n : INT_MAX, REAL(1.0));
  if (!is_own || f->tile.greatest_first + first + LANES <= f->n) return;
  V others[LANES]; /* beyond the ends of some lines */
  read_continued_block(others, f->kept[c], &f->tile, &f->place, f->n, first, f->n, INT_MAX,
                       REAL(1.0));
  for (int k = 0; k < LANES; k++) {
    const I node = FIRST_NODES(f->tile) + (lane_int)(first + k);
    rows[k] = SELECT(node < (I)((lane_int)f->n), rows[k], others[k]);
  }
#else
  for (int k = 0; k < LANES; k++) {
    const int is_here = is_own && f->tile.first + first + k < f->n;
    prefetch_row(f->u[c], &f->next, f->strides, first, k);
    rows[k] = row_as_stored(f, c, first + k, is_here ? f->u[c] : f->kept[c]);
  }
#endif
}

INLINE void hold(MOTION_PARAMETER, Held* h, const int reach) {
  const Fields* f = h->f;
  const int margin = min((reach + LANES - 1) / LANES * LANES, ROWS_BEYOND);
  const int last = (f->segment + LANES - 1) / LANES * LANES + margin;
  h->low = -margin;
#ifdef HAS_INFLOW /* no more ghosts than are likely to be read */
  const int near = min(reach + FEW_SHIFTS, margin);
  h->begin = -near, h->end = f->segment + near;
#else
  h->begin = h->low, h->end = last;
#endif
  for (int first = h->low; first < last; first += LANES) {
    for (int c = 0; c < COMPONENTS; c++) {
      V rows[LANES];
      rows_before(f, c, first, rows);
      for (int k = 0; k < LANES; k++) ROW_HELD(h, c, first + k) = rows[k];
    }
#ifdef HAS_INFLOW
    if (!are_ghosts(f, first, LANES)) continue;
    for (int row = max(first, h->begin); row < min(first + LANES, h->end); row++) {
      if (!are_ghosts(f, row, 1)) continue;
      Arrival arrivals[2];
      find_arrivals(MOTION_ARGUMENT, f->ends, row, arrivals);
      for (int c = 0; c < COMPONENTS; c++)
        ROW_HELD(h, c, row) = strength_of_ghosts(f->ends, arrivals, c, ROW_HELD(h, c, row));
    }
#endif
  }
}

/* A row that may not be held. */
INLINE V row_anywhere(MOTION_PARAMETER, const Held* h, const int c, const int row) {
  if (row >= h->begin && row < h->end) return ROW_HELD(h, c, row);
#ifdef WHOLE_LINES
  const V value = ROW_HELD(h, c, STORED_NODE(row, h->f->n));
#else
  const V value = row_as_stored(h->f, c, row, h->f->kept[c]);
#endif
#ifdef HAS_INFLOW
  if (are_ghosts(h->f, row, 1)) {
    Arrival arrivals[2];
    find_arrivals(MOTION_ARGUMENT, h->f->ends, row, arrivals);
    return strength_of_ghosts(h->f->ends, arrivals, c, value);
  }
#endif
  return value;
}

#define READ_HELD(i, COUNT, to)                                                \
  {                                                                            \
    const int read_from = (i);                                                 \
    if (read_from >= h->begin && read_from + COUNT <= h->end) {                \
      UNROLL                                                                   \
      for (int j = 0; j < COUNT; j++) (to)[j] = ROW_HELD(h, c, read_from + j); \
    } else {                                                                   \
      for (int j = 0; j < COUNT; j++)                                          \
        (to)[j] = row_anywhere(MOTION_ARGUMENT, h, c, read_from + j);          \
    }                                                                          \
  }

#endif

/* around[j] = what component `c` was on node j - STENCIL_LEFT of the cell of a place, which is so
 * many cells after row i. */
INLINE void read_around(MOTION_PARAMETER, const Held* h, const int c, const int i,
                        const Cells cells, __private V* around) {
  READ_CELLS(READ_HELD, i - STENCIL_LEFT, cells, STENCIL, around)
}
