// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/image.hpp"

#include <stdexcept>
#include <utility>

#include "runtime/buffer.hpp"
#include "runtime/error.hpp"
#include "runtime/image_format.hpp"

namespace particles {

namespace {

std::string size_text(const std::array<size_t, 3>& size) {
  return std::to_string(size[0]) + "×" + std::to_string(size[1]) + "×" + std::to_string(size[2]);
}

// Throws std::invalid_argument where an image would have more points along an axis than it may.
void check_size(const Device& device, const std::array<size_t, 3>& size) {
  constexpr cl_device_info kLimits[] = {CL_DEVICE_IMAGE3D_MAX_WIDTH, CL_DEVICE_IMAGE3D_MAX_HEIGHT,
                                        CL_DEVICE_IMAGE3D_MAX_DEPTH};
  for (int k = 0; k < 3; k++) {
    size_t most = 0;
    check(cl().clGetDeviceInfo(device.id, kLimits[k], sizeof most, &most, nullptr),
          "clGetDeviceInfo", device.name);
    if (size[k] > most)
      throw std::invalid_argument("form: expected images of at most " + std::to_string(most) +
                                  " points, pads included, along an axis on " + device.name +
                                  ", got " + std::to_string(size[k]));
  }
}

MemoryHandle allocate(const Context& context, const std::array<size_t, 3>& size,
                      const std::string& what) {
  check_size(context.device(), size);
  if (context.is_dry()) return {};
  check_allocation(context, size[0] * size[1] * size[2] * sizeof(float), what);
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE3D;
  description.image_width = size[0];
  description.image_height = size[1];
  description.image_depth = size[2];
  cl_int code = CL_SUCCESS;
  const cl_mem memory = cl().clCreateImage(context.context(), CL_MEM_READ_ONLY, &kFloats,
                                           &description, nullptr, &code);
  check(code, "clCreateImage", context.device().name, what + ", " + size_text(size) + " floats");
  return MemoryHandle::adopt(memory);
}

}  // namespace

Image::Image(std::shared_ptr<Context> context, const std::array<size_t, 3>& size,
             const std::string& what)
    : context_(std::move(context)), size_(size), memory_(allocate(*context_, size, what)) {
  context_->note_allocation(static_cast<int64_t>(bytes()), 1);
  context_->note_wanted(this, what, bytes());
}

Image::~Image() {
  context_->note_allocation(-static_cast<int64_t>(bytes()), -1);
  context_->forget_wanted(this);
}

void Image::copy_from(const Buffer& buffer, size_t offset) {
  context_->check_process();
  if (context_->is_dry()) return;
  const std::array<size_t, 3> origin{0, 0, 0};
  cl_event event = nullptr;
  check(cl().clEnqueueCopyBufferToImage(context_->queue().get(), buffer.get(), get(), offset,
                                        origin.data(), size_.data(), 0, nullptr, &event),
        "clEnqueueCopyBufferToImage", context_->device().name, size_text(size_) + " floats");
  context_->queue().watch("clEnqueueCopyBufferToImage", event);
}

}  // namespace particles
