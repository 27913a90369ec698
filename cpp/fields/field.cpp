// SPDX-License-Identifier: BSD-3-Clause
#include "fields/field.hpp"

#include <stdexcept>
#include <utility>

namespace particles {

namespace {

std::string in_words(const std::string& name) { return name.empty() ? "a field" : "field " + name; }

}  // namespace

Field::Field(std::shared_ptr<Context> context, const Grid& grid, int components, DType dtype,
             std::string name)
    : grid_(grid),
      components_(components),
      name_(std::move(name)),
      layout_(pitched_layout(grid, components, most_elements(*context, dtype))),
      array_(std::make_shared<Array>(std::move(context), layout_.component_stride * components, 1,
                                     dtype, in_words(name_))) {}

Field::Field(std::shared_ptr<Context> context, const Grid& grid, int components, DType dtype,
             std::string name, std::shared_ptr<Buffer> memory, const Layout& layout)
    : grid_(grid), components_(components), name_(std::move(name)), layout_(layout) {
  const int64_t count = end_of(everything(), size_of(dtype));
  array_ = std::make_shared<Array>(std::move(context), count, 1, dtype, in_words(name_),
                                   std::move(memory), 0, 1);
}

Field::Field(const Field& parent, int component)
    : grid_(parent.grid_),
      components_(1),
      name_(parent.name_ + "[" + std::to_string(component) + "]"),
      layout_(parent.layout_),
      array_(parent.array_) {
  layout_.offset += component * layout_.component_stride;
}

std::shared_ptr<Field> Field::component(int index) const {
  if (index < 0 || index >= components_) {
    throw std::out_of_range("component: expected 0 to " + std::to_string(components_ - 1) +
                            ", got " + std::to_string(index));
  }
  return std::shared_ptr<Field>(new Field(*this, index));
}

Region Field::region(const Selection& selection) const {
  return region_of(grid_, layout_, components_, selection);
}

Region Field::everything() const { return region(particles::everything(grid_, components_)); }

Region Field::everything_along(int axis) const {
  Region region = everything();
  const int place = axis + 4 - grid_.ndim;
  if (place != 3) {
    std::swap(region.count[place], region.count[2]);
    std::swap(region.stride[place], region.stride[2]);
  }
  return region;
}

void Field::read(const Selection& selection, void* host) const {
  array_->read(region(selection), host);
}

void Field::write(const Selection& selection, const void* host, DType host_dtype) {
  array_->write(region(selection), host, host_dtype);
}

void Field::fill(const Selection& selection, double value) {
  array_->fill(region(selection), value);
}

void Field::copy_from(const Field& other) {
  if (other.context() != context() || other.grid_.shape != grid_.shape ||
      other.components_ != components_) {
    throw std::invalid_argument("copy: expected a field of the same device and shape as " +
                                in_words(name_) + ", got " + in_words(other.name_));
  }
  array_->copy(everything(), other.array(), other.everything());
}

int components_of(const Fields& fields) {
  int count = 0;
  for (const auto& field : fields) count += field->components();
  return count;
}

void check_alike(const Fields& fields) {
  if (fields.empty()) throw std::invalid_argument("fields: expected at least one, got none");
  const Field& first = *fields.front();
  for (const auto& field : fields)
    if (field->grid() != first.grid() || field->dtype() != first.dtype() ||
        field->context() != first.context())
      throw std::invalid_argument("fields: expected one grid, dtype and device for all");
}

}  // namespace particles
