// SPDX-License-Identifier: BSD-3-Clause
#include "operators/remesh_op.hpp"

#include <stdexcept>

namespace particles {

RemeshOp::RemeshOp(Fields fields, RemeshingKernel kernel, LineLimits limits)
    : fields_(std::move(fields)), kernel_(std::move(kernel)), limits_(limits) {
  if (fields_.empty()) throw std::invalid_argument("fields: expected at least one, got none");
  for (const auto& field : fields_)
    if (field->grid() != first().grid() || field->dtype() != first().dtype() ||
        field->context() != first().context())
      throw std::invalid_argument("fields: expected one grid, dtype and device for all");
  sweeps_.resize(first().grid().ndim);
}

void RemeshOp::apply(int axis, std::shared_ptr<Field> displacements, double greatest_move) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Motion motion = Motion::given(displacements, axis);
  auto& sweep = sweeps_.at(axis);
  if (!sweep) sweep = std::make_unique<Sweep>(first().context(), motion, fields_, kernel_, limits_);
  sweep->apply(motion, Interval{0, 0}, greatest_move);
}

}  // namespace particles
