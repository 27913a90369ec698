/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of n0 x n1 x n2 rows of elements that lie at any strides, and who works on which.
 *
 * Rows are cut into blocks, and each work-group takes one run of blocks. On CPUs a group is one
 * work-item that goes through a block in vectors; on GPUs, with one lane, neighbouring work-items
 * take neighbouring elements.
 *
 * BLOCK  elements of a block */
#ifndef BLOCK
#define BLOCK 1024
#endif
#include "common/common.cl"

/* Parameters that say where a region of elements lies: for texts that list fields. */
#define STRIDES(s) \
  const long s##_offset, const long s##0, const long s##1, const long s##2, const long s##3

#ifdef STORED_IS_HALF
#define LOAD_LOOSE(from) LOAD(from)
#define STORE_LOOSE(value, to) STORE(value, to)
#else
#define LOAD_LOOSE(from) (*(__global const LooseV*)(from))
#define STORE_LOOSE(value, to) (*(__global LooseV*)(to) = (value))
#endif

/* Jobs first .. last - 1. */
typedef struct {
  long first, last;
} Share;

INLINE Share share_of(const long jobs) {
  const long group = get_group_id(0), groups = get_num_groups(0);
  const Share share = {group * jobs / groups, (group + 1) * jobs / groups};
  return share;
}

/* Elements first .. end - 1 of row i0, i1, i2. */
typedef struct {
  long i0, i1, i2;
  long first, end;
} Block;

INLINE long blocks_of_row(const long elements) { return (elements + BLOCK - 1) / BLOCK; }

INLINE Block block_at(const long job, const long n1, const long n2, const long n3) {
  const long blocks = blocks_of_row(n3), row = job / blocks, first = job % blocks * BLOCK;
  const Block block = {row / n2 / n1, row / n2 % n1, row % n2, first, min(first + BLOCK, n3)};
  return block;
}

INLINE Block block_after(Block block, const long n1, const long n2, const long n3) {
  block.first += BLOCK;
  if (block.first >= n3) {
    block.first = 0;
    block.i2++;
  }
  if (block.i2 == n2) {
    block.i2 = 0;
    block.i1++;
  }
  if (block.i1 == n1) {
    block.i1 = 0;
    block.i0++;
  }
  block.end = min(block.first + BLOCK, n3);
  return block;
}

/* Goes through the blocks of a share. Only the first one is found by divisions, which take as long
 * as a short row. */
#define FOR_BLOCKS(block, share, n1, n2, n3)         \
  Block block = block_at((share).first, n1, n2, n3); \
  for (long job = (share).first; job < (share).last; job++, block = block_after(block, n1, n2, n3))

/* Where a row begins. */
INLINE long row_offset(const Block block, const long s0, const long s1, const long s2) {
  return block.i0 * s0 + block.i1 * s1 + block.i2 * s2;
}
