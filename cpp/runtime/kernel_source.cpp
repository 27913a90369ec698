// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/kernel_source.hpp"

#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>

namespace particles {
namespace {

const std::string& text_of(const std::string& file,
                           const std::map<std::string, std::string>& made) {
  const auto own = made.find(file);
  if (own != made.end()) return own->second;
  const auto kernel = embedded_kernels().find(file);
  if (kernel == embedded_kernels().end())
    throw std::logic_error("there is no kernel file named " + file);
  return kernel->second;
}

void append_file(const std::string& file, const std::map<std::string, std::string>& made,
                 std::set<std::string>& included, std::string& text) {
  if (!included.insert(file).second) return;

  // Never destroyed: a thread may be here when the process ends.
  static const auto& include_line = *new std::regex(R"re(\s*#\s*include\s*"([^"]+)"\s*)re");
  std::istringstream lines(text_of(file, made));
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, match, include_line))
      append_file(match[1], made, included, text);
    else
      text += line + '\n';
  }
}

}  // namespace

std::string kernel_source(const std::string& file, const std::map<std::string, std::string>& made) {
  std::set<std::string> included;
  std::string text;
  append_file(file, made, included, text);
  return text;
}

}  // namespace particles
