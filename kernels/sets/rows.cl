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

/* Particles that follow each other are looked at together, their rows computed as a vector. Often
 * all are in one row, and a sum that was just written would have to be waited for. */
#define LOOKED_AT 16

/* The rows of up to LOOKED_AT particles; whether all are in the first one's. */
INLINE bool rows_of(__global const CELL* cells, const int count, const CELL cells_of_line,
                    __private CELL* rows) {
  const float reciprocal = 1.0f / (float)cells_of_line;
  CELL at[LOOKED_AT], differ = 0;
  if (count == LOOKED_AT) {
    for (int k = 0; k < LOOKED_AT; k++) at[k] = cells[k];
  } else {
    for (int k = 0; k < LOOKED_AT; k++) at[k] = cells[min(k, count - 1)];
  }
  for (int k = 0; k < LOOKED_AT; k++) rows[k] = row_of_cell(at[k], cells_of_line, reciprocal);
  for (int k = 0; k < LOOKED_AT; k++) differ |= rows[k] ^ rows[0];
  return differ == 0;
}

/* counts[chunk][row] */
KERNEL void count_rows(__global const CELL* cells, const long n, const CELL cells_of_line,
                       const long rows, __global INDEX* counts) {
  const Share share = share_of(n);
  __global INDEX* const own = counts + get_group_id(0) * rows;
  for (long row = 0; row < rows; row++) own[row] = 0;
  for (long i = share.first; i < share.last; i += LOOKED_AT) {
    CELL found[LOOKED_AT];
    const int count = (int)min((long)LOOKED_AT, share.last - i);
    if (rows_of(cells + i, count, cells_of_line, found)) {
      own[found[0]] += count;
    } else {
      for (int k = 0; k < count; k++) own[found[k]]++;
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

/* Where the first particle of each row and chunk goes, in place of how many there are. Where the
 * work of a kernel before was lost, counts are any numbers: they must not lead out of the memory.
 */
KERNEL void find_firsts(__global INDEX* counts, const long rows, const int chunks, const long n,
                        __global INDEX* starts) {
  const Share share = share_of(rows + 1);
  for (long row = share.first; row < share.last; row++) {
    INDEX first = (INDEX)clamp((long)starts[row], (long)0, n);
    starts[row] = first;
    for (int chunk = 0; row < rows && chunk < chunks; chunk++) {
      const INDEX count = counts[chunk * rows + row];
      counts[chunk * rows + row] = first;
      first += count;
    }
  }
}

/* Where up to LOOKED_AT particles go, of which the first of a row goes to `firsts`. */
INLINE void places_of(__global const CELL* cells, const int count, const CELL cells_of_line,
                      const long n, __global INDEX* firsts, __private INDEX* places) {
  CELL found[LOOKED_AT];
  if (rows_of(cells, count, cells_of_line, found)) {
    const INDEX first = firsts[found[0]];
    firsts[found[0]] = first + count;
    for (int k = 0; k < LOOKED_AT; k++) places[k] = first + k;
  } else {
    for (int k = 0; k < count; k++) places[k] = firsts[found[k]]++;
  }
  for (int k = 0; k < LOOKED_AT; k++) /* as above */
    places[k] = clamp(places[k], (INDEX)0, (INDEX)(n - 1));
}

/* The place of each particle, or the particle of each place. */
KERNEL void place_in_rows(__global const CELL* cells, const long n, const CELL cells_of_line,
                          const long rows, __global INDEX* firsts, const int wants_order,
                          __global INDEX* result) {
  const Share share = share_of(n);
  __global INDEX* const own = firsts + get_group_id(0) * rows;
  for (long i = share.first; i < share.last; i += LOOKED_AT) {
    INDEX places[LOOKED_AT] = {0};
    const int count = (int)min((long)LOOKED_AT, share.last - i);
    places_of(cells + i, count, cells_of_line, n, own, places);
    for (int k = 0; k < count; k++)
      result[wants_order ? (long)places[k] : i + k] = (INDEX)(wants_order ? i + k : places[k]);
  }
}
