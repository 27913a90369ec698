// SPDX-License-Identifier: BSD-3-Clause
// A sum without rounding: it depends on its terms alone, not on their order or on who adds which.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace particles {

class ExactSum {
 public:
  // Digits of 2^32, of which the first counts 2^-1088: more than all numbers of 64 bits need.
  static constexpr size_t kDigits = 68;
  // Behind them: how many terms were inf, -inf and NaN.
  using Digits = std::array<int64_t, kDigits + 3>;

  ExactSum() = default;
  explicit ExactSum(const Digits& digits) : digits_(digits) {}

  void add(double term);

  // With carries done, all but the last between 0 and 2^32: those of several sums may be added.
  Digits digits() const;

  // Rounded once. NaN where a term was, or infinities of both signs.
  double value() const;

 private:
  void carry();

  Digits digits_{};
  int64_t terms_ = 0;  // since the last carry
};

}  // namespace particles
