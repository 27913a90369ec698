// SPDX-License-Identifier: BSD-3-Clause
#include "motion/time_formula.hpp"

#include <array>
#include <cmath>
#include <map>
#include <stdexcept>

namespace particles {
namespace {

// As NumPy has it: the sign is that of the divisor.
double remainder_of(double a, double b) {
  const double rest = std::fmod(a, b);
  if (b == 0 || rest == 0) return b == 0 ? rest : std::copysign(0.0, b);
  return (b < 0) != (rest < 0) ? rest + b : rest;
}

double floor_of_quotient(double a, double b) {
  if (b == 0) return a / b;
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double below = std::floor(quotient);
  return quotient - below > 0.5 ? below + 1 : below;
}

bool has_nan(double a, double b) { return std::isnan(a) || std::isnan(b); }

double sign_of(double a) { return std::isnan(a) ? a : static_cast<double>((a > 0) - (a < 0)); }

using Of3 = double (*)(double, double, double);

#define OF_ONE(name, result) {name, [](double a, double, double) -> double { return result; }}
#define OF_TWO(name, result) {name, [](double a, double b, double) -> double { return result; }}

// Conditions are 1 or 0.
const std::map<std::string, Of3>& functions() {
  // Never destroyed: a thread may be here when the process ends.
  static const auto& table = *new std::map<std::string, Of3>{
      OF_ONE("negative", -a),
      OF_ONE("sin", std::sin(a)),
      OF_ONE("cos", std::cos(a)),
      OF_ONE("tan", std::tan(a)),
      OF_ONE("asin", std::asin(a)),
      OF_ONE("acos", std::acos(a)),
      OF_ONE("atan", std::atan(a)),
      OF_ONE("sinh", std::sinh(a)),
      OF_ONE("cosh", std::cosh(a)),
      OF_ONE("tanh", std::tanh(a)),
      OF_ONE("asinh", std::asinh(a)),
      OF_ONE("acosh", std::acosh(a)),
      OF_ONE("atanh", std::atanh(a)),
      OF_ONE("exp", std::exp(a)),
      OF_ONE("exp2", std::exp2(a)),
      OF_ONE("expm1", std::expm1(a)),
      OF_ONE("log", std::log(a)),
      OF_ONE("log2", std::log2(a)),
      OF_ONE("log10", std::log10(a)),
      OF_ONE("log1p", std::log1p(a)),
      OF_ONE("sqrt", std::sqrt(a)),
      OF_ONE("cbrt", std::cbrt(a)),
      OF_ONE("fabs", std::fabs(a)),
      OF_ONE("sign", sign_of(a)),
      OF_ONE("floor", std::floor(a)),
      OF_ONE("ceil", std::ceil(a)),
      OF_ONE("trunc", std::trunc(a)),
      OF_ONE("rint", std::rint(a)),
      OF_ONE("!", a == 0),
      OF_TWO("+", a + b),
      OF_TWO("-", a - b),
      OF_TWO("*", a * b),
      OF_TWO("/", a / b),
      OF_TWO("atan2", std::atan2(a, b)),
      OF_TWO("pow", std::pow(a, b)),
      OF_TWO("hypot", std::hypot(a, b)),
      OF_TWO("fmod", std::fmod(a, b)),
      OF_TWO("copysign", std::copysign(a, b)),
      OF_TWO("fmin", std::fmin(a, b)),
      OF_TWO("fmax", std::fmax(a, b)),
      OF_TWO("minimum", has_nan(a, b) ? NAN : std::fmin(a, b)),
      OF_TWO("maximum", has_nan(a, b) ? NAN : std::fmax(a, b)),
      OF_TWO("remainder", remainder_of(a, b)),
      OF_TWO("floor_divide", floor_of_quotient(a, b)),
      OF_TWO("<", a < b),
      OF_TWO("<=", a <= b),
      OF_TWO(">", a > b),
      OF_TWO(">=", a >= b),
      OF_TWO("==", a == b),
      OF_TWO("!=", a != b),
      OF_TWO("&", a != 0 && b != 0),
      OF_TWO("|", a != 0 || b != 0),
      OF_TWO("^", (a != 0) != (b != 0)),
      {"select", [](double a, double b, double c) { return a != 0 ? b : c; }},
  };
  return table;
}

#undef OF_ONE
#undef OF_TWO

}  // namespace

TimeFormula::TimeFormula(const std::vector<Node>& nodes) {
  if (nodes.empty()) throw std::invalid_argument("nodes: expected at least one, got none");
  for (const Node& node : nodes) {
    const bool is_time = node.operation == "time", is_parameter = node.operation == "parameter";
    Function function = nullptr;
    if (!is_time && !is_parameter && node.operation != "constant") {
      const auto found = functions().find(node.operation);
      if (found == functions().end())
        throw std::invalid_argument("operation: expected one of a formula, got " + node.operation);
      function = found->second;
    }
    for (const int operand : node.operands)
      if (operand < 0 || operand >= static_cast<int>(steps_.size()) || node.operands.size() > 3)
        throw std::invalid_argument("operands: expected up to 3 of earlier nodes");
    steps_.push_back({function, node.operands, is_time, is_parameter, node.value});
  }
}

double TimeFormula::at(double time, const std::vector<double>& parameters) const {
  std::vector<double> values;
  values.reserve(steps_.size());
  for (const Step& step : steps_) {
    std::array<double, 3> given{};
    for (size_t k = 0; k < step.operands.size(); k++) given[k] = values[step.operands[k]];
    values.push_back(step.function       ? step.function(given[0], given[1], given[2])
                     : step.is_time      ? time
                     : step.is_parameter ? parameters.at(static_cast<size_t>(step.value))
                                         : step.value);
  }
  return values.back();
}

}  // namespace particles
