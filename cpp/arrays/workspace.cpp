// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/workspace.hpp"

#include <algorithm>

#include "runtime/kernel_source.hpp"

namespace particles {

namespace {

constexpr size_t kMostMade = 16;

}  // namespace

int64_t Workspace::lanes(size_t element_bytes) const {
  constexpr size_t kMostLanes = 16;
  const auto lanes =
      static_cast<int64_t>(std::min(kMostLanes, device().vector_bytes() / element_bytes));
  return device().is_cpu() && lanes >= 4 ? lanes : 1;
}

Kernel Workspace::kernel(const char* file, const std::string& options, const char* name) {
  const std::lock_guard<std::mutex> lock(kernels_mutex_);
  const std::string key = std::string(file) + " " + name + options;
  const auto kept = kernels_.find(key);
  if (kept != kernels_.end()) return kept->second;
  return kernels_[key] = context_->kernel(kernel_source(file), options, name);
}

Kernel Workspace::kernel_made(const char* file, const std::map<std::string, std::string>& made,
                              const std::string& options, const char* name) {
  const std::lock_guard<std::mutex> lock(kernels_mutex_);
  std::string key = std::string(file) + " " + name + options;
  for (const auto& text : made) key += "\n" + text.first + "\n" + text.second;
  const auto kept = std::find_if(kernels_made_.begin(), kernels_made_.end(),
                                 [&](const auto& entry) { return entry.first == key; });
  if (kept != kernels_made_.end()) {
    std::rotate(kernels_made_.begin(), kept, kept + 1);
  } else {
    kernels_made_.emplace_front(key, context_->kernel(kernel_source(file, made), options, name));
    if (kernels_made_.size() > kMostMade) kernels_made_.pop_back();
  }
  return kernels_made_.front().second;
}

Workspace::Scratch Workspace::scratch(const std::vector<size_t>& bytes, const std::string& what) {
  Scratch scratch{std::unique_lock<std::mutex>(scratch_mutex_), {}};
  if (scratch_.size() < bytes.size()) scratch_.resize(bytes.size());
  for (size_t k = 0; k < bytes.size(); ++k) {
    auto& buffer = scratch_[k];
    if (!buffer || buffer->bytes() < bytes[k]) {
      buffer.reset();
      buffer = std::make_unique<Buffer>(context_, bytes[k], what);
    }
    scratch.buffers.push_back(buffer.get());
  }
  return scratch;
}

}  // namespace particles
