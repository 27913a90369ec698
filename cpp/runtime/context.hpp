// SPDX-License-Identifier: BSD-3-Clause
// An opened device: context, in-order queue, programs, and the one function that launches kernels.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "runtime/device.hpp"
#include "runtime/handle.hpp"
#include "runtime/launch.hpp"
#include "runtime/program_cache.hpp"

namespace particles {

// Time on the device of every launch of one kernel.
struct KernelProfile {
  int64_t launches = 0;
  double seconds = 0;
  double bytes = 0;  // what the launches had to read and write at least, as their callers say
};

// A command that may still be under way, and may still fail.
struct Command {
  std::string name;  // of a kernel, or of the OpenCL function
  EventHandle event;
  bool is_timed = false;
  double bytes = 0;
};

class Context {
 public:
  // Opens a listed device. `cache_folder` empty: no programs are kept on disk.
  static std::shared_ptr<Context> open(const Device& device, const std::string& cache_folder);
  // Works in a context and queue on `device` that somebody else made (both are retained).
  static std::shared_ptr<Context> adopt(const Device& device, cl_context context,
                                        cl_command_queue queue, const std::string& cache_folder);

  // Keeps account of memory for `device` and does nothing else: buffers take no memory, kernels are
  // not built, launches and transfers end at once.
  static std::shared_ptr<Context> plan(const Device& device);
  bool is_plan() const { return !context_; }

  const Device& device() const { return device_; }
  cl_context context() const { return context_.get(); }
  cl_command_queue queue() const { return queue_.get(); }

  // The program made of `source` with `options`, built at first need.
  std::shared_ptr<_cl_program> build(const std::string& source, const std::string& options);

  // A kernel of the program made of `source` with `options`; built at first need, then taken from
  // memory or disk.
  Kernel kernel(const std::string& source, const std::string& options, const std::string& name);
  const ProgramCache& programs() const { return programs_; }

  // Enqueues: the only place where kernels are launched. Waits when very many launches are under
  // way, so callers in the bindings have released the GIL.
  void launch(const Launch& launch);

  // Has a command that was enqueued watched: where it fails, the next wait throws.
  void watch(const char* call, cl_event event);

  // Waits for everything enqueued. Callers in the bindings have released the GIL.
  void finish();

  // To be told what a call that waits for the queue has returned: throws DeviceError where it
  // failed, or any command before it.
  void check_wait(cl_int code, const char* call);

  // Times every launch from now on; an adopted queue must have been made for it.
  // Of whom a profile is taken says a number, not 0: no interrupt can come between its beginning
  // and the knowledge of it.
  void start_profile(int64_t whose);
  // Waits, then what has been collected; nothing where the profile is another's, or none is taken.
  std::map<std::string, KernelProfile> stop_profile(int64_t whose);

  // Throws DeviceError in a process forked from the one that opened the context (the driver's
  // threads are not there).
  void check_process() const;

  // How many watched commands have failed.
  int64_t commands_lost() const { return commands_lost_; }

  // Every allocation still held, in bytes, and how many; `note_allocation` is for Buffer alone.
  int64_t bytes_held() const { return bytes_held_; }
  int64_t buffers_held() const { return buffers_held_; }
  void note_allocation(int64_t bytes, int count);

  // What a plan's buffers and images would take, by what they are for; each notes itself.
  std::map<std::string, int64_t> planned() const;
  void note_plan(const void* owner, const std::string& what, size_t bytes);
  void forget_plan(const void* owner);

 private:
  Context(Device device, ContextHandle context, QueueHandle queue, const std::string& cache_folder);
  void add(Command command);
  void collect();
  void add_to_profile(const Command& command);

  Device device_;
  ContextHandle context_;
  QueueHandle queue_;
  ProgramCache programs_;
  mutable std::mutex mutex_;  // guards launches (arguments + enqueue are one act), profile and plan
  int64_t profiling_ = 0;     // whose profile is taken
  std::deque<Command> under_way_;
  std::map<std::string, KernelProfile> profile_;
  std::map<const void*, std::pair<std::string, int64_t>> planned_;  // by owner
  std::atomic<int64_t> commands_lost_{0}, bytes_held_{0}, buffers_held_{0};
  int process_id_;
};

}  // namespace particles
