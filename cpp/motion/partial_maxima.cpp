// SPDX-License-Identifier: BSD-3-Clause
#include "motion/partial_maxima.hpp"

#include <algorithm>
#include <cmath>

namespace particles {
namespace {

constexpr size_t kBytesTogether = 1 << 14, kMostTogether = 256;

size_t launches_together(size_t bytes_of_one) {
  return std::clamp<size_t>(kBytesTogether / bytes_of_one, 1, kMostTogether);
}

}  // namespace

PartialMaxima::PartialMaxima(const std::shared_ptr<Context>& context, DType dtype, size_t numbers,
                             size_t groups)
    : dtype_(dtype),
      numbers_(numbers),
      room_(numbers * groups),
      most_(launches_together(room_ * size_of(dtype))),
      buffer_(context, most_ * room_ * size_of(dtype), "what is measured of the velocity") {}

void PartialMaxima::add_to(Launch& launch, size_t groups) {
  launch.buffer("out", buffer_).uint64("out_offset", launches_.size() * room_);
  launches_.push_back(groups);
}

std::vector<std::vector<double>> PartialMaxima::read() {
  std::vector<std::vector<double>> result;
  if (launches_.empty()) return result;
  const std::vector<size_t> launches = std::move(launches_);
  launches_.clear();
  const size_t count = (launches.size() - 1) * room_ + launches.back() * numbers_;
  const std::vector<double> partial = read_reals(buffer_, dtype_, count);
  for (size_t launch = 0; launch < launches.size(); launch++) {
    std::vector<double> greatest(numbers_, 0.0);
    for (size_t i = 0; i < launches[launch] * numbers_; i++) {
      const double x = partial[launch * room_ + i];
      double& most = greatest[i % numbers_];
      if (x > most || std::isnan(x)) most = x;  // once NaN, NaN for good
    }
    result.push_back(std::move(greatest));
  }
  return result;
}

}  // namespace particles
