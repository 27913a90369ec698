// SPDX-License-Identifier: BSD-3-Clause
// The order of directional sweeps that make a time step.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "operators/advection_op.hpp"
#include "operators/remesh_op.hpp"

namespace particles {

// One sweep of a step: along `axis`, over [begin, begin + length] in units of the step.
struct Stage {
  int axis;
  double begin, length;
};

// The axes of a Strang step A/2 B/2 C B/2 A/2, from the outside in, by their strain. C, swept
// whole, is the least strained one; of those that are nearly equal, the last.
std::vector<int> axes_of_steps(const std::vector<double>& strain_per_axis);

// The same where steps are joined, and A is swept whole as well: it is the less strained of the
// other two; if they are nearly equal, the first.
std::vector<int> axes_of_joined_steps(const std::vector<double>& strain_per_axis);

class Splitting {
 public:
  Splitting(std::shared_ptr<AdvectionOp> advection, std::shared_ptr<RemeshOp> remesh, int order);

  // Lie (order 1): each axis once. Strang (order 2): by the strain.
  void choose_schedules(const std::vector<double>& strain_per_axis);
  std::vector<Stage> schedule() const;
  std::vector<Stage> joined_schedule() const;

  // Enqueues `steps` steps of `dt` from `time`. `joined`: half sweeps that end a step and begin the
  // next become one, and the last of all is held back for the next call to join, or `close` to do.
  void advance(double time, double dt, int64_t steps, bool joined);

  // Enqueues the sweep that has been held back, if any.
  void close();

  // How many steps have been enqueued, counting one whose last sweep is held back.
  int64_t steps_done() const;

  // Enqueues one sweep.
  void sweep(int axis, const Interval& interval);

 private:
  struct Held {
    int axis;
    Interval interval;
  };
  using Push = std::pair<int, double>;  // along an axis, for a duration

  void make_displacements();
  void release();
  void enqueue(int axis, const Interval& interval);
  void enqueue_piece(int axis, const Interval& interval);
  double displace(int axis, const Interval& interval);
  double greatest_displacement(int axis) const;

  std::shared_ptr<AdvectionOp> advection_;
  std::shared_ptr<RemeshOp> remesh_;
  int order_, ndim_;
  std::vector<Stage> schedule_, joined_schedule_;
  std::vector<std::unique_ptr<Sweep>> sweeps_;  // per axis
  std::optional<Held> held_;
  int64_t steps_done_ = 0;
  std::shared_ptr<Field> displacements_;  // of long lines moved by a formula
  std::optional<Push> displaced_;         // what they are now, if the formula is steady
  std::map<Push, double> greatest_;       // of the displacements by a steady formula
  mutable std::mutex mutex_;              // one caller at a time
};

}  // namespace particles
