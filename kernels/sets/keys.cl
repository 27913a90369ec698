/* SPDX-License-Identifier: BSD-3-Clause */
/* What particles are sorted by: the rows that their cells are in, or the cells themselves, of which
 * a line has none but one then.
 *
 * CELL  a signed integer */
#ifndef CELL
#define CELL int
#endif
#include "arrays/group.cl"
#include "common/common.cl"
#include "common/regions.cl"
#include "sets/cell_rows.cl"

KERNEL void keys_of(__global const CELL* cells, const long n, const CELL cells_of_line,
                    __global CELL* keys) {
  const Share share = share_of(n);
  const float reciprocal = 1.0f / (float)cells_of_line;
  for (long i = share.first + (long)get_local_id(0); i < share.last; i += GROUP)
    keys[i] = row_of_cell(cells[i], cells_of_line, reciprocal);
}
