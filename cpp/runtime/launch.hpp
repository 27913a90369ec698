// SPDX-License-Identifier: BSD-3-Clause
// One launch of a kernel: its arguments, each by the name that the kernel has for it, and its
// range.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "runtime/handle.hpp"
#include "runtime/kernel.hpp"

namespace particles {

// A __local argument of so many bytes.
struct LocalMemory {
  size_t bytes;
};

// Kernel arguments are typed: a buffer is never told from a number by its size.
using Argument =
    std::variant<cl_uchar, cl_int, cl_uint, cl_long, cl_ulong, float, double, LocalMemory, cl_mem>;

// What an argument is called, in pieces: Name("u", 0) + "_offset" is u0_offset. They are put
// together only where names are compared, so that a step makes no text.
class Name {
 public:
  Name(const char* text) : pieces_{{{text, kNone}}} {}
  Name(const char* text, int number) : pieces_{{{text, number}}} {}
  Name operator+(const char* text) const { return with({text, kNone}); }
  Name operator+(int number) const { return with({"", number}); }
  std::string text() const;

 private:
  static constexpr int kNone = -1;
  struct Piece {
    const char* text = nullptr;
    int number = kNone;
  };
  Name with(const Piece& piece) const {
    Name longer = *this;
    longer.pieces_.at(longer.count_++) = piece;
    return longer;
  }

  std::array<Piece, 3> pieces_;
  size_t count_ = 1;
};

struct Range {
  std::array<size_t, 3> global{1, 1, 1};
  std::array<size_t, 3> local{0, 0, 0};  // 0: the driver chooses
};

// Arguments are given in the kernel's order. One too many or too few is an error, and so is, where
// they are checked, one of another name; each throws DeviceError with the names of both.
class Launch {
 public:
  explicit Launch(Kernel kernel) : kernel_(std::move(kernel)) {
    if (kernel_) arguments_.reserve(kernel_.argument_count());
  }

  Launch& add(const Name& name, Argument argument) {
    if (!kernel_) return *this;  // of a dry context
    const size_t index = arguments_.size();
    if (index >= kernel_.argument_count() || !kernel_.argument_names().empty()) check(name, index);
    arguments_.push_back(argument);
    return *this;
  }
  // A Buffer or an Image, which the caller holds until the launch is enqueued.
  template <class Memory>
  Launch& buffer(const Name& name, const Memory& memory) {
    return add(name, memory.get());
  }
  Launch& local(const Name& name, size_t bytes) { return add(name, LocalMemory{bytes}); }
  Launch& int32(const Name& name, int64_t number) { return add(name, static_cast<cl_int>(number)); }
  Launch& int64(const Name& name, int64_t number) { return add(name, cl_long{number}); }
  Launch& uint64(const Name& name, uint64_t number) { return add(name, cl_ulong{number}); }

  Launch& range(const Range& range) {
    range_ = range;
    return *this;
  }
  // What it has to read and write at least, for the profile.
  Launch& traffic(double bytes) {
    bytes_ = bytes;
    return *this;
  }

  const Kernel& kernel() const { return kernel_; }
  double bytes() const { return bytes_; }

  // Sets the arguments and enqueues.
  Event enqueue(cl_command_queue queue, const std::string& device) const;

 private:
  void check(const Name& name, size_t index) const;
  void set_arguments(const std::string& device) const;

  Kernel kernel_;
  std::vector<Argument> arguments_;
  Range range_;
  double bytes_ = 0;
};

}  // namespace particles
