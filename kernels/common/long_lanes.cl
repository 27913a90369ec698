/* SPDX-License-Identifier: BSD-3-Clause */
/* Places in memory, one for each lane, and what lies there. */
#include "common/common.cl"

#if LANES == 1
typedef long L;
#define TO_LONG(x) ((L)(x))
#else
typedef JOIN(long, LANES) L;
#if __has_builtin(__builtin_convertvector)
#define TO_LONG(x) __builtin_convertvector(x, L)
#else
#define TO_LONG(x) JOIN(convert_long, LANES)(x)
#endif
#endif
