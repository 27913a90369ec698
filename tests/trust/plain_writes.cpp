// SPDX-License-Identifier: BSD-3-Clause
// Oclgrind as a library of OpenCL that writes buffers as a whole only. Oclgrind's check for memory
// that nobody has written understands no other write of the host: it passes fills and boxes by, and
// a write of a part makes it forget what it knew of the rest. So whatever the host writes to counts
// as written as a whole; what kernels alone write, and local and private memory, are checked in
// full. Nor is any buffer given back: the next one in its place would count as written where it was.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

#include <cstring>
#include <vector>

extern "C" {

cl_int clReleaseMemObject(cl_mem) { return CL_SUCCESS; }

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                            size_t size, const void* from, cl_uint waits, const cl_event* wait,
                            cl_event* event) {
  static const auto write = reinterpret_cast<decltype(&clEnqueueWriteBuffer)>(
      dlsym(RTLD_NEXT, "clEnqueueWriteBuffer"));
  size_t all = 0;
  const cl_int code = clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof(all), &all, nullptr);
  if (code != CL_SUCCESS || offset + size > all)  // is told of
    return write(queue, buffer, blocking, offset, size, from, waits, wait, event);
  std::vector<char> bytes(all);
  const cl_int read =
      clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, all, bytes.data(), waits, wait, nullptr);
  if (read != CL_SUCCESS) return read;
  std::memcpy(bytes.data() + offset, from, size);
  return write(queue, buffer, CL_TRUE, 0, all, bytes.data(), waits, wait, event);
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern,
                           size_t pattern_size, size_t offset, size_t size, cl_uint waits,
                           const cl_event* wait, cl_event* event) {
  std::vector<char> bytes(size);
  for (size_t i = 0; i < size; i += pattern_size)
    std::memcpy(bytes.data() + i, pattern, pattern_size);
  return clEnqueueWriteBuffer(queue, buffer, CL_TRUE, offset, size, bytes.data(), waits, wait,
                              event);
}

cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool, const size_t* at,
                                const size_t* host_at, const size_t* region, size_t row,
                                size_t slice, size_t host_row, size_t host_slice, const void* host,
                                cl_uint waits, const cl_event* wait, cl_event* event) {
  if (!row) row = region[0];
  if (!slice) slice = row * region[1];
  if (!host_row) host_row = region[0];
  if (!host_slice) host_slice = host_row * region[1];
  for (size_t z = 0; z < region[2]; z++)
    for (size_t y = 0; y < region[1]; y++) {
      const bool is_last = z + 1 == region[2] && y + 1 == region[1];
      const cl_int code = clEnqueueWriteBuffer(
          queue, buffer, CL_TRUE, at[0] + (at[1] + y) * row + (at[2] + z) * slice, region[0],
          static_cast<const char*>(host) + host_at[0] + (host_at[1] + y) * host_row +
              (host_at[2] + z) * host_slice,
          waits, wait, is_last ? event : nullptr);
      if (code != CL_SUCCESS) return code;
    }
  return CL_SUCCESS;
}

}  // extern "C"
