// SPDX-License-Identifier: BSD-3-Clause
// What moves particles along an axis, and how it is told to the kernels.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fields/field.hpp"
#include "lines/lines.hpp"
#include "motion/parameters.hpp"
#include "motion/refined.hpp"
#include "motion/scheme.hpp"
#include "runtime/image.hpp"

namespace particles {

// How particles follow a velocity: with which Runge-Kutta scheme, and how it is interpolated
// between points of a grid.
struct Rule {
  std::string scheme = "rk2", interpolation = "linear";
};

// The macros of an interpolation; throws std::invalid_argument for a name that is none.
std::string options_of(const Rule& rule);

// A velocity on the points of a grid, at one time or at several, or a formula: OpenCL C text per
// axis, evaluated in the kernels at the places and times where it is needed.
struct Velocity {
  Grid grid;                                   // of the particles; that of the fields divides it
  std::vector<std::shared_ptr<Field>> fields;  // a component per axis each; none for a formula
  std::vector<double> times;                   // ascending, of several fields
  std::vector<std::string> formulas;           // per axis; empty for fields
  bool depends_on_time = false;
  Rule rule;
  std::shared_ptr<const Parameters> parameters = nullptr;  // of the formulas; null for none

  // Another one where a formula has changed.
  int64_t version_of_formula() const { return parameters ? parameters->version() : 0; }
  bool is_formula() const { return fields.empty(); }
  bool is_series() const { return fields.size() > 1; }
};

// One sweep's share of time.
struct Interval {
  double begin, duration;
};

// The times within an interval at which a push may look at a velocity.
inline std::array<double, kMoments.size()> moments_of(const Interval& interval) {
  std::array<double, kMoments.size()> times{};
  for (size_t k = 0; k < times.size(); k++)
    times[k] = interval.begin + kMoments[k] * interval.duration;
  return times;
}

// The motion along one axis as a kernel sees it: macros, generated files, arguments.
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
  std::map<std::string, std::string> generated_files() const;
  void add_to(Launch& launch, const LinePlan& plan, const Interval& interval) const;

  // The same motion, stored elsewhere.
  Motion read_from(std::vector<std::shared_ptr<Field>> copies) const;
  Motion read_from(std::vector<std::shared_ptr<Image>> images) const;

  const std::vector<std::shared_ptr<Field>>& fields() const { return fields_; }
  bool is_given() const { return kind_ == Kind::given; }
  const Grid& grid() const { return grid_; }  // of the particles
  int axis() const { return axis_; }
  DType dtype() const { return dtype_; }
  bool is_formula() const { return kind_ == Kind::formula; }
  bool is_padded() const;
  // Bytes read per particle.
  double bytes() const;

 private:
  enum class Kind { grid, formula, given };
  void add_levels(Launch& launch, const LinePlan& plan) const;

  Kind kind_ = Kind::grid;
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

// Where a plan wants the motion to be read: a transposed copy, an image, or where it is.
class MotionCopy {
 public:
  MotionCopy() = default;
  MotionCopy(const std::shared_ptr<Context>& context, const Motion& motion, const LinePlan& plan);

  // The same motion there. What another kernel has computed is copied each time, a velocity when it
  // has changed.
  Motion of(const Motion& motion);

 private:
  struct Copy {
    std::shared_ptr<Field> field;
    std::shared_ptr<Image> image;
    std::shared_ptr<Field> original;
    int64_t version = -1;
  };
  static void update(Copy& copy, const std::shared_ptr<Field>& original, bool is_kept);

  std::vector<Copy> copies_;  // one for each field, or none
};

// The macros that every operator kernel of a device and dtype is built with.
std::string kernel_options(const Device& device, DType dtype);

// Added where particles are remeshed: numbers below the smallest normal one, with which processors
// compute several times as slowly, may be taken for 0.
constexpr const char* kFaintestAreZero = " -cl-denorms-are-zero";

}  // namespace particles
