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

/* Elements first .. end - 1 of a row. */
typedef struct {
  long row, first, end;
} Block;

INLINE long blocks_of_row(const long elements) { return (elements + BLOCK - 1) / BLOCK; }

INLINE Block block_at(const long job, const long elements) {
  const long blocks = blocks_of_row(elements), first = job % blocks * BLOCK;
  const Block block = {job / blocks, first, min(first + BLOCK, elements)};
  return block;
}

/* Where a row begins. */
INLINE long row_offset(const long row, const long n1, const long n2, const long s0, const long s1,
                       const long s2) {
  return row / n2 / n1 * s0 + row / n2 % n1 * s1 + row % n2 * s2;
}
