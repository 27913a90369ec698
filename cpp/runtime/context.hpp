// SPDX-License-Identifier: BSD-3-Clause
// An opened device: context, programs, memory, and the queue where work is done.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device.hpp"
#include "runtime/handle.hpp"
#include "runtime/program_cache.hpp"
#include "runtime/queue.hpp"

namespace particles {

class Context {
 public:
  // Opens a listed device. `cache_folder` empty: no programs are kept on disk.
  static std::shared_ptr<Context> open(const Device& device, const std::string& cache_folder);
  // Works in a context and queue on `device` that somebody else made (both are retained).
  static std::shared_ptr<Context> adopt(const Device& device, cl_context context,
                                        cl_command_queue queue, const std::string& cache_folder);

  // Keeps account of memory for `device` and does nothing else: buffers take no memory, kernels are
  // not built, launches and transfers end at once.
  static std::shared_ptr<Context> dry(const Device& device);
  bool is_dry() const { return !context_; }

  const Device& device() const { return device_; }
  cl_context context() const { return context_.get(); }

  // Where buffers are read and written, and where everything is launched that is not told another.
  Queue& queue() const { return *queue_; }
  // Another one, which works beside it.
  std::unique_ptr<Queue> open_queue() const;

  // The program made of `source` with `options`, built at first need.
  std::shared_ptr<_cl_program> build(const std::string& source, const std::string& options);

  // A kernel of the program made of `source` with `options`; built at first need, then taken from
  // memory or disk.
  Kernel kernel(const std::string& source, const std::string& options, const std::string& name);
  // The same of parts that are compiled each for itself, and linked.
  Kernel kernel(std::vector<ProgramPart> parts, const std::string& name);
  const ProgramCache& programs() const { return programs_; }

  // Throws DeviceError in a process forked from the one that opened the context (the driver's
  // threads are not there).
  void check_process() const { queue_->check_process(); }

  // Every allocation still held, in bytes, and how many; `note_allocation` is for Buffer alone.
  int64_t bytes_held() const { return bytes_held_; }
  int64_t buffers_held() const { return buffers_held_; }
  void note_allocation(int64_t bytes, int count);

  // What buffers and images of a dry context would take, by what they are for; each notes itself.
  std::map<std::string, int64_t> wanted() const;
  void note_wanted(const void* owner, const std::string& what, size_t bytes);
  void forget_wanted(const void* owner);

 private:
  Context(Device device, ContextHandle context, std::unique_ptr<Queue> queue,
          const std::string& cache_folder);

  Device device_;
  ContextHandle context_;
  std::unique_ptr<Queue> queue_;
  ProgramCache programs_;
  mutable std::mutex mutex_;
  std::map<const void*, std::pair<std::string, int64_t>> wanted_;  // by owner
  std::atomic<int64_t> bytes_held_{0}, buffers_held_{0};
};

}  // namespace particles
