// SPDX-License-Identifier: BSD-3-Clause
#include "fields/extended.hpp"

#include <algorithm>

#include "fields/neighbours.hpp"

namespace particles {

void Extended::reserve(const Field& own, DType dtype, int64_t before, int64_t behind) {
  if (field_ && before <= before_ && behind <= behind_) return;
  before_ = std::max(before, before_);
  behind_ = std::max(behind, behind_);
  Layout layout = own.layout();
  const int64_t rows = before_ + behind_ + own.grid().shape[0] + 2 * kSlack;
  layout.offset = (before_ + kSlack) * layout.stride[0];
  layout.component_stride = rows * layout.stride[0];
  const int64_t elements = own.components() * layout.component_stride + kVector;
  const size_t bytes = static_cast<size_t>(elements) * size_of(dtype);
  field_ = nullptr;  // so that both are not there at once
  auto memory = std::make_shared<Buffer>(own.context(), bytes, "rows of other ranks");
  field_ = std::make_shared<Field>(own.context(), own.grid(), own.components(), dtype,
                                   "rows of other ranks", std::move(memory), layout);
}

void Extended::fetch(const std::shared_ptr<Field>& own, int64_t before, int64_t behind) const {
  const Neighbours& neighbours = *own->grid().neighbours;
  if (own->components() == 1) return neighbours.fetch(own, field_, before, behind);
  for (int k = 0; k < own->components(); k++)
    neighbours.fetch(own->component(k), field_->component(k), before, behind);
}

}  // namespace particles
