// SPDX-License-Identifier: BSD-3-Clause
// A field with rows around it that neighbours have, along an axis of a part of a grid.
#pragma once

#include <cstdint>
#include <memory>

#include "fields/field.hpp"

namespace particles {

class Extended {
 public:
  // Memory for so many rows along an axis, always the same one, before and behind those of a field,
  // axis after axis: rows along the last one lie as far apart as in the field if that has our own
  // layout, else side by side. What was there may be lost. What is beyond them may be read by
  // mistake, `kSlack` rows far, and is not used.
  void reserve(const Field& own, int axis, DType dtype, int64_t before, int64_t behind);

  // Has the neighbours' rows put in.
  void fetch(const std::shared_ptr<Field>& own, int64_t before, int64_t behind) const;

  // All of it, with so many rows, as a field of its own of a larger part.
  std::shared_ptr<Field> widened(int64_t before, int64_t behind) const;

  // Where row 0 is that of the part; null before anything is reserved.
  const std::shared_ptr<Field>& field() const { return field_; }

  static constexpr int64_t kSlack = 32;

 private:
  std::shared_ptr<Field> field_;
  std::shared_ptr<Buffer> memory_;
  int axis_ = 0;
  int64_t before_ = 0, behind_ = 0;
};

}  // namespace particles
