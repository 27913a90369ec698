// SPDX-License-Identifier: BSD-3-Clause
// Moves particles by the full velocity and remeshes them along all axes at once.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "interpolation/interpolation.hpp"
#include "motion/advection_op.hpp"
#include "operators/remesh_op.hpp"
#include "sets/particle_set.hpp"
#include "stepping/intactness.hpp"

namespace particles {

// Of the velocity over the whole grid.
struct FlowExtremes {
  std::vector<double> speeds;  // greatest |a_i|, per axis
  double strain = 0;  // greatest sum over the axes j of |difference of a_i along j| / spacing
};

// Particles begin a step on the nodes, in their order. They are pushed, brought into the order of
// the rows of cells they come to, and give what they carry to the nodes around them.
class Unsplit {
 public:
  // `lane_tables`: those of the kernel, as `Interpolation` takes them.
  Unsplit(std::shared_ptr<AdvectionOp> advection, std::shared_ptr<RemeshOp> remesh,
          std::string lane_tables);

  // Enqueues `steps` steps of `dt`, the first of them `first` steps after `time`.
  void advance(double time, double dt, int64_t steps, int64_t first = 0);

  // How many steps have been enqueued.
  int64_t steps_done() const;

  // Measures what is not known, and waits once where that has room.
  std::vector<FlowExtremes> measure(const std::vector<double>& times);

 private:
  // Axes as kernels see them: those that the grid lacks come first and have one node.
  using Sizes = std::array<int64_t, 3>;

  const Velocity& velocity() const { return advection_->flow().velocity(); }
  std::string options() const;
  void compile_flow();
  void prepare_particles();
  void push(const Interval& piece);
  void give(Field& field);
  void launch_strain(double time);
  int64_t vectors_each() const;
  Range range_of_vectors() const;
  void add_nodes(Launch& launch) const;
  void add_coarseness(Launch& launch) const;
  // A time for each of `times`, in the unit that the velocity counts them in.
  struct Instant {
    const char* name;
    double time;
  };
  void add_flow(Launch& launch, const char* scale, const std::array<double, 3>& scales,
                const std::vector<Instant>& instants) const;
  void add_reals(Launch& launch, const char* name, const std::array<double, 3>& values) const;

  std::shared_ptr<AdvectionOp> advection_;
  std::shared_ptr<RemeshOp> remesh_;
  std::shared_ptr<Context> context_;
  Grid grid_;
  DType dtype_;
  int lanes_;
  Sizes nodes_;
  int64_t vectors_;  // of neighbouring particles
  Kernel push_, strain_;
  Cells box_;
  ParticleSet set_;
  Interpolation interpolation_;
  Places places_;
  std::shared_ptr<Array> order_, starts_;         // by row of cells
  std::map<int, std::shared_ptr<Array>> values_;  // what particles carry, by number of components
  std::optional<PartialMaxima> partial_;
  Measured<FlowExtremes> measured_;
  int64_t steps_done_ = 0;
  Intactness intactness_;
  mutable std::mutex mutex_;  // one caller at a time
};

}  // namespace particles
