// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/launch.hpp"

#include "runtime/error.hpp"

namespace particles {

namespace {

struct ArgumentBytes {
  size_t size;
  const void* value;
};

ArgumentBytes bytes_of(const Argument& argument) {
  return std::visit(
      [](const auto& value) -> ArgumentBytes {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, LocalMemory>) {
          return {value.bytes, nullptr};
        } else {
          return {sizeof(value), &value};
        }
      },
      argument);
}

std::string sizes_text(const Range& range) {
  const auto product = [](const std::array<size_t, 3>& sizes) {
    return std::to_string(sizes[0]) + "×" + std::to_string(sizes[1]) + "×" +
           std::to_string(sizes[2]);
  };
  return product(range.global) + " work-items" +
         (range.local[0] ? " in groups of " + product(range.local) : "");
}

}  // namespace

std::string Name::text() const {
  std::string text;
  for (size_t k = 0; k < count_; ++k) {
    text += pieces_[k].text;
    if (pieces_[k].number != kNone) text += std::to_string(pieces_[k].number);
  }
  return text;
}

void Launch::check(const Name& name, size_t index) const {
  const std::string given = name.text(), kernel = "kernel " + kernel_.name();
  const size_t count = kernel_.argument_count();
  if (index >= count)
    throw DeviceError(kernel + " takes " + std::to_string(count) +
                      " arguments and was given one more, " + given);
  const std::string& expected = kernel_.argument_names()[index];
  if (given != expected)
    throw DeviceError(kernel + " expects " + expected + " as argument " + std::to_string(index) +
                      " of " + std::to_string(count) + " and was given " + given);
}

void Launch::set_arguments(const std::string& device) const {
  const size_t given = arguments_.size(), count = kernel_.argument_count();
  if (given < count) {
    const auto& names = kernel_.argument_names();
    throw DeviceError("kernel " + kernel_.name() + " takes " + std::to_string(count) +
                      " arguments and was given " + std::to_string(given) + " on " + device +
                      (names.empty() ? "" : "; the next is " + names[given]));
  }
  for (size_t index = 0; index < given; ++index) {
    const ArgumentBytes argument = bytes_of(arguments_[index]);
    const cl_int code = cl().clSetKernelArg(kernel_.get(), static_cast<cl_uint>(index),
                                            argument.size, argument.value);
    if (code != CL_SUCCESS)
      particles::check(code, "clSetKernelArg", device,
                       "kernel " + kernel_.name() + ", argument " + std::to_string(index) + " of " +
                           std::to_string(given) + ", " + std::to_string(argument.size) + " bytes");
  }
}

Event Launch::enqueue(cl_command_queue queue, const std::string& device) const {
  const std::lock_guard<std::mutex> lock(kernel_.launching());
  set_arguments(device);
  cl_event event = nullptr;
  const cl_int code = cl().clEnqueueNDRangeKernel(
      queue, kernel_.get(), 3, nullptr, range_.global.data(),
      range_.local[0] ? range_.local.data() : nullptr, 0, nullptr, &event);
  if (code != CL_SUCCESS)
    particles::check(code, "clEnqueueNDRangeKernel", device,
                     "kernel " + kernel_.name() + ", " + sizes_text(range_));
  return Event(event);
}

}  // namespace particles
