// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/bindings.hpp"

PYBIND11_MODULE(_core, module) {
  module.doc() = "The C++ core of particles: OpenCL runtime, fields and operators.";
  module.attr("__version__") = PARTICLES_VERSION;
  particles::bind_opencl(module);
  particles::bind_fields(module);
  particles::bind_operators(module);
}
