// SPDX-License-Identifier: BSD-3-Clause
#include "stepping/vectors.hpp"

#include <algorithm>

#include "arrays/ceiling.hpp"

namespace particles {
namespace {

constexpr int64_t kGroupOfVectors = 64;
// So that all units end at about the same time, and a GPU's have enough work-items under way.
constexpr int64_t kGroupsOfVectorsPerUnit = 16;

}  // namespace

Range VectorShares::range() const {
  Range range;
  range.global[0] = static_cast<size_t>(groups * group);
  range.local = {static_cast<size_t>(group), 1, 1};
  return range;
}

VectorShares shares_of_vectors(const Device& device, int64_t vectors) {
  VectorShares shares;
  if (!device.is_cpu())
    shares.group = std::min<int64_t>(kGroupOfVectors, device.largest_work_group);
  const int64_t units = std::max<int64_t>(1, device.compute_units);
  shares.each = std::max<int64_t>(1, vectors / (kGroupsOfVectorsPerUnit * units * shares.group));
  const int64_t of_group = shares.each * shares.group;
  shares.groups = ceiling(vectors, of_group);
  return shares;
}

}  // namespace particles
