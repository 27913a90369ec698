/* SPDX-License-Identifier: BSD-3-Clause */
/* The stable order of integer keys, digit by digit from the lowest one. Each group has a chunk of
 * the keys: it counts the digits in it, a scan of the counts, by digit and then by chunk, says
 * where each chunk's keys of each digit go, and the group moves them there in their order. The
 * result is the only one there is, whatever chunks and groups are.
 *
 * Bits that no two keys differ in are passed over: `sort_digits` writes how many passes there are
 * and where each one's digit begins, and passes beyond these do nothing.
 *
 * KEY         an unsigned integer
 * INDEX       an unsigned integer for places in the array
 * WITH_ROWS   rows of another array travel with the keys; else the places where these were, which
 * are their order
 * DIGIT_BITS  bits of a digit */
#ifndef KEY
#define KEY uint
#endif
#ifndef INDEX
#define INDEX uint
#endif
#ifndef DIGIT_BITS
#define DIGIT_BITS 8
#endif
#include "arrays/group.cl"
#include "arrays/row.cl"
#include "common/common.cl"
#include "common/regions.cl"

#define DIGITS (1 << DIGIT_BITS)
#define CHAINS 4

#ifdef WITH_ROWS
#define CARRIED Row
#define NUMBER real
#else
#define CARRIED INDEX
#define NUMBER INDEX
#endif

/* A key on its way, and what travels with it. */
typedef struct {
  KEY key;
  CARRIED carried;
} Entry;

/* Rows of an array, or an order. */
typedef struct {
  __global NUMBER* first;
  long stride;
} Rows;

/* In which bits a group's keys differ from the first one. */
KERNEL void sort_differences(__global const KEY* keys, const long offset, const long n,
                             __global KEY* differences) {
  const Share share = share_of(n);
  const KEY first = keys[offset];
  KEY mine = 0;
  for (long i = share.first + (long)get_local_id(0); i < share.last; i += GROUP)
    mine |= keys[offset + i] ^ first;
#if GROUP > 1
  __local KEY all[GROUP];
  all[get_local_id(0)] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) > 0) return;
  for (int k = 1; k < GROUP; k++) mine |= all[k];
#endif
  differences[get_group_id(0)] = mine;
}

/* For one work-item: the number of passes, one at least, and the lowest bit of each one's digit. */
KERNEL void sort_digits(__global const KEY* differences, const int groups, __global int* passes) {
  KEY differ = 0;
  for (int k = 0; k < groups; k++) differ |= differences[k];
  int count = 0;
  passes[1] = 0;
  for (int bit = 0; bit < 8 * (int)sizeof(KEY); bit++) {
    if (!(differ >> bit & 1)) continue;
    passes[1 + count++] = bit;
    bit += DIGIT_BITS - 1;
  }
  passes[0] = max(count, 1);
}

INLINE int digit_of(const KEY key, const int shift) { return (int)(key >> shift & (DIGITS - 1)); }

/* Where keys come from: in the first pass from their array, later from what the pass before has
 * left. `flipped` are bits that are turned over, so that signed keys are in order. */
typedef struct {
  __global const KEY* keys;
  KEY flipped;
  Rows rows;
  __global const Entry* entries;
} Source;

INLINE Entry entry_at(const long i, const bool is_first, const Source from) {
  if (!is_first) return from.entries[i];
#ifdef WITH_ROWS
  const Row carried = *(__global const Row*)(from.rows.first + i * from.rows.stride);
#else
  const INDEX carried = (INDEX)i;
#endif
  const Entry entry = {from.keys[i] ^ from.flipped, carried};
  return entry;
}

INLINE KEY key_at(const long i, const bool is_first, const Source from) {
  return is_first ? from.keys[i] ^ from.flipped : from.entries[i].key;
}

/* The last pass leaves what has travelled. Where the work of a kernel before was lost, places are
 * any numbers: neither they nor an order may lead out of the memory. */
INLINE void put(const Entry entry, const INDEX place, const long n, const bool is_last,
                __global Entry* entries, const Rows target) {
  const INDEX last = (INDEX)(n - 1);
  const long to = min(place, last);
  if (is_last) {
#ifdef WITH_ROWS
    *(__global CARRIED*)(target.first + to * target.stride) = entry.carried;
#else
    target.first[to * target.stride] = min(entry.carried, last);
#endif
  } else if (GROUP == 1) {
    entries[to] = entry;
  } else { /* but for what may lie between them, which nobody has written */
    entries[to].key = entry.key;
    entries[to].carried = entry.carried;
  }
}

#if GROUP == 1
INLINE void count_digits(const Share share, const int shift, const bool is_first, const Source from,
                         __private INDEX (*counts)[DIGITS]) {
  long i = share.first;
  for (; i + CHAINS <= share.last; i += CHAINS) {
    UNROLL
    for (int c = 0; c < CHAINS; c++) counts[c][digit_of(key_at(i + c, is_first, from), shift)]++;
  }
  for (; i < share.last; i++) counts[0][digit_of(key_at(i, is_first, from), shift)]++;
}

/* Runs of one digit, as keys that are nearly in order have, are counted in a register: a place in
 * memory that was just written would have to be waited for. */
