// SPDX-License-Identifier: BSD-3-Clause
// Puts moved particles back on the nodes of their lines.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "operators/sweep.hpp"

namespace particles {

class RemeshOp {
 public:
  // All fields on one grid, device and dtype; throws std::invalid_argument otherwise.
  RemeshOp(Fields fields, RemeshingKernel kernel, Form form);

  const Fields& fields() const { return fields_; }
  const Field& first() const { return *fields_.front(); }
  const RemeshingKernel& kernel() const { return kernel_; }
  const Form& form() const { return form_; }

  // Remeshes along `axis` particles that have moved by `displacements` cells, none of them by more
  // than `greatest_move`. Enqueues; compiles at the first call for an axis.
  void apply(int axis, std::shared_ptr<Field> displacements, double greatest_move);

 private:
  Fields fields_;
  RemeshingKernel kernel_;
  Form form_;
  // By axis, and by whether the displacements are in our own padded layout; made at first need.
  std::map<std::pair<int, bool>, std::unique_ptr<Sweep>> sweeps_;
  std::mutex mutex_;  // one caller at a time: they share scratch memory
};

}  // namespace particles
