// SPDX-License-Identifier: BSD-3-Clause
// OpenCL's own types and names, of version 1.2.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
