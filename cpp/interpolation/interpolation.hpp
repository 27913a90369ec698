// SPDX-License-Identifier: BSD-3-Clause
// Interpolation between particles anywhere in a box and the points of a grid of that box.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "arrays/workspace.hpp"
#include "fields/field.hpp"
#include "sets/particle_set.hpp"
#include "sweep/sweep_kind.hpp"

namespace particles {

// Weights are the products of a kernel's along each axis. Beyond a wall is the mirror image, beyond
// an open end the last point, in both directions, so that they are transposes of one another. All
// computes in the widest type of field, values and places; where particles carry integers of 32 or
// 64 bits in float64, if the device has it.
class Interpolation {
 public:
  // A window of particles_to_grid.cl has so many bytes at most, or one row.
  static constexpr int64_t kBytesOfWindow = 256 * 1024;

  Interpolation(std::shared_ptr<Context> context, const RemeshingKernel& kernel,
                int64_t bytes_of_window = kBytesOfWindow);

  // Sets the target, of real numbers, to the field at the particles, plus what they have `before`
  // if it adds. The cells of the particles are those of `box`. Enqueued.
  void to_particles(const Field& field, const Cells& box, const Places& places, const Array& before,
                    Array& target, bool adds);

  // Sets the field to the sums of what particles give, or adds them. The particles are sorted by
  // row, and begin there at `starts`. Enqueued.
  void to_grid(const Cells& box, const Places& places, const Array& starts, const Array& values,
               Field& field, bool adds);

  // The same with each component's particles in an order of its own, whatever theirs is: by cell,
  // then by the bits of their offsets, then by those of the component.
  void to_grid_in_any_order(const ParticleSet& set, const Places& places, const Array& values,
                            Field& field, bool adds);

 private:
  std::string options(const Cells& box, const Field& field, const Array& values,
                      const Array& offsets, bool by_rows) const;

  std::shared_ptr<Context> context_;
  Workspace workspace_;
  RemeshingKernel kernel_;
  int64_t bytes_of_window_;
};

}  // namespace particles
