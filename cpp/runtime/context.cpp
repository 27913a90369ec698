// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/context.hpp"

#include <utility>

#include "runtime/error.hpp"
#include "runtime/image_format.hpp"

namespace particles {

namespace {

void check_not_forked(const Device& device) {
  if (opencl_is_forked())
    throw DeviceError("device " + device.name +
                      " was found before a fork and cannot be opened after it; start processes "
                      "with the 'spawn' method");
}

}  // namespace

Context::Context(Device device, ContextHandle context, std::unique_ptr<Queue> queue,
                 const std::string& cache_folder)
    : device_(std::move(device)),
      context_(std::move(context)),
      queue_(std::move(queue)),
      programs_(device_, context_.get(), cache_folder) {
  if (!is_dry() && device_.has_images)
    device_.has_images = images_hold_floats(device_, context_.get());
}

std::shared_ptr<Context> Context::open(const Device& device, const std::string& cache_folder) {
  check_not_forked(device);
  cl_int code = CL_SUCCESS;
  auto context =
      ContextHandle::adopt(cl().clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &code));
  check(code, "clCreateContext", device.name);
  auto queue = Queue::open(device, context.get());
  return std::shared_ptr<Context>(
      new Context(device, std::move(context), std::move(queue), cache_folder));
}

std::shared_ptr<Context> Context::adopt(const Device& device, cl_context context,
                                        cl_command_queue queue, const std::string& cache_folder) {
  check_not_forked(device);
  auto adopted = Queue::adopt(device, context, queue);
  return std::shared_ptr<Context>(
      new Context(device, ContextHandle::share(context), std::move(adopted), cache_folder));
}

std::shared_ptr<Context> Context::dry(const Device& device) {
  return std::shared_ptr<Context>(new Context(device, {}, Queue::dry(device), ""));
}

std::unique_ptr<Queue> Context::open_queue() const {
  check_process();
  return is_dry() ? Queue::dry(device_) : Queue::open(device_, context_.get());
}

std::shared_ptr<_cl_program> Context::build(const std::string& source, const std::string& options) {
  check_process();
  return programs_.get(std::vector<ProgramPart>{{source, options}});
}

Kernel Context::kernel(const std::string& source, const std::string& options,
                       const std::string& name) {
  return kernel(std::vector<ProgramPart>{{source, options}}, name);
}

Kernel Context::kernel(std::vector<ProgramPart> parts, const std::string& name) {
  if (is_dry()) return {};
  check_process();
  if (arguments_are_checked())
    for (ProgramPart& part : parts) part.options += " -cl-kernel-arg-info";
  const auto program = programs_.get(std::move(parts));
  cl_int code = CL_SUCCESS;
  const cl_kernel made = cl().clCreateKernel(program.get(), name.c_str(), &code);
  check(code, "clCreateKernel", device_.name, "kernel " + name);
  return Kernel(made, name, program);
}

void Context::note_allocation(int64_t bytes, int count) {
  bytes_held_ += bytes;
  buffers_held_ += count;
}

std::map<std::string, int64_t> Context::wanted() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::map<std::string, int64_t> bytes;
  for (const auto& [owner, row] : wanted_) bytes[row.first] += row.second;
  return bytes;
}

void Context::note_wanted(const void* owner, const std::string& what, size_t bytes) {
  if (!is_dry()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  wanted_[owner] = {what, static_cast<int64_t>(bytes)};
}

void Context::forget_wanted(const void* owner) {
  if (!is_dry()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  wanted_.erase(owner);
}

}  // namespace particles
