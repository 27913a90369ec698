/* SPDX-License-Identifier: BSD-3-Clause */
/* A row of an array, which begins anywhere.
 *
 * WORD        as in common.cl: rows are of integers
 * COMPONENTS  of them in a row */
#ifndef COMPONENTS
#define COMPONENTS 1
#endif
#include "common/common.cl"

#if COMPONENTS == 2 || COMPONENTS == 4
typedef JOIN(REAL_NAME, COMPONENTS) Row __attribute__((aligned(sizeof(real))));
#else
typedef struct {
  real components[COMPONENTS];
} Row;
#endif
