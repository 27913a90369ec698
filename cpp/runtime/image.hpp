// SPDX-License-Identifier: BSD-3-Clause
// One number at every point of a box, as an image: what GPUs read through their texture units.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "runtime/context.hpp"

namespace particles {

class Buffer;

class Image {
 public:
  // Of floats; x runs fastest, axes that are not needed have size 1. `what` for the error's text.
  Image(std::shared_ptr<Context> context, const std::array<size_t, 3>& size,
        const std::string& what);
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  cl_mem get() const { return memory_.get(); }
  size_t bytes() const { return size_[0] * size_[1] * size_[2] * sizeof(float); }

  // Enqueued: as many floats as the image has, side by side from a byte of the buffer on.
  void copy_from(const Buffer& buffer, size_t offset);

 private:
  std::shared_ptr<Context> context_;
  std::array<size_t, 3> size_;
  MemoryHandle memory_;
};

}  // namespace particles
