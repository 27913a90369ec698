// SPDX-License-Identifier: BSD-3-Clause
// The motion along one axis as a kernel sees it.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fields/field.hpp"
#include "lines/lines.hpp"
#include "motion/refined.hpp"
#include "motion/velocity.hpp"
#include "runtime/image.hpp"

namespace particles {

// Macros, generated files, arguments.
class Motion {
 public:
  // By a formula.
  static Motion by_formula(const Velocity& velocity, int axis, DType dtype);
  // By a component on the lines of the velocity's grid: one field, or those at `times`.
  static Motion by_fields(const Velocity& velocity, int axis,
                          std::vector<std::shared_ptr<Field>> fields,
                          const std::array<double, 2>& times);
  // Displacements in cells that another kernel has computed.
  static Motion given(std::shared_ptr<Field> displacements, int axis);

  std::string options(const LinePlan& plan) const;
  // Of a chain, whose lines run along any axis.
  std::string options_along_any_axis() const;
  std::map<std::string, std::string> generated_files() const;
  void add_to(Launch& launch, const LinePlan& plan, const Interval& interval) const;

  // Where the fields lie, by the names of the level and of the later one.
  void add_levels(Launch& launch, const LinePlan& plan, const Name& level, const Name& later) const;
  // What else a chain is told of a sweep: the scale, the shift, and for each instant of a scheme
  // the share of the later level, or, by a formula, the time.
  std::array<double, 5> numbers(const Interval& interval) const;
  // Of a formula.
  void add_parameters(Launch& launch) const;

  // The same motion, stored elsewhere.
  Motion read_from(std::vector<std::shared_ptr<Field>> copies) const;
  Motion read_from(std::vector<std::shared_ptr<Image>> images) const;

  const std::vector<std::shared_ptr<Field>>& fields() const { return fields_; }
  bool is_given() const { return kind_ == MotionKind::given; }
  const Grid& grid() const { return grid_; }  // of the particles
  int axis() const { return axis_; }
  DType dtype() const { return dtype_; }
  bool is_formula() const { return kind_ == MotionKind::formula; }
  bool is_padded() const;
  // How often a push looks at what is stored.
  int looks() const;
  // Bytes read per particle.
  double bytes() const;

 private:
  enum class MotionKind { grid, formula, given };
  double scale(const Interval& interval) const;
  double share(double time) const { return (time - times_[0]) / (times_[1] - times_[0]); }

  MotionKind kind_ = MotionKind::grid;
  Grid grid_;
  int axis_ = 0;
  DType dtype_ = DType::float32;
  std::vector<std::shared_ptr<Field>> fields_;  // of one component
  std::vector<std::shared_ptr<Image>> images_;
  std::array<double, 2> times_{};  // of two fields
  Coarseness coarseness_;          // along the axis
  Rule rule_;
  std::string formula_;
  bool steady_ = false;  // the formula
  std::shared_ptr<const Parameters> parameters_;
};

// A kernel of motion/, whose file has its name, for lines that are divided by a plan.
Kernel kernel_of(const char* name, Context& context, const Motion& motion, const LinePlan& plan,
                 const std::string& options = "");

}  // namespace particles
