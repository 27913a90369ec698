// SPDX-License-Identifier: BSD-3-Clause
// The SHA-256 digest (FIPS 180-4), which names and guards the programs kept on disk.
#pragma once

#include <string>

namespace particles {

// 64 hexadecimal digits.
std::string sha256(const std::string& bytes);

}  // namespace particles
