// SPDX-License-Identifier: BSD-3-Clause
// A function of the time and of parameters, computed on the host.
#pragma once

#include <string>
#include <vector>

namespace particles {

class TimeFormula {
 public:
  // One operation, of the results of earlier ones.
  struct Node {
    std::string operation;      // "constant", "time", "parameter", or that of an expression
    std::vector<int> operands;  // numbers of nodes
    double value = 0;           // of a constant, or the number of a parameter
  };

  // The last node is the result. Throws std::invalid_argument for an operation that is none.
  explicit TimeFormula(const std::vector<Node>& nodes);

  double at(double time, const std::vector<double>& parameters) const;

 private:
  using Function = double (*)(double, double, double);
  struct Step {
    Function function;  // null for what is given
    std::vector<int> operands;
    bool is_time, is_parameter;
    double value;
  };
  std::vector<Step> steps_;
};

}  // namespace particles
