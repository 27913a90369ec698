// SPDX-License-Identifier: BSD-3-Clause
#include "operators/remesh_op.hpp"

#include <stdexcept>

namespace particles {

RemeshOp::RemeshOp(Fields fields, RemeshingKernel kernel, Form form)
    : fields_(std::move(fields)), kernel_(std::move(kernel)), form_(form) {
  if (fields_.empty()) throw std::invalid_argument("fields: expected at least one, got none");
  for (const auto& field : fields_)
    if (field->grid() != first().grid() || field->dtype() != first().dtype() ||
        field->context() != first().context())
      throw std::invalid_argument("fields: expected one grid, dtype and device for all");
  check_form(form_, first().context()->device(), first().dtype());
}

void RemeshOp::apply(int axis, std::shared_ptr<Field> displacements, double greatest_move) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Motion motion = Motion::given(displacements, axis);
  auto& sweep = sweeps_[{axis, motion.is_padded()}];
  if (!sweep) sweep = std::make_unique<Sweep>(first().context(), motion, fields_, kernel_, form_);
  sweep->apply(motion, Interval{0, 0}, greatest_move);
}

}  // namespace particles
