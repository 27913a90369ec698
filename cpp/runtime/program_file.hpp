// SPDX-License-Identifier: BSD-3-Clause
// One built program in one file, which says and proves what it holds.
#pragma once

#include <optional>
#include <string>

namespace particles {

// The binary kept under `key` in `folder`; nothing when there is none, it is damaged or another's,
// or somebody else may write the file or the folder.
std::optional<std::string> read_program_file(const std::string& folder, const std::string& key);

// Written under a name of its own, then renamed: readers see a whole file or none, and of two
// processes that write at once the last one wins with the same content. A folder that cannot be
// written is left.
void write_program_file(const std::string& folder, const std::string& key,
                        const std::string& binary);

}  // namespace particles
