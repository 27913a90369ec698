// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/device.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "runtime/drivers.hpp"
#include "runtime/error.hpp"

namespace particles {

namespace {

template <class Query, class Object, class Name>
std::string ask_text(Query query, const char* call, Object object, Name name) {
  size_t size = 0;
  check(query(object, name, 0, nullptr, &size), call, "");
  std::string text(size, '\0');
  if (size > 0) check(query(object, name, size, text.data(), nullptr), call, "");
  while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) text.pop_back();
  text.erase(0, text.find_first_not_of(' '));
  return text;
}

std::string platform_text(cl_platform_id platform, cl_platform_info name) {
  return ask_text(cl().clGetPlatformInfo, "clGetPlatformInfo", platform, name);
}

std::string device_text(cl_device_id device, cl_device_info name) {
  return ask_text(cl().clGetDeviceInfo, "clGetDeviceInfo", device, name);
}

template <class T>
T device_value(cl_device_id device, cl_device_info name) {
  T value{};
  check(cl().clGetDeviceInfo(device, name, sizeof(T), &value, nullptr), "clGetDeviceInfo", "");
  return value;
}

bool has_extension(const std::string& extensions, const std::string& name) {
  return (" " + extensions + " ").find(" " + name + " ") != std::string::npos;
}

std::vector<cl_platform_id> platform_ids() {
  constexpr cl_int kNoPlatform = -1001;  // CL_PLATFORM_NOT_FOUND_KHR, of the loader
  cl_uint count = 0;
  const cl_int code = cl().clGetPlatformIDs(0, nullptr, &count);
  if (code == kNoPlatform || (code == CL_SUCCESS && count == 0)) return {};
  check(code, "clGetPlatformIDs", "");
  std::vector<cl_platform_id> ids(count);
  check(cl().clGetPlatformIDs(count, ids.data(), nullptr), "clGetPlatformIDs", "");
  return ids;
}

std::vector<cl_device_id> device_ids(cl_platform_id platform) {
  cl_uint count = 0;
  const cl_int code = cl().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  if (code == CL_DEVICE_NOT_FOUND || (code == CL_SUCCESS && count == 0)) return {};
  check(code, "clGetDeviceIDs", "");
  std::vector<cl_device_id> ids(count);
  check(cl().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr),
        "clGetDeviceIDs", "");
  return ids;
}

void check_usable(const Device& device) {
  const auto is_true = [&device](cl_device_info name) {
    return device_value<cl_bool>(device.id, name) == CL_TRUE;
  };
  if (!is_true(CL_DEVICE_AVAILABLE)) throw DeviceError(device.name + " is not available");
  if (!is_true(CL_DEVICE_COMPILER_AVAILABLE)) throw DeviceError(device.name + " has no compiler");
}

void add_error(Platform& platform, const std::string& error) {
  platform.error += (platform.error.empty() ? "" : "; ") + error;
}

void add_devices(Platform& platform, cl_platform_id id, int& next_index) {
  for (cl_device_id device_id : device_ids(id)) {
    try {
      Device device = describe(device_id);
      check_usable(device);
      device.index = next_index;
      platform.devices.push_back(std::move(device));
      ++next_index;
    } catch (const DeviceError& error) {
      add_error(platform, std::string("a device was left out: ") + error.what());
    }
  }
}

Platform list_platform(cl_platform_id id, int& next_index) {
  Platform platform;
  try {
    platform.name = platform_text(id, CL_PLATFORM_NAME);
    platform.vendor = platform_text(id, CL_PLATFORM_VENDOR);
    platform.version = platform_text(id, CL_PLATFORM_VERSION);
    add_devices(platform, id, next_index);
  } catch (const DeviceError& error) {
    add_error(platform, error.what());
  }
  return platform;
}

// "OpenCL 3.0 PoCL 3.1+debian ..." gives {3, 1}.
std::pair<int, int> pocl_version(const std::string& platform_version) {
  std::pair<int, int> version{0, 0};
  const size_t place = platform_version.find("PoCL ");
  if (place != std::string::npos) {
    std::sscanf(platform_version.c_str() + place, "PoCL %d.%d", &version.first, &version.second);
  }
  return version;
}

