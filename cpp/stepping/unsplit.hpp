// SPDX-License-Identifier: BSD-3-Clause
// Moves particles by the full velocity and remeshes them along all axes at once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "fields/extended.hpp"
#include "interpolation/interpolation.hpp"
#include "motion/advection_op.hpp"
#include "operators/remesh_op.hpp"
#include "sets/particle_set.hpp"
#include "stepping/flow_arguments.hpp"
#include "stepping/intactness.hpp"

namespace particles {

// Of the velocity over the whole grid.
struct FlowExtremes {
  std::vector<double> speeds;  // greatest |a_i|, per axis
  double strain = 0;  // greatest sum over the axes j of |difference of a_i along j| / spacing
};

// Particles begin a step on the nodes, in their order. They are pushed, brought into the order of
// the rows of cells they come to, and give what they carry to the nodes around them. Of a part of a
// grid, all particles are pushed that may come to its nodes, wherever they begin.
class Unsplit {
 public:
  Unsplit(std::shared_ptr<AdvectionOp> advection, std::shared_ptr<RemeshOp> remesh);

  // Enqueues `steps` steps of `dt`, the first of them `first` steps after `time`.
  void advance(double time, double dt, int64_t steps, int64_t first = 0);

  // How many steps have been enqueued.
  int64_t steps_done() const { return steps_done_; }

  // Of a part of a grid: what neighbours have told of the velocity is asked for again.
  void forget();

  // Measures what is not known, and waits once where that has room.
  std::vector<FlowExtremes> measure(const std::vector<double>& times);

 private:
  // Axes as kernels see them: those that the grid lacks come first and have one node.
  using Sizes = std::array<int64_t, 3>;

  const Velocity& velocity() const { return advection_->flow().velocity(); }
  // Rows across the first axis of a part from which particles start, `tail` from `head` on and the
  // others from `low` on, counted on beyond its ends, and planes of cells that they may come to;
  // for moves of so many cells. With how many rows of others the fields of a part are extended.
  struct Around {
    int64_t moves = 0, rows = 0, tail = 0, head = 0, low = 0;
    int64_t first_plane = 0, planes = 0;
    int64_t carried_beyond = 0, velocity_beyond = 0;
  };
  bool is_part() const { return grid_.neighbours != nullptr; }
  Around around(int64_t moves) const;
  int64_t moves_during(const Interval& piece);
  void make_room(const Around& around);
  void push_around(const Interval& piece);
  const Field& velocity_at(size_t level);
  std::vector<FlowExtremes> measure_locked(const std::vector<double>& times);
  int64_t particles() const { return around_.rows * grid_.points() / grid_.shape[0]; }
  std::string options() const;
  void compile_flow();
  void push(const Interval& piece);
  // A field, what particles carry of it, and what receives the sums of that: the field, or where
  // rows of cells may be cut, the whole line that it is a part of.
  struct Carried {
    std::shared_ptr<Field> field;
    std::shared_ptr<Array> values;
    std::shared_ptr<Field> sums;
  };
  using Group = std::vector<Carried>;
  static std::vector<Interpolation::Given> pairs_of(const Group& group);
  void make_groups();
  std::shared_ptr<Field> sums_of(const std::shared_ptr<Field>& field, size_t place);
  void take_values(const Field& field, Array& values);
  void give();
  void give(const Group& group);
  void launch_strain(double time);
  // Of neighbouring particles, of so many rows across the first axis.
  int64_t vectors_of(int64_t rows) const;
  void add_rows(Launch& launch, const Around& around) const;
  void add_nodes(Launch& launch) const;
  void add_coarseness(Launch& launch) const;
  void add_flow(Launch& launch, const char* scale, const std::array<double, 3>& scales,
                const std::vector<NamedInstant>& instants, const Around& around);

  std::shared_ptr<AdvectionOp> advection_;
  std::shared_ptr<RemeshOp> remesh_;
  std::shared_ptr<Context> context_;
  Grid grid_;
  DType dtype_;
  int lanes_;
  Sizes nodes_;
  Kernel push_, strain_;
  Around around_;
  std::vector<Extended> velocity_around_;  // by level
  std::vector<int64_t> velocity_beyond_;   // rows of it that are known
  std::map<const Field*, Extended> carried_around_;
  std::map<int, Fields> lines_;  // of all ranks, for a group, by number of components
  Buffer farthest_;
  Cells box_;
  std::optional<ParticleSet> set_;
  Interpolation interpolation_;
  Places places_;
  std::shared_ptr<Array> order_, starts_;  // by row of cells
  std::vector<Group> groups_;  // of fields that share launches; all have the same memory for values
  std::optional<PartialMaxima> partial_;
  Measured<FlowExtremes> measured_;
  std::atomic<int64_t> steps_done_{0};  // also read within a step
  Intactness intactness_;
  mutable std::mutex mutex_;  // one caller at a time
};

}  // namespace particles
