/* SPDX-License-Identifier: BSD-3-Clause */
/* A row of an array, which begins anywhere.
 *
 * WORD        a signed integer; rows are of unsigned ones that are as wide
 * COMPONENTS  of them in a row */
#ifndef WORD
#define WORD int
#endif
#ifndef COMPONENTS
#define COMPONENTS 1
#endif
#include "arrays/group.cl"

#if COMPONENTS == 2 || COMPONENTS == 4
typedef JOIN(REAL_NAME, COMPONENTS) Row __attribute__((aligned(sizeof(real))));
#else
typedef struct {
  real components[COMPONENTS];
} Row;
#endif
