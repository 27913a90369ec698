/* SPDX-License-Identifier: BSD-3-Clause */
/* Limiters by their names, and what they are made of. */
#include "common/common.cl"

#define NONE 0
#define POSITIVE 1
#define MONOTONE 2
#ifndef LIMITER
#define LIMITER NONE
#endif

#define LIMITED (LIMITER != NONE)
#define SUMS_EACH (LIMITED ? 2 : 1) /* of a component, on every node */
#define MARGIN (LIMITED ? 2 : 0)    /* nodes beyond either end that matter */
#define LINEAR_STENCIL 2            /* nodes of the linear kernel */

#define LEAST_OF_3(a, b, c) LEAST_OF(LEAST_OF(a, b), c)
#define GREATEST_OF_3(a, b, c) GREATEST_OF(GREATEST_OF(a, b), c)
