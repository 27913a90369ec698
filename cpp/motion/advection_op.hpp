// SPDX-License-Identifier: BSD-3-Clause
// Pushes particles: writes how far each moves along an axis, or tells how far one moves at most.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "motion/amplitudes.hpp"
#include "motion/extremes.hpp"
#include "motion/flow.hpp"
#include "motion/partial_maxima.hpp"

namespace particles {

class AdvectionOp {
 public:
  // Throws std::invalid_argument where the velocity does not fit.
  AdvectionOp(std::shared_ptr<Context> context, Velocity velocity, DType dtype, Form form,
              Amplitudes::OfAxes amplitudes = {});

  Flow& flow() const { return *flow_; }
  const std::shared_ptr<Flow>& shared_flow() const { return flow_; }
  // What the flow is like, which decides how it may push.
  ExtremesOp& extremes() const { return *extremes_; }
  // That at some times: measured, or known from other times.
  std::vector<Extremes> extremes_at(const std::vector<Look>& looks) const {
    return amplitudes_->extremes(*extremes_, flow_->velocity(), looks);
  }

  // Enqueues: how many cells each particle moves along `axis` during the interval, which must be
  // one piece.
  void displace(int axis, const Interval& interval, Field& displacements);
  // Waits: how many cells a particle on the nodes moves at most along `axis` during the interval,
  // by a formula. Of a part of a grid, one of any part. NaN where one moves nobody knows where.
  double farthest(int axis, const Interval& interval);
  // Builds what these need, which most splittings never call.
  void prepare_to_displace(int axis);
  void prepare_to_find_farthest(int axis);

 private:
  void build(int axis);
  void build_farthest(int axis);
  int64_t reach(int axis, const Interval& interval) const;

  std::shared_ptr<Flow> flow_;
  std::unique_ptr<ExtremesOp> extremes_;
  std::unique_ptr<Amplitudes> amplitudes_;
  std::array<Kernel, 3> kernels_, farthest_;
  std::array<std::optional<PartialMaxima>, 3> partial_;
  // Transposed, where the plan wants them so.
  std::array<std::shared_ptr<Field>, 3> displacements_;
  std::mutex mutex_;  // one caller at a time
};

}  // namespace particles
