// SPDX-License-Identifier: BSD-3-Clause
#include "stepping/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace particles {
namespace {

constexpr double kNearlyEqual = 1.01;

std::vector<int> ascending_axes(size_t ndim) {
  std::vector<int> axes(ndim);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// Neighbours along one axis are one part.
void append(std::vector<Stage>& stages, const Stage& stage) {
  if (!stages.empty() && stages.back().axis == stage.axis)
    stages.back().length += stage.length;
  else
    stages.push_back(stage);
}

void append_strang(std::vector<Stage>& stages, const std::vector<int>& parts, double begin,
                   double length) {
  const double half = length / 2;
  const auto last = parts.end() - 1;
  for (auto part = parts.begin(); part != last; ++part) append(stages, {*part, begin, half});
  append(stages, {*last, begin, length});
  for (auto part = last; part != parts.begin();) append(stages, {*--part, begin + half, half});
}

}  // namespace

std::optional<Stage> joint_of(const Schedules& schedules) {
  const std::vector<Stage>& stages = schedules.joined;
  const Stage& first = stages.front();
  if (stages.size() == 1 || stages.back().axis != first.axis) return std::nullopt;
  return first;
}

bool take_fewer(const Schedules& schedules, double joined, double closed, double alone) {
  const auto parts_of = [](const std::vector<Stage>& stages) { return 1.0 * stages.size(); };
  return joined * (parts_of(schedules.joined) - 1) + closed < alone * parts_of(schedules.single);
}

std::vector<int> axes_of_steps(const std::vector<double>& strain_per_axis) {
  const double least = *std::min_element(strain_per_axis.begin(), strain_per_axis.end());
  std::vector<int> axes = ascending_axes(strain_per_axis.size());
  const auto full = std::find_if(axes.rbegin(), axes.rend(), [&](int axis) {
    return strain_per_axis[axis] <= kNearlyEqual * least;
  });
  std::rotate(full.base() - 1, full.base(), axes.end());
  return axes;
}

std::vector<int> axes_of_joined_steps(const std::vector<double>& strain_per_axis) {
  std::vector<int> axes = axes_of_steps(strain_per_axis);
  if (axes.size() == 3 && strain_per_axis[axes[0]] > kNearlyEqual * strain_per_axis[axes[1]])
    std::swap(axes[0], axes[1]);
  return axes;
}

std::vector<Stage> schedule_of(int order, const std::vector<int>& axes, bool has_source,
                               bool has_diffusion) {
  std::vector<Stage> stages;
  std::vector<int> parts = axes;
  if (order == 1) {
    std::sort(parts.begin(), parts.end());
    if (has_source) parts.push_back(kSource);
    if (has_diffusion) parts.push_back(kDiffusion);
    for (const int part : parts) stages.push_back({part, 0, 1});
    return stages;
  }
  if (has_diffusion) std::reverse(parts.begin(), parts.end());
  if (has_source)
    parts.insert(has_diffusion || parts.empty() ? parts.end() : parts.end() - 1, kSource);
  if (has_diffusion) parts.push_back(kDiffusion);
  if (order == 2) {
    append_strang(stages, parts, 0, 1);
    return stages;
  }
  const double p = 1 / (4 - std::cbrt(4.0)), back = 1 - 4 * p;
  append_strang(stages, parts, 0, p);
  append_strang(stages, parts, p, p);
  append_strang(stages, parts, 2 * p, back);
  append_strang(stages, parts, 1 - 2 * p, p);
  append_strang(stages, parts, 1 - p, p);
  return stages;
}

}  // namespace particles
