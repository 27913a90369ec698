// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/shares.hpp"

#include <algorithm>

#include "arrays/ceiling.hpp"

namespace particles {

namespace {

constexpr int64_t kShareGroup = 128, kItems = 4, kGroupsPerUnit = 16;
constexpr int64_t kLeastOfCpu = 4096;  // what is done by the time another group is started

}  // namespace

Range Shares::range() const {
  Range range;
  range.global[0] = static_cast<size_t>(groups * group);
  range.local = {static_cast<size_t>(group), 1, 1};
  return range;
}

std::string Shares::options() const {
  return " -DGROUP=" + std::to_string(group) + " -DITEMS=" + std::to_string(kItems);
}

Shares shares_of(const Device& device, int64_t elements, size_t local_bytes) {
  Shares shares;
  int64_t least = kLeastOfCpu;
  if (!device.is_cpu()) {
    const auto fits = [&](int64_t group) {
      return static_cast<size_t>(group) <= device.largest_work_group &&
             static_cast<size_t>(group) * local_bytes <= device.local_memory / 2;
    };
    while (shares.group < kShareGroup && fits(2 * shares.group)) shares.group *= 2;
    least = shares.group * kItems;
  }
  const int64_t most = kGroupsPerUnit * std::max<int64_t>(1, device.compute_units);
  shares.groups = std::clamp<int64_t>(ceiling(elements, least), 1, most);
  return shares;
}

}  // namespace particles
