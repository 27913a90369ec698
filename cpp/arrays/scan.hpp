// SPDX-License-Identifier: BSD-3-Clause
// What comes before each element of an array.
#pragma once

#include <cstdint>

#include "arrays/array.hpp"
#include "arrays/shares.hpp"

namespace particles {

// Sets each element of the target to the sum of the source's elements before it, modulo 2 to the
// number of its bits. A target that is longer by one ends with the sum of all. Both have one
// component, are packed, and of the same integers of 32 or 64 bits; they may be the same array.
// Enqueued. Throws std::invalid_argument.
void scan(const Array& source, Array& target);

// The same as a part of other work on the device, in buffers of its own.
class Scan {
 public:
  // `number` has 32 or 64 bits.
  Scan(Workspace& workspace, DType number, int64_t count);

  size_t scratch_bytes() const;

  struct Span {
    const Buffer& buffer;
    int64_t offset = 0;
  };
  void enqueue(const Span& source, const Span& target, bool with_total,
               const Buffer& scratch) const;

 private:
  Kernel kernel(const char* name) const;

  Workspace& workspace_;
  DType number_;
  int64_t count_;
  Shares shares_;
};

}  // namespace particles
