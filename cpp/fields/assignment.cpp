// SPDX-License-Identifier: BSD-3-Clause
#include "fields/assignment.hpp"

#include <stdexcept>

#include "arrays/boxes.hpp"

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
class Places {
 public:
  void add_target(const Field& field, const Region& region, bool by_component) {
    declare("__global ", field, region, "target_");
    results_ = by_component ? 1 : static_cast<int>(region.count[0]);
    for (int k = 0; k < results_; k++)
      stores_ += " store_" + call(field, region) + "(results[" + std::to_string(k) + "], " +
                 at("target_", region, by_component, k) + ", count);";
  }

  void add_operand(const Field& field, const Region& region, bool by_component) {
    const std::string name = "operand" + std::to_string(operands_++) + "_";
    declare("__global const ", field, region, name);
    const int components = by_component ? 1 : field.components();
    for (int k = 0; k < components; k++)
      loads_ += " values[" + std::to_string(values_++) + "] = load_" + call(field, region) + "(" +
                at(name, region, by_component, k) + ", count);";
  }

  std::vector<opencl::Argument>& arguments() { return arguments_; }

  std::string source(size_t numbers) const {
    std::string parameters, list;
    for (size_t k = 0; k < numbers; k++) {
      parameters += ", const real number" + std::to_string(k);
      list += (k == 0 ? "number" : ", number") + std::to_string(k);
    }
    return "#define VALUES " + std::to_string(values_) + "\n#define RESULTS " +
           std::to_string(results_) + "\n#define PLACES " + parameters_ + "\n#define LOAD_VALUES" +
           loads_ + "\n#define STORE_RESULTS" + stores_ + "\n#define NUMBER_PARAMETERS " +
           parameters + "\n#define NUMBERS {" + (numbers == 0 ? "0" : list) + "}\n";
  }

 private:
  void declare(const char* qualifiers, const Field& field, const Region& region,
               const std::string& name) {
    parameters_ += (parameters_.empty() ? "" : ", ") + std::string(qualifiers) +
                   opencl_name_of(field.dtype()) + "* " + name + ", STRIDES(" + name + ")";
    append_place(arguments_, field.buffer(), region);
  }

  static std::string call(const Field& field, const Region& region) {
    return opencl_name_of(field.dtype()) + std::string(region.stride[3] == 1 ? "_row" : "");
  }

  static std::string at(const std::string& name, const Region& region, bool by_component, int k) {
    const std::string component = by_component ? "i0" : std::to_string(k);
    return "AT(" + name + ", " + component + ")" + (region.stride[3] == 1 ? "" : ", " + name + "3");
  }

  std::string parameters_, loads_, stores_;
  std::vector<opencl::Argument> arguments_;
  int operands_ = 0, values_ = 0, results_ = 0;
};

}  // namespace

void assign(Field& target, const Selection& selection, const Operands& operands,
            const PointFormula& formula) {
  const Grid& grid = target.grid();
  Places places;
  Region points = region_of(grid, target.layout(), target.components(), selection);
  places.add_target(target, points, formula.by_component);
  double bytes = 1.0 * points.points() * size_of(target.dtype());
  for (const auto& operand : operands) {
    const Region region = region_of_operand(*operand, target, selection, formula.by_component);
    places.add_operand(*operand, region, formula.by_component);
    bytes += 1.0 * region.points() * size_of(operand->dtype());
  }
  if (!formula.by_component) points.count[0] = 1;

  auto& arguments = places.arguments();
  append_counts(arguments, points);
  for (int axis = grid.ndim - 3; axis < grid.ndim; axis++) {
    arguments.emplace_back(cl_long{axis < 0 ? 0 : selection.start[axis + 1]});
    arguments.emplace_back(cl_long{axis < 0 ? 1 : selection.step[axis + 1]});
  }
  for (int axis = grid.ndim - 3; axis < grid.ndim; axis++) {
    arguments.push_back(real_argument(formula.real, axis < 0 ? 0 : grid.origin[axis]));
    arguments.push_back(real_argument(formula.real, axis < 0 ? 0 : grid.spacing[axis]));
  }
  for (const double number : formula.numbers)
    arguments.push_back(real_argument(formula.real, number));

  Workspace& workspace = target.workspace();
  const std::string options = dtype_options(formula.real) +
                              " -DLANES=" + std::to_string(workspace.lanes(size_of(formula.real))) +
                              " -DNDIM=" + std::to_string(grid.ndim) +
                              (workspace.device().has_vector_fma() ? " -DUSE_FMA" : "");
  const auto kernel =
      workspace.kernel_made("fields/assign.cl",
                            {{"generated/operands.cl", places.source(formula.numbers.size())},
                             {"generated/results.cl", formula.text}},
                            options, "assign");
  workspace.context().launch(kernel, range_for_rows(workspace.device(), points), arguments, bytes);
  target.touch();
}

}  // namespace particles
