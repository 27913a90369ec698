// SPDX-License-Identifier: BSD-3-Clause
// Values on the points of a grid, in memory of a device.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fields/grid.hpp"
#include "fields/layout.hpp"
#include "fields/workspace.hpp"
#include "opencl/buffer.hpp"
#include "opencl/context.hpp"

namespace particles {

// float16 is for storage: kernels load it as float32, compute, and store it rounded to nearest
// even.
enum class DType { float16, float32, float64 };

size_t size_of(DType dtype);
const char* name_of(DType dtype);

// What numbers of a field are while they are computed with.
DType arithmetic(DType dtype);

// The macros with which every kernel is told the dtype, and the one of what it only reads.
std::string dtype_options(DType dtype);
std::string source_options(DType dtype);

// A number as a kernel of that dtype takes it.
opencl::Argument real_argument(DType dtype, double value);

// The first numbers that kernels of that dtype have left in a buffer.
std::vector<double> read_reals(const opencl::Buffer& buffer, DType dtype, size_t count);

// How many a device has in one allocation.
int64_t most_elements(const opencl::Context& context, DType dtype);

class Field : public std::enable_shared_from_this<Field> {
 public:
  // New memory, zeros everywhere, pads included.
  Field(std::shared_ptr<opencl::Context> context, const Grid& grid, int components, DType dtype,
        std::string name);
  // Memory that somebody else made and may write at any time.
  Field(std::shared_ptr<opencl::Context> context, const Grid& grid, int components, DType dtype,
        std::string name, std::shared_ptr<opencl::Buffer> memory, const Layout& layout);

  const Grid& grid() const { return grid_; }
  int components() const { return components_; }
  DType dtype() const { return dtype_; }
  const Layout& layout() const { return layout_; }
  opencl::Buffer& buffer() const { return *memory_; }
  const std::shared_ptr<opencl::Context>& context() const { return context_; }
  Workspace& workspace() const { return state_->workspace; }
  const std::string& name() const { return name_; }
  int64_t points() const { return grid_.points() * components_; }

  // One component as a field of its own in the same memory.
  std::shared_ptr<Field> component(int index) const;

  // Counts writes, so that whoever keeps something computed from the values knows when it is stale.
  int64_t version() const { return state_->version; }
  void touch() { ++state_->version; }

  // Memory that others can write without telling: the version says nothing about it.
  bool is_shared() const { return state_->shared; }
  void mark_shared() { state_->shared = true; }

  // Bytes of this memory that have come from the host or gone there.
  int64_t bytes_moved() const { return state_->bytes_moved; }

  // The selected elements to and from C-ordered host memory; what is read is of the field's dtype.
  // Both wait until the host memory may be used again.
  void read(const Selection& selection, void* host) const;
  void write(const Selection& selection, const void* host, DType host_dtype);

  // On the device, not waited for. Both fields are of the same shape and context; dtypes may
  // differ.
  void fill(const Selection& selection, double value);
  void copy_from(const Field& other);

 private:
  // Common to a field and the views of its components.
  struct State {
    explicit State(std::shared_ptr<opencl::Context> context) : workspace(std::move(context)) {}
    Workspace workspace;
    std::atomic<int64_t> version{0}, bytes_moved{0};
    std::atomic<bool> shared{false};
  };

  Field(const Field& parent, int component);
  std::string describe() const;  // for messages
  Region region(const Selection& selection) const;

  std::shared_ptr<opencl::Context> context_;
  Grid grid_;
  int components_;
  DType dtype_;
  std::string name_;
  Layout layout_;
  std::shared_ptr<opencl::Buffer> memory_;
  std::shared_ptr<State> state_;
};

}  // namespace particles
