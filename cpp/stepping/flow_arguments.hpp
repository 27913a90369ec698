// SPDX-License-Identifier: BSD-3-Clause
// What kernels that follow a velocity along all axes at once are told of it. Of the three axes that
// they see, those that a box lacks come first.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "motion/velocity.hpp"
#include "runtime/launch.hpp"

namespace particles {

// Negative where the box lacks the k-th of three.
inline int axis_of(int k, int ndim) { return k - (3 - ndim); }

// Values on the points of a grid, from so many rows after the first one on.
void add_points(Launch& launch, const Name& name, const Field& field, int64_t row = 0);

void add_reals(Launch& launch, const char* name, const std::array<double, 3>& values, int ndim,
               DType dtype);

struct NamedInstant {
  const char* name;
  double time;
};

// As kernels of a push call them.
std::vector<NamedInstant> named_instants_of(const Interval& piece);

// How a velocity counts times: from 0 at one of a series to 1 at the next one.
struct Clock {
  size_t level = 0;
  double begin = 0, unit = 1;
};

// Of a series: between the times that these instants lie between.
Clock clock_of(const Velocity& velocity, const std::vector<NamedInstant>& instants);

void add_instants(Launch& launch, const std::vector<NamedInstant>& instants, const Clock& clock,
                  DType dtype);

}  // namespace particles
