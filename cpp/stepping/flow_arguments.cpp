// SPDX-License-Identifier: BSD-3-Clause
#include "stepping/flow_arguments.hpp"

namespace particles {

void add_points(Launch& launch, const Name& name, const Field& field, int64_t row) {
  const Layout& layout = field.layout();
  launch.buffer(name, field.buffer())
      .uint64(name + "_offset", layout.offset + row * layout.stride[0])
      .int64(name + "_component", layout.component_stride);
  for (int k = 0; k < 3; k++) {
    const int axis = axis_of(k, field.grid().ndim);
    launch.int64(name + "_stride" + k, axis < 0 ? 0 : layout.stride[axis]);
  }
}

void add_reals(Launch& launch, const char* name, const std::array<double, 3>& values, int ndim,
               DType dtype) {
  for (int k = 0; k < 3; k++) {
    const int axis = axis_of(k, ndim);
    launch.add({name, k}, real_argument(dtype, axis < 0 ? 0 : values[axis]));
  }
}

std::vector<NamedInstant> named_instants_of(const Interval& piece) {
  const auto times = instants_of(piece);
  return {{"time", times[0]}, {"middle_time", times[1]}, {"end_time", times[2]}};
}

Clock clock_of(const Velocity& velocity, const std::vector<NamedInstant>& instants) {
  if (!velocity.is_series()) return {};
  const size_t level = velocity.level_at(instants[instants.size() / 2].time);
  const double begin = velocity.times[level];
  return {level, begin, velocity.times[level + 1] - begin};
}

void add_instants(Launch& launch, const std::vector<NamedInstant>& instants, const Clock& clock,
                  DType dtype) {
  for (const auto& [name, time] : instants)
    launch.add(name, real_argument(dtype, (time - clock.begin) / clock.unit));
}

}  // namespace particles
