// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include <memory>
#include <string>

#include "bindings/bindings.hpp"
#include "interpolation/interpolation.hpp"

namespace particles {

void bind_interpolation(py::module_& module) {
  py::class_<Interpolation, std::shared_ptr<Interpolation>>(module, "Interpolation")
      .def(py::init([](std::shared_ptr<Context> context, const std::string& source, int stencil,
                       int64_t bytes_of_window, double most_repeated) {
             return std::make_shared<Interpolation>(std::move(context),
                                                    RemeshingKernel{source, stencil},
                                                    bytes_of_window, most_repeated);
           }),
           py::arg("context"), py::arg("kernel"), py::arg("stencil"),
           py::arg("bytes_of_window") = Interpolation::kBytesOfWindow,
           py::arg("most_repeated") = Interpolation::kMostRepeated)
      .def("has_ring", &Interpolation::has_ring, py::arg("field"), py::arg("box"),
           py::arg("values"), py::arg("offsets"))
      .def(
          "to_particles",
          [](Interpolation& self, const Field& field, const Cells& box, const Places& places,
             const std::shared_ptr<Array>& starts, const Array& before, Array& target, bool adds,
             int64_t first, int64_t whole, int64_t first_own, int64_t own_planes) {
            self.to_particles(field, {first, whole}, box, {first_own, own_planes}, places, starts,
                              before, target, adds);
          },
          py::arg("field"), py::arg("box"), py::arg("places"), py::arg("starts").none(true),
          py::arg("before"), py::arg("target"), py::arg("adds"), py::arg("first") = 0,
          py::arg("whole") = 0, py::arg("first_own") = 0, py::arg("own_planes") = 0, NoGil())
      .def(
          "to_grid",
          [](Interpolation& self, const Cells& box, const Places& places, const Array& starts,
             const Array& values, Field& field, bool adds, bool by_cell) {
            self.to_grid(box, places, {starts, nullptr, by_cell}, values, field, adds);
          },
          py::arg("box"), py::arg("places"), py::arg("starts"), py::arg("values"), py::arg("field"),
          py::arg("adds"), py::arg("by_cell"), NoGil())
      .def("to_grid_in_any_order", &Interpolation::to_grid_in_any_order, py::arg("set"),
           py::arg("places"), py::arg("values"), py::arg("field"), py::arg("adds"), NoGil());
}

}  // namespace particles
