// SPDX-License-Identifier: BSD-3-Clause
// How a sweep is laid out on a device. All forms add up every node in the same order.
#pragma once

#include <optional>

#include "fields/field.hpp"
#include "runtime/device.hpp"

namespace particles {

// Where the sums of a line's nodes lie, or what values are read from.
enum class LineKind {
  lanes,          // in private memory, several neighbouring lines side by side in a vector: what
                  // CPUs need
  private_lines,  // in private memory, a line per work-item
  local_lines,    // in local memory, a line per work-item, lines side by side in memory: what GPUs
                  // need
  global_lines,   // in the result itself
  registers,      // in registers, and then in the result, which is not where the particles are: a
                  // work-item walks along a line
  team,           // each in the register of a work-item: a work-group takes a line, and particles
                  // tell each other in local memory what they give
};

const char* name_of(LineKind kind);

// What a user, a test or a tuner chooses; unset means what suits the device.
struct Form {
  std::optional<LineKind> kind;
  std::optional<int> lanes;        // lines of a vector
  std::optional<bool> copied;      // the line of the velocity, to private memory
  std::optional<bool> transposed;  // copies of the fields, for lines along the last axis
  std::optional<bool> images;      // the velocity is read from one
  std::optional<int> group;        // work-items of a work-group
  std::optional<int> tiles;        // of a work-item
  std::optional<int> nodes;        // of a line, whose sums a work-item or a team holds at once
};

LineKind kind_for(const Form& form, const Device& device);
int lanes_for(const Form& form, const Device& device, DType dtype);

// Throws std::invalid_argument where a device cannot do it.
void check_form(const Form& form, const Device& device, DType dtype);

}  // namespace particles
