// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/bindings.hpp"

// All that threads share is constant, atomic or behind a lock of the core's own.
PYBIND11_MODULE(_core, module, pybind11::mod_gil_not_used()) {
  module.doc() =
      "The C++ core of particles: OpenCL runtime, arrays, fields, particles and operators.";
  module.attr("__version__") = PARTICLES_VERSION;
  particles::bind_runtime(module);
  particles::bind_arrays(module);
  particles::bind_fields(module);
  particles::bind_sets(module);
  particles::bind_interpolation(module);
  particles::bind_operators(module);
  particles::bind_testing(module);
}
