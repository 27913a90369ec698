// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/bindings.hpp"
#include "operators/resample.hpp"
#include "stepping/forecast.hpp"
#include "stepping/gauge.hpp"
#include "stepping/splitting.hpp"
#include "stepping/tracers.hpp"
#include "stepping/unsplit.hpp"

namespace particles {

namespace {

std::optional<LineKind> kind_from(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  for (const LineKind kind : {LineKind::lanes, LineKind::private_lines, LineKind::local_lines,
                              LineKind::global_lines, LineKind::registers, LineKind::team})
    if (*name == name_of(kind)) return kind;
  throw std::invalid_argument("kind: expected lanes, private, local or global, got " + *name);
}

void bind_form(py::module_& module) {
  py::class_<Form>(module, "Form")
      .def(py::init([](const std::optional<std::string>& kind, std::optional<int> lanes,
                       std::optional<bool> copied, std::optional<bool> transposed,
                       std::optional<bool> images, std::optional<int> group,
                       std::optional<int> tiles, std::optional<int> nodes) {
             return Form{kind_from(kind), lanes, copied, transposed, images, group, tiles, nodes};
           }),
           py::arg("kind") = py::none(), py::arg("lanes") = py::none(),
           py::arg("copied") = py::none(), py::arg("transposed") = py::none(),
           py::arg("images") = py::none(), py::arg("group") = py::none(),
           py::arg("tiles") = py::none(), py::arg("nodes") = py::none());
}

std::shared_ptr<AdvectionOp> on_grid_at_times(const Fields& fields,
                                              const std::vector<double>& times, const Form& form,
                                              const std::string& scheme,
                                              const std::string& interpolation, const Grid& grid) {
  const GilReleased no_gil;
  const Velocity velocity{grid, fields, times, {}, fields.size() > 1, {scheme, interpolation}};
  const Field& first = *fields.at(0);
  return std::make_shared<AdvectionOp>(first.context(), velocity, first.dtype(), form);
}

std::shared_ptr<AdvectionOp> on_grid(const std::shared_ptr<Field>& field, const Form& form,
                                     const std::string& scheme, const std::string& interpolation,
                                     const std::optional<Grid>& grid) {
  return on_grid_at_times({field}, {}, form, scheme, interpolation, grid.value_or(field->grid()));
}

// As pairs of whole numbers.
std::vector<std::pair<int, int>> pairs_of(const std::vector<Ratio>& ratios) {
  std::vector<std::pair<int, int>> pairs;
  for (const Ratio& ratio : ratios) pairs.emplace_back(ratio.numerator, ratio.denominator);
  return pairs;
}

void bind_schemes(py::module_& module) {
  py::class_<Scheme>(module, "Scheme")
      .def_readonly("name", &Scheme::name)
      .def_property_readonly("places",
                             [](const Scheme& scheme) {
                               std::vector<std::vector<std::pair<int, int>>> places;
                               for (const auto& shares : scheme.places)
                                 places.push_back(pairs_of(shares));
                               return places;
                             })
      .def_property_readonly("weights",
                             [](const Scheme& scheme) { return pairs_of(scheme.weights); })
      .def_property_readonly("times", &Scheme::times)
      .def_property_readonly("reach", &Scheme::reach)
      .def_property_readonly("bits_of_moves", &bits_of_moves);
  module.attr("MOST_LENGTHS") = kMostLengths;
  module.def("schemes", &schemes);
}

void bind_parameters(py::module_& module) {
  py::class_<Parameters, std::shared_ptr<Parameters>>(module, "Parameters")
      .def(py::init<std::vector<double>>(), py::arg("values"))
      .def_property("values", &Parameters::values, &Parameters::set_values)
      .def_property_readonly("version", &Parameters::version);
}

// An operation, numbers of the nodes it is done with, and a value.
using NodeOfFormula = std::tuple<std::string, std::vector<int>, double>;
using FormulasOfTime = std::vector<std::optional<std::vector<NodeOfFormula>>>;

TimeFormula time_formula(const std::vector<NodeOfFormula>& given) {
  std::vector<TimeFormula::Node> nodes;
  for (const auto& [operation, operands, value] : given)
    nodes.push_back({operation, operands, value});
  return TimeFormula(nodes);
}

Amplitudes::OfAxes amplitudes_from(const FormulasOfTime& given) {
  Amplitudes::OfAxes amplitudes;
  for (const auto& nodes : given) {
    amplitudes.emplace_back();
    if (nodes) amplitudes.back() = time_formula(*nodes);
  }
  return amplitudes;
}

// Share, axis and instant.
using LeakFound = std::optional<std::tuple<double, int, double>>;
// Axis, speed, strain, instant and duration.
using WrongFound = std::optional<std::tuple<std::optional<int>, double, double, double, double>>;

LeakFound told(const std::optional<Leak>& leak) {
  if (!leak) return std::nullopt;
  return std::make_tuple(leak->share, leak->axis, leak->instant);
}

WrongFound told(const std::optional<Wrong>& wrong) {
  if (!wrong) return std::nullopt;
  return std::make_tuple(wrong->axis, wrong->speed, wrong->strain, wrong->instant, wrong->duration);
}

auto told(const Strain& strain) {
  return std::make_tuple(strain.rate, strain.axis, strain.joint, strain.instant, strain.cells,
                         told(strain.leak));
}

std::vector<std::array<double, 3>> told(const std::vector<Extremes>& found) {
  std::vector<std::array<double, 3>> numbers;
  for (const Extremes& one : found) numbers.push_back({one.speed, one.strain, one.on_wall});
  return numbers;
}

std::vector<Look> looks_from(const std::vector<int>& axes, const std::vector<double>& times,
                             const std::vector<double>& durations = {}) {
  std::vector<Look> looks;
  for (size_t k = 0; k < axes.size(); k++)
    looks.push_back({axes[k], {times.at(k), durations.empty() ? 0 : durations.at(k)}});
  return looks;
}

void bind_advection(py::module_& module) {
  py::class_<AdvectionOp, std::shared_ptr<AdvectionOp>>(module, "AdvectionOp")
      .def(py::init(&on_grid), py::arg("velocity"), py::arg("form"), py::arg("scheme") = "rk2",
           py::arg("interpolation") = "linear", py::arg("grid") = py::none())
      .def(py::init(&on_grid_at_times), py::arg("fields"), py::arg("times"), py::arg("form"),
           py::arg("scheme"), py::arg("interpolation"), py::arg("grid"))
      .def(py::init([](const std::shared_ptr<Context>& context, const Grid& grid,
                       const std::vector<std::string>& formulas, bool depends_on_time,
                       const std::string& dtype, const Form& form, const std::string& scheme,
                       const std::shared_ptr<Parameters>& parameters,
                       const FormulasOfTime& amplitudes) {
             const GilReleased no_gil;
             const Velocity velocity{
                 grid, {}, {}, formulas, depends_on_time, {scheme, "linear"}, parameters};
             return std::make_shared<AdvectionOp>(context, velocity, dtype_from(dtype), form,
                                                  amplitudes_from(amplitudes));
           }),
           py::arg("context"), py::arg("grid"), py::arg("formulas"), py::arg("depends_on_time"),
           py::arg("dtype"), py::arg("form"), py::arg("scheme") = "rk2",
           py::arg("parameters") = py::none(), py::arg("amplitudes") = FormulasOfTime())
      .def(
          "displace",
          [](AdvectionOp& op, int axis, double time, double dt, Field& displacements) {
            op.displace(axis, Interval{time, dt}, displacements);
          },
          py::arg("axis"), py::arg("time"), py::arg("dt"), py::arg("displacements"), NoGil())
      .def(
          "measure",
          [](const AdvectionOp& op, const std::vector<int>& axes, const std::vector<double>& times,
             const std::vector<double>& durations) {
            return told(op.extremes().measure(looks_from(axes, times, durations)));
          },
          py::arg("axes"), py::arg("times"), py::arg("durations") = std::vector<double>{}, NoGil())
      .def(
          "judge",
          [](AdvectionOp& op, int axis, double begin, double duration) {
            const Judged one = judge(op, {{axis, {begin, duration}}}).front();
            return std::make_tuple(one.strain, one.instant, one.cells, told(one.leak),
                                   told(one.wrong));
          },
          py::arg("axis"), py::arg("begin"), py::arg("duration"), NoGil())
      .def(
          "level_at",
          [](const AdvectionOp& op, double time) { return op.flow().velocity().level_at(time); },
          py::arg("time"))
      .def(
          "forget",
          [](AdvectionOp& op) {
            op.flow().forget();
            op.extremes().forget();
          },
          NoGil())
      .def(
          "bound_speeds",
          [](AdvectionOp& op, double begin, double end, const std::vector<double>& speeds) {
            op.extremes().bound_speeds(SpeedBounds{begin, end, speeds});
          },
          py::arg("begin"), py::arg("end"), py::arg("speeds"), NoGil());
}

using Inflows = std::vector<std::array<std::vector<std::string>, 2>>;

Inflow inflow_from(const Inflows& per_axis) {
  Inflow inflow;
  if (per_axis.size() > inflow.size())
    throw std::invalid_argument("inflow: expected at most 3 axes, got " +
                                std::to_string(per_axis.size()));
  std::copy(per_axis.begin(), per_axis.end(), inflow.begin());
  return inflow;
}

Limiter limiter_from(const std::optional<std::string>& name) {
  if (!name) return Limiter::none;
  if (*name == "positive") return Limiter::positive;
  if (*name == "monotone") return Limiter::monotone;
  throw std::invalid_argument("limiter: expected positive or monotone, got " + *name);
}

void bind_remesh(py::module_& module) {
  py::class_<RemeshOp, std::shared_ptr<RemeshOp>>(module, "RemeshOp")
      .def(py::init([](const Fields& fields, const std::string& source, int stencil,
                       const std::vector<Form>& forms, const std::optional<std::string>& limiter,
                       bool conservative, const Inflows& inflow) {
             const RemeshingKernel kernel{source, stencil, limiter_from(limiter), conservative};
             return std::make_shared<RemeshOp>(fields, kernel, forms, inflow_from(inflow));
           }),
           py::arg("fields"), py::arg("source"), py::arg("stencil"), py::arg("forms"),
           py::arg("limiter") = py::none(), py::arg("conservative") = true,
           py::arg("inflow") = Inflows())
      .def("apply", &RemeshOp::apply, py::arg("axis"), py::arg("displacements"),
           py::arg("greatest_move"), NoGil());
}

void bind_source(py::module_& module) {
  py::class_<SourceOp, std::shared_ptr<SourceOp>>(module, "SourceOp")
      .def(py::init([](const Fields& fields, const Fields& given, const std::string& rates,
                       const std::shared_ptr<Parameters>& parameters) {
             const GilReleased no_gil;
             return std::make_shared<SourceOp>(fields, given, rates, parameters);
           }),
           py::arg("fields"), py::arg("given"), py::arg("rates"),
           py::arg("parameters") = py::none())
      .def(
          "apply", [](SourceOp& op, double time, double dt) { op.apply(Interval{time, dt}); },
          py::arg("time"), py::arg("dt"), NoGil());
}

void bind_diffusion(py::module_& module) {
  py::class_<Diffusion, std::shared_ptr<Diffusion>>(module, "Diffusion")
      .def(py::init([](const Fields& fields, const std::vector<double>& viscosities,
                       const Inflows& inflow) {
             const GilReleased no_gil;
             return std::make_shared<Diffusion>(fields, viscosities, inflow_from(inflow));
           }),
           py::arg("fields"), py::arg("viscosities"), py::arg("inflow"))
      .def_property("viscosities", py::cpp_function(&Diffusion::viscosities, NoGil()),
                    py::cpp_function(&Diffusion::set_viscosities, NoGil()))
      .def(
          "apply", [](Diffusion& op, double time, double dt) { op.apply(Interval{time, dt}); },
          py::arg("time"), py::arg("dt"), NoGil());
}

// What is no axis has a name, or none.
using StageAxis = std::optional<std::variant<int, std::string>>;
const std::string kDiffusionName = "diffusion";

StageAxis axis_of(const Stage& stage) {
  if (stage.axis == kSource) return std::nullopt;
  if (stage.axis == kDiffusion) return kDiffusionName;
  return stage.axis;
}

int axis_from(const StageAxis& axis) {
  if (!axis) return kSource;
  return std::holds_alternative<int>(*axis) ? std::get<int>(*axis) : kDiffusion;
}

void bind_splitting(py::module_& module) {
  py::class_<Stage>(module, "Stage")
      .def_property_readonly("axis", &axis_of)
      .def_readonly("begin", &Stage::begin)
      .def_readonly("length", &Stage::length);
  py::class_<Splitting, std::shared_ptr<Splitting>>(module, "Splitting")
      .def(py::init<std::shared_ptr<AdvectionOp>, std::shared_ptr<RemeshOp>, int,
                    std::shared_ptr<SourceOp>, Splitting::Diffusions>(),
           py::arg("advection"), py::arg("remesh"), py::arg("order"),
           py::arg("source") = py::none(), py::arg("diffusions") = Splitting::Diffusions(), NoGil())
      .def_property_readonly("schedule", py::cpp_function(&Splitting::schedule, NoGil()))
      .def_property_readonly("joined_schedule",
                             py::cpp_function(&Splitting::joined_schedule, NoGil()))
      .def(
          "take_fewer_parts",
          [](const Splitting& splitting, double joined, double closed, double alone) {
            return take_fewer(splitting.schedules(), joined, closed, alone);
          },
          py::arg("joined"), py::arg("closed"), py::arg("alone"), NoGil())
      .def(
          "sweep",
          [](Splitting& splitting, const StageAxis& axis, double time, double dt) {
            splitting.sweep(axis_from(axis), Interval{time, dt});
          },
          py::arg("axis"), py::arg("time"), py::arg("dt"), NoGil())
      .def("advance", &Splitting::advance, py::arg("times"), py::arg("dt"), py::arg("steps"),
           py::arg("joined"), py::arg("first") = 0, NoGil())
      .def(
          "advance_fitted",
          [](Splitting& splitting, const Fitted& fitted) {
            splitting.advance_fitted(fitted.steps);
          },
          py::arg("fitted"), NoGil())
      .def("forget", &Splitting::forget, NoGil())
      .def("close", &Splitting::close, NoGil())
      .def("crossed", &Splitting::crossed, py::arg("axis"), NoGil())
      .def_property_readonly("steps_done", &Splitting::steps_done)
      .def_property_readonly("sweeps_done", &Splitting::sweeps_done)
      .def_property_readonly("forms", &Splitting::forms)
      .def_property_readonly("is_chained", &Splitting::is_chained)
      .def_property_readonly("held_since",
                             py::cpp_function(
                                 [](const Splitting& splitting) -> std::optional<double> {
                                   const auto held = splitting.held();
                                   return held ? std::optional(held->interval.begin) : std::nullopt;
                                 },
                                 NoGil()));
}

void bind_resample(py::module_& module) {
  module.def(
      "resample",
      [](const Field& source, Field& target, const std::string& kernel, int stencil) {
        resample(source, target, RemeshingKernel{kernel, stencil});
      },
      py::arg("source"), py::arg("target"), py::arg("kernel"), py::arg("stencil"), NoGil());
}

void bind_unsplit(py::module_& module) {
  py::class_<Unsplit, std::shared_ptr<Unsplit>>(module, "Unsplit")
      .def(py::init<std::shared_ptr<AdvectionOp>, std::shared_ptr<RemeshOp>>(),
           py::arg("advection"), py::arg("remesh"), NoGil())
      .def("advance", &Unsplit::advance, py::arg("time"), py::arg("dt"), py::arg("steps"),
           py::arg("first") = 0, NoGil())
      .def("forget", &Unsplit::forget, NoGil())
      .def_property_readonly("steps_done", &Unsplit::steps_done);
}

std::shared_ptr<Tracers> tracers_by_fields(const Fields& fields, const std::vector<double>& times,
                                           const std::string& scheme, const std::string& kernel,
                                           int stencil, const Cells& box,
                                           const std::string& offset) {
  const GilReleased no_gil;
  const Field& first = *fields.at(0);
  const Velocity velocity{first.grid(), fields, times, {}, fields.size() > 1, {scheme, "linear"}};
  return std::make_shared<Tracers>(first.context(), velocity, RemeshingKernel{kernel, stencil}, box,
                                   dtype_from(offset));
}

std::shared_ptr<Tracers> tracers_by_formulas(const std::shared_ptr<Context>& context,
                                             const Grid& grid,
                                             const std::vector<std::string>& formulas,
                                             bool depends_on_time, const std::string& scheme,
                                             const std::shared_ptr<Parameters>& parameters,
                                             const std::string& kernel, int stencil,
                                             const Cells& box, const std::string& offset) {
  const GilReleased no_gil;
  const Velocity velocity{grid, {}, {}, formulas, depends_on_time, {scheme, "linear"}, parameters};
  return std::make_shared<Tracers>(context, velocity, RemeshingKernel{kernel, stencil}, box,
                                   dtype_from(offset));
}

void bind_tracers(py::module_& module) {
  py::class_<Tracers, std::shared_ptr<Tracers>>(module, "Tracers")
      .def(py::init(&tracers_by_fields), py::arg("fields"), py::arg("times"), py::arg("scheme"),
           py::arg("kernel"), py::arg("stencil"), py::arg("box"), py::arg("offset"))
      .def(py::init(&tracers_by_formulas), py::arg("context"), py::arg("grid"), py::arg("formulas"),
           py::arg("depends_on_time"), py::arg("scheme"), py::arg("parameters"), py::arg("kernel"),
           py::arg("stencil"), py::arg("box"), py::arg("offset"))
      .def("read_from", &Tracers::read_from, py::arg("planes"), py::arg("first_plane"))
      .def("begin", &Tracers::begin, py::arg("places"), py::arg("keeps"), NoGil())
      .def("advance", &Tracers::advance, py::arg("places"), py::arg("time"), py::arg("dt"),
           py::arg("steps"), py::arg("first") = 0, NoGil())
      .def("look",
           [](const Tracers& tracers) {
             const Traced traced = [&] {
               const GilReleased no_gil;
               return tracers.look();
             }();
             const auto pair = [](const Traced::First& first) {
               return std::make_pair(first.step, first.particle);
             };
             return py::make_tuple(traced.left, traced.stuck, pair(traced.first_left),
                                   pair(traced.first_stuck));
           })
      .def("go_back", &Tracers::go_back, py::arg("places"), NoGil())
      .def("gone", &Tracers::gone, py::arg("count"))
      .def_property_readonly("has_open_ends", &Tracers::has_open_ends)
      .def_property_readonly("reach", &Tracers::reach)
      .def_property_readonly("steps_done", &Tracers::steps_done)
      .def_property_readonly("steps_before", py::cpp_function(&Tracers::steps_before, NoGil()))
      .def_property_readonly("bytes", &Tracers::bytes);
}

template <double FittedStep::* member>
std::vector<double> of_each(const Fitted& fitted) {
  std::vector<double> numbers;
  for (const FittedStep& step : fitted.steps) numbers.push_back(step.*member);
  return numbers;
}

void bind_gauges(py::module_& module) {
  py::class_<Fitted>(module, "Fitted")
      .def_property_readonly("begins", &of_each<&FittedStep::begin>)
      .def_property_readonly("durations", &of_each<&FittedStep::dt>)
      .def_property_readonly("ends", &of_each<&FittedStep::end>)
      .def_property_readonly("joined",
                             [](const Fitted& fitted) {
                               std::vector<bool> joined;
                               for (const FittedStep& step : fitted.steps)
                                 joined.push_back(step.joined);
                               return joined;
                             })
      .def_property_readonly("strain", [](const Fitted& fitted) { return told(fitted.strain); })
      .def_readonly("lcfl", &Fitted::lcfl)
      .def_readonly("cells", &Fitted::cells)
      .def_readonly("longest", &Fitted::longest)
      .def_property_readonly("wrong", [](const Fitted& fitted) { return told(fitted.wrong); })
      .def_readonly("is_too_short", &Fitted::is_too_short);
  py::class_<Gauge, std::shared_ptr<Gauge>>(module, "Gauge")
      .def(
          "of_steps",
          [](Gauge& gauge, const std::vector<double>& times, double dt, double unsaid_strain,
             bool leaks_are_unsaid, double joined_strain) {
            const Gauged gauged =
                gauge.of_steps(times, dt, {unsaid_strain, leaks_are_unsaid, joined_strain});
            return std::make_tuple(told(gauged.strain), gauged.steps, told(gauged.wrong));
          },
          py::arg("times"), py::arg("dt"), py::arg("unsaid_strain"), py::arg("leaks_are_unsaid"),
          py::arg("joined_strain"), NoGil())
      .def(
          "fit",
          [](Gauge& gauge, double begin, double end, double lcfl, double longest, double most,
             double last_dt, double known_until, double least_of_time, int64_t steps,
             int64_t together, double unsaid_strain, bool leaks_are_unsaid, double joined_strain) {
            const Wanted wanted{begin,   end,         lcfl,          longest, most,
                                last_dt, known_until, least_of_time, steps,   together};
            return gauge.fit(wanted, {unsaid_strain, leaks_are_unsaid, joined_strain});
          },
          py::arg("begin"), py::arg("end"), py::arg("lcfl"), py::arg("longest"), py::arg("most"),
          py::arg("last_dt"), py::arg("known_until"), py::arg("least_of_time"), py::arg("steps"),
          py::arg("together"), py::arg("unsaid_strain"), py::arg("leaks_are_unsaid"),
          py::arg("joined_strain"), NoGil());
  py::class_<SplittingGauge, Gauge, std::shared_ptr<SplittingGauge>>(module, "SplittingGauge")
      .def(py::init<std::shared_ptr<AdvectionOp>, std::shared_ptr<Splitting>, bool>(),
           py::arg("advection"), py::arg("splitting"), py::arg("is_back"))
      .def(
          "choose", [](SplittingGauge& gauge, double time) { return told(gauge.choose(time)); },
          py::arg("time"), NoGil())
      .def("forget", &SplittingGauge::forget, NoGil());
  py::class_<UnsplitGauge, Gauge, std::shared_ptr<UnsplitGauge>>(module, "UnsplitGauge")
      .def(py::init<std::shared_ptr<AdvectionOp>, std::shared_ptr<Unsplit>>(), py::arg("advection"),
           py::arg("unsplit"));
  py::class_<TracersGauge, Gauge, std::shared_ptr<TracersGauge>>(module, "TracersGauge")
      .def(py::init<std::shared_ptr<Tracers>>(), py::arg("tracers"));
}

void bind_for_tests(py::module_ testing) {
  testing.def(
      "extremes_at",
      [](const AdvectionOp& op, const std::vector<int>& axes, const std::vector<double>& times) {
        return told(op.extremes_at(looks_from(axes, times)));
      },
      py::arg("op"), py::arg("axes"), py::arg("times"), NoGil());
  testing.def(
      "time_formula_at",
      [](const std::vector<NodeOfFormula>& nodes, double time,
         const std::vector<double>& parameters) {
        return time_formula(nodes).at(time, parameters);
      },
      py::arg("nodes"), py::arg("time"), py::arg("parameters"));
}

void bind_forecast(py::module_& module) {
  module.def("memory_forecast", &memory_forecast, py::arg("advection"), py::arg("remesh"),
             py::arg("order"), py::arg("diffusions"), py::arg("grid"), NoGil());
}

}  // namespace

void bind_operators(py::module_& module) {
  bind_form(module);
  bind_schemes(module);
  bind_parameters(module);
  bind_advection(module);
  bind_remesh(module);
  bind_source(module);
  bind_diffusion(module);
  bind_splitting(module);
  bind_resample(module);
  bind_unsplit(module);
  bind_tracers(module);
  bind_gauges(module);
  bind_forecast(module);
  bind_for_tests(module.def_submodule("testing"));
}

}  // namespace particles
