// SPDX-License-Identifier: BSD-3-Clause
// Formulas of fields, evaluated point by point and written to a field.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fields/field.hpp"

namespace particles {

// What is computed: OpenCL C that stands for results.cl, its numbers, and what all is computed in.
struct PointFormula {
  std::string text;
  std::vector<double> numbers;
  DType real = DType::float32;
  // Whether it makes one result of one component of each operand, for each component of the target
  // in turn; else it makes all components of the target of all those of the operands.
  bool by_component = false;
};

using Operands = std::vector<std::shared_ptr<Field>>;

// Enqueues: sets the selected elements of the target. An operand is of the target's shape, or has
// one point or component where the target has several; then that is used for all of them. Memory
// that it has in common with the target must be the same elements. Throws std::invalid_argument.
void assign(Field& target, const Selection& selection, const Operands& operands,
            const PointFormula& formula);

}  // namespace particles
