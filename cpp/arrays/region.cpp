// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/region.hpp"

#include <stdexcept>

namespace particles {

Region packed(const Region& region) {
  Region result = region;
  result.offset = 0;
  result.stride[3] = 1;
  for (int k = 2; k >= 0; --k) result.stride[k] = result.stride[k + 1] * region.count[k + 1];
  return result;
}

int64_t end_of(const Region& region, size_t element_bytes) {
  int64_t last = region.offset, reach = 0, bytes = 0;
  bool fits = region.offset >= 0;
  for (int k = 0; k < 4 && fits; ++k) {
    if (region.count[k] == 1) continue;
    fits = region.stride[k] > 0 &&
           !__builtin_mul_overflow(region.count[k] - 1, region.stride[k], &reach) &&
           !__builtin_add_overflow(last, reach, &last);
  }
  if (!fits || __builtin_add_overflow(last, 1, &last) ||
      __builtin_mul_overflow(last, element_bytes, &bytes))
    throw std::invalid_argument(
        "array: expected an offset from 0 on, positive strides, and a size of less than 2**63 "
        "bytes");
  return last;
}

}  // namespace particles
