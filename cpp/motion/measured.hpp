// SPDX-License-Identifier: BSD-3-Clause
// What has been measured of a velocity at some times, for as long as it stays as it is.
#pragma once

#include <cstdint>
#include <map>

namespace particles {

template <class Result>
class Measured {
 public:
  // Null where nothing is known.
  const Result* at(int64_t version, double time) const {
    const auto found = results_.find(time);
    return version == version_ && found != results_.end() ? &found->second : nullptr;
  }

  void keep(int64_t version, double time, const Result& result) {
    if (version != version_ || results_.size() == kMost) results_.clear();
    version_ = version;
    results_[time] = result;
  }

 private:
  static constexpr size_t kMost = 512;  // times of the steps that are looked at together, and more
  int64_t version_ = 0;
  std::map<double, Result> results_;
};

}  // namespace particles
