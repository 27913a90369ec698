// SPDX-License-Identifier: BSD-3-Clause
// Doors to the core that only tests use.
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "arrays/array.hpp"
#include "bindings/bindings.hpp"
#include "runtime/context.hpp"

namespace particles {

namespace {

using Value = std::variant<int, float, std::shared_ptr<Array>>;
using Values = std::vector<std::pair<std::string, Value>>;

// A queue, and the context that it must not outlive.
struct QueueOf {
  std::shared_ptr<Context> context;
  std::unique_ptr<Queue> opened;  // null for the context's own

  Queue& queue() const { return opened ? *opened : context->queue(); }
};

// One work-item of a kernel: an int, a float or an array under the name that a test gives it.
void launch(const QueueOf& at, const std::string& source, const std::string& kernel,
            const Values& arguments) {
  Launch launch(at.context->kernel(source, "", kernel));
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

void bind_queue(py::module_& testing) {
  py::class_<Event>(testing, "Event");
  py::class_<QueueOf>(testing, "Queue")
      .def(py::init([](const std::shared_ptr<Context>& context) {
             return QueueOf{context, context->open_queue()};
           }),
           py::arg("context"))
      .def_static(
          "of", [](const std::shared_ptr<Context>& context) { return QueueOf{context, nullptr}; },
          py::arg("context"))
      .def("launch", &launch, py::arg("source"), py::arg("kernel"), py::arg("arguments"), NoGil())
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
}

}  // namespace particles
