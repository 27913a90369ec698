// SPDX-License-Identifier: BSD-3-Clause
// The parts of a time step, in their order.
#pragma once

#include <optional>
#include <vector>

namespace particles {

// What stands for the source, and for diffusion, where an axis is expected.
constexpr int kSource = -1, kDiffusion = -2;

// One part of a step: a sweep along `axis`, the source, or diffusion, over [begin, begin + length]
// in units of the step; backwards where the length is negative.
struct Stage {
  int axis;
  double begin, length;
  bool operator==(const Stage& o) const {
    return axis == o.axis && begin == o.begin && length == o.length;
  }
};

// The parts of a step alone, and of joined ones.
struct Schedules {
  std::vector<Stage> single, joined;
  bool operator==(const Schedules& o) const { return single == o.single && joined == o.joined; }
};

// The part that is done together with the last one of the step before, where steps can be joined.
std::optional<Stage> joint_of(const Schedules& schedules);

// Whether some joined steps take fewer parts than others alone. Each saves one; `closed` times the
// last half of a joint is done by itself.
bool take_fewer(const Schedules& schedules, double joined, double closed, double alone);

// A step with a length of its own, after which it is `end`. It is joined to those before and after
// it that are `joined`, too.
struct FittedStep {
  double begin, dt, end;
  Schedules schedules;
  bool joined;
};

// The axes of a Strang step A/2 B/2 C B/2 A/2, from the outside in, by their strain. C, swept
// whole, is the least strained one; of those that are nearly equal, the last.
std::vector<int> axes_of_steps(const std::vector<double>& strain_per_axis);

// The same where steps are joined, and A is swept whole as well: it is the less strained of the
// other two; if they are nearly equal, the first.
std::vector<int> axes_of_joined_steps(const std::vector<double>& strain_per_axis);

// Parts of order 1 (Lie), 2 (Strang) or 4. The source comes after the sweeps in Lie's, and on
// either side of the sweep C in Strang's. Diffusion comes last; it costs more than a sweep, so in
// Strang's it is in the middle, within the source, and all axes are swept in halves, the least
// strained one outermost, where steps are joined. Order 4 is made of five Strang steps (Suzuki
// 1990), of lengths
//     p, p, 1 - 4p, p, p    with p = 1 / (4 - 4^(1/3)),
// whose outer halves are joined: 4 p^3 + (1 - 4p)^3 = 0 cancels the error of order 3.
std::vector<Stage> schedule_of(int order, const std::vector<int>& axes, bool has_source,
                               bool has_diffusion);

}  // namespace particles
