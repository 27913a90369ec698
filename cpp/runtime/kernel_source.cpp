// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/kernel_source.hpp"

#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>

namespace particles {
namespace {

// A text of lines that each end, with what its `#include` lines name in their place.
class Text {
 public:
  explicit Text(const std::map<std::string, std::string>& made) : made_(made) {}

  void append(const std::string& file) {
    if (!included_.insert(file).second) return;
    const auto own = made_.find(file);
    const auto kernel = embedded_kernels().find(file);
    if (own == made_.end() && kernel == embedded_kernels().end())
      throw std::logic_error("there is no kernel file named " + file);
    if (kernel != embedded_kernels().end()) append_lines(kernel->second, own == made_.end());
    if (own != made_.end()) append_lines(own->second, true);
  }

  const std::string& get() const { return text_; }

 private:
  void append_lines(const std::string& lines, bool are_wanted) {
    // Never destroyed: a thread may be here when the process ends.
    static const auto& include_line = *new std::regex(R"re(\s*#\s*include\s*"([^"]+)"\s*)re");
    std::istringstream stream(lines);
    std::smatch match;
    for (std::string line; std::getline(stream, line);) {
      if (std::regex_match(line, match, include_line))
        append(match[1]);
      else if (are_wanted)
        text_ += line + '\n';
    }
  }

  const std::map<std::string, std::string>& made_;
  std::set<std::string> included_;
  std::string text_;
};

}  // namespace

std::string kernel_source(const std::string& file, const std::map<std::string, std::string>& made) {
  Text text(made);
  text.append(file);
  return text.get();
}

}  // namespace particles
