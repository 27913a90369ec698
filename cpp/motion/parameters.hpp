// SPDX-License-Identifier: BSD-3-Clause
// Numbers of a formula that may change between two steps: arguments of kernels, not text.
#pragma once

#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fields/field.hpp"

namespace particles {

class Parameters {
 public:
  explicit Parameters(std::vector<double> values) : values_(std::move(values)) {}

  std::vector<double> values() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return values_;
  }

  // As many as there are.
  void set_values(std::vector<double> values) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (values.size() != values_.size())
      throw std::invalid_argument("values: expected " + std::to_string(values_.size()) + ", got " +
                                  std::to_string(values.size()));
    values_ = std::move(values);
    version_++;
  }

  // Another one after each change.
  int64_t version() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return version_;
  }

  // As formulas call them.
  void add_to(Launch& launch, DType dtype) const {
    int number = 0;
    for (const double value : values()) launch.add({"p_", number++}, real_argument(dtype, value));
  }

 private:
  std::vector<double> values_;
  int64_t version_ = 0;
  mutable std::mutex mutex_;
};

}  // namespace particles
