// SPDX-License-Identifier: BSD-3-Clause
// What images are made of: one float at each point.
#pragma once

#include "runtime/device.hpp"
#include "runtime/opencl.hpp"

namespace particles {

constexpr cl_image_format kFloats{CL_R, CL_FLOAT};

// Whether images can be of single numbers. OpenCL demands those of four alone, and drivers built to
// conform, as PoCL is with LLVM 18 and newer, may have no others.
bool images_hold_floats(const Device& device, cl_context context);

}  // namespace particles
