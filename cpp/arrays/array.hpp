// SPDX-License-Identifier: BSD-3-Clause
// Numbers of one type in memory of a device, as many as one likes: what fields are made of, and
// what is known of each particle.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <variant>

#include "arrays/dtype.hpp"
#include "arrays/regions.hpp"
#include "arrays/workspace.hpp"
#include "runtime/buffer.hpp"
#include "runtime/context.hpp"

namespace particles {

// A number of any dtype.
using Number = std::variant<int64_t, uint64_t, double>;

// Which rows and which of their components. Steps are positive.
struct RowSelection {
  std::array<int64_t, 2> start{0, 0}, count{0, 1}, step{1, 1};
};

// `count` rows of one or several components. Components of a row are neighbours, and rows follow
// each other without gaps, three components too: they take a quarter less memory than padded to
// four, NumPy and other libraries know no pads, and kernels read them by vload3.
class Array {
 public:
  // New memory, zeros. What is made with a count of 0 has memory that nobody reads. `name` says
  // what it is in messages.
  Array(std::shared_ptr<Context> context, int64_t count, int components, DType dtype,
        std::string name);
  // Memory that somebody else made and may write at any time; rows begin `stride` elements after
  // each other, the first one at `offset`. Throws std::invalid_argument where they leave it.
  Array(std::shared_ptr<Context> context, int64_t count, int components, DType dtype,
        std::string name, std::shared_ptr<Buffer> memory, int64_t offset, int64_t stride);

  int64_t count() const { return count_; }
  int components() const { return components_; }
  DType dtype() const { return dtype_; }
  const std::string& name() const { return name_; }
  int64_t offset() const { return offset_; }
  int64_t stride() const { return stride_; }
  bool is_packed() const { return stride_ == components_ || count_ <= 1; }
  int64_t elements() const { return count_ * components_; }

  Buffer& buffer() const { return *state_->current; }
  const std::shared_ptr<Context>& context() const { return context_; }
  Workspace& workspace() const { return state_->workspace; }

  // One component as an array of its own in the same memory.
  std::shared_ptr<Array> component(int index) const;
  // So many rows, too. Throws std::out_of_range, both do.
  std::shared_ptr<Array> rows(int64_t first, int64_t count) const;

  // Memory as large as its own, zeros, for whoever works out of place. Who asks for it shares it
  // with all who have asked before; it lives as long as one of them.
  struct Spare {
    std::shared_ptr<Buffer> memory;
  };
  std::shared_ptr<Spare> spare() const;
  // Memory of any kind, shared in the same way by those whom it is large enough for.
  std::shared_ptr<Buffer> scratch(size_t bytes) const;
  // The spare memory becomes its own, that of all its views too, and its own the spare one.
  void exchange(Spare& spare);

  // Counts writes, so that whoever keeps something computed from the values knows when it is stale.
  int64_t version() const { return state_->version; }
  void touch() { ++state_->version; }

  // Memory that others can write without telling: the version says nothing about it.
  bool is_shared() const { return state_->shared; }
  void mark_shared() { state_->shared = true; }

  // Bytes of this memory that have come from the host or gone there.
  int64_t bytes_moved() const { return state_->bytes_moved; }

  // The selected elements, or all, in this memory. Throws std::out_of_range where they leave
  // the array.
  Region region(const RowSelection& selection) const;
  Region everything() const;

  // A region of this memory to and from C-ordered host memory; what is read is of the array's
  // dtype. Real numbers may come in another real dtype. Both wait until the host memory may be used
  // again.
  void read(const Region& region, void* host) const;
  void write(const Region& region, const void* host, DType host_dtype);

  // On the device, not waited for. Both regions have the same counts and both arrays the same
  // context; dtypes are the same or both real.
  void fill(const Region& region, const Number& value);
  void copy(const Region& target, const Array& source, const Region& region);
  // All of an array of the same shape.
  void copy_from(const Array& source);

 private:
  // Common to an array and the views of its components and rows.
  struct State {
    State(const std::shared_ptr<Context>& context, std::shared_ptr<Buffer> buffer)
        : memory(std::move(buffer)), current(memory.get()), workspace(context) {}
    std::mutex mutex;  // of spare memory, scratch, and an exchange
    std::shared_ptr<Buffer> memory;
    std::atomic<Buffer*> current;  // the same, for readers in other threads
    std::weak_ptr<Spare> spare;
    std::weak_ptr<Buffer> scratch;
    Workspace workspace;
    std::atomic<int64_t> version{0}, bytes_moved{0};
    std::atomic<bool> shared{false};
  };

  Array(const Array& parent, int64_t count, int components, int64_t begin, std::string name);

  std::shared_ptr<Context> context_;
  int64_t count_;
  int components_;
  DType dtype_;
  std::string name_;
  int64_t offset_ = 0, stride_;
  std::shared_ptr<State> state_;
};

// Throws std::invalid_argument unless both have the same context, and so many rows of so many
// components.
void check_fits(const Array& array, const Array& other, int64_t count, int components,
                const char* what);

}  // namespace particles
