/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of one array in the order that another one gives: target[i] = source[order[i]], or by the
 * place that each row goes to: target[places[i]] = source[i].
 *
 * INDEX  of the order or the places, each row once at most */
#ifndef INDEX
#define INDEX uint
#endif
#include "arrays/group.cl"
#include "arrays/row.cl"
#include "common/common.cl"
#include "common/regions.cl"

KERNEL void permute(__global const real* source, const long source_offset, const long source_stride,
                    __global const INDEX* order, const long order_offset, __global real* target,
                    const long target_offset, const long target_stride, const long n) {
  const Share share = share_of(n);
  for (long i = share.first + (long)get_local_id(0); i < share.last; i += GROUP) {
    const long row = (long)order[order_offset + i];
    *(__global Row*)(target + target_offset + i * target_stride) =
        *(__global const Row*)(source + source_offset + row * source_stride);
  }
}

KERNEL void distribute(__global const real* source, const long source_offset,
                       const long source_stride, __global const INDEX* places,
                       const long places_offset, __global real* target, const long target_offset,
                       const long target_stride, const long n) {
  const Share share = share_of(n);
  for (long i = share.first + (long)get_local_id(0); i < share.last; i += GROUP) {
    const long row = (long)places[places_offset + i];
    *(__global Row*)(target + target_offset + row * target_stride) =
        *(__global const Row*)(source + source_offset + i * source_stride);
  }
}
