// SPDX-License-Identifier: BSD-3-Clause
// Values on the points of a grid, in memory of a device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrays/array.hpp"
#include "arrays/reductions.hpp"
#include "fields/grid.hpp"
#include "fields/layout.hpp"

namespace particles {

class Field {
 public:
  // New memory, zeros everywhere, pads included.
  Field(std::shared_ptr<Context> context, const Grid& grid, int components, DType dtype,
        std::string name);
  // Memory that somebody else made and may write at any time.
  Field(std::shared_ptr<Context> context, const Grid& grid, int components, DType dtype,
        std::string name, std::shared_ptr<Buffer> memory, const Layout& layout);

  const Grid& grid() const { return grid_; }
  int components() const { return components_; }
  const Layout& layout() const { return layout_; }
  const std::string& name() const { return name_; }
  int64_t points() const { return grid_.points() * components_; }

  // All its memory, pads included; common to a field and the views of its components.
  Array& array() const { return *array_; }
  DType dtype() const { return array_->dtype(); }
  Buffer& buffer() const { return array_->buffer(); }
  const std::shared_ptr<Context>& context() const { return array_->context(); }
  Workspace& workspace() const { return array_->workspace(); }
  int64_t version() const { return array_->version(); }
  void touch() { array_->touch(); }
  bool is_shared() const { return array_->is_shared(); }
  void mark_shared() { array_->mark_shared(); }
  int64_t bytes_moved() const { return array_->bytes_moved(); }

  // One component as a field of its own in the same memory.
  std::shared_ptr<Field> component(int index) const;

  // Where the selected elements lie in its memory, or all of them.
  Region region(const Selection& selection) const;
  Region everything() const;
  // All of them, those along an axis third, or last where it is the last one.
  Region everything_along(int axis) const;
  // How those of a part are added up as in the whole. Grids of one axis are not divided.
  Planes planes() const {
    const int axis = 4 - grid_.ndim;
    return axis < 3 ? Planes{axis, grid_.whole_along(0)} : Planes{};
  }

  // The selected elements to and from C-ordered host memory; what is read is of the field's dtype.
  // Both wait until the host memory may be used again.
  void read(const Selection& selection, void* host) const;
  void write(const Selection& selection, const void* host, DType host_dtype);

  // On the device, not waited for. Both fields are of the same shape and context; dtypes may
  // differ.
  void fill(const Selection& selection, double value);
  void copy_from(const Field& other);

 private:
  Field(const Field& parent, int component);

  Grid grid_;
  int components_;
  std::string name_;
  Layout layout_;
  std::shared_ptr<Array> array_;
};

using Fields = std::vector<std::shared_ptr<Field>>;

// Of all of them together.
int components_of(const Fields& fields);

// Throws std::invalid_argument where there is none, or where one is of another grid, dtype or
// device.
void check_alike(const Fields& fields);

}  // namespace particles
