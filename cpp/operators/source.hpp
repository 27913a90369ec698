// SPDX-License-Identifier: BSD-3-Clause
// Changes fields point by point: du/dt = rate(u, given, x, t).
#pragma once

#include <memory>
#include <string>

#include "motion/parameters.hpp"
#include "sweep/sweep.hpp"

namespace particles {

class SourceOp {
 public:
  // `rates`: OpenCL C that stands for rates.cl, a rate for each component of the fields, with
  // parameters, or null. All fields on one grid, device and dtype; throws std::invalid_argument
  // otherwise.
  SourceOp(Fields fields, Fields given, const std::string& rates,
           std::shared_ptr<const Parameters> parameters);

  const Fields& fields() const { return fields_; }

  // Enqueues: integrates in place over the interval.
  void apply(const Interval& interval);

 private:
  const Field& first() const { return *fields_.front(); }

  Fields fields_, every_;  // the latter with those that are given
  std::shared_ptr<const Parameters> parameters_;
  Kernel kernel_;
};

}  // namespace particles
