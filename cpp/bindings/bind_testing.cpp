// SPDX-License-Identifier: BSD-3-Clause
// Doors to the core that only tests use.
#include <pybind11/stl.h>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/reductions.hpp"
#include "bindings/bindings.hpp"
#include "lines/form.hpp"
#include "runtime/context.hpp"
#include "runtime/entry_points.hpp"
#include "runtime/kernel_source.hpp"

namespace particles {

namespace {

using Value = std::variant<int, float, std::shared_ptr<Array>>;
using Arguments = std::vector<std::pair<std::string, Value>>;

// A queue, and the context that it must not outlive.
struct QueueOf {
  std::shared_ptr<Context> context;
  std::unique_ptr<Queue> opened;  // null for the context's own

  Queue& queue() const { return opened ? *opened : context->queue(); }
};

// One work-item of a kernel: an int, a float or an array under the name that a test gives it.
void launch(const QueueOf& at, const Kernel& kernel, const Arguments& arguments) {
  Launch launch(kernel);
  for (const auto& [name, value] : arguments) {
    if (const auto* array = std::get_if<std::shared_ptr<Array>>(&value))
      launch.buffer(name.c_str(), (*array)->buffer());
    else if (const auto* number = std::get_if<float>(&value))
      launch.add(name.c_str(), *number);
    else
      launch.int32(name.c_str(), std::get<int>(value));
  }
  at.queue().launch(launch);
}

// The same device, worked with as if it were a GPU: so the forms for GPUs are tested on CPUs.
Device as_gpu(Device device, const std::optional<uint64_t>& local_memory,
              const std::optional<uint64_t>& unit_memory) {
  device.type = CL_DEVICE_TYPE_GPU;
  device.local_memory = local_memory.value_or(device.local_memory);
  device.unit_memory = unit_memory.value_or(device.unit_memory);
  return device;
}

// The same device, with less memory for a buffer.
Device with_largest_allocation(Device device, uint64_t bytes) {
  device.largest_allocation = bytes;
  return device;
}

int64_t count_not_finite(const Array& array) {
  if (!is_real(array.dtype()) || !array.elements()) return 0;
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  return array.elements() - count_between(array, array.everything(), -kInfinite, kInfinite);
}

void bind_queue(py::module_& testing) {
  py::class_<Event>(testing, "Event");
  py::class_<Kernel>(testing, "Kernel")
      .def(py::init([](Context& context, const std::string& source, const std::string& name) {
             const GilReleased no_gil;
             return context.kernel(source, "", name);
           }),
           py::arg("context"), py::arg("source"), py::arg("name"));
  py::class_<QueueOf>(testing, "Queue")
      .def(py::init([](const std::shared_ptr<Context>& context) {
             return QueueOf{context, context->open_queue()};
           }),
           py::arg("context"))
      .def_static(
          "of", [](const std::shared_ptr<Context>& context) { return QueueOf{context, nullptr}; },
          py::arg("context"))
      .def("launch", &launch, py::arg("kernel"), py::arg("arguments"), NoGil())
      .def(
          "launch",
          [](const QueueOf& at, const std::string& source, const std::string& kernel,
             const Arguments& arguments) {
            launch(at, at.context->kernel(source, "", kernel), arguments);
          },
          py::arg("source"), py::arg("kernel"), py::arg("arguments"), NoGil())
      .def(
          "mark", [](const QueueOf& at) { return at.queue().mark(); }, NoGil())
      .def(
          "wait_for", [](const QueueOf& at, const Event& event) { at.queue().wait_for(event); },
          py::arg("event"), NoGil())
      .def(
          "finish", [](const QueueOf& at) { at.queue().finish(); }, NoGil())
      .def_property_readonly("commands_lost",
                             [](const QueueOf& at) { return at.queue().commands_lost(); });
}

}  // namespace

void bind_testing(py::module_& module) {
  auto testing = module.def_submodule("testing", "What only tests use.");
  bind_queue(testing);
  testing.def("as_gpu", &as_gpu, py::arg("device"), py::arg("local_memory") = py::none(),
              py::arg("unit_memory") = py::none());
  testing.def("with_largest_allocation", &with_largest_allocation, py::arg("device"),
              py::arg("bytes"));
  testing.def("reads_header", &Device::reads_header, py::arg("device"));
  testing.def("opencl_is_loaded", &opencl_is_loaded);
  testing.def("buffers_held", &Context::buffers_held, py::arg("context"));
  const auto of_programs = [&testing](const char* name, auto count) {
    testing.def(
        name, [count](const Context& context) { return (context.programs().*count)(); },
        py::arg("context"));
  };
  of_programs("programs_compiled", &ProgramCache::compiled);
  testing.def("programs_compiled_by_all", &ProgramCache::compiled_by_all);
  of_programs("programs_held", &ProgramCache::held);
  of_programs("programs_loaded", &ProgramCache::loaded);
  of_programs("programs_that_read_header", &ProgramCache::read_header);
  testing.def("kernel_source", &kernel_source, py::arg("file"),
              py::arg("made") = std::map<std::string, std::string>());
  testing.def(
      "link",
      [](Context& context, const std::vector<std::string>& sources, const std::string& kernel) {
        std::vector<ProgramPart> parts;
        for (const std::string& source : sources) parts.push_back({source, ""});
        context.kernel(std::move(parts), kernel);
      },
      py::arg("context"), py::arg("sources"), py::arg("kernel"), NoGil());
  testing.def("count_not_finite", &count_not_finite, py::arg("array"), NoGil());
  testing.def(
      "exact_sum",
      [](const std::vector<double>& terms) {
        ExactSum sum;
        for (const double term : terms) sum.add(term);
        return sum.value();
      },
      py::arg("terms"));
}

}  // namespace particles
