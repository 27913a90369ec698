/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the particles of some cells of a line begin, of particles that are sorted by row.
 *
 * INDEX     a signed integer for particles
 * IN_ORDER  they are sorted by an order, else as they are
 * BY_CELL   those of a row are sorted by cell; else all of a row are taken */
#ifndef INDEX
#define INDEX int
#endif
#ifndef IN_ORDER
#define IN_ORDER 0
#endif
#ifndef BY_CELL
#define BY_CELL 0
#endif
#include "common/common.cl"
#include "sets/cell_rows.cl"

#define CELL_OF(i) cells[IN_ORDER ? (long)order[i] : (i)]

/* The first particle in a cell of a line, or behind it. It is looked for where it is if cells have
 * equally many, and from there in steps that double. */
INLINE long particle_from(const long line, const long in_line, const long cells_of_line,
                          __global const INDEX* starts, __global const CELL* cells,
                          __global const INDEX* order) {
  const long first_row = line * rows_of_line(cells_of_line);
  if (in_line == cells_of_line) return starts[first_row + rows_of_line(cells_of_line)];
  const long row = first_row + in_line / CELLS_OF_ROW, cell = line * cells_of_line + in_line;
  const int before = (int)(in_line % CELLS_OF_ROW);
  const int cells_of_row = (int)min(cells_of_line - (in_line - before), (long)CELLS_OF_ROW);
  long low = starts[row], step = 8;
  if (before == 0) return low;
  long high = starts[row + 1];
  if (low == high) return low;
  const float share = (float)before / (float)cells_of_row;
  const long guess = min(low + (long)((float)(high - low) * share), high - 1);
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
  if (BY_CELL) return particle_from(line, cell, cells_of_line, starts, cells, order);
  const long row = (cell + (is_end ? CELLS_OF_ROW - 1 : 0)) / CELLS_OF_ROW;
  return starts[line * rows_of_line(cells_of_line) + row];
}
