// SPDX-License-Identifier: BSD-3-Clause
// The kernels that sweep along lines, and what they take.
#pragma once

#include <string>

#include "motion/motion_copy.hpp"

namespace particles {

// What keeps results from falling below zero, or within the range of those around them.
enum class Limiter { none, positive, monotone };

// What decides how particles are remeshed: generated OpenCL C, the number of its weights, how
// results are limited, and whether particles carry masses or values.
struct RemeshingKernel {
  std::string source;
  int stencil = 2;
  Limiter limiter = Limiter::none;
  bool conservative = true;

  bool is_limited() const { return limiter != Limiter::none; }
};

// How the lines of a sweep are worked on.
struct SweepKind {
  std::string kernel;         // its name; its file is named alike
  std::string options;        // of the method
  int rows = 1;               // of a node and component that a work-item holds
  int margin = 0;             // nodes beyond either end of a segment that have rows
  int window = 0;             // nodes around a particle whose sums may be in registers; 0: none may
  int weights = 0;            // of a particle
  int reach = 1;              // no particle that does not move matters to nodes further away
  bool adds_up = true;        // results are sums of what particles bring, across ends too
  bool follows_back = false;  // particles are pushed from where the sweep ends

  // How far to look along a line for particles that move so many cells at most; -1 where rows could
  // not be counted.
  int64_t reach_of(double greatest_move) const;
  // The interval over which particles are pushed in a sweep over another.
  Interval push_of(const Interval& sweep) const;
  // Macros for what a plan decides.
  std::string options_for(const LinePlan& plan) const;
};

// Masses are deposited on the nodes around the places where particles go; values are read where the
// particles that arrive on the nodes come from.
SweepKind kind_of(const RemeshingKernel& kernel);

}  // namespace particles
