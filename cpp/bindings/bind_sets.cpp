// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/bindings.hpp"
#include "fields/grid.hpp"
#include "sets/particle_set.hpp"

namespace particles {

namespace {

using Column = std::shared_ptr<Array>;
using Values = py::array;

Cells make_cells(const Grid& grid, const std::vector<double>& low, const std::vector<double>& high,
                 int64_t first, int64_t planes) {
  const auto axes = static_cast<size_t>(grid.ndim);
  if (low.size() != axes || high.size() != axes)
    throw std::invalid_argument("box: expected a low and a high end of each axis");
  Cells box;
  box.ndim = grid.ndim;
  box.shape = grid.shape;
  box.spacing = grid.spacing;
  box.ends = grid.boundary;
  std::copy(low.begin(), low.end(), box.low.begin());
  std::copy(high.begin(), high.end(), box.high.begin());
  if (planes == 0) return box;
  if (first < 0 || first >= grid.shape[0] || planes < 0 || planes > grid.shape[0])
    throw std::invalid_argument("box: expected a part of its planes");
  box.shape[0] = planes;
  box.part = {first, grid.shape[0]};
  return box;
}

// C-ordered, of that dtype and length.
void check_host(const Values& host, DType dtype, int64_t size) {
  if (!(host.flags() & py::array::c_style) || !host.dtype().equal(py::dtype(name_of(dtype))) ||
      host.size() != size)
    throw std::invalid_argument("host array: expected " + std::to_string(size) +
                                " contiguous elements of " + name_of(dtype));
}

HostPlaces host_places(const Cells& box, int64_t count, Values& cells, Values& offsets) {
  const DType offset = any_dtype_from(py::cast<std::string>(offsets.dtype().attr("name")));
  if (offset != DType::float32 && offset != DType::float64)
    throw std::invalid_argument("host array: expected offsets of float32 or float64");
  check_host(cells, box.cell_dtype(), count);
  check_host(offsets, offset, count * box.ndim);
  return {cells.mutable_data(), offsets.mutable_data(), nullptr, box.cell_dtype(), offset};
}

int64_t split_positions(const Cells& box, const Values& positions, Values& cells, Values& offsets,
                        Values& turns) {
  const int64_t count = cells.size();
  HostPlaces places = host_places(box, count, cells, offsets);
  check_host(turns, DType::int32, count * box.ndim);
  check_host(positions, DType::float64, count * box.ndim);
  places.turns = static_cast<int32_t*>(turns.mutable_data());
  const auto* from = static_cast<const double*>(positions.data());
  const GilReleased no_gil;
  return split(box, count, from, places);
}

void join_positions(const Cells& box, Values& cells, Values& offsets, Values& positions) {
  const int64_t count = cells.size();
  const HostPlaces places = host_places(box, count, cells, offsets);
  check_host(positions, DType::float64, count * box.ndim);
  auto* to = static_cast<double*>(positions.mutable_data());
  const GilReleased no_gil;
  join(box, count, places, to);
}

// In one call, between whose writes no interrupt of Python's comes.
void write_places(const Places& places, int64_t first, int64_t step, const Values& cells,
                  const Values& offsets, const Values& turns) {
  const int64_t count = cells.size();
  std::vector<std::tuple<Array*, Region, const void*>> writes;
  const auto add = [&](Array& column, const Values& host) {
    const int64_t components = column.components();
    check_host(host, column.dtype(), count * components);
    writes.emplace_back(&column, column.region({{first, 0}, {count, components}, {step, 1}}),
                        host.data());
  };
  add(*places.cells, cells);
  add(*places.offsets, offsets);
  if (places.turns) add(*places.turns, turns);
  const GilReleased no_gil;
  for (const auto& [column, region, host] : writes) column->write(region, host, column->dtype());
}

py::tuple move(ParticleSet& set, const Places& from, const Array& moves,
               const std::vector<bool>& differences, const Places& to, Array& gone) {
  const Moved moved = [&] {
    const GilReleased no_gil;
    return set.move(from, moves, differences, to, gone);
  }();
  return py::make_tuple(moved.left, moved.first_not_finite);
}

void compute(ParticleSet& set, const Places& places, const Arrays& operands, const Arrays& targets,
             const std::string& text, const std::vector<double>& numbers, const std::string& real,
             bool reads_places) {
  const ParticleFormula formula{text, numbers, dtype_from(real), reads_places};
  const GilReleased no_gil;
  set.compute(places, operands, targets, formula);
}

}  // namespace

void bind_sets(py::module_& module) {
  py::class_<Cells>(module, "Cells")
      .def(py::init(&make_cells), py::arg("grid"), py::arg("low"), py::arg("high"),
           py::arg("first") = 0, py::arg("planes") = 0)
      .def_property_readonly("cell_dtype",
                             [](const Cells& self) { return name_of(self.cell_dtype()); })
      .def_property_readonly("rows", &rows_of)
      .def("split", &split_positions, py::arg("positions"), py::arg("cells"), py::arg("offsets"),
           py::arg("turns"))
      .def("join", &join_positions, py::arg("cells"), py::arg("offsets"), py::arg("positions"));

  py::class_<Places>(module, "Places")
      .def(py::init([](Column cells, Column offsets, Column turns) {
             return Places{std::move(cells), std::move(offsets), std::move(turns)};
           }),
           py::arg("cells").none(false), py::arg("offsets").none(false), py::arg("turns"))
      .def("write", &write_places, py::arg("first"), py::arg("step"), py::arg("cells"),
           py::arg("offsets"), py::arg("turns"));

  py::class_<ParticleSet, std::shared_ptr<ParticleSet>>(module, "ParticleSet")
      .def(py::init<std::shared_ptr<Context>, const Cells&>(), py::arg("context"), py::arg("box"))
      .def("move", &move, py::arg("start"), py::arg("moves"), py::arg("differences"),
           py::arg("end"), py::arg("gone"))
      .def("compute", &compute, py::arg("places"), py::arg("operands"), py::arg("targets"),
           py::arg("text"), py::arg("numbers"), py::arg("real"), py::arg("reads_places"))
      .def("sort", &ParticleSet::sort, py::arg("cells"), py::arg("by_row"), py::arg("order"),
           NoGil())
      .def("counts_rows", &ParticleSet::counts_rows, py::arg("count"))
      .def("place_in_rows", &ParticleSet::place_in_rows, py::arg("cells"), py::arg("places"),
           py::arg("starts"), NoGil())
      .def(
          "find_starts",
          [](const ParticleSet& self, const Array& cells, Array& starts) {
            self.find_starts(cells, starts);
          },
          py::arg("cells"), py::arg("starts"), NoGil())
      .def("find_cells", &ParticleSet::find_cells, py::arg("cells"), py::arg("target"), NoGil())
      .def_property_readonly("bytes_to_sort", &ParticleSet::bytes_to_sort);
}

}  // namespace particles
