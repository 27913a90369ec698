// SPDX-License-Identifier: BSD-3-Clause
// Shared ownership of an OpenCL object: retained and released with the handle, never thrown from a
// destructor.
#pragma once

#include <utility>

#include "entry_points.hpp"

namespace particles::opencl {

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
    if (object) (cl().*Retain)(object);
    return adopt(object);
  }
  Handle(const Handle& other) : object_(other.object_) {
    if (object_) (cl().*Retain)(object_);
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
using EventHandle = Handle<cl_event, &EntryPoints::clRetainEvent, &EntryPoints::clReleaseEvent>;

}  // namespace particles::opencl
