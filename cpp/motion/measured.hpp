// SPDX-License-Identifier: BSD-3-Clause
// What has been measured of a velocity at some times, for as long as it stays as it is.
#pragma once

#include <cstdint>
#include <map>

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

}  // namespace particles
