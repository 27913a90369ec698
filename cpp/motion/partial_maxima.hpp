// SPDX-License-Identifier: BSD-3-Clause
// The greatest of what the work-groups of a kernel find, of several launches with one wait.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "arrays/dtype.hpp"
#include "runtime/launch.hpp"

namespace particles {

class PartialMaxima {
 public:
  // Of so many numbers of each work-group, of which no launch has more.
  PartialMaxima(const std::shared_ptr<Context>& context, DType dtype, size_t numbers,
                size_t groups);

  // Adds the arguments `out` and `out_offset`, where so many work-groups leave their numbers.
  void add_to(Launch& launch, size_t groups);

  // The value of each key: `known(key)`, if it is, or what `value_of(key, greatest)` makes of the
  // numbers that `launch(key)` has found. Waits once where there is room for all launches. NaN is
  // greater than all.
  template <class Value, class Key, class Known, class LaunchFor, class ValueOf>
  std::map<Key, Value> measure(const std::vector<Key>& keys, const Known& known,
                               const LaunchFor& launch, const ValueOf& value_of) {
    launches_.clear();  // of a call that failed
    std::map<Key, Value> found;
    std::vector<Key> under_way;
    const auto finish = [&] {
      const std::vector<std::vector<double>> greatest = read();
      for (size_t k = 0; k < under_way.size(); k++)
        found[under_way[k]] = value_of(under_way[k], greatest[k]);
      under_way.clear();
    };
    for (const Key& key : keys) {
      const auto [place, is_new] = found.try_emplace(key);
      if (!is_new) continue;
      if (const std::optional<Value> value = known(key)) {
        place->second = *value;
        continue;
      }
      under_way.push_back(key);
      launch(key);
      if (launches_.size() == most_) finish();
    }
    finish();
    return found;
  }

 private:
  // Waits, and begins anew: the greatest of each number, by launches.
  std::vector<std::vector<double>> read();

  DType dtype_;
  size_t numbers_, room_, most_;  // room_: of a launch, in numbers
  std::vector<size_t> launches_;  // their work-groups
  Buffer buffer_;
};

}  // namespace particles
