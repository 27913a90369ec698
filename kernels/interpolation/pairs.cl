/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of particles and fields that share weights, two by two.
 *
 * PAIRS         of an attribute and a field
 * COMPONENTS    of each of them
 * VALUE, FIELD  the types of what particles carry and of what points have */
#ifndef PAIRS
#define PAIRS 1
#endif
#ifndef COMPONENTS
#define COMPONENTS 1
#endif
#ifndef VALUE
#define VALUE float
#endif
#ifndef FIELD
#define FIELD float
#endif
#include "common/common.cl"

/* Component c of them all is component c % COMPONENTS of pair c / COMPONENTS. */
#define ALL_COMPONENTS (PAIRS * COMPONENTS)

/* what(0), what(1), ... */
#if PAIRS == 1
#define FOR_PAIRS(what) what(0)
#elif PAIRS == 2
#define FOR_PAIRS(what) what(0), what(1)
#elif PAIRS == 3
#define FOR_PAIRS(what) what(0), what(1), what(2)
#else
#define FOR_PAIRS(what) what(0), what(1), what(2), what(3)
#endif

/* Arguments of a kernel: what the particles have, what they get, what the points have. */
#define VALUES_OF_PAIR(p) \
  __global const VALUE *values##p, const long values##p##_offset, const long values##p##_stride
#define RESULTS_OF_PAIR(p) \
  __global VALUE *results##p, const long results##p##_offset, const long results##p##_stride
#define FIELD_OF_PAIR(p) __global FIELD *field##p, const long field##p##_offset

/* Of particle 0. */
typedef struct {
  __global const VALUE* first;
  long stride;
} PairValues;
typedef struct {
  __global VALUE* first;
  long stride;
} PairResults;

#define PAIR_VALUES(p) {values##p + values##p##_offset, values##p##_stride}
#define PAIR_RESULTS(p) {results##p + results##p##_offset, results##p##_stride}
#define PAIR_FIELD(p) field##p + field##p##_offset

/* Where component c of them all begins. */
INLINE __global const VALUE* value_at(const PairValues* pairs, const int c, const long i) {
  return pairs[c / COMPONENTS].first + i * pairs[c / COMPONENTS].stride + c % COMPONENTS;
}

INLINE __global VALUE* result_at(const PairResults* pairs, const int c, const long i) {
  return pairs[c / COMPONENTS].first + i * pairs[c / COMPONENTS].stride + c % COMPONENTS;
}

INLINE __global FIELD* field_component_at(__global FIELD* const* fields, const int c,
                                          const long stride_of_component) {
  return fields[c / COMPONENTS] + c % COMPONENTS * stride_of_component;
}
