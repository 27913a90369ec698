// SPDX-License-Identifier: BSD-3-Clause
// The OpenCL functions the core uses, found at run time: nothing is linked against libOpenCL.
#pragma once

#include <string>

#include "runtime/opencl.hpp"

namespace particles {

// One line per function; the struct, the loader and any shim are made from this list.
#define PARTICLES_OPENCL_FUNCTIONS(X) \
  X(clGetPlatformIDs)                 \
  X(clGetPlatformInfo)                \
  X(clGetDeviceIDs)                   \
  X(clGetDeviceInfo)                  \
  X(clCreateContext)                  \
  X(clRetainContext)                  \
  X(clReleaseContext)                 \
  X(clCreateCommandQueue)             \
  X(clGetCommandQueueInfo)            \
  X(clRetainCommandQueue)             \
  X(clReleaseCommandQueue)            \
  X(clCreateProgramWithSource)        \
  X(clCreateProgramWithBinary)        \
  X(clBuildProgram)                   \
  X(clCompileProgram)                 \
  X(clLinkProgram)                    \
  X(clGetProgramInfo)                 \
  X(clGetProgramBuildInfo)            \
  X(clReleaseProgram)                 \
  X(clCreateKernel)                   \
  X(clSetKernelArg)                   \
  X(clGetKernelInfo)                  \
  X(clGetKernelArgInfo)               \
  X(clReleaseKernel)                  \
  X(clCreateBuffer)                   \
  X(clGetSupportedImageFormats)       \
  X(clCreateImage)                    \
  X(clGetMemObjectInfo)               \
  X(clRetainMemObject)                \
  X(clReleaseMemObject)               \
  X(clSetMemObjectDestructorCallback) \
  X(clEnqueueNDRangeKernel)           \
  X(clEnqueueReadBuffer)              \
  X(clEnqueueWriteBuffer)             \
  X(clEnqueueReadBufferRect)          \
  X(clEnqueueWriteBufferRect)         \
  X(clEnqueueFillBuffer)              \
  X(clEnqueueCopyBufferToImage)       \
  X(clEnqueueMapBuffer)               \
  X(clEnqueueUnmapMemObject)          \
  X(clFinish)                         \
  X(clFlush)                          \
  X(clEnqueueMarkerWithWaitList)      \
  X(clEnqueueBarrierWithWaitList)     \
  X(clWaitForEvents)                  \
  X(clGetEventInfo)                   \
  X(clGetEventProfilingInfo)          \
  X(clReleaseEvent)

struct EntryPoints {
#define PARTICLES_DECLARE(name) decltype(&::name) name = nullptr;
  PARTICLES_OPENCL_FUNCTIONS(PARTICLES_DECLARE)
#undef PARTICLES_DECLARE
};

// Opens the loader (or a driver that can stand alone) at `path` and takes its functions; throws
// DeviceError saying which file or function is missing. Loading a second library is an error, the
// same one again is not.
void load_opencl(const std::string& path);

bool opencl_is_loaded();

// True in a process forked from the one that loaded the library: the drivers' threads are not
// there, so nothing may be called, not even a release.
bool opencl_is_forked();

// The functions of the loaded library; throws DeviceError when none is loaded.
const EntryPoints& cl();

}  // namespace particles
