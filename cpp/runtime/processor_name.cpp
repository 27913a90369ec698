// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/processor_name.hpp"

#include <dlfcn.h>

#include <cstring>
#include <mutex>

#include "runtime/error.hpp"

namespace particles {

namespace {

using BuildHash = char* (*)(cl_device_id);

std::mutex telling;
// What a driver was told, which it keeps pointers to. Never destroyed: its threads may outlast it.
auto& told_name = *new std::string;
auto& told_hash = *new std::string;

// The driver frees it.
char* build_hash(cl_device_id) { return strdup(told_hash.c_str()); }

template <class T>
T& at(void* object, size_t offset) {
  return *reinterpret_cast<T*>(static_cast<char*>(object) + offset);
}

Dl_info found_library(const Device& device) {
  // Every object of a driver begins with the address of its table of functions.
  const auto* const functions = at<void* const*>(device.id, 0);
  Dl_info info{};
  if (!dladdr(functions[0], &info) || !info.dli_fname)
    throw DeviceError("the library of the driver of " + device.name + " was not found");
  return info;
}

}  // namespace

std::string library_of(const Device& device) { return found_library(device).dli_fname; }

void tell_processor(const Device& device, const DriverLayout& layout, const std::string& name,
                    const std::string& hash) {
  const std::lock_guard<std::mutex> lock(telling);
  const char*& processor = at<const char*>(device.id, layout.processor);
  if (processor == told_name.c_str() && name == told_name) return;
  const std::string known = processor;
  const bool is_own =
      known == "generic" ||
      (device.version.size() > known.size() &&
       device.version.compare(device.version.size() - known.size(), known.size(), known) == 0);
  if (!is_own)
    throw DeviceError("the driver of " + device.name + " compiles for " + known +
                      " and is not told of " + name);
  // Later its parts would compile for different processors: one that takes vectors of 64 bytes, and
  // one that cannot split them.
  if (at<size_t>(found_library(device).dli_fbase, layout.compilers) > 0)
    throw DeviceError("the driver of " + device.name + " has compiled for " + known +
                      " already and is not told of " + name);
  told_name = name;
  told_hash = hash;
  processor = told_name.c_str();
  at<BuildHash>(at<void*>(device.id, layout.operations), layout.build_hash) = build_hash;
}

}  // namespace particles
