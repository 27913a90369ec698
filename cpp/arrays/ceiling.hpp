// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace particles {

// How many parts of this size a number has, the last one perhaps a smaller one.
template <class Number, class Part>
constexpr auto ceiling(Number number, Part part) {
  return (number + part - 1) / part;
}

}  // namespace particles
