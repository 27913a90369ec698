// SPDX-License-Identifier: BSD-3-Clause
// What moves particles: a formula, or fields, and by which rule they follow it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fields/field.hpp"
#include "motion/interval.hpp"
#include "motion/parameters.hpp"

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

  bool is_formula() const { return fields.empty(); }
  bool is_series() const { return fields.size() > 1; }

  // Another one where it has changed, or one of its fields has.
  int64_t version() const;
  int64_t version_of(size_t level) const;
  // Whether it may change without telling. Parts of a grid tell each other before each measurement,
  // and then forget, all of them.
  bool is_shared() const;
  bool is_shared(size_t level) const;

  // Of a series: the field at or before a time, and not the last one.
  size_t level_at(double time) const;

  // Of a series: how far rounding may bring the ends of an interval from where they should be. The
  // last time tells nothing of that: it is far away where a velocity is to stay as it is.
  double rounding_of(const Interval& interval) const;

  // An interval in pieces that each lie between two neighbouring times of a series; throws
  // std::invalid_argument where it leaves them.
  std::vector<Interval> pieces_of(const Interval& interval) const;
};

// OpenCL C that stands for generated/velocity_formulas.cl: one function of all components, made of
// the text of each.
std::string formulas_source(const std::vector<std::string>& formulas);

// OpenCL C that stands for generated/velocity_formula.cl where sweeps run along any axis: an
// instant has the number of the axis.
std::string formula_along_any_axis(const std::vector<std::string>& formulas);

}  // namespace particles
