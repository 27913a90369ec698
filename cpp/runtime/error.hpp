// SPDX-License-Identifier: BSD-3-Clause
// Failures of a device: which call, which code by name, on which device.
#pragma once

#include <stdexcept>
#include <string>

#include "runtime/opencl.hpp"

namespace particles {

class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class OutOfMemoryError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

// A program that did not build; `log` is what the device's compiler wrote.
class BuildError : public DeviceError {
 public:
  BuildError(const std::string& message, std::string log)
      : DeviceError(message), log_(std::move(log)) {}
  const std::string& log() const { return log_; }

 private:
  std::string log_;
};

std::string code_name(cl_int code);

// Throws OutOfMemoryError or DeviceError unless code is CL_SUCCESS. `call` is the OpenCL function,
// `device` the device's name (may be empty), `detail` what was being done ("kernel sweep, 256
// work-items").
void check(cl_int code, const char* call, const std::string& device,
           const std::string& detail = "");

}  // namespace particles
