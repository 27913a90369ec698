/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the particles of each row of cells begin, of particles that are sorted by row.
 *
 * CELL      a signed integer
 * INDEX     a signed integer for particles
 * IN_ORDER  they are sorted by an order, else as they are */
#ifndef CELL
#define CELL int
#endif
#ifndef INDEX
#define INDEX int
#endif
#ifndef IN_ORDER
#define IN_ORDER 0
#endif
#include "arrays/group.cl"
#include "common/common.cl"
#include "common/regions.cl"
#include "sets/cell_rows.cl"

#define CELL_AT(i) cells[IN_ORDER ? (long)order[i] : (i)]

/* The number of particles before a row: it is searched in steps that double, as rows that follow
 * each other begin near each other. */
INLINE long begin_of(const long row, const long from, __global const CELL* cells,
                     __global const INDEX* order, const long n, const long cells_of_line) {
  const long first = first_cell_of_row(row, cells_of_line);
  long low = from, high = from, step = 1;
  while (high < n && CELL_AT(high) < first) {
    low = high + 1;
    high += step;
    step *= 2;
  }
  high = min(high, n);
  while (low < high) {
    const long middle = low + (high - low) / 2;
    if (CELL_AT(middle) < first)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* starts[row] of `rows` + 1 */
KERNEL void starts_of(__global const CELL* cells, __global const INDEX* order, const long n,
                      const long cells_of_line, const long rows, __global INDEX* starts) {
  const Share share = share_of(rows + 1);
  long begin = 0;
  for (long row = share.first + (long)get_local_id(0); row < share.last; row += GROUP) {
    begin = begin_of(row, begin, cells, order, n, cells_of_line);
    starts[row] = (INDEX)begin;
  }
}
