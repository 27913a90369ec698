// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/bindings.hpp"
#include "operators/splitting.hpp"

namespace particles {

namespace {

using NoGil = py::call_guard<py::gil_scoped_release>;

LineLimits limits_from(const std::optional<std::string>& form, const std::optional<int>& capacity) {
  LineLimits limits;
  limits.capacity = capacity;
  if (form) {
    for (const Form one : {Form::lanes, Form::private_lines, Form::local_lines})
      if (*form == name_of(one)) limits.form = one;
    if (!limits.form)
      throw std::invalid_argument("form: expected lanes, private or local, got " + *form);
  }
  return limits;
}

void bind_advection(py::module_& module) {
  py::class_<AdvectionOp, std::shared_ptr<AdvectionOp>>(module, "AdvectionOp")
      .def(py::init([](const std::shared_ptr<Field>& field, const std::optional<std::string>& form,
                       const std::optional<int>& capacity) {
             const Velocity velocity{field->grid(), field, {}, false};
             return std::make_shared<AdvectionOp>(field->context(), velocity, field->dtype(),
                                                  limits_from(form, capacity));
           }),
           py::arg("velocity"), py::arg("form"), py::arg("capacity"), NoGil())
      .def(py::init([](const std::shared_ptr<opencl::Context>& context, const Grid& grid,
                       const std::vector<std::string>& formulas, bool depends_on_time,
                       const std::string& dtype, const std::optional<std::string>& form,
                       const std::optional<int>& capacity) {
             const Velocity velocity{grid, nullptr, formulas, depends_on_time};
             return std::make_shared<AdvectionOp>(context, velocity, dtype_from(dtype),
                                                  limits_from(form, capacity));
           }),
           py::arg("context"), py::arg("grid"), py::arg("formulas"), py::arg("depends_on_time"),
           py::arg("dtype"), py::arg("form"), py::arg("capacity"), NoGil())
      .def(
          "displace",
          [](AdvectionOp& op, int axis, double time, double dt, Field& displacements) {
            op.displace(axis, Interval{time, dt}, displacements);
          },
          py::arg("axis"), py::arg("time"), py::arg("dt"), py::arg("displacements"), NoGil())
      .def(
          "extremes",
          [](AdvectionOp& op, int axis, double time) {
            const Extremes extremes = op.extremes(axis, time);
            return std::make_tuple(extremes.speed, extremes.strain);
          },
          py::arg("axis"), py::arg("time"), NoGil());
}

void bind_remesh(py::module_& module) {
  py::class_<RemeshOp, std::shared_ptr<RemeshOp>>(module, "RemeshOp")
      .def(py::init([](const Fields& fields, const std::string& source, int stencil,
                       const std::optional<std::string>& form, const std::optional<int>& capacity) {
             return std::make_shared<RemeshOp>(fields, RemeshingKernel{source, stencil},
                                               limits_from(form, capacity));
           }),
           py::arg("fields"), py::arg("source"), py::arg("stencil"), py::arg("form"),
           py::arg("capacity"))
      .def("apply", &RemeshOp::apply, py::arg("axis"), py::arg("displacements"),
           py::arg("greatest_move"), NoGil());
}

void bind_splitting(py::module_& module) {
  py::class_<Stage>(module, "Stage")
      .def_readonly("axis", &Stage::axis)
      .def_readonly("begin", &Stage::begin)
      .def_readonly("length", &Stage::length);
  py::class_<Splitting, std::shared_ptr<Splitting>>(module, "Splitting")
      .def(py::init<std::shared_ptr<AdvectionOp>, std::shared_ptr<RemeshOp>, int>(),
           py::arg("advection"), py::arg("remesh"), py::arg("order"), NoGil())
      .def("choose_schedules", &Splitting::choose_schedules, py::arg("strains"), NoGil())
      .def_property_readonly("schedule", &Splitting::schedule)
      .def_property_readonly("joined_schedule", &Splitting::joined_schedule)
      .def(
          "sweep",
          [](Splitting& splitting, int axis, double time, double dt) {
            splitting.sweep(axis, Interval{time, dt});
          },
          py::arg("axis"), py::arg("time"), py::arg("dt"), NoGil())
      .def("advance", &Splitting::advance, py::arg("time"), py::arg("dt"), py::arg("steps"),
           py::arg("joined"), NoGil())
      .def("close", &Splitting::close, NoGil())
      .def_property_readonly("steps_done", &Splitting::steps_done);
}

}  // namespace

void bind_operators(py::module_& module) {
  bind_advection(module);
  bind_remesh(module);
  bind_splitting(module);
}

}  // namespace particles
