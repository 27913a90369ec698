// SPDX-License-Identifier: BSD-3-Clause
#include "fields/field.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include "fields/boxes.hpp"

namespace particles {

size_t size_of(DType dtype) { return dtype == DType::float64 ? sizeof(double) : sizeof(float); }

const char* name_of(DType dtype) { return dtype == DType::float64 ? "float64" : "float32"; }

std::string dtype_options(DType dtype) { return dtype == DType::float64 ? "-DREAL_IS_DOUBLE" : ""; }

opencl::Argument real_argument(DType dtype, double value) {
  if (dtype == DType::float64) return value;
  return static_cast<float>(value);
}

Field::Field(std::shared_ptr<opencl::Context> context, const Grid& grid, int components,
             DType dtype, std::string name)
    : context_(std::move(context)),
      grid_(grid),
      components_(components),
      dtype_(dtype),
      name_(std::move(name)),
      layout_(pitched_layout(grid, components)),
      state_(std::make_shared<State>()) {
  const size_t bytes = pitched_elements(layout_, components_) * size_of(dtype_);
  memory_ = std::make_shared<opencl::Buffer>(context_, bytes, describe());
  const float zero = 0;
  memory_->fill(&zero, sizeof zero, 0, bytes);
}

Field::Field(std::shared_ptr<opencl::Context> context, const Grid& grid, int components,
             DType dtype, std::string name, std::shared_ptr<opencl::Buffer> memory,
             const Layout& layout)
    : context_(std::move(context)),
      grid_(grid),
      components_(components),
      dtype_(dtype),
      name_(std::move(name)),
      layout_(layout),
      memory_(std::move(memory)),
      state_(std::make_shared<State>()) {
  const Region all = region(everything(grid_, components_));
  int64_t end = all.offset + 1;
  for (int k = 0; k < 4; ++k) end += (all.count[k] - 1) * all.stride[k];
  if (all.offset < 0 || end * size_of(dtype_) > memory_->bytes()) {
    throw std::invalid_argument("array: expected a buffer of at least " +
                                std::to_string(end * size_of(dtype_)) + " bytes, got " +
                                std::to_string(memory_->bytes()));
  }
  mark_shared();
}

Field::Field(const Field& parent, int component)
    : context_(parent.context_),
      grid_(parent.grid_),
      components_(1),
      dtype_(parent.dtype_),
      name_(parent.name_ + "[" + std::to_string(component) + "]"),
      layout_(parent.layout_),
      memory_(parent.memory_),
      state_(parent.state_) {
  layout_.offset += component * layout_.component_stride;
}

std::shared_ptr<Field> Field::component(int index) const {
  if (index < 0 || index >= components_) {
    throw std::out_of_range("component: expected 0 to " + std::to_string(components_ - 1) +
                            ", got " + std::to_string(index));
  }
  return std::shared_ptr<Field>(new Field(*this, index));
}

std::string Field::describe() const { return name_.empty() ? "a field" : "field " + name_; }

Region Field::region(const Selection& selection) const {
  return region_of(grid_, layout_, components_, selection);
}

void Field::read(const Selection& selection, void* host) const {
  Region source = region(selection);
  std::shared_ptr<opencl::Buffer> memory = memory_;
  const size_t bytes = source.points() * size_of(dtype_);
  if (!has_whole_rows(source)) {
    const Region side_by_side = packed(source);
    memory = std::make_shared<opencl::Buffer>(context_, bytes, "part of " + describe());
    copy_box({*memory_, dtype_, source}, {*memory, dtype_, side_by_side});
    source = side_by_side;
  }
  for (const Transfer& transfer : transfers_of(source, size_of(dtype_))) {
    memory->read(static_cast<char*>(host) + transfer.host_offset, transfer.box);
  }
  state_->bytes_moved += bytes;
}

void Field::write(const Selection& selection, const void* host) {
  const Region target = region(selection);
  const bool direct = has_whole_rows(target);
  const Region written = direct ? target : packed(target);
  const size_t bytes = target.points() * size_of(dtype_);
  const auto memory =
      direct ? memory_ : std::make_shared<opencl::Buffer>(context_, bytes, "part of " + describe());
  for (const Transfer& transfer : transfers_of(written, size_of(dtype_))) {
    memory->write(static_cast<const char*>(host) + transfer.host_offset, transfer.box);
  }
  if (!direct) copy_box({*memory, dtype_, written}, {*memory_, dtype_, target});
  state_->bytes_moved += bytes;
  touch();
}

void Field::fill(const Selection& selection, double value) {
  fill_box({*memory_, dtype_, region(selection)}, value);
  touch();
}

void Field::copy_from(const Field& other) {
  if (other.context_ != context_ || other.grid_.shape != grid_.shape ||
      other.components_ != components_) {
    throw std::invalid_argument("copy: expected a field of the same device and shape as " +
                                describe() + ", got " + other.describe());
  }
  copy_box({*other.memory_, other.dtype_, other.region(everything(grid_, components_))},
           {*memory_, dtype_, region(everything(grid_, components_))});
  touch();
}

}  // namespace particles
