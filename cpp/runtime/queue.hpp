// SPDX-License-Identifier: BSD-3-Clause
// An in-order queue of a device, with its commands under way. A context has one of its own; others
// of the same context work beside it, in an order that events give.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/device.hpp"
#include "runtime/handle.hpp"
#include "runtime/launch.hpp"

namespace particles {

// Time on the device of every launch of one kernel.
struct KernelProfile {
  int64_t launches = 0;
  double seconds = 0;
  double bytes = 0;  // what the launches had to read and write at least, as their callers say
};

class Queue {
 public:
  // One of its own in a context, whose launches can be timed.
  static std::unique_ptr<Queue> open(const Device& device, cl_context context);
  // One in a context that somebody else made, retained; throws DeviceError where it is not in
  // order, or of another context.
  static std::unique_ptr<Queue> adopt(const Device& device, cl_context context,
                                      cl_command_queue queue);
  // One that does nothing.
  static std::unique_ptr<Queue> dry(const Device& device);

  cl_command_queue get() const { return queue_.get(); }

  // Enqueues: the only place where kernels are launched. Waits when very many launches are under
  // way, so callers in the bindings have released the GIL.
  // Returns when it has ended.
  Event launch(const Launch& launch);

  // Has a command that was enqueued watched: where it fails, the next wait throws.
  void watch(const char* call, cl_event event);

  // When all that has been enqueued so far has ended.
  Event mark();
  // Waits until a command of this queue has ended, and those before it.
  void wait_until(const Event& event);
  // What is enqueued from now on begins after an event, of this queue or of another one in the same
  // context. A failure before it is noticed where that happened, by the other queue.
  void wait_for(const Event& event);

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

  // How many watched commands have failed.
  int64_t commands_lost() const { return commands_lost_; }

  // Throws DeviceError in a process forked from the one that opened the queue (the driver's threads
  // are not there).
  void check_process() const;

 private:
  // A command that may still be under way, and may still fail.
  struct Command {
    std::string name;  // of a kernel, or of the OpenCL function
    Event event;
    bool is_timed = false;
    double bytes = 0;
  };

  Queue(const Device& device, QueueHandle queue);
  void add(Command command);
  void collect();
  void add_to_profile(const Command& command);

  std::string device_;  // its name
  QueueHandle queue_;
  std::mutex mutex_;       // commands are noted in the order in which they are enqueued
  int64_t profiling_ = 0;  // whose profile is taken
  std::deque<Command> under_way_;
  std::map<std::string, KernelProfile> profile_;
  std::atomic<int64_t> commands_lost_{0};
  int process_id_;
};

}  // namespace particles
