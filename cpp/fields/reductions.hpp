// SPDX-License-Identifier: BSD-3-Clause
// Numbers made of all values of a field. The order of additions depends on the field's shape and
// the device's vector width alone: results are the same to the bit on every run, for any number of
// threads.
#pragma once

#include <cstdint>
#include <vector>

#include "fields/field.hpp"

namespace particles {

enum class Reduction { sum, sum_abs, sum_squares, min, max, max_abs };

// Sums carry their rounding errors along and are exact to about the square of the dtype's epsilon
// times the sum of magnitudes. NaN among the values gives NaN. Waits for the device.
double reduce(const Field& field, Reduction reduction);

// The sum of (value - centre)^2, each rounded as a number of the dtype that is computed with.
double sum_squared_deviations(const Field& field, double centre);

// Of the components, then of the axes of the grid: sums, least or largest values along some of
// them, in C order of the others. The reduction is sum, min or max.
std::vector<double> reduce_along(const Field& field, Reduction reduction,
                                 const std::vector<bool>& axes);

struct Summary {
  double sum, sum_squares, min, max;
};

// The same numbers as by `reduce`, in one reading of the values.
Summary summary_of(const Field& field);

// How many values lie strictly between the bounds; a bound that is NaN is none. NaN values never
// count.
int64_t count_between(const Field& field, double lower, double upper);

}  // namespace particles
