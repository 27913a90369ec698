// SPDX-License-Identifier: BSD-3-Clause
// Whoever has the other parts of a grid, as a part of it sees them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace particles {

class Field;

class Neighbours {
 public:
  virtual ~Neighbours() = default;

  // Puts into `extended` what belongs before and behind the rows of `own` along an axis that is
  // cut. All parts call it at once.
  virtual void fetch(const std::shared_ptr<Field>& own, const std::shared_ptr<Field>& extended,
                     int axis, int64_t before, int64_t behind) const = 0;

  // Of all lines along an axis that is cut, which ones a part has whole when lines are gathered:
  // the first and how many, perhaps none.
  virtual std::array<int64_t, 2> whole_lines(int axis, int64_t all) const = 0;

  // Puts the rows of all parts together to whole lines, which lie along the first axis of `whole`,
  // side by side; it is null where there are none. And takes them apart. All parts call it at once.
  virtual void gather_lines(const std::shared_ptr<Field>& own, int axis,
                            const std::shared_ptr<Field>& whole) const = 0;
  virtual void scatter_lines(const std::shared_ptr<Field>& whole, const std::shared_ptr<Field>& own,
                             int axis) const = 0;

  // Numbers of the first part along an axis, for end 0, or of the last one.
  virtual std::vector<double> told_at_end(const std::vector<double>& numbers, int axis,
                                          int end) const = 0;

  // Rows of the largest part along an axis.
  virtual int64_t most_rows(int axis) const = 0;

  // The greatest of all parts, of each of some numbers; NaN where one has NaN. So is this.
  virtual std::vector<double> greatest(const std::vector<double>& numbers) const = 0;
};

}  // namespace particles
