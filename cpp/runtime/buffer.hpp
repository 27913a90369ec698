// SPDX-License-Identifier: BSD-3-Clause
// Device memory: owned or shared, with the transfers that move it. Knows bytes and rectangles, not
// grids.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "runtime/context.hpp"

namespace particles {

// A rectangle of bytes inside a buffer and inside host memory: {x in bytes, y in rows, z in
// slices}. Pitches of zero mean closely packed; a slice pitch is a multiple of its row pitch.
struct Rectangle {
  std::array<size_t, 3> region{1, 1, 1};                                   // x counts bytes
  size_t device_origin = 0, device_row_pitch = 0, device_slice_pitch = 0;  // bytes
  size_t host_row_pitch = 0, host_slice_pitch = 0;                         // bytes
};

// Throws OutOfMemoryError where the device has less than `what` needs.
void check_allocation(const Context& context, size_t bytes, const std::string& what);

class Buffer {
 public:
  Buffer(std::shared_ptr<Context> context, size_t bytes,
         const std::string& what);  // `what` for the error's text
  // Memory that somebody else made, retained, not copied.
  static std::shared_ptr<Buffer> adopt(std::shared_ptr<Context> context, cl_mem memory);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const std::shared_ptr<Context>& context() const { return context_; }
  cl_mem get() const { return memory_.get(); }
  size_t bytes() const { return bytes_; }
  bool begins_as_zeros() const;  // when it is new

  // Which memory these bytes are part of, and where they begin there. Two buffers may be parts of
  // one, or lie in one piece of the host's memory.
  struct Origin {
    std::uintptr_t memory;  // kHostMemory, or what stands for a memory object
    std::uintptr_t begin;   // bytes; in the host's memory, an address
  };
  static constexpr std::uintptr_t kHostMemory = 0;
  Origin origin() const;

  // Where the host finds these bytes, or nullptr where the device has them for itself.
  void* host_address() const;

  // These two wait until the host memory may be used again.
  void read(void* host, const Rectangle& rectangle) const;
  void write(const void* host, const Rectangle& rectangle);

  void fill(const void* pattern, size_t pattern_bytes, size_t offset, size_t bytes);  // enqueued

 protected:
  Buffer(std::shared_ptr<Context> context, MemoryHandle memory, size_t bytes, bool owned);

 private:
  std::shared_ptr<Context> context_;
  MemoryHandle memory_;
  size_t bytes_ = 0;
  bool owned_ = true;
};

// An array of the host as a buffer, for devices that share the host's memory: kernels read and
// write it where it lies.
class HostArray : public Buffer {
 public:
  HostArray(const std::shared_ptr<Context>& context, const void* host, size_t bytes);
  HostArray(const std::shared_ptr<Context>& context, void* host, size_t bytes);
  ~HostArray();  // waits, if nobody has: kernels must not outlive the array

  // Waits until kernels have read the array.
  void wait();
  // Waits until the host may use what kernels have written to its array.
  void hand_back();

 private:
  bool is_idle_ = false;
};

}  // namespace particles
