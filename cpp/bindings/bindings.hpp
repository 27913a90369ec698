// SPDX-License-Identifier: BSD-3-Clause
// What each file of this folder adds to the extension module.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "fields/field.hpp"

namespace particles {

namespace py = pybind11;

// Throws std::invalid_argument where it is neither float32 nor float64.
DType dtype_from(const std::string& name);

void bind_opencl(py::module_& module);
void bind_fields(py::module_& module);
void bind_operators(py::module_& module);

}  // namespace particles
