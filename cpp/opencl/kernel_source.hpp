// SPDX-License-Identifier: BSD-3-Clause
// The text of the OpenCL kernels, carried inside the library.
#pragma once

#include <map>
#include <string>

namespace particles::opencl {

// File name -> text of every file under kernels/; the definition is written by the build.
const std::map<std::string, std::string>& embedded_kernels();

// The text of one file with its `#include "other.cl"` lines resolved, each file once; throws
// std::logic_error naming a file that does not exist. `made` holds generated files, which stand in
// for the embedded ones of the same name.
std::string kernel_source(const std::string& file,
                          const std::map<std::string, std::string>& made = {});

}  // namespace particles::opencl
