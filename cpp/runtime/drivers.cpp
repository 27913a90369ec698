// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/drivers.hpp"

#include <dlfcn.h>

#include <mutex>

#include "runtime/error.hpp"

namespace particles {

namespace {

using GetFunction = void* (*)(const char*);
using GetPlatforms = cl_int (*)(cl_uint, cl_platform_id*, cl_uint*);

std::mutex adding;
auto& added = *new std::vector<cl_platform_id>;  // never destroyed: threads may outlast it

// How a loader finds a driver's platforms: the one function it takes by name gives the other.
GetPlatforms platform_function(const std::string& path) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw DeviceError("OpenCL driver " + path + " cannot be opened: " + dlerror());
  const auto get_function =
      reinterpret_cast<GetFunction>(dlsym(handle, "clGetExtensionFunctionAddress"));
  void* const function = get_function ? get_function("clIcdGetPlatformIDsKHR") : nullptr;
  if (function) return reinterpret_cast<GetPlatforms>(function);
  dlclose(handle);
  throw DeviceError(path + " is not an OpenCL driver: it lacks clIcdGetPlatformIDsKHR");
}

}  // namespace

void add_driver(const std::string& path) {
  const GetPlatforms get_platforms = platform_function(path);
  cl_uint count = 0;
  check(get_platforms(0, nullptr, &count), "clIcdGetPlatformIDsKHR", path);
  std::vector<cl_platform_id> ids(count);
  check(get_platforms(count, ids.data(), nullptr), "clIcdGetPlatformIDsKHR", path);
  const std::lock_guard<std::mutex> lock(adding);
  added.insert(added.end(), ids.begin(), ids.end());
}

std::vector<cl_platform_id> platforms_of_added_drivers() {
  const std::lock_guard<std::mutex> lock(adding);
  return added;
}

}  // namespace particles
