// SPDX-License-Identifier: BSD-3-Clause
// What has left lines through their ends, less what has come in.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "arrays/dtype.hpp"
#include "runtime/context.hpp"

namespace particles {

// Sums of their own of each item, which is whoever counts or what is counted, of each component,
// end and lane: with what rounding took from them.
class Crossings {
 public:
  Crossings(const std::shared_ptr<Context>& context, size_t items, size_t components, int lanes,
            DType dtype);

  const Buffer& buffer() const { return *buffer_; }

  // Waits. Of each component.
  std::vector<std::array<double, 2>> sums() const;

 private:
  size_t components_;
  size_t lanes_;
  DType dtype_;
  std::unique_ptr<Buffer> buffer_;
};

}  // namespace particles
