// SPDX-License-Identifier: BSD-3-Clause
// Ownership of a reference to an OpenCL object, released with the handle. Throws DeviceError where
// it cannot be retained, and nothing from a destructor.
#pragma once

#include <memory>
#include <utility>

#include "runtime/entry_points.hpp"
#include "runtime/error.hpp"

namespace particles {

template <class T, auto Retain, auto Release>
class Handle {
 public:
  Handle() = default;
  static Handle adopt(T object) {  // takes over the caller's reference
    Handle handle;
    handle.object_ = object;
    return handle;
  }
  static Handle share(T object) {  // adds a reference
    check((cl().*Retain)(object), "the retain of an OpenCL object", "");
    return adopt(object);
  }
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    if (object_ && !opencl_is_forked()) (cl().*Release)(object_);
  }
  T get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T object_ = nullptr;
};

using ContextHandle =
    Handle<cl_context, &EntryPoints::clRetainContext, &EntryPoints::clReleaseContext>;
using QueueHandle = Handle<cl_command_queue, &EntryPoints::clRetainCommandQueue,
                           &EntryPoints::clReleaseCommandQueue>;
using MemoryHandle =
    Handle<cl_mem, &EntryPoints::clRetainMemObject, &EntryPoints::clReleaseMemObject>;

struct ReleaseEvent {
  void operator()(cl_event event) const {
    if (!opencl_is_forked()) cl().clReleaseEvent(event);
  }
};

// A point in a queue: when all that was enqueued before it has ended.
class Event {
 public:
  Event() = default;  // of a dry queue; nobody waits for it
  explicit Event(cl_event event) : event_(event, ReleaseEvent()) {}
  cl_event get() const { return event_.get(); }

 private:
  std::shared_ptr<_cl_event> event_;
};

}  // namespace particles
