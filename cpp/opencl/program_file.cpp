// SPDX-License-Identifier: BSD-3-Clause
#include "program_file.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <system_error>

#include "sha256.hpp"

namespace particles::opencl {

namespace {

namespace fs = std::filesystem;

fs::path entry_path(const std::string& folder, const std::string& key) {
  return fs::path(folder) / (key + ".clbin");
}

std::string header(const std::string& key, const std::string& binary) {
  return "particles program\nkey " + key + "\nlength " + std::to_string(binary.size()) +
         "\nsha256 " + sha256(binary) + "\n\n";
}

// Processes of several machines may share the folder, so a process number does not tell them apart.
std::string temporary_suffix() {
  std::random_device random;
  return "." + std::to_string(random()) + std::to_string(random()) + ".tmp";
}

}  // namespace

std::optional<std::string> read_program_file(const std::string& folder, const std::string& key) {
  const fs::path path = entry_path(folder, key);
  std::error_code problem;
  if (!fs::is_regular_file(path, problem)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};

  const size_t end_of_header = content.find("\n\n");
  if (end_of_header == std::string::npos) return std::nullopt;
  const std::string binary = content.substr(end_of_header + 2);
  if (content.substr(0, end_of_header + 2) != header(key, binary)) return std::nullopt;
  return binary;
}

void write_program_file(const std::string& folder, const std::string& key,
                        const std::string& binary) {
  const fs::path path = entry_path(folder, key);
  const fs::path temporary = path.string() + temporary_suffix();
  std::error_code problem;
  fs::create_directories(folder, problem);
  {
    std::ofstream file(temporary, std::ios::binary);
    file << header(key, binary) << binary;
    file.close();
    if (file.fail()) {
      fs::remove(temporary, problem);
      return;
    }
  }
  fs::rename(temporary, path, problem);
  if (problem) fs::remove(temporary, problem);
}

}  // namespace particles::opencl
