// SPDX-License-Identifier: BSD-3-Clause
#include "fields/assignment.hpp"

#include <stdexcept>

#include "arrays/regions.hpp"

namespace particles {
namespace {

// The box of an operand at the selected points of the target; what it has but one of stays where it
// is.
Region region_of_operand(const Field& operand, const Field& target, const Selection& points,
                         bool by_component) {
  const Grid& grid = operand.grid();
  Selection own = everything(grid, operand.components());
  bool fits = operand.context() == target.context() && grid.ndim == target.grid().ndim;
  for (int k = 0; k <= grid.ndim && fits; k++) {
    const int64_t length = k == 0 ? operand.components() : grid.shape[k - 1];
    const int64_t expected = k == 0 ? target.components() : target.grid().shape[k - 1];
    if (k == 0 && !by_component) continue;
    fits = length == expected || length == 1;
    if (length != 1) {
      own.start[k] = points.start[k];
      own.count[k] = points.count[k];
      own.step[k] = points.step[k];
    }
  }
  if (!fits)
    throw std::invalid_argument("operands: expected fields of the target's device and shape");
  Region region = region_of(grid, operand.layout(), operand.components(), own);
  for (int k = by_component ? 0 : 1; k < 4; k++)
    if (region.count[k] == 1) region.stride[k] = 0;
  return region;
}

// Generated text, and the arguments that go with it.
class AssignedFields {
 public:
  void add_target(const Field& field, const Region& region, bool by_component) {
    declare("__global ", field, region, "target_", "target_");
    results_ = by_component ? 1 : static_cast<int>(region.count[0]);
    for (int k = 0; k < results_; k++)
      stores_ += " store_" + call(field, region) + "(results[" + std::to_string(k) + "], " +
                 at("target_", region, by_component, k) + ", count);";
  }

  void add_operand(const Field& field, const Region& region, bool by_component) {
    const Name argument = Name("operand", operands_++) + "_";
    const std::string name = argument.text();
    declare("__global const ", field, region, name, argument);
    const int components = by_component ? 1 : field.components();
    for (int k = 0; k < components; k++)
      loads_ += " values[" + std::to_string(values_++) + "] = load_" + call(field, region) + "(" +
                at(name, region, by_component, k) + ", count);";
  }

  void add_to(Launch& launch) const {
    for (const auto& [name, field, region] : declared_)
      add_region(launch, name, name, field->buffer(), region);
  }

  std::string source(size_t numbers) const {
    std::string parameters, list;
    for (size_t k = 0; k < numbers; k++) {
      parameters += ", const real number" + std::to_string(k);
      list += (k == 0 ? "number" : ", number") + std::to_string(k);
    }
    return "#define VALUES " + std::to_string(values_) + "\n#define RESULTS " +
           std::to_string(results_) + "\n#define FIELD_PARAMETERS " + parameters_ +
           "\n#define LOAD_VALUES" + loads_ + "\n#define STORE_RESULTS" + stores_ +
           "\n#define NUMBER_PARAMETERS " + parameters + "\n#define GIVEN_NUMBERS {" +
           (numbers == 0 ? "0" : list) + "}\n";
  }

 private:
  struct Declared {
    Name name;
    const Field* field;
    Region region;
  };

  void declare(const char* qualifiers, const Field& field, const Region& region,
               const std::string& name, const Name& argument) {
    parameters_ += (parameters_.empty() ? "" : ", ") + std::string(qualifiers) +
                   opencl_name_of(field.dtype()) + "* " + name + ", STRIDES(" + name + ")";
    declared_.push_back({argument, &field, region});
  }

  static std::string call(const Field& field, const Region& region) {
    return opencl_name_of(field.dtype()) + std::string(region.stride[3] == 1 ? "_row" : "");
  }

  static std::string at(const std::string& name, const Region& region, bool by_component, int k) {
    const std::string component = by_component ? "i0" : std::to_string(k);
    return "ELEMENT(" + name + ", " + component + ")" +
           (region.stride[3] == 1 ? "" : ", " + name + "3");
  }

  std::string parameters_, loads_, stores_;
  std::vector<Declared> declared_;
  int operands_ = 0, values_ = 0, results_ = 0;
};

}  // namespace

void assign(Field& target, const Selection& selection, const Operands& operands,
            const PointFormula& formula) {
  const Grid& grid = target.grid();
  AssignedFields fields;
  Region points = region_of(grid, target.layout(), target.components(), selection);
  fields.add_target(target, points, formula.by_component);
  double bytes = 1.0 * points.points() * size_of(target.dtype());
  for (const auto& operand : operands) {
    const Region region = region_of_operand(*operand, target, selection, formula.by_component);
    fields.add_operand(*operand, region, formula.by_component);
    bytes += 1.0 * region.points() * size_of(operand->dtype());
  }
  if (!formula.by_component) points.count[0] = 1;

  Workspace& workspace = target.workspace();
  const std::string options = dtype_options(formula.real) +
                              " -DLANES=" + std::to_string(workspace.lanes(size_of(formula.real))) +
                              " -DNDIM=" + std::to_string(grid.ndim) +
                              fma_option(workspace.device());
  const auto kernel = workspace.kernel_made(
      "fields/assign.cl",
      {{"generated/assigned_fields.cl", fields.source(formula.numbers.size())},
       {"generated/results.cl", formula.text}},
      options, "assign");
  Launch launch(kernel);
  fields.add_to(launch);
  add_counts(launch, points);
  const auto axis_of = [&](int k) { return grid.ndim - 4 + k; };
  for (int k = 1; k <= 3; k++) {
    const int axis = axis_of(k);
    launch.int64({"first", k}, axis < 0 ? 0 : grid.begin[axis] + selection.start[axis + 1])
        .int64({"step", k}, axis < 0 ? 1 : selection.step[axis + 1]);
  }
  const auto add_real = [&](const Name& name, double value) {
    launch.add(name, real_argument(formula.real, value));
  };
  for (int k = 1; k <= 3; k++) {
    const int axis = axis_of(k);
    add_real({"origin", k}, axis < 0 ? 0 : grid.origin[axis]);
    add_real({"spacing", k}, axis < 0 ? 0 : grid.spacing[axis]);
  }
  for (size_t k = 0; k < formula.numbers.size(); k++)
    add_real({"number", static_cast<int>(k)}, formula.numbers[k]);
  launch.range(range_for_rows(workspace.device(), points)).traffic(bytes);
  workspace.context().queue().launch(launch);
  target.touch();
}

}  // namespace particles
