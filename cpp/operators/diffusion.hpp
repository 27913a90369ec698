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

  // Enqueues: diffuses in place over an interval that does not go back. `moment`: when what comes
  // in meanwhile does so; by default, evenly from the beginning to the end.
  void apply(const Interval& interval, std::optional<double> moment = std::nullopt);

  // Waits. As of a sweep: what has left through the ends of an axis so far, less what has come in.
  std::vector<std::array<double, 2>> crossed(int axis) const;

 private:
  // All lines along an axis of one field.
  struct Lines {
    LinePlan plan;
    bool held;  // by a work-item each through all rounds, which overwrites them in place
    Range range;
    std::array<Kernel, 3> kernels;    // of each kind of round; the first of held lines
    Kernel moments;                   // and where they are summed up; only where
    std::unique_ptr<Buffer> crossed;  // something comes in
    Range range_of_moments;
    int lanes_of_moments;
  };
  struct Rounds {
    std::vector<DiffusionRound> of;
    size_t first;  // of those on the device
  };
  struct Part {
    std::shared_ptr<Field> field;
    int first;  // of its components, among those of all fields
    std::vector<Lines> axes;
  };

  const Field& first() const { return *fields_.front(); }
  bool takes_in(int axis) const;
  Lines lines_along(const Field& field, int axis, int first) const;
  size_t bytes_of_round() const;
  const Rounds& rounds(int axis, double spread);
  void diffuse(const Part& part, int component, const Interval& interval,
               std::optional<double> moment);
  // All rounds of a component along an axis, and when what comes in meanwhile does so.
  struct Task {
    const Rounds& rounds;
    int component;
    Interval interval;
  };
  // How many of them, or which one, as `name`, and what kernels take of the task besides.
  void add_task(Launch& launch, const Lines& lines, const Task& task, const char* name,
                size_t number) const;
  void diffuse_held(const Lines& lines, Field& field, const Task& task) const;
  void do_round(const Lines& lines, int axis, const Field& source, Field& target, const Task& task,
                size_t number) const;
  void count(const Lines& lines, int axis, const Field& field, double factor,
             const Task& task) const;

  Fields fields_;
  std::vector<double> viscosities_;
  Inflow inflow_;
  std::vector<Part> parts_;
  // Of one component, where lines are not held: another one of it, and two where fields have fewer
  // digits than the arithmetic, so that rounds between are not rounded.
  std::array<std::shared_ptr<Field>, 2> scratch_;
  std::map<std::pair<int, double>, Rounds> rounds_;  // by axis and spread
  std::unique_ptr<Buffer> on_device_;                // all of them
  mutable std::mutex mutex_;                         // one caller at a time
};

}  // namespace particles
