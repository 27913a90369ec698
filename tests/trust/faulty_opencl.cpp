// SPDX-License-Identifier: BSD-3-Clause
// An OpenCL library for tests: it passes every call on to a real one, fails those it is told to,
// counts the references that the core holds, and remembers how much local memory it gave.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "runtime/entry_points.hpp"

namespace {

#define LIST_NUMBER(name) number_of_##name,
enum Function { PARTICLES_OPENCL_FUNCTIONS(LIST_NUMBER) function_count };
#define LIST_NAME(name) #name,
constexpr std::string_view kNames[] = {PARTICLES_OPENCL_FUNCTIONS(LIST_NAME)};

enum Mode { never, once, later, from_then_on };

// What is to fail: the nth call of a function, its work when that is done (`later`), or every call
// of any function from the nth on.
struct Order {
  Mode mode = never;
  Function function = function_count;
  long nth = 0;
  cl_int code = CL_SUCCESS;
};

std::mutex mutex;
Order order;
long calls[function_count], all_calls, failures, misuses;
std::map<const void*, long> references;
size_t local_bytes;  // of the kernel that got local memory last
std::set<cl_event> doomed;

constexpr bool begins(Function function, std::string_view part) {
  return kNames[function].substr(0, part.size()) == part;
}

Mode next(Function function) {
  const std::lock_guard<std::mutex> lock(mutex);
  ++all_calls;
  ++calls[function];
  const bool is_due = order.mode == from_then_on
                          ? all_calls >= order.nth
                          : order.function == function && calls[function] == order.nth;
  if (!is_due) return never;
  ++failures;
  return order.mode;
}

void retain(const void* object) {
  const std::lock_guard<std::mutex> lock(mutex);
  ++references[object];
}

// False, and remembered, where nothing is held.
bool release(const void* object) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto held = references.find(object);
  if (held == references.end()) return ++misuses, false;
  if (--held->second > 0) return true;
  references.erase(held);
  doomed.erase(static_cast<cl_event>(const_cast<void*>(object)));
  return true;
}

void* real_function(std::string_view name) {
  static void* const library = dlopen(std::getenv("PARTICLES_REAL_OPENCL"), RTLD_NOW);
  void* const function = library ? dlsym(library, name.data()) : nullptr;
  if (!function) std::abort();
  return function;
}

void note_event(cl_event* event) {
  if (event && *event) retain(*event);
}
template <class Argument>
void note_event(const Argument&) {}

// The last argument of a call that makes something.
cl_int* error_code(cl_int* code) { return code; }
template <class First, class... Rest>
cl_int* error_code(const First&, const Rest&... rest) {
  return error_code(rest...);
}

// In place of a kernel: a marker whose event, if one is asked for, ends with an error.
cl_int launch_nothing(cl_command_queue queue, cl_event* event) {
  static const auto mark = reinterpret_cast<decltype(&clEnqueueMarkerWithWaitList)>(
      real_function("clEnqueueMarkerWithWaitList"));
  const cl_int code = mark(queue, 0, nullptr, event);
  if (event && *event) {
    retain(*event);
    const std::lock_guard<std::mutex> lock(mutex);
    doomed.insert(*event);
  }
  return code;
}

bool is_doomed(cl_event event) {
  const std::lock_guard<std::mutex> lock(mutex);
  return doomed.count(event) > 0;
}

template <Function function, class Signature>
struct Entry;

template <Function function, class Result, class... Arguments>
struct Entry<function, Result(Arguments...)> {
  static constexpr bool waits =
      function == number_of_clFinish || function == number_of_clWaitForEvents;

  static Result real(Arguments... arguments) {
    static const auto call =
        reinterpret_cast<Result (*)(Arguments...)>(real_function(kNames[function]));
    return call(arguments...);
  }

  static Result call(Arguments... arguments) {
    const Mode mode = next(function);
    if constexpr (begins(function, "clRelease")) {
      if (!(release(arguments) && ...)) return CL_INVALID_VALUE;
      const cl_int code = real(arguments...);
      return mode == never ? code : order.code;
    } else {
      if (mode == never) return note(real(arguments...), arguments...);
      if (mode == from_then_on && waits) real(arguments...);  // what is gone writes no more
      if (mode == later) return lose(arguments...);
      return fail(arguments...);
    }
  }

  static Result fail(Arguments... arguments) {
    if constexpr (std::is_pointer_v<Result>) {
      if (cl_int* code = error_code(arguments...)) *code = order.code;
      return nullptr;
    } else {
      return order.code;
    }
  }

  static Result lose(Arguments... arguments) {
    if constexpr (function == number_of_clEnqueueNDRangeKernel) {
      const auto all = std::tie(arguments...);
      return launch_nothing(std::get<0>(all), std::get<sizeof...(Arguments) - 1>(all));
    } else {
      return fail(arguments...);
    }
  }

  static Result note(Result result, Arguments... arguments) {
    const auto all = std::tie(arguments...);
    if constexpr (begins(function, "clCreate") || function == number_of_clLinkProgram) {
      if (result) retain(result);
    } else if constexpr (begins(function, "clRetain")) {
      if (result == CL_SUCCESS) (retain(arguments), ...);
    } else if constexpr (begins(function, "clEnqueue")) {
      (note_event(arguments), ...);
    } else if constexpr (function == number_of_clSetKernelArg) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (!std::get<3>(all)) local_bytes = std::get<2>(all);
    } else if constexpr (function == number_of_clGetEventInfo) {
      if (is_doomed(std::get<0>(all)) && std::get<1>(all) == CL_EVENT_COMMAND_EXECUTION_STATUS)
        *static_cast<cl_int*>(std::get<3>(all)) = order.code;
    } else if constexpr (function == number_of_clWaitForEvents) {
      if (is_doomed(*std::get<1>(all))) return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    return result;
  }
};

Function number_of(std::string_view name) {
  for (int i = 0; i < function_count; ++i)
    if (kNames[i] == name) return static_cast<Function>(i);
  return function_count;
}

}  // namespace

// The symbols that the core looks up: each is resolved to the entry made of its own type.
#define EXPORT(name)                                                                  \
  extern "C" decltype(&::name) resolve_##name() {                                     \
    return &Entry<number_of_##name, std::remove_reference_t<decltype(::name)>>::call; \
  }                                                                                   \
  extern "C" decltype(::name) name __attribute__((ifunc("resolve_" #name)));
PARTICLES_OPENCL_FUNCTIONS(EXPORT)

extern "C" {

void fail(int mode, const char* function, long nth, int code) {
  const std::lock_guard<std::mutex> lock(mutex);
  order = {static_cast<Mode>(mode), number_of(function), nth, code};
  std::fill(std::begin(calls), std::end(calls), 0);
  all_calls = failures = 0;
}

long calls_of(const char* function) {
  const std::lock_guard<std::mutex> lock(mutex);
  const Function number = number_of(function);
  return number == function_count ? all_calls : calls[number];
}

long failed_calls() { return failures; }

long held_references() {
  const std::lock_guard<std::mutex> lock(mutex);
  long count = 0;
  for (const auto& [object, held] : references) count += held;
  return count;
}

long wrong_releases() { return misuses; }

long local_memory_given() {
  const std::lock_guard<std::mutex> lock(mutex);
  return static_cast<long>(local_bytes);
}

const char* function_name(int number) {
  return number < function_count ? kNames[number].data() : nullptr;
}
}
