/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a work-item keeps rows of its lines: in private memory unless one of these says otherwise.
 *
 * LINES_IN_LOCAL   local memory, interleaved with the rows of the other work-items of the group
 * LINES_IN_GLOBAL  a field of the device itself */
#include "common/common.cl"

#if defined(LINES_IN_LOCAL)
#define LINE_SPACE __local
#elif defined(LINES_IN_GLOBAL)
#define LINE_SPACE __global
#else
#define LINE_SPACE __private
#endif
#ifdef LINES_IN_GLOBAL
typedef long Pitch;
#else
typedef int Pitch;
#endif

#ifdef LINES_IN_LOCAL
#define LOCAL_PARAMETERS , __local V* local_rows
#else
#define LOCAL_PARAMETERS
#endif
