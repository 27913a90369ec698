// SPDX-License-Identifier: BSD-3-Clause
// Numbers made of all elements of a region. Partial sums are of fixed parts of the region, which
// depend on its shape and the device's vector width alone, and their sum is exact: results are the
// same to the bit on every run, for any number of threads, and for whoever has which parts.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/exact_sum.hpp"

namespace particles {

enum class Reduction { sum, sum_abs, sum_squares, min, max, max_abs };

// Of which larger region a region is a part, if of any: it has some of its planes across an axis,
// from a multiple of `unit_of(whole)` on.
struct Planes {
  int axis = -1;      // of the region; -1: it is no part, and is not divided into planes
  int64_t whole = 1;  // planes of the larger one
};

// Partial sums are of so many neighbouring planes, or of pieces of one.
int64_t unit_of(int64_t planes);

// Of real numbers, of which there is one at least. Sums carry their rounding errors along and are
// exact to about the square of the dtype's epsilon times the sum of magnitudes. NaN among the
// values gives NaN. Waits for the device.
double reduce(const Array& array, const Region& region, Reduction reduction,
              const Planes& planes = {});

// The same of a sum, which may be added to those of other parts.
ExactSum exact_sum(const Array& array, const Region& region, Reduction reduction,
                   const Planes& planes = {});

// The sum of (value - centre)^2, each rounded as a number of the dtype that is computed with.
ExactSum sum_squared_deviations(const Array& array, const Region& region, double centre,
                                const Planes& planes = {});

// Sums, least or largest values along some of the region's axes, in C order of the others. The
// reduction is sum, min or max.
std::vector<double> reduce_along(const Array& array, const Region& region, Reduction reduction,
                                 const std::array<bool, 4>& axes);

// The sums of (value - centre)^2 along some axes, with a centre for each sum.
std::vector<double> sum_squared_deviations_along(const Array& array, const Region& region,
                                                 const std::array<bool, 4>& axes,
                                                 const std::vector<double>& centres);

struct Summary {
  double sum, sum_squares, min, max;
};

// The same numbers as by `reduce`, in one reading of the values.
Summary summary_of(const Array& array, const Region& region, const Planes& planes = {});

// How many values lie strictly between the bounds; a bound that is NaN is none. NaN values never
// count.
int64_t count_between(const Array& array, const Region& region, double lower, double upper);

// Of integers, of which there is one at least; their sum is taken modulo 2^64. Signed ones are
// those of two's complement.
struct IntegerSummary {
  uint64_t sum, min, max;
};
IntegerSummary integer_summary_of(const Array& array, const Region& region);

}  // namespace particles
