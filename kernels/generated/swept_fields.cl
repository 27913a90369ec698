/* SPDX-License-Identifier: BSD-3-Clause */
/* What a sweep carries: stands for the text that is generated for so many fields and components. */
#include "common/common.cl"

#define COMPONENTS 1
#define FIELD_PARAMETERS \
  __global stored *u0, const ulong u0_offset, __global stored *kept0, const ulong kept0_offset
#define FIELD_POINTERS {u0 + u0_offset}
#define KEPT_POINTERS {kept0 + kept0_offset}
#define OTHERS_PARAMETERS , __global stored *others0, const ulong others0_offset
#define OTHERS_POINTERS {others0 + others0_offset}
