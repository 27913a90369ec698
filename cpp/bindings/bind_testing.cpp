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
#include "runtime/launch.hpp"

namespace particles {

namespace {

using Value = std::variant<int, float, std::shared_ptr<Array>>;
using Values = std::vector<std::pair<std::string, Value>>;

// One work-item of a kernel: an int, a float or an array under the name that a test gives it.
void launch(Context& context, const std::string& source, const std::string& kernel,
            const Values& arguments) {
  Launch launch(context.kernel(source, "", kernel));
  for (const auto& [name, value] : arguments) {
    if (const auto* array = std::get_if<std::shared_ptr<Array>>(&value))
      launch.buffer(name.c_str(), (*array)->buffer());
    else if (const auto* number = std::get_if<float>(&value))
      launch.add(name.c_str(), *number);
    else
      launch.int32(name.c_str(), std::get<int>(value));
  }
  context.launch(launch);
}

}  // namespace

void bind_testing(py::module_& module) {
  auto testing = module.def_submodule("testing", "What only tests use.");
  testing.def("launch", &launch, py::arg("context"), py::arg("source"), py::arg("kernel"),
              py::arg("arguments"), NoGil());
}

}  // namespace particles
