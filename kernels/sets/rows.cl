/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of particles by row of cells, all rows at once. Each group has a chunk of the particles
 * and counts how many of them each row has; what the chunks before have of a row, and all of the
 * rows before, says where the first of a chunk's goes. So those of a row stay in their order,
 * whatever chunks there are.
 *
 * CELL   a signed integer
 * INDEX  a signed integer for particles */
#ifndef CELL
#define CELL int
#endif
#ifndef INDEX
#define INDEX int
#endif
#include "common/common.cl"
#include "common/regions.cl"
#include "sets/cell_rows.cl"

/* Particles that follow each other are looked at together: often all are in the row of those
 * before, and a sum that was just written would have to be waited for. */
#define LOOKED_AT 16

INLINE bool are_in(const CellRow row, __global const CELL* cells) {
  int outside = 0;
  UNROLL
  for (int k = 0; k < LOOKED_AT; k++) outside |= (cells[k] < row.begin) | (cells[k] >= row.end);
  return !outside;
}

/* counts[chunk][row] */
KERNEL void count_rows(__global const CELL* cells, const long n, const CELL cells_of_line,
                       const long rows, __global INDEX* counts) {
  const Share share = share_of(n);
  const float reciprocal = 1.0f / (float)cells_of_line;
  __global INDEX* const own = counts + get_group_id(0) * rows;
  for (long row = 0; row < rows; row++) own[row] = 0;
  CellRow row = {0, 0, 0};
  for (long i = share.first; i < share.last; i += LOOKED_AT) {
    const bool is_whole = i + LOOKED_AT <= share.last;
    if (is_whole && are_in(row, cells + i)) {
      own[row.row] += LOOKED_AT;
      continue;
    }
    for (long k = i; k < min(i + LOOKED_AT, share.last); k++) {
      row = cell_row_of(cells[k], cells_of_line, reciprocal);
      own[row.row]++;
    }
  }
}

KERNEL void add_chunks(__global const INDEX* counts, const long rows, const int chunks,
                       __global INDEX* totals) {
  const Share share = share_of(rows);
  for (long row = share.first; row < share.last; row++) totals[row] = counts[row];
  for (int chunk = 1; chunk < chunks; chunk++)
    for (long row = share.first; row < share.last; row++) totals[row] += counts[chunk * rows + row];
}

/* Where the first particle of each row and chunk goes, in place of how many there are. */
KERNEL void find_firsts(__global INDEX* counts, const long rows, const int chunks,
                        __global const INDEX* starts) {
  const Share share = share_of(rows);
  for (long row = share.first; row < share.last; row++) {
    INDEX first = starts[row];
    for (int chunk = 0; chunk < chunks; chunk++) {
      const INDEX count = counts[chunk * rows + row];
      counts[chunk * rows + row] = first;
      first += count;
    }
  }
}

/* The place of each particle, or the particle of each place. */
KERNEL void place_in_rows(__global const CELL* cells, const long n, const CELL cells_of_line,
                          const long rows, __global INDEX* firsts, const int wants_order,
                          __global INDEX* result) {
  const Share share = share_of(n);
  const float reciprocal = 1.0f / (float)cells_of_line;
  __global INDEX* const own = firsts + get_group_id(0) * rows;
  CellRow row = {0, 0, 0};
  for (long i = share.first; i < share.last; i += LOOKED_AT) {
    const bool is_whole = i + LOOKED_AT <= share.last;
    if (is_whole && are_in(row, cells + i)) {
      const INDEX place = own[row.row];
      own[row.row] += LOOKED_AT;
      if (wants_order) {
        for (int k = 0; k < LOOKED_AT; k++) result[place + k] = (INDEX)(i + k);
      } else {
        for (int k = 0; k < LOOKED_AT; k++) result[i + k] = place + k;
      }
      continue;
    }
    for (long k = i; k < min(i + LOOKED_AT, share.last); k++) {
      row = cell_row_of(cells[k], cells_of_line, reciprocal);
      const INDEX place = own[row.row]++;
      result[wants_order ? place : k] = (INDEX)(wants_order ? k : place);
    }
  }
}
