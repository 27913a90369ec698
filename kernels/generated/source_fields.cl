/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a source finds its values: stands for the text that is generated for so many fields. The
 * first COMPONENTS of VALUES change, the others are given. */
#include "common/common.cl"
#include "common/regions.cl"

#define COMPONENTS 1
#define VALUES 2
#define FIELD_PARAMETERS \
  __global stored *field0_, STRIDES(field0_), __global stored *field1_, STRIDES(field1_)
#define FIELD_COMPONENTS {COMPONENT(field0_, 0), COMPONENT(field1_, 0)}
