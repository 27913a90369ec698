// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/program_cache.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/kernel_source.hpp"
#include "runtime/program_file.hpp"
#include "runtime/sha256.hpp"

namespace particles {

namespace {

// More than any transport is made of, so that one which is made again and again builds nothing.
constexpr size_t kLastUsed = 64;
constexpr const char* kFormat = "1";  // of the files on disk
// Without warnings: some drivers count them on the terminal of whoever uses a kernel.
constexpr const char* kLanguage = "-cl-std=CL1.2 -w";
// The first says that Clang's header has been read; see functions.cl.
constexpr const char* kOwnFunctions = " -D_OPENCL_H_ -DOWN_FUNCTIONS";

std::atomic<int64_t> compiled_in_process{0};

std::shared_ptr<_cl_program> own(cl_program program) {
  return {program, [](cl_program released) {
            if (!opencl_is_forked()) cl().clReleaseProgram(released);
          }};
}

std::string all_options(const std::string& options) {
  return options.empty() ? kLanguage : kLanguage + (" " + options);
}

cl_int build(cl_program program, cl_device_id device, const std::string& options) {
  return cl().clBuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr);
}

std::string build_log(cl_program program, const Device& device) {
  size_t size = 0;
  cl().clGetProgramBuildInfo(program, device.id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  cl().clGetProgramBuildInfo(program, device.id, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  return log;
}

// A context from outside may have several devices, and a program has a binary for each it was built
// for.
std::string binary_of(cl_program program, const Device& device) {
  const auto ask = [&](cl_program_info what, size_t bytes, void* answer) {
    check(cl().clGetProgramInfo(program, what, bytes, answer, nullptr), "clGetProgramInfo",
          device.name);
  };
  cl_uint count = 0;
  ask(CL_PROGRAM_NUM_DEVICES, sizeof(count), &count);
  std::vector<cl_device_id> devices(count);
  std::vector<size_t> sizes(count);
  ask(CL_PROGRAM_DEVICES, count * sizeof(devices[0]), devices.data());
  ask(CL_PROGRAM_BINARY_SIZES, count * sizeof(sizes[0]), sizes.data());

  const auto place = std::find(devices.begin(), devices.end(), device.id);
  if (place == devices.end()) return "";  // a driver's fault costs the file alone
  const auto ours = static_cast<size_t>(place - devices.begin());
  std::string binary(sizes[ours], '\0');
  std::vector<unsigned char*> destinations(count, nullptr);
  destinations[ours] = reinterpret_cast<unsigned char*>(binary.data());
  ask(CL_PROGRAM_BINARIES, count * sizeof(destinations[0]), destinations.data());
  return binary;
}

}  // namespace

ProgramCache::ProgramCache(const Device& device, cl_context context, std::string folder)
    : device_(device), context_(context), folder_(std::move(folder)) {}

std::shared_ptr<_cl_program> ProgramCache::get(const std::string& source,
                                               const std::string& options) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::string full_options = all_options(options);
  const std::string program_key = key(source, full_options);
  const auto known = programs_.find(program_key);
  std::shared_ptr<_cl_program> program = known == programs_.end() ? nullptr : known->second.lock();
  if (!program) {
    program = load(program_key, full_options);
    if (!program) {
      program = compile(source, full_options);
      save(program_key, program.get());
    }
    programs_[program_key] = program;
  }
  note_use(program);
  return program;
}

void ProgramCache::note_use(const std::shared_ptr<_cl_program>& program) {
  last_used_.erase(std::remove(last_used_.begin(), last_used_.end(), program), last_used_.end());
  last_used_.push_front(program);
  if (last_used_.size() > kLastUsed) last_used_.pop_back();
  for (auto entry = programs_.begin(); entry != programs_.end();)
    entry = entry->second.expired() ? programs_.erase(entry) : std::next(entry);
}

int64_t ProgramCache::compiled_by_all() { return compiled_in_process; }

int64_t ProgramCache::held() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::count_if(programs_.begin(), programs_.end(),
                       [](const auto& entry) { return !entry.second.expired(); });
}

// Each part is preceded by its length, so that no two lists of parts give the same text.
std::string ProgramCache::key(const std::string& source, const std::string& options) const {
  std::string text;
  for (const std::string& part :
       {std::string(kFormat), std::string(PARTICLES_VERSION), device_.platform_name,
        device_.platform_version, device_.name, device_.version, device_.driver, options, source}) {
    text += std::to_string(part.size()) + ":" + part;
  }
  return sha256(text);
}

std::shared_ptr<_cl_program> ProgramCache::compile(const std::string& source,
                                                   const std::string& options) {
  if (!device_.reads_header()) return compile_text(source, options);
  try {
    return compile_text(kernel_source("common/functions.cl") + source, options + kOwnFunctions);
  } catch (const BuildError&) {
    auto program = compile_text(source, options);
    ++read_header_;
    return program;
  }
}

std::shared_ptr<_cl_program> ProgramCache::compile_text(const std::string& text,
                                                        const std::string& options) {
  const char* begin = text.c_str();
  const size_t length = text.size();
  cl_int code = CL_SUCCESS;
  const cl_program made = cl().clCreateProgramWithSource(context_, 1, &begin, &length, &code);
  check(code, "clCreateProgramWithSource", device_.name);
  const auto program = own(made);
  code = build(program.get(), device_.id, options);
  if (code == CL_BUILD_PROGRAM_FAILURE) {
    const std::string log = build_log(program.get(), device_);
    throw BuildError("clBuildProgram failed with CL_BUILD_PROGRAM_FAILURE (-11) on " +
                         device_.name + ", options '" + options + "'; the compiler wrote:\n" + log,
                     log);
  }
  check(code, "clBuildProgram", device_.name, "options '" + options + "'");
  ++compiled_;
  ++compiled_in_process;
  return program;
}

std::shared_ptr<_cl_program> ProgramCache::load(const std::string& key,
                                                const std::string& options) {
  if (folder_.empty()) return nullptr;
  const auto binary = read_program_file(folder_, key);
  if (!binary) return nullptr;
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary->data());
  const size_t length = binary->size();
  cl_int code = CL_SUCCESS;
  const cl_program made =
      cl().clCreateProgramWithBinary(context_, 1, &device_.id, &length, &bytes, nullptr, &code);
  if (code != CL_SUCCESS) return nullptr;
  auto program = own(made);
  if (build(made, device_.id, options) != CL_SUCCESS) return nullptr;
  ++loaded_;
  return program;
}

void ProgramCache::save(const std::string& key, cl_program program) const {
  if (folder_.empty()) return;
  try {
    const std::string binary = binary_of(program, device_);
    if (!binary.empty()) write_program_file(folder_, key, binary);
  } catch (const std::exception&) {
    // A program that cannot be kept is built again next time.
  }
}

}  // namespace particles
