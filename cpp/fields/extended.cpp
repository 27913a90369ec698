// SPDX-License-Identifier: BSD-3-Clause
#include "fields/extended.hpp"

#include <algorithm>

#include "fields/neighbours.hpp"

namespace particles {

void Extended::reserve(const Field& own, int axis, DType dtype, int64_t before, int64_t behind) {
  if (field_ && before <= before_ && behind <= behind_) return;
  axis_ = axis;
  before_ = std::max(before, before_);
  behind_ = std::max(behind, behind_);
  Layout layout = own.layout();
  std::array<int64_t, 3> rows = own.grid().shape;
  rows[axis] += before_ + behind_ + 2 * kSlack;
  // Distances of the field hold for what lies within rows along the axis.
  int outer = own.grid().ndim - 1;
  if (layout.padded)
    outer = axis;
  else
    layout.stride[outer] = 1;
  for (outer--; outer >= 0; outer--)
    layout.stride[outer] = layout.stride[outer + 1] * rows[outer + 1];
  layout.offset = (before_ + kSlack) * layout.stride[axis];
  layout.component_stride = layout.stride[0] * rows[0];
  const int64_t elements = own.components() * layout.component_stride + kVector;
  const size_t bytes = static_cast<size_t>(elements) * size_of(dtype);
  field_ = nullptr;  // so that both are not there at once
  memory_ = nullptr;
  memory_ = std::make_shared<Buffer>(own.context(), bytes, "rows of other ranks");
  field_ = std::make_shared<Field>(own.context(), own.grid(), own.components(), dtype,
                                   "rows of other ranks", memory_, layout);
}

void Extended::fetch(const std::shared_ptr<Field>& own, int64_t before, int64_t behind) const {
  const Neighbours& neighbours = *own->grid().neighbours;
  if (own->components() == 1) return neighbours.fetch(own, field_, axis_, before, behind);
  for (int k = 0; k < own->components(); k++)
    neighbours.fetch(own->component(k), field_->component(k), axis_, before, behind);
}

std::shared_ptr<Field> Extended::widened(int64_t before, int64_t behind) const {
  Grid grid = field_->grid();
  grid.shape[axis_] += before + behind;
  Layout layout = field_->layout();
  layout.offset -= before * layout.stride[axis_];
  return std::make_shared<Field>(field_->context(), grid, field_->components(), field_->dtype(),
                                 field_->name(), memory_, layout);
}

}  // namespace particles
