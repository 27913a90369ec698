/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of cells along the last axis are cut into rows of at most CELLS_OF_ROW, which are numbered
 * as the cells are.
 *
 * CELL  a signed integer */
#ifndef CELL
#define CELL int
#endif
#include "common/common.cl"
#include "sets/quotient.cl"

#define CELLS_OF_ROW 256 /* as sets/cells.hpp has it */

INLINE long rows_of_line(const long cells_of_line) {
  return (cells_of_line + CELLS_OF_ROW - 1) / CELLS_OF_ROW;
}

INLINE CELL row_of_cell(const CELL cell, const CELL cells_of_line, const float reciprocal) {
  const CELL line = quotient(cell, cells_of_line, reciprocal);
  return line * (CELL)rows_of_line(cells_of_line) + (cell - line * cells_of_line) / CELLS_OF_ROW;
}

INLINE long first_cell_of_row(const long row, const long cells_of_line) {
  const long rows = rows_of_line(cells_of_line), line = row / rows;
  return line * cells_of_line + (row - line * rows) * CELLS_OF_ROW;
}
