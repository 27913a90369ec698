// SPDX-License-Identifier: BSD-3-Clause
#include "operators/remesh_op.hpp"

#include <stdexcept>
#include <string>

namespace particles {

RemeshOp::RemeshOp(Fields fields, RemeshingKernel kernel, std::vector<Form> forms, Inflow inflow)
    : fields_(std::move(fields)),
      kernel_(std::move(kernel)),
      forms_(std::move(forms)),
      inflow_(std::move(inflow)) {
  check_alike(fields_);
  const auto axes = static_cast<size_t>(first().grid().ndim);
  if (forms_.size() != axes)
    throw std::invalid_argument("forms: expected one for each axis (" + std::to_string(axes) +
                                "), got " + std::to_string(forms_.size()));
  const auto& device = first().context()->device();
  for (size_t axis = 0; axis < axes; axis++) {
    const Form& form = forms_[axis];
    check_form(form, device, arithmetic(first().dtype()));
    if (form.kind == LineKind::team && !kernel_.conservative)
      throw std::invalid_argument(
          "form: expected no team where particles carry values, whose nodes are found one by one");
    if (kind_for(form, device) != LineKind::global_lines) continue;
    if (kernel_.conservative && kernel_.is_limited())
      throw std::invalid_argument(
          "form: expected sums in private or local memory where they are limited, got global");
    if (!first().grid().boundary[axis].periodic())
      throw std::invalid_argument("form: expected another kind along axis " + std::to_string(axis) +
                                  ", which is not periodic, got global");
  }
}

void RemeshOp::apply(int axis, std::shared_ptr<Field> displacements, double greatest_move) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Motion motion = Motion::given(displacements, axis);
  auto& sweep = sweeps_[{axis, motion.is_padded()}];
  if (!sweep)
    sweep =
        std::make_unique<Sweep>(first().context(), motion, fields_, kernel_, form(axis), inflow_);
  if (!first().grid().is_cut(axis)) {
    sweep->apply(motion, Interval{0, 0}, greatest_move);
    return;
  }
  const int64_t rows = sweep->rows_of_others(greatest_move);
  Extended& extended = extended_[{axis, motion.is_padded()}];
  extended.reserve(*displacements, axis, displacements->dtype(), rows, rows);
  extended.field()->copy_from(*displacements);
  extended.fetch(displacements, rows, rows);
  sweep->apply(Motion::given(extended.field(), axis), Interval{0, 0}, greatest_move);
}

}  // namespace particles
