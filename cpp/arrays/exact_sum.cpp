// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/exact_sum.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace particles {
namespace {

constexpr int kBits = 32, kFirst = -1088;  // bits of a digit; exponent of the first
constexpr int64_t kDigit = int64_t{1} << kBits;
constexpr int64_t kTermsAtMost = int64_t{1} << 28;  // a digit grows by less than 2^34 each time

}  // namespace

void ExactSum::add(double term) {
  if (!std::isfinite(term)) {
    digits_[kDigits + (std::isnan(term) ? 2 : term < 0 ? 1 : 0)]++;
    return;
  }
  uint64_t bits = 0;
  std::memcpy(&bits, &term, sizeof bits);
  const auto exponent = static_cast<int>(bits >> 52 & 0x7ff);
  uint64_t whole = bits & ((uint64_t{1} << 52) - 1);
  if (exponent > 0) whole |= uint64_t{1} << 52;
  const int place = (exponent > 0 ? exponent - 1075 : -1074) - kFirst;
  const int shift = place % kBits;
  const uint64_t low = (whole & (kDigit - 1)) << shift, high = (whole >> kBits) << shift;
  const int64_t sign = std::signbit(term) ? -1 : 1;
  int64_t* const digit = &digits_[static_cast<size_t>(place / kBits)];
  digit[0] += sign * static_cast<int64_t>(low & (kDigit - 1));
  digit[1] += sign * static_cast<int64_t>((low >> kBits) + (high & (kDigit - 1)));
  digit[2] += sign * static_cast<int64_t>(high >> kBits);
  if (++terms_ == kTermsAtMost) carry();
}

void ExactSum::carry() {
  for (size_t k = 0; k + 1 < kDigits; k++) {
    const int64_t over = (digits_[k] - (digits_[k] & (kDigit - 1))) / kDigit;
    digits_[k] -= over * kDigit;
    digits_[k + 1] += over;
  }
  terms_ = 0;
}

ExactSum::Digits ExactSum::digits() const {
  ExactSum sum(*this);
  sum.carry();
  return sum.digits_;
}

double ExactSum::value() const {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const int64_t positive = digits_[kDigits], negative = digits_[kDigits + 1];
  if (digits_[kDigits + 2] > 0 || (positive > 0 && negative > 0))
    return std::numeric_limits<double>::quiet_NaN();
  if (positive > 0) return kInfinite;
  if (negative > 0) return -kInfinite;
  ExactSum sum(*this);
  sum.carry();
  const bool is_negative = sum.digits_[kDigits - 1] < 0;
  if (is_negative) {
    for (int64_t& digit : sum.digits_) digit = -digit;
    sum.carry();
  }
  size_t first = kDigits;
  while (first > 0 && sum.digits_[first - 1] == 0) first--;
  if (first == 0) return 0;
  const auto digit = [&](size_t back) {
    return first > back ? static_cast<uint64_t>(sum.digits_[first - 1 - back]) : 0;
  };
  // The first 64 bits; the last of them stands for all that follow, so that rounding is right.
  uint64_t bits = digit(0) << kBits | digit(1);
  uint64_t rest = digit(2);
  int shift = 0;
  while (bits >> 63 == 0) {
    bits <<= 1;
    rest <<= 1;
    bits |= rest >> kBits & 1;
    rest &= kDigit - 1;
    shift++;
  }
  for (size_t back = 3; back < first; back++) rest |= digit(back);
  if (rest != 0) bits |= 1;
  const int exponent = kFirst + kBits * (static_cast<int>(first) - 2) - shift;
  const double value = std::ldexp(static_cast<double>(bits), exponent);
  return is_negative ? -value : value;
}

}  // namespace particles
