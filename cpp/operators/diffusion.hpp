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
#include "operators/sweep.hpp"

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
    bool held;  // by a work-item each, which overwrites them in place
    opencl::Kernel kernel;
    opencl::Range range;
    std::unique_ptr<opencl::Buffer> crossed;  // of each component; none where nothing comes in
    int lanes;
  };
  struct Part {
    std::shared_ptr<Field> field;
    int first;  // of its components, among those of all fields
    std::vector<Lines> axes;
  };

  const Field& first() const { return *fields_.front(); }
  bool takes_in(int axis) const;
  Lines lines_along(const Field& field, int axis, int first) const;
  void diffuse(const Part& part, int component, const Interval& interval,
               std::optional<double> moment);
  void launch(const Part& part, int component, int axis, const DiffusionRound& round,
              const Interval& interval, Field& source, Field& target);
  const std::vector<DiffusionRound>& rounds(int axis, double spread);

  Fields fields_;
  std::vector<double> viscosities_;
  Inflow inflow_;
  std::vector<Part> parts_;
  std::shared_ptr<Field> scratch_;  // one component, where lines are not held
  std::map<std::pair<int, double>, std::vector<DiffusionRound>> rounds_;  // by axis and spread
  mutable std::mutex mutex_;                                              // one caller at a time
};

}  // namespace particles