INLINE void move_entries(const Share share, const long n, const int shift, const bool is_first,
                         const bool is_last, const Source from, __global Entry* entries,
                         const Rows target, __private INDEX* places) {
  int last = 0;
  INDEX run = places[0];
  for (long i = share.first; i < share.last; i++) {
    const Entry entry = entry_at(i, is_first, from);
    const int digit = digit_of(entry.key, shift);
    if (digit != last) {
      places[last] = run;
      run = places[digit];
      last = digit;
    }
    put(entry, run++, n, is_last, entries, target);
  }
}
#endif

/* How many keys of each digit a chunk has: counts[digit][chunk]. */
KERNEL void sort_count(const int pass, __global const int* passes, __global const KEY* keys,
                       const long offset, const KEY flipped, __global const Entry* entries,
                       const long n, __global INDEX* counts) {
  const Source from = {keys + offset, flipped, {0, 0}, entries};
  const int shift = passes[1 + pass];
  const long group = get_group_id(0), groups = get_num_groups(0);
  const Share share = share_of(pass < passes[0] ? n : 0);
#if GROUP == 1
  INDEX own[CHAINS][DIGITS];
  for (int c = 0; c < CHAINS; c++)
    for (int digit = 0; digit < DIGITS; digit++) own[c][digit] = 0;
  if (pass == 0)
    count_digits(share, shift, true, from, own);
  else
    count_digits(share, shift, false, from, own);
  for (int digit = 0; digit < DIGITS; digit++) {
    INDEX sum = 0;
    for (int c = 0; c < CHAINS; c++) sum += own[c][digit];
    counts[digit * groups + group] = sum;
  }
#else
  const int item = get_local_id(0);
  __local uint own[DIGITS]; /* of one chunk: the device has not so much memory that it overflows */
  for (int digit = item; digit < DIGITS; digit += GROUP) own[digit] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (long i = share.first + item; i < share.last; i += GROUP)
    atomic_inc(&own[digit_of(key_at(i, pass == 0, from), shift)]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int digit = item; digit < DIGITS; digit += GROUP)
    counts[digit * groups + group] = own[digit];
#endif
}

#if GROUP > 1
DEFINE_SUM_BEFORE(uint)
#endif

/* `before` says where a chunk's keys of each digit begin. Only rows that travel are read. */
KERNEL void sort_move(const int pass, __global const int* passes, __global const KEY* keys,
                      const long offset, const KEY flipped, __global const Entry* left_before,
                      const long n, __global const INDEX* before, __global NUMBER* rows,
                      const long rows_offset, const long rows_stride, __global Entry* entries,
                      __global NUMBER* target_rows, const long target_offset,
                      const long target_stride) {
  const Source from = {keys + offset, flipped, {rows + rows_offset, rows_stride}, left_before};
  const Rows target = {target_rows + target_offset, target_stride};
  const int shift = passes[1 + pass];
  const bool is_first = pass == 0, is_last = pass == passes[0] - 1;
  const long group = get_group_id(0), groups = get_num_groups(0);
  const Share share = share_of(pass < passes[0] ? n : 0);
#if GROUP == 1
  INDEX places[DIGITS];
  for (int digit = 0; digit < DIGITS; digit++) places[digit] = before[digit * groups + group];
  if (is_first && is_last)
    move_entries(share, n, shift, true, true, from, entries, target, places);
  else if (is_first)
    move_entries(share, n, shift, true, false, from, entries, target, places);
  else if (is_last)
    move_entries(share, n, shift, false, true, from, entries, target, places);
  else
    move_entries(share, n, shift, false, false, from, entries, target, places);
#else
  /* In a tile, ranks[digit][item] counts an item's keys of a digit; scanned, it is where they are
   * among the sorted keys of the tile. */
  __local uint ranks[DIGITS * GROUP], shared[GROUP], starts[DIGITS + 1];
  __local INDEX places[DIGITS];
  const int item = get_local_id(0);
  for (int digit = item; digit < DIGITS; digit += GROUP)
    places[digit] = before[digit * groups + group];
  for (long tile = share.first; tile < share.last; tile += TILE_ELEMENTS) {
    const long begin = min(share.last, tile + (long)item * ITEMS);
    const int count = (int)(min(share.last, begin + ITEMS) - begin);
    Entry own[ITEMS];
    for (int digit = 0; digit < DIGITS; digit++) ranks[digit * GROUP + item] = 0;
    for (int k = 0; k < count; k++) {
      own[k] = entry_at(begin + k, is_first, from);
      ranks[digit_of(own[k].key, shift) * GROUP + item]++;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint mine = 0, total;
    for (int k = 0; k < DIGITS; k++) mine += ranks[item * DIGITS + k];
    uint rank = sum_before(mine, shared, &total);
    for (int k = 0; k < DIGITS; k++) {
      const uint some = ranks[item * DIGITS + k];
      ranks[item * DIGITS + k] = rank;
      rank += some;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int digit = item; digit < DIGITS; digit += GROUP) starts[digit] = ranks[digit * GROUP];
    if (item == 0) starts[DIGITS] = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < count; k++) {
      const int digit = digit_of(own[k].key, shift);
      const uint to = ranks[digit * GROUP + item]++ - starts[digit];
      put(own[k], places[digit] + to, n, is_last, entries, target);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int digit = item; digit < DIGITS; digit += GROUP)
      places[digit] += starts[digit + 1] - starts[digit];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#endif
}
