// SPDX-License-Identifier: BSD-3-Clause
#include "fields/workspace.hpp"

#include "opencl/kernel_source.hpp"

namespace particles {

int64_t Workspace::lanes(size_t element_bytes) const {
  const auto lanes = static_cast<int64_t>(device().vector_bytes() / element_bytes);
  return device().is_cpu() && lanes >= 4 ? lanes : 1;
}

opencl::Kernel Workspace::kernel(const char* file, const std::string& options, const char* name) {
  const std::lock_guard<std::mutex> lock(kernels_mutex_);
  const std::string key = std::string(file) + " " + name + options;
  const auto kept = kernels_.find(key);
  if (kept != kernels_.end()) return kept->second;
  return kernels_[key] = context_->kernel(opencl::kernel_source(file), options, name);
}

Workspace::Partials Workspace::partials(size_t bytes) {
  std::unique_lock<std::mutex> lock(partials_mutex_);
  if (!partials_ || partials_->bytes() < bytes) {
    partials_ = std::make_unique<opencl::Buffer>(context_, bytes, "partial results of a reduction");
  }
  return {std::move(lock), *partials_};
}

}  // namespace particles