bool has_fma(const Device& device) {
  const auto config = device_value<cl_device_fp_config>(device.id, CL_DEVICE_SINGLE_FP_CONFIG);
  return (config & CL_FP_FMA) != 0;
}

}  // namespace

bool Device::is_pocl() const { return platform_name == "Portable Computing Language"; }

// PoCL keeps its binaries under POCL_CACHE_DIR already.
bool Device::caches_programs() const { return is_pocl(); }

// From 7.2 on PoCL links its kernels by itself.
bool Device::needs_linker() const {
  return is_pocl() && is_cpu() && pocl_version(platform_version) < std::make_pair(7, 2);
}

// 18,000 lines, which take longer than most kernels. What it reads besides, types and constants
// among it, lies in another file. No later version has been tried.
bool Device::reads_header() const { return is_pocl() && pocl_version(platform_version).first == 3; }

// PoCL 3.0 calls a function for every fma() of a vector, and ends the process at the widest.
bool Device::fuses_by_contraction() const {
  return is_pocl() && pocl_version(platform_version) < std::make_pair(3, 1);
}

// OpenCL tells only what one group may have. 48 KB are assumed; of NVIDIA's devices those of
// compute capability 9 and 10 have 228 KB, and all others from 8 on 100 KB at least.
cl_ulong least_unit_memory(const Device& device) {
  constexpr cl_device_info kComputeCapability = 0x4000;  // CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV
  cl_ulong kilobytes = 48;
  if (has_extension(device.extensions, "cl_nv_device_attribute_query")) {
    const auto major = device_value<cl_uint>(device.id, kComputeCapability);
    kilobytes = major == 9 || major == 10 ? 228 : major >= 8 ? 100 : 48;
  }
  return std::max(kilobytes << 10, device.local_memory);
}

Device describe(cl_device_id id) {
  Device device;
  device.id = id;
  device.platform = device_value<cl_platform_id>(id, CL_DEVICE_PLATFORM);
  device.name = device_text(id, CL_DEVICE_NAME);
  device.platform_name = platform_text(device.platform, CL_PLATFORM_NAME);
  device.platform_version = platform_text(device.platform, CL_PLATFORM_VERSION);
  device.vendor = device_text(id, CL_DEVICE_VENDOR);
  device.version = device_text(id, CL_DEVICE_VERSION);
  device.c_version = device_text(id, CL_DEVICE_OPENCL_C_VERSION);
  device.driver = device_text(id, CL_DRIVER_VERSION);
  device.extensions = device_text(id, CL_DEVICE_EXTENSIONS);
  device.type = device_value<cl_device_type>(id, CL_DEVICE_TYPE);
  device.compute_units = device_value<cl_uint>(id, CL_DEVICE_MAX_COMPUTE_UNITS);
  device.global_memory = device_value<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_SIZE);
  device.largest_allocation = device_value<cl_ulong>(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  device.local_memory = device_value<cl_ulong>(id, CL_DEVICE_LOCAL_MEM_SIZE);
  device.unit_memory = least_unit_memory(device);
  device.cache_size = device_value<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  device.largest_work_group = device_value<size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  device.native_float_width = device_value<cl_uint>(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
  device.has_double = has_extension(device.extensions, "cl_khr_fp64");
  device.has_images = device_value<cl_bool>(id, CL_DEVICE_IMAGE_SUPPORT) == CL_TRUE;
  device.has_fma = device.vector_fma = has_fma(device);
  if (!device.is_cpu()) device.widest_vector = 64;
  return device;
}

std::vector<Platform> list_platforms() {
  std::vector<cl_platform_id> ids;
  try {
    ids = platform_ids();
  } catch (const DeviceError& error) {
    if (!opencl_is_loaded()) throw;
    Platform broken;
    broken.error = error.what();
    return {broken};
  }
  const std::vector<cl_platform_id> added = platforms_of_added_drivers();
  ids.insert(ids.end(), added.begin(), added.end());
  std::vector<Platform> platforms;
  std::vector<cl_platform_id> seen;  // a driver that is named twice comes twice
  int next_index = 0;
  for (cl_platform_id id : ids) {
    if (std::find(seen.begin(), seen.end(), id) != seen.end()) continue;
    seen.push_back(id);
    platforms.push_back(list_platform(id, next_index));
  }
  return platforms;
}

}  // namespace particles
