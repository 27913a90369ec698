// SPDX-License-Identifier: BSD-3-Clause
// What has been measured of a velocity at some times, for as long as it stays as it is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "motion/partial_maxima.hpp"
#include "motion/velocity.hpp"

namespace particles {

template <class Value>
class Measured {
 public:
  // Null where nothing is known.
  const Value* at(int64_t version, double time) const {
    const auto found = values_.find(time);
    return version == version_ && found != values_.end() ? &found->second : nullptr;
  }

  void keep(int64_t version, double time, const Value& value) {
    if (version != version_ || values_.size() == kMost) values_.clear();
    version_ = version;
    values_[time] = value;
  }

 private:
  static constexpr size_t kMost = 512;  // times of the steps that are looked at together, and more
  int64_t version_ = 0;
  std::map<double, Value> values_;
};

// What is known of a velocity at these times, and of the others what `value_of(greatest)` makes of
// the numbers that `launch(time)` has found. Waits once where that has room.
template <class Value, class LaunchFor, class ValueOf>
std::vector<Value> measure_at(const std::vector<double>& times, const Velocity& velocity,
                              Measured<Value>& measured, PartialMaxima& partial,
                              const LaunchFor& launch, const ValueOf& value_of) {
  const int64_t version = velocity.version();
  std::vector<double> keys = times;
  if (!velocity.depends_on_time) std::fill(keys.begin(), keys.end(), 0);
  const auto known = [&](double time) -> std::optional<Value> {
    const Value* value = velocity.is_shared() ? nullptr : measured.at(version, time);
    return value ? std::optional(*value) : std::nullopt;
  };
  const auto kept = [&](double time, const std::vector<double>& greatest) {
    const Value value = value_of(greatest);
    measured.keep(version, time, value);
    return value;
  };
  const std::map<double, Value> found = partial.measure<Value>(keys, known, launch, kept);
  std::vector<Value> result;
  for (const double time : keys) result.push_back(found.at(time));
  return result;
}

}  // namespace particles
