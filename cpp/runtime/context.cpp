// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/context.hpp"

#include <unistd.h>

#include <exception>

#include "runtime/error.hpp"
#include "runtime/image.hpp"

namespace particles {

namespace {

// Commands under way at most, which bounds their memory however long a run is. Then the first half
// is waited for, so that the device is never without work.
constexpr size_t kMostUnderWay = 512;

// One queue, whether its launches are timed or not: work in another would be in no order with it.
QueueHandle make_queue(cl_context context, const Device& device) {
  cl_int code = CL_SUCCESS;
  const cl_command_queue queue =
      cl().clCreateCommandQueue(context, device.id, CL_QUEUE_PROFILING_ENABLE, &code);
  check(code, "clCreateCommandQueue", device.name);
  return QueueHandle::adopt(queue);
}

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

void check_not_forked(const Device& device) {
  if (opencl_is_forked())
    throw DeviceError("device " + device.name +
                      " was found before a fork and cannot be opened after it; start processes "
                      "with the 'spawn' method");
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

Context::Context(Device device, ContextHandle context, QueueHandle queue,
                 const std::string& cache_folder)
    : device_(std::move(device)),
      context_(std::move(context)),
      queue_(std::move(queue)),
      programs_(device_, context_.get(), cache_folder),
      process_id_(getpid()) {
  if (!is_plan() && device_.has_images)
    device_.has_images = images_hold_floats(device_, context_.get());
}

std::shared_ptr<Context> Context::open(const Device& device, const std::string& cache_folder) {
  check_not_forked(device);
  cl_int code = CL_SUCCESS;
  auto context =
      ContextHandle::adopt(cl().clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &code));
  check(code, "clCreateContext", device.name);
  QueueHandle queue = make_queue(context.get(), device);
  return std::shared_ptr<Context>(
      new Context(device, std::move(context), std::move(queue), cache_folder));
}

std::shared_ptr<Context> Context::adopt(const Device& device, cl_context context,
                                        cl_command_queue queue, const std::string& cache_folder) {
  check_not_forked(device);
  if (queue_value<cl_context>(queue, CL_QUEUE_CONTEXT) != context) {
    throw DeviceError("the command queue belongs to another context than the one given");
  }
  if (has_property(queue, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)) {
    throw DeviceError("the command queue on " + device.name +
                      " runs out of order; an in-order queue is needed");
  }
  return std::shared_ptr<Context>(
      new Context(device, ContextHandle::share(context), QueueHandle::share(queue), cache_folder));
}

std::shared_ptr<Context> Context::plan(const Device& device) {
  return std::shared_ptr<Context>(new Context(device, {}, {}, ""));
}

std::shared_ptr<_cl_program> Context::build(const std::string& source, const std::string& options) {
  check_process();
  return programs_.get(source, options);
}

Kernel Context::kernel(const std::string& source, const std::string& options,
                       const std::string& name) {
  if (is_plan()) return {};
  const auto program =
      build(source, arguments_are_checked() ? options + " -cl-kernel-arg-info" : options);
  cl_int code = CL_SUCCESS;
  const cl_kernel made = cl().clCreateKernel(program.get(), name.c_str(), &code);
  check(code, "clCreateKernel", device_.name, "kernel " + name);
  return Kernel(made, name, program);
}

void Context::launch(const Launch& launch) {
  check_process();
  if (is_plan()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  add({launch.kernel().name(), launch.enqueue(queue(), device_.name), profiling_ != 0,
       launch.bytes()});
}

void Context::watch(const char* call, cl_event event) {
  Command command{call, EventHandle(event)};
  const std::lock_guard<std::mutex> lock(mutex_);
  add(std::move(command));
}

void Context::add(Command command) {
  under_way_.push_back(std::move(command));
  if (under_way_.size() < kMostUnderWay) return;
  const cl_event earlier = under_way_[kMostUnderWay / 2].event.get();
  const cl_int code = cl().clWaitForEvents(1, &earlier);
  collect();
  check(code, "clWaitForEvents", device_.name);
}

void Context::finish() {
  check_process();
  if (is_plan()) return;
  check_wait(cl().clFinish(queue()), "clFinish");
}

void Context::check_wait(cl_int code, const char* call) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    collect();
  }
  check(code, call, device_.name);
}

void Context::start_profile(int64_t whose) {
  check_process();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (profiling_) throw DeviceError("a profile of " + device_.name + " is being taken already");
  if (!has_property(queue(), CL_QUEUE_PROFILING_ENABLE)) {
    throw DeviceError("the command queue on " + device_.name +
                      " times nothing; for a profile it must be made with properties=" +
                      "pyopencl.command_queue_properties.PROFILING_ENABLE");
  }
  profile_.clear();
  profiling_ = whose;
}

std::map<std::string, KernelProfile> Context::stop_profile(int64_t whose) {
  check_process();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (profiling_ != whose) return {};
  const cl_int code = cl().clFinish(queue());
  profiling_ = 0;
  collect();
  check(code, "clFinish", device_.name);
  return std::move(profile_);
}

// Takes note of all that has ended, and throws for the first that has failed. The queue is in
// order: when a command has not ended, none after it has.
void Context::collect() {
  std::exception_ptr failure;
  while (!under_way_.empty()) {
    const cl_int status = status_of(under_way_.front().event.get(), device_.name);
    if (status > CL_COMPLETE) break;
    const Command ended = std::move(under_way_.front());
    under_way_.pop_front();
    if (status < 0) ++commands_lost_;
    try {
      check(status, ended.name.c_str(), device_.name, "it was enqueued and did not end well");
      if (ended.is_timed) add_to_profile(ended);
    } catch (const DeviceError&) {
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

void Context::add_to_profile(const Command& launch) {
  const cl_event event = launch.event.get();
  const cl_ulong start = event_time(event, CL_PROFILING_COMMAND_START, device_.name);
  const cl_ulong end = event_time(event, CL_PROFILING_COMMAND_END, device_.name);
  KernelProfile& total = profile_[launch.name];
  total.launches += 1;
  total.seconds += static_cast<double>(end - start) * 1e-9;
  total.bytes += launch.bytes;
}

void Context::check_process() const {
  if (process_id_ == getpid()) return;
  throw DeviceError("device " + device_.name +
                    " was opened before this process was forked and cannot be used in it; start "
                    "processes with the 'spawn' method");
}

void Context::note_allocation(int64_t bytes, int count) {
  bytes_held_ += bytes;
  buffers_held_ += count;
}

std::map<std::string, int64_t> Context::planned() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::map<std::string, int64_t> bytes;
  for (const auto& [owner, row] : planned_) bytes[row.first] += row.second;
  return bytes;
}

void Context::note_plan(const void* owner, const std::string& what, size_t bytes) {
  if (!is_plan()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  planned_[owner] = {what, static_cast<int64_t>(bytes)};
}

void Context::forget_plan(const void* owner) {
  if (!is_plan()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  planned_.erase(owner);
}

}  // namespace particles
