// SPDX-License-Identifier: BSD-3-Clause
#include "motion/velocity.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace particles {
namespace {

// What rounding may make of times, as a share of them.
constexpr double kRounded = 1e-9;

// No more than this share of an interval follows a line that is that of its middle alone.
constexpr double kShareBeyond = 1e-3;

}  // namespace

std::string options_of(const Rule& rule) {
  if (rule.interpolation == "linear") return " -DINTERPOLATION=LINEAR";
  if (rule.interpolation == "cubic") return " -DINTERPOLATION=CUBIC";
  throw std::invalid_argument("interpolation: expected one of linear, cubic, got " +
                              rule.interpolation);
}

int64_t Velocity::version_of(size_t level) const {
  if (!is_formula()) return fields[level]->version();
  return parameters ? parameters->version() : 0;
}

int64_t Velocity::version() const {
  if (is_formula()) return version_of(0);
  int64_t sum = 0;
  for (const auto& field : fields) sum += field->version();
  return sum;
}

bool Velocity::is_shared() const {
  for (size_t level = 0; level < fields.size(); level++)
    if (is_shared(level)) return true;
  return false;
}

bool Velocity::is_shared(size_t level) const {
  return !is_formula() && !grid.neighbours && fields[level]->is_shared();
}

size_t Velocity::level_at(double time) const {
  const auto after = std::upper_bound(times.begin() + 1, times.end() - 1, time);
  return static_cast<size_t>(after - times.begin()) - 1;
}

double Velocity::rounding_of(const Interval& interval) const {
  const double end = interval.begin + interval.duration;
  const double present = std::max(
      {std::abs(interval.begin), std::abs(end), std::abs(times.front()), times[1] - times[0]});
  return kRounded * std::min(times.back() - times.front(), present);
}

std::vector<Interval> Velocity::pieces_of(const Interval& interval) const {
  if (!is_series()) return {interval};
  const double end = interval.begin + interval.duration;
  const double low = std::min(interval.begin, end), high = std::max(interval.begin, end);
  const double rounded = rounding_of(interval);
  if (!(low >= times.front() - rounded && high <= times.back() + rounded))
    throw std::invalid_argument("time: expected within the velocity's, " +
                                std::to_string(times.front()) + " to " +
                                std::to_string(times.back()) + ", got " + std::to_string(low) +
                                " to " + std::to_string(high));
  const double near = std::min(rounded, kShareBeyond * (high - low));
  std::vector<double> joints{low};
  for (const double time : times)
    if (time > low + near && time < high - near) joints.push_back(time);
  joints.push_back(high);
  if (interval.duration < 0) std::reverse(joints.begin(), joints.end());
  std::vector<Interval> pieces;
  for (size_t k = 0; k + 1 < joints.size(); k++)
    pieces.push_back({joints[k], joints[k + 1] - joints[k]});
  return pieces;
}

std::string formulas_source(const std::vector<std::string>& formulas) {
  std::string functions, members, instants, calls;
  for (size_t k = 0; k < formulas.size(); k++) {
    const std::string number = std::to_string(k);
    std::string renamed, restored;
    for (const std::string name : {"velocity_formula", "velocity_of_terms", "row_terms",
                                   "ROW_TERMS", "IS_SHORT", "Instant", "instant_at"}) {
      renamed += "#define " + name + " " + name + "_" + number + "\n";
      restored += "#undef " + name + "\n";
    }
    functions += renamed + formulas[k] + restored;
    members += "Instant_" + number + " of_" + number + "; ";
    instants += "  at.of_" + number + " = instant_at_" + number + "(t FORMULA_ARGUMENTS);\n";
    calls +=
        "  a[" + number + "] = velocity_formula_" + number + "(x, y, z, &at->of_" + number + ");\n";
  }
  return functions + "#include \"common/formula_parameters.cl\"\n" + "typedef struct { " + members +
         "} Instants;\n" +
         "INLINE Instants instants_at(const real t FORMULA_PARAMETERS) {\n  Instants at;\n" +
         instants + "  return at;\n}\n" +
         "INLINE void velocity_formulas(const V x, const V y, const V z, const Instants* at,\n"
         "                              __private V* a) {\n" +
         calls + "}\n";
}

std::string formula_along_any_axis(const std::vector<std::string>& formulas) {
  std::string most = "0", are_short = "1", velocities, terms, of_terms;
  for (size_t k = 0; k < formulas.size(); k++) {
    const std::string number = std::to_string(k), if_so = "  if (at->axis == " + number + ") ";
    const std::string arguments = "(x, y, z, &at->of.of_" + number, own = "ROW_TERMS_" + number;
    most = "(" + own + " > " + most + " ? " + own + " : " + most + ")";
    are_short += " && IS_SHORT_" + number;
    velocities += if_so + "return velocity_formula_" + number + arguments + ");\n";
    terms += if_so + "row_terms_" + number + "(row, &at->of.of_" + number + ", terms);\n";
    of_terms += if_so + "return velocity_of_terms_" + number + arguments + ", terms);\n";
  }
  const std::string point = "const V x, const V y, const V z, const Instant* at";
  const std::string otherwise = "  return (V)(REAL(0.0));\n}\n";
  return formulas_source(formulas) +
         "typedef struct { Instants of; int axis; } Instant;\n"
         "INLINE Instant instant_at(const real t FORMULA_PARAMETERS) {\n"
         "  const Instant at = {instants_at(t FORMULA_ARGUMENTS), 0};\n  return at;\n}\n"
         "enum { ROW_TERMS = " +
         most + ", IS_SHORT = " + are_short +
         " };\n"
         "INLINE void row_terms(const V row, const Instant* at, __private V* terms) {\n" +
         terms +
         "}\n"
         "INLINE V velocity_of_terms(" +
         point + ", __private const V* terms) {\n" + of_terms + otherwise +
         "INLINE V velocity_formula(" + point + ") {\n" + velocities + otherwise;
}

}  // namespace particles
