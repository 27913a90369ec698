// SPDX-License-Identifier: BSD-3-Clause
// Takes the particles of a set along with a velocity.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "motion/measured.hpp"
#include "motion/partial_maxima.hpp"
#include "motion/scheme.hpp"
#include "motion/velocity.hpp"
#include "sets/particle_set.hpp"
#include "stepping/flow_arguments.hpp"
#include "stepping/intactness.hpp"
#include "stepping/vectors.hpp"
#include "sweep/sweep_kind.hpp"

namespace particles {

// What has come of some steps. Steps count from 1; where there was none, both numbers are 0.
struct Traced {
  struct First {
    int64_t step = 0, particle = 0;
  };
  std::array<std::array<int64_t, 2>, 3> left{};  // through the low and the high end of each axis
  int64_t stuck = 0;                             // moves that were none
  First first_left, first_stuck;
};

class Tracers {
 public:
  // Offsets are of `offset`, and the cells those of `box`. A velocity on the points of a grid is
  // the sum of values around with the weights of a kernel.
  Tracers(std::shared_ptr<Context> context, Velocity velocity, const RemeshingKernel& kernel,
          const Cells& box, DType offset);

  // Of a velocity on a part of a grid: reads it from these fields, one in the place of each, which
  // have a part of the planes, those that particles look at; null for times that are not reached.
  void read_from(std::vector<std::shared_ptr<Field>> planes, int64_t first_plane);

  // How many times as far as the greatest speed brings a particle its stages look at most.
  int reach() const { return scheme_of(velocity_.rule.scheme).reach(); }

  // Begins to take note of what comes of steps of so many particles. What it keeps of their places
  // is what `go_back` puts there again. Enqueued.
  void begin(const Places& places, bool keeps);

  // Enqueues `steps` steps of `dt`, the first of them `first` steps after `time`.
  void advance(const Places& places, double time, double dt, int64_t steps, int64_t first = 0);

  // What has come of the steps since it began; waits.
  Traced look() const;

  // Particles are where they were, and as many steps are done, when it began. Enqueued.
  void go_back(const Places& places);

  // Which particles have left since it began, 1 or 0.
  std::shared_ptr<Array> gone(int64_t count) const;

  // How many steps have been enqueued, and how many of them before it began.
  int64_t steps_done() const { return steps_done_; }
  int64_t steps_before() const;

  const Velocity& velocity() const { return velocity_; }

  // Whether particles may leave.
  bool has_open_ends() const { return has_open_ends_; }

  // The greatest sum, over the axes, of the difference quotients of a component. Measures what is
  // not known, and waits once where that has room. Of a part of a grid all parts measure at once.
  std::vector<double> measure(const std::vector<double>& times);

  // Bytes beside those of the set.
  int64_t bytes() const;

 private:
  std::string options() const;
  Kernel kernel_of(const std::string& name, const std::string& options) const;
  int axis_of(int k) const { return particles::axis_of(k, box_.ndim); }
  // The velocity, a formula between points so far apart; then lengths of steps or cells, and times
  // as it counts them.
  void add_flow(Launch& launch, const std::array<double, 3>& spacing, const char* scale,
                const std::array<double, 3>& scales,
                const std::vector<NamedInstant>& instants) const;
  void trace(const Places& places, const Interval& piece, int64_t step);
  void launch_strain(double time);
  // Those of the whole grid on which the velocity is known.
  int64_t points_along(int axis) const { return grid_.whole_along(axis); }

  std::shared_ptr<Context> context_;
  Velocity velocity_;
  RemeshingKernel kernel_;
  Cells box_;
  Grid grid_;  // on whose points the velocity is known, or looked at
  DType offset_, dtype_;
  std::vector<std::shared_ptr<Field>> planes_;  // where those of a part are read; else none
  int64_t first_plane_ = 0;
  bool has_open_ends_;
  int64_t lanes_;
  Kernel trace_, strain_;
  VectorShares strain_shares_;
  std::shared_ptr<Array> counts_, gone_;
  std::array<std::shared_ptr<Array>, 3> kept_;
  std::optional<PartialMaxima> partial_;
  Measured<double> measured_;
  std::atomic<int64_t> steps_done_{0};  // also read within a step
  int64_t steps_before_ = 0;
  Intactness intactness_;
  mutable std::mutex mutex_;  // one caller at a time
};

}  // namespace particles
