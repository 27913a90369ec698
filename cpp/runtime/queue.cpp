// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/queue.hpp"

#include <unistd.h>

#include <exception>
#include <utility>

#include "runtime/error.hpp"

namespace particles {

namespace {

// Commands under way at most, which bounds their memory however long a run is. Then the first half
// is waited for, so that the device is never without work.
constexpr size_t kMostUnderWay = 512;

template <class T>
T queue_value(cl_command_queue queue, cl_command_queue_info name) {
  T value{};
  check(cl().clGetCommandQueueInfo(queue, name, sizeof(T), &value, nullptr),
        "clGetCommandQueueInfo", "");
  return value;
}

bool has_property(cl_command_queue queue, cl_command_queue_properties property) {
  return (queue_value<cl_command_queue_properties>(queue, CL_QUEUE_PROPERTIES) & property) != 0;
}

cl_ulong event_time(cl_event event, cl_profiling_info name, const std::string& device) {
  cl_ulong nanoseconds = 0;
  check(cl().clGetEventProfilingInfo(event, name, sizeof(nanoseconds), &nanoseconds, nullptr),
        "clGetEventProfilingInfo", device);
  return nanoseconds;
}

// CL_COMPLETE, a positive number before that, or a negative one where the command has failed.
cl_int status_of(cl_event event, const std::string& device) {
  cl_int status = CL_QUEUED;
  check(cl().clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status,
                            nullptr),
        "clGetEventInfo", device);
  return status;
}

}  // namespace

Queue::Queue(const Device& device, QueueHandle queue)
    : device_(device.name), queue_(std::move(queue)), process_id_(getpid()) {}

// The same queue whether its launches are timed or not: work in another would be in no order with
// it.
std::unique_ptr<Queue> Queue::open(const Device& device, cl_context context) {
  cl_int code = CL_SUCCESS;
  const cl_command_queue queue =
      cl().clCreateCommandQueue(context, device.id, CL_QUEUE_PROFILING_ENABLE, &code);
  check(code, "clCreateCommandQueue", device.name);
  return std::unique_ptr<Queue>(new Queue(device, QueueHandle::adopt(queue)));
}

std::unique_ptr<Queue> Queue::adopt(const Device& device, cl_context context,
                                    cl_command_queue queue) {
  if (queue_value<cl_context>(queue, CL_QUEUE_CONTEXT) != context)
    throw DeviceError("the command queue belongs to another context than the one given");
  if (has_property(queue, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
    throw DeviceError("the command queue on " + device.name +
                      " runs out of order; an in-order queue is needed");
  return std::unique_ptr<Queue>(new Queue(device, QueueHandle::share(queue)));
}

std::unique_ptr<Queue> Queue::dry(const Device& device) {
  return std::unique_ptr<Queue>(new Queue(device, {}));
}

Event Queue::launch(const Launch& launch) {
  check_process();
  if (!queue_) return {};
  const std::lock_guard<std::mutex> lock(mutex_);
  const Event ended = launch.enqueue(get(), device_);
  add({launch.kernel().name(), ended, profiling_ != 0, launch.bytes()});
  return ended;
}

void Queue::watch(const char* call, cl_event event) {
  Command command{call, Event(event)};
  const std::lock_guard<std::mutex> lock(mutex_);
  add(std::move(command));
}

// Sent to the device at once, as another queue may wait for it.
Event Queue::mark() {
  check_process();
  if (!queue_) return {};
  cl_event event = nullptr;
  check(cl().clEnqueueMarkerWithWaitList(get(), 0, nullptr, &event), "clEnqueueMarkerWithWaitList",
        device_);
  const Event marked(event);
  check(cl().clFlush(get()), "clFlush", device_);
  return marked;
}

void Queue::wait_for(const Event& event) {
  check_process();
  if (!queue_) return;
  const cl_event awaited = event.get();
  cl_event passed = nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  check(cl().clEnqueueBarrierWithWaitList(get(), 1, &awaited, &passed),
        "clEnqueueBarrierWithWaitList", device_);
  add({"clEnqueueBarrierWithWaitList", Event(passed)});
}

void Queue::wait_until(const Event& event) {
  check_process();
  const cl_event awaited = event.get();
  if (awaited) check_wait(cl().clWaitForEvents(1, &awaited), "clWaitForEvents");
}

void Queue::add(Command command) {
  under_way_.push_back(std::move(command));
  if (under_way_.size() < kMostUnderWay) return;
  const cl_event earlier = under_way_[kMostUnderWay / 2].event.get();
  const cl_int code = cl().clWaitForEvents(1, &earlier);
  collect();
  check(code, "clWaitForEvents", device_);
}

void Queue::finish() {
  check_process();
  if (!queue_) return;
  check_wait(cl().clFinish(get()), "clFinish");
}

void Queue::check_wait(cl_int code, const char* call) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    collect();
  }
  check(code, call, device_);
}

void Queue::start_profile(int64_t whose) {
  check_process();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (profiling_) throw DeviceError("a profile of " + device_ + " is being taken already");
  if (!has_property(get(), CL_QUEUE_PROFILING_ENABLE)) {
    throw DeviceError("the command queue on " + device_ +
                      " times nothing; for a profile it must be made with properties=" +
                      "pyopencl.command_queue_properties.PROFILING_ENABLE");
  }
  profile_.clear();
  profiling_ = whose;
}

std::map<std::string, KernelProfile> Queue::stop_profile(int64_t whose) {
  check_process();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (profiling_ != whose) return {};
  const cl_int code = cl().clFinish(get());
  profiling_ = 0;
  collect();
  check(code, "clFinish", device_);
  return std::move(profile_);
}

// Takes note of all that has ended, and throws for the first that has failed. The queue is in
// order: when a command has not ended, none after it has.
void Queue::collect() {
  std::exception_ptr failure;
  while (!under_way_.empty()) {
    const cl_int status = status_of(under_way_.front().event.get(), device_);
    if (status > CL_COMPLETE) break;
    const Command ended = std::move(under_way_.front());
    under_way_.pop_front();
    if (status < 0) ++commands_lost_;
    try {
      check(status, ended.name.c_str(), device_, "it was enqueued and did not end well");
      if (ended.is_timed) add_to_profile(ended);
    } catch (const DeviceError&) {
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

void Queue::add_to_profile(const Command& launch) {
  const cl_event event = launch.event.get();
  const cl_ulong start = event_time(event, CL_PROFILING_COMMAND_START, device_);
  const cl_ulong end = event_time(event, CL_PROFILING_COMMAND_END, device_);
  KernelProfile& total = profile_[launch.name];
  total.launches += 1;
  total.seconds += static_cast<double>(end - start) * 1e-9;
  total.bytes += launch.bytes;
}

void Queue::check_process() const {
  if (process_id_ == getpid()) return;
  throw DeviceError("device " + device_ +
                    " was opened before this process was forked and cannot be used in it; start "
                    "processes with the 'spawn' method");
}

}  // namespace particles
