// SPDX-License-Identifier: BSD-3-Clause
// Puts moved particles back on the nodes of their lines.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "sweep/sweep.hpp"

namespace particles {

class RemeshOp {
 public:
  // All fields on one grid, device and dtype; throws std::invalid_argument otherwise. `forms`: one
  // for each axis.
  RemeshOp(Fields fields, RemeshingKernel kernel, std::vector<Form> forms, Inflow inflow);

  const Fields& fields() const { return fields_; }
  const Field& first() const { return *fields_.front(); }
  const RemeshingKernel& kernel() const { return kernel_; }
  const Form& form(int axis) const { return forms_.at(axis); }
  const Inflow& inflow() const { return inflow_; }

  // Remeshes along `axis` particles that have moved by `displacements` cells, none of them by more
  // than `greatest_move`. Enqueues; compiles at the first call for an axis.
  void apply(int axis, std::shared_ptr<Field> displacements, double greatest_move);

 private:
  Fields fields_;
  RemeshingKernel kernel_;
  std::vector<Form> forms_;
  Inflow inflow_;
  // By axis, and by whether the displacements are in our own padded layout; made at first need.
  std::map<std::pair<int, bool>, std::unique_ptr<Sweep>> sweeps_;
  // Displacements with those of other parts of the grid, by whether they are so, too.
  std::map<std::pair<int, bool>, Extended> extended_;  // by axis, and whether it is padded
  std::mutex mutex_;  // one caller at a time: they share scratch memory
};

}  // namespace particles
