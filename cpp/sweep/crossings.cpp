// SPDX-License-Identifier: BSD-3-Clause
#include "sweep/crossings.hpp"

#include "arrays/regions.hpp"

namespace particles {

// Two numbers for either end: a sum, and what rounding took from it.
constexpr size_t kNumbersCounted = 4;

Crossings::Crossings(const std::shared_ptr<Context>& context, size_t items, size_t components,
                     int lanes, DType dtype)
    : components_(components), lanes_(static_cast<size_t>(lanes)), dtype_(dtype) {
  const size_t bytes = items * components_ * kNumbersCounted * lanes_ * size_of(dtype_);
  buffer_ = std::make_unique<Buffer>(context, bytes, "mass that crosses ends");
  const char zero = 0;
  buffer_->fill(&zero, sizeof zero, 0, bytes);
}

std::vector<std::array<double, 2>> Crossings::sums() const {
  std::vector<std::array<double, 2>> sums(components_);
  const auto values = read_reals(*buffer_, dtype_, buffer_->bytes() / size_of(dtype_));
  for (size_t i = 0; i < values.size(); i++) {
    const size_t place = i / lanes_ / 2;  // counted in ends, of components, of items
    sums[place / 2 % components_][place % 2] += values[i];
  }
  return sums;
}

}  // namespace particles
