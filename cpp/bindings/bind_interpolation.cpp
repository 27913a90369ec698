// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/bindings.hpp"
#include "interpolation/interpolation.hpp"

namespace particles {

namespace {

using Read = std::tuple<std::shared_ptr<Field>, int64_t, int64_t, std::shared_ptr<Array>,
                        std::shared_ptr<Array>, bool>;
using Given = std::tuple<std::shared_ptr<Array>, std::shared_ptr<Field>>;

std::vector<Interpolation::Given> given(const std::vector<Given>& pairs) {
  std::vector<Interpolation::Given> all;
  for (const auto& [values, field] : pairs) all.push_back({*values, *field});
  return all;
}

}  // namespace

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
          [](Interpolation& self, const Cells& box, const Places& places,
             const std::shared_ptr<Array>& starts, const std::vector<Read>& pairs,
             int64_t first_own, int64_t own_planes) {
            std::vector<Interpolation::Read> all;
            for (const auto& [field, first, whole, before, results, adds] : pairs)
              all.push_back({*field, {first, whole}, *before, *results, adds});
            self.to_particles(box, {first_own, own_planes}, places, starts, all);
          },
          py::arg("box"), py::arg("places"), py::arg("starts").none(true), py::arg("pairs"),
          py::arg("first_own") = 0, py::arg("own_planes") = 0, NoGil())
      .def(
          "to_grid",
          [](Interpolation& self, const Cells& box, const Places& places, const Array& starts,
             const std::vector<Given>& pairs, bool adds, bool by_cell) {
            self.to_grid(box, places, {starts, nullptr, by_cell}, given(pairs), adds);
          },
          py::arg("box"), py::arg("places"), py::arg("starts"), py::arg("pairs"), py::arg("adds"),
          py::arg("by_cell"), NoGil())
      .def(
          "to_grid_in_any_order",
          [](Interpolation& self, const ParticleSet& set, const Places& places,
             const std::vector<Given>& pairs,
             bool adds) { self.to_grid_in_any_order(set, places, given(pairs), adds); },
          py::arg("set"), py::arg("places"), py::arg("pairs"), py::arg("adds"), NoGil());
}

}  // namespace particles
