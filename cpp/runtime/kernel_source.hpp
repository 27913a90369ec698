// SPDX-License-Identifier: BSD-3-Clause
// The text of the OpenCL kernels, carried inside the library.
#pragma once

#include <map>
#include <string>

namespace particles {

// Path in kernels/ -> text of every file there; the definition is written by the build.
const std::map<std::string, std::string>& embedded_kernels();

// The text of one file with its `#include "common/common.cl"` lines resolved, each file once; paths
// begin in kernels/. Throws std::logic_error naming a file that does not exist. `made` holds
// generated files, which take the place of the embedded ones of the same path, behind what those
// include.
std::string kernel_source(const std::string& file,
                          const std::map<std::string, std::string>& made = {});

}  // namespace particles
