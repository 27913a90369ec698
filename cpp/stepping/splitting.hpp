// SPDX-License-Identifier: BSD-3-Clause
// The order of directional sweeps that make a time step.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "operators/diffusion.hpp"
#include "operators/remesh_op.hpp"
#include "operators/source.hpp"
#include "stepping/intactness.hpp"
#include "stepping/reach.hpp"
#include "stepping/schedule.hpp"
#include "sweep/sweep_chain.hpp"

namespace particles {

// Whether schedules are others than before, and how many steps have them.
struct Chosen {
  bool is_new;
  int64_t steps;
};

// What a joined step leaves for the next one.
struct HalfSweep {
  int axis;
  Interval interval;
};

class Splitting {
 public:
  using Diffusions = std::vector<std::shared_ptr<Diffusion>>;

  // `advection`: null where nothing moves. `source`: null for none. Diffusion is of fields that are
  // remeshed.
  Splitting(std::shared_ptr<AdvectionOp> advection, std::shared_ptr<RemeshOp> remesh, int order,
            std::shared_ptr<SourceOp> source, Diffusions diffusions = {});

  // By the strain per axis in each of some steps, but for order 1: those of the first step, which
  // others that follow it may share.
  Chosen choose_schedules(const std::vector<std::vector<double>>& strains);
  Schedules schedules() const;
  std::vector<Stage> schedule() const { return schedules().single; }
  std::vector<Stage> joined_schedule() const { return schedules().joined; }

  // Enqueues, from each of some times on, `steps` steps of `dt`, the first of them `first` steps
  // later: when one begins does not depend on how many are enqueued together. `joined`: what ends a
  // step and begins the next becomes one, and the last of all is held back for the next call to
  // join, or `close` to do.
  void advance(const std::vector<double>& times, double dt, int64_t steps, bool joined,
               int64_t first = 0);

  // Enqueues steps that each have their own schedules; the last half sweep is held back if the last
  // step is joined.
  void advance_fitted(const std::vector<FittedStep>& steps);

  // Enqueues the sweep that has been held back, if any.
  void close();

  // The sweep that is held back, if any.
  std::optional<HalfSweep> held() const;

  // How many steps have been enqueued, counting one whose last sweep is held back.
  int64_t steps_done() const { return steps_done_; }
  // How many sweeps along an axis have been enqueued.
  int64_t sweeps_done() const { return sweeps_done_; }
  // Whether one launch does many sweeps.
  bool is_chained() const { return chain_.has_value(); }

  // The names of the forms that sweep along each axis, where each sweep has a launch of its own.
  std::vector<std::vector<std::string>> forms() const;

  // Waits. What has left through the low and the high end of an axis so far, less what has come
  // in, of each component of all fields.
  std::vector<std::array<double, 2>> crossed(int axis);

  // Of a part of a grid, when the velocity may be another one somewhere.
  void forget();

  // Enqueues one sweep, the source, or diffusion.
  void sweep(int axis, const Interval& interval);

 private:
  struct Held {
    int axis;
    Interval interval;
    Leads leads;
  };
  void make_sweeps();
  Schedules schedules_for(const std::vector<double>& strain_per_axis) const;
  void enqueue_steps(double time, double dt, int64_t steps, bool joined, int64_t first);
  void release();
  void launch_chain();
  void enqueue(int axis, const Interval& interval, const Leads& leads);
  void enqueue_piece(int axis, const Interval& interval, const Leads& leads);
  size_t number_of(const Field& field) const;

  std::shared_ptr<AdvectionOp> advection_;
  std::shared_ptr<RemeshOp> remesh_;
  std::shared_ptr<SourceOp> source_;
  Diffusions diffusions_;
  int order_, ndim_;  // ndim_: axes that are swept
  Schedules schedules_;
  std::optional<Reach> reach_;
  std::vector<std::unique_ptr<Sweep>> sweeps_;  // per axis, where they are not a chain
  std::optional<SweepChain> chain_;
  std::array<std::optional<Crossflow>, 3> crossflows_;
  std::optional<Held> held_;
  std::atomic<int64_t> steps_done_{0}, sweeps_done_{0};  // also read within a step
  Intactness intactness_;
  mutable std::mutex mutex_;  // one caller at a time
};

}  // namespace particles
