// SPDX-License-Identifier: BSD-3-Clause
// What each file of this folder adds to the extension module.
#pragma once

#include <pybind11/pybind11.h>

namespace particles {

namespace py = pybind11;

void bind_opencl(py::module_& module);
void bind_fields(py::module_& module);
void bind_operators(py::module_& module);

}  // namespace particles
