// SPDX-License-Identifier: BSD-3-Clause
// The order of directional sweeps that make a time step.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "operators/advection_op.hpp"
#include "operators/remesh_op.hpp"

namespace particles {

// One sweep of a step: along `axis`, over [begin, begin + length] in units of the step.
struct Stage {
  int axis;
  double begin, length;
};

// Lie (order 1): each axis once. Strang (order 2): A/2 B/2 C B/2 A/2, with the full sweep C along
// `full_axis`.
std::vector<Stage> make_schedule(int ndim, int order, int full_axis);

// The axis that a full sweep strains least; of those that are nearly equal, the last.
int least_strained_axis(const std::vector<double>& strain_per_axis);

class Splitting {
 public:
  Splitting(std::shared_ptr<AdvectionOp> advection, std::shared_ptr<RemeshOp> remesh, int order);

  // The full sweep of a Strang step goes along the axis of least strain.
  void choose_schedule(const std::vector<double>& strain_per_axis);
  std::vector<Stage> schedule() const;

  // Enqueues `steps` steps of `dt` from `time`; waits only where long lines meet a formula.
  void advance(double time, double dt, int64_t steps);

  // Enqueues one sweep.
  void sweep(int axis, const Interval& interval);

 private:
  void enqueue(int axis, const Interval& interval);

  std::shared_ptr<AdvectionOp> advection_;
  std::shared_ptr<RemeshOp> remesh_;
  int order_, ndim_;
  std::vector<Stage> schedule_;
  std::vector<std::unique_ptr<Sweep>> sweeps_;  // per axis
  std::shared_ptr<Field> displacements_;        // of long lines moved by a formula
  mutable std::mutex mutex_;                    // one caller at a time
};

}  // namespace particles
