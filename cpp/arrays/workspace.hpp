// SPDX-License-Identifier: BSD-3-Clause
// What the operations on an array keep from call to call: kernels, and memory for partial results.
// Safe for several threads.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/buffer.hpp"
#include "runtime/context.hpp"

namespace particles {

class Workspace {
 public:
  explicit Workspace(std::shared_ptr<Context> context) : context_(std::move(context)) {}

  const Device& device() const { return context_->device(); }
  Context& context() const { return *context_; }

  // Elements that a kernel handles side by side: vectors of 4, 8 or 16 on CPUs, else one.
  int64_t lanes(size_t element_bytes) const;

  // Made at first need.
  Kernel kernel(const char* file, const std::string& options, const char* name);
  // With generated files; the last few of these are kept.
  Kernel kernel_made(const char* file, const std::map<std::string, std::string>& made,
                     const std::string& options, const char* name);

  // Pieces of memory of so many bytes or more, that nobody else has while the lock is held;
  // whatever is enqueued meanwhile may use them later, in the context's own queue, whose order
  // keeps apart who has them next. They are kept for the next call.
  struct Scratch {
    std::unique_lock<std::mutex> lock;
    std::vector<const Buffer*> buffers;
  };
  Scratch scratch(const std::vector<size_t>& bytes, const std::string& what);

 private:
  std::shared_ptr<Context> context_;
  std::mutex kernels_mutex_, scratch_mutex_;
  std::map<std::string, Kernel> kernels_;                    // by file, name and options
  std::deque<std::pair<std::string, Kernel>> kernels_made_;  // the last one first
  std::vector<std::unique_ptr<Buffer>> scratch_;
};

}  // namespace particles
