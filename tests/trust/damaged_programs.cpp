// SPDX-License-Identifier: BSD-3-Clause
// Damages the file of a built program in every byte, and cuts it to every length: it must not be
// read then. Arguments are its folder and its key.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "runtime/program_file.hpp"

namespace {

std::string folder, key;

void write(const std::string& content) {
  const auto path = std::filesystem::path(folder) / (key + ".clbin");
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

void expect(bool is_read, const char* what, size_t place) {
  if (particles::read_program_file(folder, key).has_value() == is_read) return;
  std::cerr << what << " " << place << (is_read ? " is not read\n" : " is read\n");
  std::exit(1);
}

}  // namespace

int main(int, char** arguments) {
  folder = arguments[1];
  key = arguments[2];
  std::ifstream file(std::filesystem::path(folder) / (key + ".clbin"), std::ios::binary);
  const std::string sound{std::istreambuf_iterator<char>(file), {}};
  for (size_t place = 0; place < sound.size(); ++place) {
    std::string damaged = sound;
    damaged[place] ^= static_cast<char>(1 << place % 8);
    write(damaged);
    expect(false, "damaged byte", place);
    write(sound.substr(0, place));
    expect(false, "length", place);
  }
  write(sound);
  expect(true, "length", sound.size());
  std::cout << 2 * sound.size() << " damages\n";
}
