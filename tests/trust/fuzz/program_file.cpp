// SPDX-License-Identifier: BSD-3-Clause
// Files of built programs: read whole and unchanged, or not at all. For libFuzzer; with REPLAY, a
// program that tries the files it is given.
#include "runtime/program_file.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace fs = std::filesystem;
using particles::read_program_file;
using particles::write_program_file;

namespace {

constexpr const char* kKey = "key";

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void require(bool holds) {
  if (!holds) std::abort();
}

// What is read from any content must be what would be written as that content.
void check_any(const std::string& folder, const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
  const auto binary = read_program_file(folder, kKey);
  if (!binary) return;
  write_program_file(folder, kKey, *binary);
  require(content_of(path) == content);
}

// What was written is read, and not if a byte of it is another.
void check_written(const std::string& folder, const fs::path& path, const std::string& input) {
  if (input.size() < 3) return;
  const std::string binary = input.substr(3);
  write_program_file(folder, kKey, binary);
  require(read_program_file(folder, kKey) == binary);
  std::string damaged = content_of(path);
  const size_t place = (static_cast<uint8_t>(input[0]) * 256u + static_cast<uint8_t>(input[1]));
  damaged[place % damaged.size()] ^= static_cast<char>(input[2] | 1);
  std::ofstream(path, std::ios::binary) << damaged;
  require(!read_program_file(folder, kKey));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fs::path folder =
      fs::temp_directory_path() / ("particles-fuzz-" + std::to_string(getpid()));
  if (size == 0) return 0;
  fs::create_directories(folder);
  const fs::path path = folder / (std::string(kKey) + ".clbin");
  const std::string input(data + 1, data + size);
  (data[0] % 2 ? check_written : check_any)(folder.string(), path, input);
  fs::remove_all(folder);
  return 0;
}

#ifdef REPLAY
int main(int count, char** paths) {
  for (int k = 1; k < count; ++k) {
    const std::string input = content_of(paths[k]);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  }
}
#endif
