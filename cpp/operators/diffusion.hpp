// SPDX-License-Identifier: BSD-3-Clause
// Diffuses fields: du/dt = viscosity * Laplacian of u, by the exact exponential of the three-point
// Laplacian along one axis after the other.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "operators/diffusion_rounds.hpp"
#include "sweep/sweep.hpp"

namespace particles {

class Diffusion {
 public:
  // All fields on one grid, device and dtype; throws std::invalid_argument otherwise. A viscosity
  // for each component of all fields; `inflow` as for a sweep of them.
  Diffusion(Fields fields, std::vector<double> viscosities, Inflow inflow);

  const Fields& fields() const { return fields_; }
  const Inflow& inflow() const { return inflow_; }
  std::vector<double> viscosities() const;
  void set_viscosities(std::vector<double> viscosities);

  // Enqueues: diffuses in place over an interval that does not go back. `instant`: when what comes
  // in meanwhile does so; by default, evenly from the beginning to the end.
  void apply(const Interval& interval, std::optional<double> instant = std::nullopt);

  // Waits. As of a sweep: what has left through the ends of an axis so far, less what has come in.
  std::vector<std::array<double, 2>> crossed(int axis) const;

 private:
  // All lines along an axis of one field.
  struct Lines {
    LinePlan plan;
    bool held;      // by a work-item each through all rounds, which overwrites them in place
    bool segments;  // are held, of lines that go from one field to another
    Range range;    // of rounds that go from node to node
    Kernel of_held, of_segments;
    std::array<Kernel, 2> of_rows;    // of each kind of round
    Kernel moments;                   // that sum up lines that are not held; only where
    std::unique_ptr<Buffer> crossed;  // something comes in
    Range range_of_moments;
    int lanes_of_moments;
  };
  struct Rounds {
    std::vector<DiffusionRound> of;
    size_t first;  // of those on the device
  };
  // Maps of an axis, and where on the device their weights are.
  struct Maps {
    std::vector<Thinning> thinnings;
    size_t first_weight;
  };
  struct Part {
    std::shared_ptr<Field> field;
    int first;  // of its components, among those of all fields
    std::vector<Lines> axes;
  };

  // Along so many axes from the first one on, and no others.
  Diffusion(Fields fields, std::vector<double> viscosities, Inflow inflow, int axes);

  const Field& first() const { return *fields_.front(); }
  bool is_cut(int axis) const { return first().grid().is_cut(axis); }
  std::unique_ptr<Diffusion> along_cut(int axis) const;
  void diffuse_along_cut(int axis, const Interval& interval, std::optional<double> instant);
  int64_t lines_of_whole(int axis) const;
  bool takes_in(int axis) const;
  Lines lines_along(const Field& field, int axis, int first) const;
  size_t bytes_of_round() const;
  size_t bytes_of_weight() const;
  const Rounds& rounds(int axis, double spread);
  size_t first_weight(const Maps& maps, const NodeMap& map) const;
  template <class Real>
  void write_maps();
  template <class Real>
  void write_rounds(const Rounds& rounds, int axis, double spread);
  struct Axes {
    int begin, end;
  };
  void diffuse(const Part& part, int component, const Axes& axes, const Interval& interval,
               std::optional<double> instant);
  // All rounds of a component along an axis, and when what comes in meanwhile does so.
  struct Task {
    const Rounds& rounds;
    int component;
    Interval interval;
  };
  // How many of them, or which one, as `name`, and what kernels take of the task besides; `first`
  // of all that are done.
  void add_task(Launch& launch, const Lines& lines, const Task& task, const char* name,
                size_t number, size_t first = 0) const;
  void diffuse_held(const Lines& lines, Field& field, const Task& task) const;
  // Does some rounds from the first one on, and tells how many, and of how many nodes for the
  // `nodes` of a line that are left.
  struct Done {
    size_t rounds;
    int64_t nodes;
  };
  Done do_segments(const Lines& lines, const Field& source, Field& target, const Task& task,
                   size_t first, int64_t nodes) const;
  Done do_round(const Lines& lines, int axis, const Field& source, Field& target, const Task& task,
                size_t number, int64_t nodes) const;
  void count(const Lines& lines, int axis, const Field& field, double factor,
             const Task& task) const;

  Fields fields_;
  std::vector<double> viscosities_;
  Inflow inflow_;
  int axes_;
  std::vector<Part> parts_;
  // Of a part of a grid: what diffuses along each axis that is cut, on some lines that are whole;
  // null where there are none.
  std::array<std::unique_ptr<Diffusion>, 3> along_cut_;
  // Of one component, where lines are not held: another one of it, and two where fields have fewer
  // digits than the arithmetic, so that rounds between are not rounded.
  std::array<std::shared_ptr<Field>, 2> scratch_;
  std::map<std::pair<int, double>, Rounds> rounds_;  // by axis and spread
  std::vector<Maps> maps_;                           // of each axis
  std::unique_ptr<Buffer> on_device_;                // all rounds
  std::unique_ptr<Buffer> weights_;                  // of all maps, then of all means
  size_t weights_of_maps_ = 0;
  bool maps_are_written_ = false;
  mutable std::mutex mutex_;  // one caller at a time
};

}  // namespace particles
