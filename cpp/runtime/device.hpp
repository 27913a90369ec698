// SPDX-License-Identifier: BSD-3-Clause
// What OpenCL devices there are and what each can do. Nothing is created on a device here.
#pragma once

#include <string>
#include <vector>

#include "runtime/entry_points.hpp"

namespace particles {

struct Device {
  cl_device_id id = nullptr;
  cl_platform_id platform = nullptr;
  int index = -1;  // place in the list of all devices; -1 for a device that came from outside
  std::string name, platform_name, platform_version, vendor, version, c_version, driver, extensions;
  cl_device_type type = 0;
  cl_uint compute_units = 0;
  cl_ulong global_memory = 0, largest_allocation = 0, local_memory = 0, cache_size = 0;
  // Local memory of a compute unit for all of its groups, at least.
  cl_ulong unit_memory = 0;
  size_t largest_work_group = 0;
  cl_uint native_float_width = 1;
  bool has_double = false;
  bool has_images = false;  // as the driver says; a context's device: images of single floats
  bool has_fma = false;     // as the driver says: of floats
  // What kernels may use. A CPU's driver is tried out in a process of its own, and a copy tells
  // what was found; until then its vectors are the narrowest.
  size_t widest_vector = 16;  // bytes
  bool vector_fma = false;    // a*b+c of such vectors is rounded once

  // A simulator of GPUs says that it is a CPU, too.
  bool is_cpu() const { return (type & CL_DEVICE_TYPE_CPU) != 0 && !is_gpu(); }
  bool is_gpu() const { return (type & CL_DEVICE_TYPE_GPU) != 0; }
  bool is_simulator() const { return is_gpu() && (type & CL_DEVICE_TYPE_CPU) != 0; }
  size_t vector_bytes() const { return widest_vector; }
  bool has_vector_fma() const { return vector_fma; }

  // Quirks: each is asked for by what it means, decided here, with its reason beside it in
  // device.cpp.
  bool is_pocl() const;
  bool caches_programs()
      const;  // the driver keeps its own binaries on disk, ours would be a second copy
  bool needs_linker()
      const;  // the driver starts `ld` when a kernel first runs, and aborts without it
  bool reads_header() const;  // the driver reads Clang's header of OpenCL for each program, unless
                              // a macro says that this has been done
  bool fuses_by_contraction() const;  // the compiler makes one instruction of a*b+c where it may,
                                      // but not of fma()
};

struct Platform {
  std::string name, vendor, version;
  std::vector<Device> devices;
  std::string error;  // why the platform or its devices could not be listed; empty when all is well
};

// Every platform of the loaded library and of added drivers, each once; one that fails is listed
// with its error. Throws DeviceError only when no library is loaded.
std::vector<Platform> list_platforms();

// Everything about one device, for a context that came from outside.
Device describe(cl_device_id id);

}  // namespace particles
