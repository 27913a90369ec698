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
  if (place == devices.end()) return "";  // a driver's fault: nothing is kept
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

std::shared_ptr<_cl_program> ProgramCache::get(std::vector<ProgramPart> parts) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (ProgramPart& part : parts) part.options = all_options(part.options);
  const std::string program_key = key(parts);
  const auto known = programs_.find(program_key);
  std::shared_ptr<_cl_program> program = known == programs_.end() ? nullptr : known->second.lock();
  if (!program) {
    program = load(program_key, parts.front().options);
    if (!program) {
      program = make(parts);
      ++compiled_;
      ++compiled_in_process;
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

// Each text is preceded by its length, so that no two lists of them give the same.
std::string ProgramCache::key(const std::vector<ProgramPart>& parts) const {
  std::string text;
  const auto add = [&](const std::string& more) {
    text += std::to_string(more.size()) + ":" + more;
  };
  for (const std::string& more :
       {std::string(kFormat), std::string(PARTICLES_VERSION), device_.platform_name,
        device_.platform_version, device_.name, device_.version, device_.driver})
    add(more);
  for (const ProgramPart& part : parts) {
    add(part.options);
    add(part.source);
  }
  return sha256(text);
}

// What is linked is built as a binary: PoCL takes options that hold while a program runs from a
// build alone.
std::shared_ptr<_cl_program> ProgramCache::make(const std::vector<ProgramPart>& parts) {
  const std::string& options = parts.front().options;
  if (parts.size() == 1) return compile(parts.front(), true);
  std::vector<std::shared_ptr<_cl_program>> objects;
  for (const ProgramPart& part : parts) objects.push_back(compile(part, false));
  return of_binary(binary_of(link(objects, options).get(), device_), options);
}

std::shared_ptr<_cl_program> ProgramCache::compile(const ProgramPart& part, bool is_whole) {
  if (!device_.reads_header()) return compile_text(part, is_whole);
  try {
    return compile_text(
        {kernel_source("common/functions.cl") + part.source, part.options + kOwnFunctions},
        is_whole);
  } catch (const BuildError&) {
    auto program = compile_text(part, is_whole);
    ++read_header_;
    return program;
  }
}

std::shared_ptr<_cl_program> ProgramCache::compile_text(const ProgramPart& part, bool is_whole) {
  const char* begin = part.source.c_str();
  const size_t length = part.source.size();
  cl_int code = CL_SUCCESS;
  const cl_program made = cl().clCreateProgramWithSource(context_, 1, &begin, &length, &code);
  check(code, "clCreateProgramWithSource", device_.name);
  const auto program = own(made);
  code = is_whole ? build(made, device_.id, part.options)
                  : cl().clCompileProgram(made, 1, &device_.id, part.options.c_str(), 0, nullptr,
                                          nullptr, nullptr, nullptr);
  check_built(code, is_whole ? "clBuildProgram" : "clCompileProgram", made, part.options);
  return program;
}

// Intel's linker wants to be told such options, and PoCL's refuses them.
std::shared_ptr<_cl_program> ProgramCache::link(
    const std::vector<std::shared_ptr<_cl_program>>& objects, const std::string& options) {
  std::vector<cl_program> programs;
  for (const auto& object : objects) programs.push_back(object.get());
  const bool are_zero = options.find(kFaintestAreZero) != std::string::npos;
  cl_int code = CL_SUCCESS;
  const auto linked = [&](const char* told) {
    return cl().clLinkProgram(context_, 1, &device_.id, told, static_cast<cl_uint>(programs.size()),
                              programs.data(), nullptr, nullptr, &code);
  };
  cl_program made = linked(are_zero ? kFaintestAreZero : "");
  if (code == CL_INVALID_LINKER_OPTIONS) made = linked("");
  const auto program = made ? own(made) : nullptr;
  check_built(code, "clLinkProgram", made, options);
  return program;
}

std::shared_ptr<_cl_program> ProgramCache::of_binary(const std::string& binary,
                                                     const std::string& options) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const size_t length = binary.size();
  cl_int code = CL_SUCCESS;
  const cl_program made =
      cl().clCreateProgramWithBinary(context_, 1, &device_.id, &length, &bytes, nullptr, &code);
  check(code, "clCreateProgramWithBinary", device_.name);
  const auto program = own(made);
  check_built(build(made, device_.id, options), "clBuildProgram", made, options);
  return program;
}

void ProgramCache::check_built(cl_int code, const char* call, cl_program program,
                               const std::string& options) const {
  const std::string told = "options '" + options + "'";
  if (program && (code == CL_BUILD_PROGRAM_FAILURE || code == CL_COMPILE_PROGRAM_FAILURE ||
                  code == CL_LINK_PROGRAM_FAILURE)) {
    const std::string log = build_log(program, device_);
    throw BuildError(std::string(call) + " failed with " + code_name(code) + " (" +
                         std::to_string(code) + ") on " + device_.name + ", " + told +
                         "; the compiler wrote:\n" + log,
                     log);
  }
  check(code, call, device_.name, told);
}

std::shared_ptr<_cl_program> ProgramCache::load(const std::string& key,
                                                const std::string& options) {
  if (folder_.empty()) return nullptr;
  const auto binary = read_program_file(folder_, key);
  if (!binary) return nullptr;
  try {
    auto program = of_binary(*binary, options);
    ++loaded_;
    return program;
  } catch (const DeviceError&) {
    return nullptr;  // it is built from source
  }
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
