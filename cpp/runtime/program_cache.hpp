// SPDX-License-Identifier: BSD-3-Clause
// Built programs, in memory and on disk, under a key of everything that decides the binary. In
// memory are those that somebody holds, which are shared, and the last ones that were asked for.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/device.hpp"

namespace particles {

// Told where particles are remeshed: numbers below the smallest normal one, with which processors
// compute several times as slowly, may be taken for 0.
constexpr const char* kFaintestAreZero = " -cl-denorms-are-zero";

// A text, and what the compiler is told.
struct ProgramPart {
  std::string source, options;
};

class ProgramCache {
 public:
  // `folder` empty: memory only.
  ProgramCache(const Device& device, cl_context context, std::string folder);

  // The built program; throws BuildError with the compiler's log. Several parts are compiled each
  // for itself, and linked.
  std::shared_ptr<_cl_program> get(std::vector<ProgramPart> parts);

  int64_t compiled() const { return compiled_; }  // programs built from source
  static int64_t compiled_by_all();               // the same of the whole process
  int64_t loaded() const { return loaded_; }      // programs taken from disk
  int64_t held() const;                           // programs in memory
  // Of those built from source, how many called what functions.cl does not declare: slow, so none.
  int64_t read_header() const { return read_header_; }
  const std::string& folder() const { return folder_; }

 private:
  std::string key(const std::vector<ProgramPart>& parts) const;
  std::shared_ptr<_cl_program> make(const std::vector<ProgramPart>& parts);
  std::shared_ptr<_cl_program> compile(const ProgramPart& part, bool is_whole);
  std::shared_ptr<_cl_program> compile_text(const ProgramPart& part, bool is_whole);
  std::shared_ptr<_cl_program> link(const std::vector<std::shared_ptr<_cl_program>>& objects,
                                    const std::string& options);
  std::shared_ptr<_cl_program> of_binary(const std::string& binary, const std::string& options);
  void check_built(cl_int code, const char* call, cl_program program,
                   const std::string& options) const;
  std::shared_ptr<_cl_program> load(const std::string& key, const std::string& options);
  void save(const std::string& key, cl_program program) const;
  void note_use(const std::shared_ptr<_cl_program>& program);

  Device device_;
  cl_context context_;
  std::string folder_;
  mutable std::mutex mutex_;
  std::map<std::string, std::weak_ptr<_cl_program>> programs_;
  std::deque<std::shared_ptr<_cl_program>> last_used_;  // the last one first
  std::atomic<int64_t> compiled_{0}, loaded_{0}, read_header_{0};
};

}  // namespace particles
