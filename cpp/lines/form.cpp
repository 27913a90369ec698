// SPDX-License-Identifier: BSD-3-Clause
#include "lines/form.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace particles {
namespace {

// A CPU runs the work-items of a group one after the other, each with private memory of its own,
// on the stack of a thread.
constexpr int kMostOnOneStack = 16;

int largest_group(const Form& form, const Device& device, DType dtype) {
  const auto largest = static_cast<int>(device.largest_work_group);
  if (!device.is_cpu()) return largest;
  if (lanes_for(form, device, dtype) > 1) return 1;
  const LineKind kind = kind_for(form, device);
  const bool is_private = kind == LineKind::private_lines || form.copied.value_or(false);
  return is_private ? std::min(kMostOnOneStack, largest) : largest;
}

void check_at_most(int most, const std::optional<int>& wanted, const std::string& what,
                   const Device& device) {
  if (wanted.value_or(1) > most)
    throw std::invalid_argument("form: expected at most " + std::to_string(most) + " " + what +
                                " on " + device.name + ", got " + std::to_string(*wanted));
}

}  // namespace

const char* name_of(LineKind kind) {
  switch (kind) {
    case LineKind::lanes:
      return "lanes";
    case LineKind::private_lines:
      return "private";
    case LineKind::local_lines:
      return "local";
    case LineKind::registers:
      return "registers";
    case LineKind::team:
      return "team";
    default:
      return "global";
  }
}

LineKind kind_for(const Form& form, const Device& device) {
  if (form.kind) return *form.kind;
  if (!device.is_cpu()) return LineKind::registers;
  return form.images.value_or(false) ? LineKind::private_lines : LineKind::lanes;
}

int lanes_for(const Form& form, const Device& device, DType dtype) {
  const LineKind kind = kind_for(form, device);
  const bool fills_vectors =
      kind == LineKind::lanes ||
      (kind == LineKind::global_lines && device.is_cpu() && !form.images.value_or(false));
  constexpr int kFewest = 4;  // that the kernels are written for, but one
  const auto that_fit = static_cast<int>(device.vector_bytes() / size_of(dtype));
  return form.lanes.value_or(fills_vectors && that_fit >= kFewest ? that_fit : 1);
}

void check_form(const Form& form, const Device& device, DType dtype) {
  if (form.images.value_or(false)) {
    if (!device.has_images)
      throw std::invalid_argument("form: expected no images on " + device.name +
                                  ", which has none");
    if (lanes_for(form, device, dtype) > 1)
      throw std::invalid_argument("form: expected no images with lanes");
    if (dtype != DType::float32)
      throw std::invalid_argument("form: expected no images of " + std::string(name_of(dtype)) +
                                  ", which they cannot hold");
  }
  const auto widest = static_cast<int>(device.vector_bytes() / size_of(dtype));
  check_at_most(widest, form.lanes, "lanes of " + std::string(name_of(dtype)), device);
  check_at_most(largest_group(form, device, dtype), form.group, "such work-items in a group",
                device);
}

}  // namespace particles
