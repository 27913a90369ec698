/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines as they were before a sweep, saved by a work-item while it overwrites them. Nothing here
 * knows what they are read for.
 *
 * A whole line is saved with its first rows once more, past its end. A SEGMENT, or a line with
 * ends, is saved with what lies around it: what particles may reach, but ROWS_BEYOND rows at most
 * on either side; what ghosts carry that come in is not known here. In LINES_IN_GLOBAL nothing is
 * saved: all of the line is read where a copy of it lies. */
#include "common/common.cl"
#include "generated/swept_fields.cl"
#include "generated/weights.cl"
#include "lines/boundary.cl"
#include "lines/form.cl"
#include "lines/lines.cl"
#include "lines/shifts.cl"
#include "sweep/swept.cl"

#ifndef ROWS_BEYOND
#define ROWS_BEYOND 64 /* a multiple of LANES */
#endif

#define ROWS_REPEATED (ROWS_AROUND(LANES, STENCIL)) /* of whole lines, past their ends */
#define ROWS_SAVED (LINE_CAPACITY + LANES + (SEGMENT ? 2 * ROWS_BEYOND : ROWS_REPEATED))

typedef struct {
  const Swept* f;
  LINE_SPACE V* at; /* row `low` of the first component; nothing where they are not saved */
  Pitch pitch;      /* between rows, in V */
  int capacity;     /* rows of a component */
  int low;          /* the first row that has a place */
  int begin, end;   /* rows that are saved, begin .. end - 1 */
} SavedLines;

#define SAVED_ROW(h, c, row) ((h)->at[((c) * (h)->capacity + (row) - (h)->low) * (h)->pitch])

INLINE SavedLines begin_saved_lines(const Swept* f, LINE_SPACE V* rows) {
  const int capacity = capacity_of_rows(ROWS_SAVED, f->segment + 2 * ROWS_BEYOND + 1);
  const SavedLines h = {f, rows, pitch_of_rows(f->strides.row), capacity};
  return h;
}

/* Row `row` of a component where it lies, or that of which it is made. */
INLINE V row_as_stored(const Swept* f, const int c, const int row, __global const stored* from) {
#if ALONG_MEMORY
  V nodes;
  for (int j = 0; j < LANES; j++) {
    const int first = f->tile.first[j];
    ((__private real*)&nodes)[j] =
        LOAD_ONE(from + f->starts.start[j] - first + STORED_NODE(first + row, f->n));
  }
  return nodes;
#else
  const int stored_row = STORED_NODE(f->tile.first + row, f->n) - f->tile.first;
  return read_row(from, &f->starts, f->strides, stored_row);
#endif
}

#if LINES_IN_GLOBAL

INLINE void save_lines(SavedLines* h) {}

#elif !SEGMENT

INLINE void save_lines(SavedLines* h) {
  const Swept* f = h->f;
  h->low = 0;
  for (int c = 0; c < COMPONENTS; c++) {
    for (int first = 0; first < f->n; first += LANES) {
#if ALONG_MEMORY
      V rows[LANES];
      read_block(rows, f->u[c], &f->starts, first);
#endif
      for (int k = 0; k < min(LANES, f->n - first); k++) {
        prefetch_row(f->u[c], &f->next, f->strides, first, k);
#if ALONG_MEMORY
        SAVED_ROW(h, c, first + k) = rows[k];
#else
        SAVED_ROW(h, c, first + k) = read_row(f->u[c], &f->starts, f->strides, first + k);
#endif
      }
    }
    for (int j = 0; j < ROWS_REPEATED; j++) SAVED_ROW(h, c, f->n + j) = SAVED_ROW(h, c, j % f->n);
  }
}

#else

/* LANES rows from row `first` on as they were before the sweep: nobody but this work-item
 * overwrites those of its own nodes; those of others are kept. */
INLINE void rows_before(const Swept* f, const int c, const int first, __private V* rows) {
  const int is_own = are_own(f, first);
#if ALONG_MEMORY
  read_continued_block(rows, is_own ? f->u[c] : f->kept[c], &f->tile, &f->starts, f->n, first,
                       is_own ? 0 : INT_MIN, is_own ? f->n : INT_MAX, REAL(1.0));
  if (!is_own || f->tile.greatest_first + first + LANES <= f->n) return;
  V others[LANES]; /* beyond the ends of some lines */
  read_continued_block(others, f->kept[c], &f->tile, &f->starts, f->n, first, f->n, INT_MAX,
                       REAL(1.0));
  for (int k = 0; k < LANES; k++) {
    const I node = FIRST_NODES(f->tile) + (lane_int)(first + k);
    rows[k] = SELECT(node < (I)((lane_int)f->n), rows[k], others[k]);
  }
#else
  for (int k = 0; k < LANES; k++) {
    const int is_here =
        PART ? is_own_row(f, first + k) : is_own && f->tile.first + first + k < f->n;
    prefetch_row(f->u[c], &f->next, f->strides, first, k);
    rows[k] = row_as_stored(f, c, first + k, is_here ? f->u[c] : f->kept[c]);
  }
#endif
}

INLINE void save_lines(SavedLines* h) {
  const Swept* f = h->f;
  const int margin = min((f->reach + LANES - 1) / LANES * LANES, ROWS_BEYOND);
  const int count = PART ? min(f->segment, f->part_end - f->tile.least_first) : f->segment;
  const int last = (count + LANES - 1) / LANES * LANES + margin;
  /* No more ghosts that come in than are likely to be read: what they carry takes long to find. */
  const int near = min(f->reach + WIDE + 1, margin);
  h->low = -margin;
  h->begin = HAS_INFLOW ? -near : h->low;
  h->end = HAS_INFLOW ? count + near : last;
  for (int first = h->low; first < last; first += LANES) {
    for (int c = 0; c < COMPONENTS; c++) {
      V rows[LANES];
      rows_before(f, c, first, rows);
      for (int k = 0; k < LANES; k++) SAVED_ROW(h, c, first + k) = rows[k];
    }
  }
}

#endif
