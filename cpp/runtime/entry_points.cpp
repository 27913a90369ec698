// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/entry_points.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "runtime/error.hpp"

namespace particles {

namespace {

struct Library {
  void* handle = nullptr;
  std::string path;
  EntryPoints functions;
  pid_t process = 0;
};

std::mutex loading;
// Set once. Never destroyed: a thread may be at work when the process ends.
std::atomic<const Library*> library{nullptr};

void* open_library(const std::string& path) {
  // A library that is already in the process, such as pyopencl's, is shared and not opened again.
  if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD)) return handle;
  if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  throw DeviceError("OpenCL library " + path + " cannot be opened: " + dlerror());
}

void* symbol(void* handle, const char* name, std::string& missing) {
  void* found = dlsym(handle, name);
  if (!found) missing += (missing.empty() ? "" : ", ") + std::string(name);
  return found;
}

std::string take_functions(void* handle, EntryPoints& functions) {
  std::string missing;
#define PARTICLES_TAKE(name) \
  functions.name = reinterpret_cast<decltype(functions.name)>(symbol(handle, #name, missing));
  PARTICLES_OPENCL_FUNCTIONS(PARTICLES_TAKE)
#undef PARTICLES_TAKE
  return missing;
}

}  // namespace

void load_opencl(const std::string& path) {
  const std::lock_guard<std::mutex> lock(loading);
  auto opened = std::make_unique<Library>();
  opened->handle = open_library(path);
  opened->path = path;
  opened->process = getpid();
  const Library* const used = library;
  if (used) {
    dlclose(opened->handle);
    if (opened->handle == used->handle) return;
    throw DeviceError("OpenCL library " + path + " asked for, but " + used->path +
                      " is already in use; one process uses one library");
  }
  const std::string missing = take_functions(opened->handle, opened->functions);
  if (!missing.empty()) {
    dlclose(opened->handle);
    throw DeviceError(path + " is not an OpenCL 1.2 library: it lacks " + missing);
  }
  library = opened.release();
}

bool opencl_is_loaded() { return library != nullptr; }

bool opencl_is_forked() {
  const Library* const used = library;
  return used && used->process != getpid();
}

const EntryPoints& cl() {
  const Library* const used = library;
  if (!used) throw DeviceError("no OpenCL library is loaded");
  return used->functions;
}

}  // namespace particles
