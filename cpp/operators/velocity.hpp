// SPDX-License-Identifier: BSD-3-Clause
// What moves particles along an axis, and how it is told to the kernels.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fields/field.hpp"
#include "opencl/image.hpp"
#include "operators/lines.hpp"

namespace particles {

// How particles follow it: with which Runge-Kutta scheme, and between points of a grid, how.
struct Rule {
  std::string scheme = "rk2", interpolation = "linear";
};

// The macros of a rule; throws std::invalid_argument for names that are none.
std::string options_of(const Rule& rule);

// A velocity on the points of a grid, or a formula: OpenCL C text per axis, evaluated in the
// kernels at the places and times where it is needed.
struct Velocity {
  Grid grid;
  std::shared_ptr<Field> field;       // a component per axis; null for a formula
  std::vector<std::string> formulas;  // per axis; empty for a field
  bool depends_on_time = false;       // of a formula
  Rule rule;

  bool is_formula() const { return field == nullptr; }
};

// One sweep's share of time.
struct Interval {
  double begin, duration;
};

// The motion along one axis as a kernel sees it: macros, generated files, arguments.
class Motion {
 public:
  static Motion along(const Velocity& velocity, int axis, DType dtype);
  // Displacements in cells that another kernel has computed.
  static Motion given(std::shared_ptr<Field> displacements, int axis);

  std::string options(const LinePlan& plan) const;
  std::map<std::string, std::string> generated_files() const;
  void append_arguments(std::vector<opencl::Argument>& arguments, const LinePlan& plan,
                        const Interval& interval) const;

  // The same motion, stored elsewhere.
  Motion read_from(std::shared_ptr<Field> copy) const;
  Motion read_from(std::shared_ptr<opencl::Image> image) const;

  const Field& field() const { return *field_; }  // not of a formula
  bool is_given() const { return kind_ == Kind::given; }
  const Grid& grid() const { return grid_; }
  int axis() const { return axis_; }
  DType dtype() const { return dtype_; }
  bool is_formula() const { return kind_ == Kind::formula; }
  bool is_padded() const { return is_formula() || field_->layout().padded; }
  // Bytes read per particle.
  double bytes() const { return is_formula() ? 0 : static_cast<double>(size_of(dtype_)); }

 private:
  enum class Kind { grid, formula, given };
  Kind kind_ = Kind::grid;
  Grid grid_;
  int axis_ = 0;
  DType dtype_ = DType::float32;
  std::shared_ptr<Field> field_;  // one component
  std::shared_ptr<opencl::Image> image_;
  std::string formula_, rule_;
};

// Where a plan wants the motion to be read: a transposed copy, an image, or where it is.
class MotionCopy {
 public:
  MotionCopy() = default;
  MotionCopy(const std::shared_ptr<opencl::Context>& context, const Motion& motion,
             const LinePlan& plan);

  // The same motion there. What another kernel has computed is copied each time, a velocity when it
  // has changed.
  Motion of(const Motion& motion);

 private:
  void copy(const Field& original);

  std::shared_ptr<Field> field_;
  std::shared_ptr<opencl::Image> image_;
  int64_t version_ = -1;
};

// The macros that every operator kernel of a device and dtype is built with.
std::string kernel_options(const opencl::Device& device, DType dtype);

}  // namespace particles
