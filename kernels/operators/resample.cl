/* SPDX-License-Identifier: BSD-3-Clause */
/* Resamples along one axis: point i of the target is the sum of table[m] u[first + m] over a run of
 * points of the source, in ascending order.
 *
 * Of two grids of which one is `factor` times finer, fine point factor * cell + lead + phase lies
 *     t + 1/2,  t = (2 phase + odd - factor) / (2 factor),
 * after coarse point `cell`: the remeshing weights of t say what it gives to the coarse points
 * around it, and what these give to it. So a target of finer points has `factor` sets of weights,
 * one of each phase, and a target of coarser points has a single one, of all phases.
 *
 * ALONG  the axis of n3 elements is resampled, else that of n2 */
#include "common/common.cl"
#include "common/mixed_reads.cl"
#include "common/regions.cl"
#include "generated/weights.cl"
#include "lines/boundary.cl"

/* Work-item `phase` writes its weights into the table. */
KERNEL void weigh(__global real* table, const int odd, const int phase_step, const int node_step,
                  const int first, const real scale) {
  const int phase = get_global_id(0), factor = get_global_size(0);
  V weight[STENCIL];
  remeshing_weights((V)((real)(2 * phase + odd - factor) / (real)(2 * factor)), weight);
  for (int j = 0; j < STENCIL; j++)
    table[first + phase * phase_step + j * node_step] = scale * FIRST(weight[j]);
}

/* Where the sum of a target's point begins: every `period` points have the same sets of weights,
 * and reach `advance` points further in the source. */
typedef struct {
  long first, set;
} Taps;

INLINE Taps taps_of(const long i, const long period, const long advance, const long lead,
                    const long start) {
  const long place = i - lead + period, cell = place / period;
  const Taps taps = {(cell - 1) * advance + start, place - cell * period};
  return taps;
}

INLINE V weighted_sum(__global const SOURCE* from, const long stride, const long n,
                      const long first, __global const real* weight, const int count) {
  const int inside = first >= 0 && first + count <= n;
  V sum = 0;
  for (int m = 0; m < count; m++) {
    const long j = inside ? first + m : STORED_NODE((int)(first + m), (int)n);
    sum = MAD((V)(weight[m]), READ(from + j * stride), sum);
  }
  return sum;
}

/* Jobs go from row to row before they go along them: neighbouring rows of the target take from the
 * same ones of the source. */
INLINE Block block_across(const long job, const long n0, const long n1, const long n2,
                          const long n3) {
  const long rows = n0 * n1 * n2, row = job % rows, first = job / rows * BLOCK;
  const Block block = {row / n2 / n1, row / n2 % n1, row % n2, first, min(first + BLOCK, n3)};
  return block;
}

/* `count` weights a set. With several lanes both sides are padded: the last vector of a row may end
 * in the padding. */
KERNEL void resample(__global const SOURCE* source, const long s_offset, const long s0,
                     const long s1, const long s2, const long s3, __global stored* target,
                     const long t_offset, const long t0, const long t1, const long t2,
                     const long t3, const long n0, const long n1, const long n2, const long n3,
                     const long points, const long period, const long advance, const long lead,
                     const long start, __global const real* table, const int count) {
  const long item = get_local_id(0) * LANES, step = get_local_size(0) * LANES;
  const Share share = share_of(n0 * n1 * n2 * blocks_of_row(n3));
  for (long job = share.first; job < share.last; job++) {
    const Block b = block_across(job, n0, n1, n2, n3);
    __global stored* to = target + t_offset + row_offset(b, t0, t1, t2);
#ifdef ALONG
    __global const SOURCE* from = source + s_offset + row_offset(b, s0, s1, s2);
    for (long x = b.first + item; x < b.end; x += step) {
      const Taps taps = taps_of(x, period, advance, lead, start);
      STORE(weighted_sum(from, s3, points, taps.first, table + taps.set * count, count),
            to + x * t3);
    }
#else
    __global const SOURCE* from = source + s_offset + row_offset(b, s0, s1, 0);
    const Taps taps = taps_of(b.i2, period, advance, lead, start);
    for (long x = b.first + item; x < b.end; x += step) {
      STORE(weighted_sum(from + x * s3, s2, points, taps.first, table + taps.set * count, count),
            to + x * t3);
    }
#endif
  }
}
