// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/sort.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "arrays/ceiling.hpp"
#include "arrays/scan.hpp"
#include "arrays/shares.hpp"

namespace particles {

namespace {

// A CPU's cache holds a line for each digit of eight bits; a work-item of a GPU counts each digit.
constexpr int kDigitBitsOfCpu = 8, kDigitBitsOfGpu = 4;

bool is_integer_of_32_or_64_bits(DType dtype) {
  return !is_real(dtype) && size_of(dtype) >= sizeof(int32_t);
}

std::string row_options(const Array& rows) {
  return " -DWORD=" + signed_word_of(rows.dtype()) +
         " -DCOMPONENTS=" + std::to_string(rows.components());
}

// One sort on its way: kernels, and what it needs of the memory.
class Sort {
 public:
  // `rows` travel with the keys to the target; where there are none, the target is their order.
  Sort(const Array& keys, const Array* rows, Array& target)
      : keys_(keys),
        rows_(rows),
        target_(target),
        workspace_(keys.workspace()),
        count_(keys.count()),
        index_(rows ? index_for(keys.count()) : target.dtype()),
        digit_bits_(workspace_.device().is_cpu() ? kDigitBitsOfCpu : kDigitBitsOfGpu),
        shares_(shares_of(workspace_.device(), count_,
                          ((size_t{1} << digit_bits_) + 1) * sizeof(cl_uint))),
        counts_(workspace_, index_, shares_.groups << digit_bits_) {}

  void enqueue() {
    const size_t index = size_of(index_), key = size_of(keys_.dtype()), entry = entry_bytes();
    const auto scratch = workspace_.scratch(
        {static_cast<size_t>(count_) * entry, static_cast<size_t>(count_) * entry,
         static_cast<size_t>(shares_.groups << digit_bits_) * index, counts_.scratch_bytes(),
         static_cast<size_t>(shares_.groups) * key, (1 + most_passes()) * sizeof(cl_int)},
        "a sort");
    const Buffer *even = scratch.buffers[0], *odd = scratch.buffers[1],
                 *counts = scratch.buffers[2], *sums = scratch.buffers[3],
                 *differences = scratch.buffers[4], *passes = scratch.buffers[5];
    const auto keys_bytes = static_cast<double>(count_) * key;
    const auto entries_bytes = static_cast<double>(count_) * entry;
    const uint64_t sign = is_signed(keys_.dtype()) ? uint64_t{1} << (8 * key - 1) : 0;
    const Argument flipped = integer_argument(keys_.dtype(), sign);
    const auto add_keys = [&](Launch& launch, int pass, const char* name, const Buffer& entries) {
      launch.int32("pass", pass)
          .buffer("passes", *passes)
          .buffer("keys", keys_.buffer())
          .int64("offset", keys_.offset())
          .add("flipped", flipped)
          .buffer(name, entries)
          .int64("n", count_);
    };
    const Array& rows = rows_ ? *rows_ : target_;  // which is not read
    Context& context = workspace_.context();
    context.queue().launch(Launch(kernel("sort_differences"))
                               .buffer("keys", keys_.buffer())
                               .int64("offset", keys_.offset())
                               .int64("n", count_)
                               .buffer("differences", *differences)
                               .range(shares_.range())
                               .traffic(keys_bytes));
    context.queue().launch(Launch(kernel("sort_digits"))
                               .buffer("differences", *differences)
                               .int32("groups", shares_.groups)
                               .buffer("passes", *passes));
    for (int pass = 0; pass < most_passes(); ++pass) {
      const Buffer *from = pass % 2 ? even : odd, *to = pass % 2 ? odd : even;
      Launch counting(kernel("sort_count")), moving(kernel("sort_move"));
      add_keys(counting, pass, "entries", *from);
      counting.buffer("counts", *counts).range(shares_.range()).traffic(entries_bytes);
      context.queue().launch(counting);
      counts_.enqueue({*counts}, {*counts}, false, *sums);
      add_keys(moving, pass, "left_before", *from);
      moving.buffer("before", *counts)
          .buffer("rows", rows.buffer())
          .int64("rows_offset", rows.offset())
          .int64("rows_stride", rows.stride())
          .buffer("entries", *to)
          .buffer("target_rows", target_.buffer())
          .int64("target_offset", target_.offset())
          .int64("target_stride", target_.stride())
          .range(shares_.range())
          .traffic(2 * entries_bytes);
      context.queue().launch(moving);
    }
    target_.touch();
  }

 private:
  static DType index_for(int64_t count) {
    return count <= std::numeric_limits<int32_t>::max() ? DType::uint32 : DType::uint64;
  }

  // As OpenCL C lays out a key and what travels with it.
  size_t entry_bytes() const {
    const size_t key = size_of(keys_.dtype()), word = size_of(rows_ ? rows_->dtype() : index_),
                 carried = rows_ ? word * rows_->components() : word;
    const auto aligned = [](size_t bytes, size_t to) { return ceiling(bytes, to) * to; };
    return aligned(aligned(key, word) + carried, std::max(key, word));
  }

  int most_passes() const {
    return ceiling(static_cast<int>(8 * size_of(keys_.dtype())), digit_bits_);
  }

  Kernel kernel(const char* name) const {
    std::string options = "-DKEY=" + word_of(keys_.dtype()) + " -DINDEX=" + word_of(index_) +
                          " -DDIGIT_BITS=" + std::to_string(digit_bits_) + shares_.options();
    if (rows_) options += " -DWITH_ROWS" + row_options(*rows_);
    return workspace_.kernel("arrays/sort.cl", options, name);
  }

  const Array& keys_;
  const Array* rows_;
  Array& target_;
  Workspace& workspace_;
  int64_t count_;
  DType index_;
  int digit_bits_;
  Shares shares_;
  Scan counts_;
};

void check_keys(const Array& keys, const Array& target) {
  check_fits(keys, target, keys.count(), 1, "keys");
  if (!is_integer_of_32_or_64_bits(keys.dtype()) || !keys.is_packed())
    throw std::invalid_argument("sort: expected packed keys, integers of 32 or 64 bits");
  if (&keys.buffer() == &target.buffer())
    throw std::invalid_argument("sort: expected a target in memory of its own");
}

}  // namespace

void sort(const Array& keys, Array& order) {
  check_keys(keys, order);
  check_fits(order, keys, keys.count(), 1, "order");
  const bool has_places = size_of(order.dtype()) > sizeof(int32_t) ||
                          keys.count() <= std::numeric_limits<int32_t>::max();
  if (!is_integer_of_32_or_64_bits(order.dtype()) || !order.is_packed() || !has_places)
    throw std::invalid_argument(
        "sort: expected a packed order of integers of 32 or 64 bits, of 64 for 2^31 keys or more");
  if (keys.count()) Sort(keys, nullptr, order).enqueue();
}

void sort_rows(const Array& keys, const Array& rows, Array& target) {
  check_keys(keys, target);
  check_fits(rows, keys, keys.count(), rows.components(), "rows");
  check_fits(target, rows, keys.count(), rows.components(), "target");
  if (target.dtype() != rows.dtype() || &target.buffer() == &rows.buffer())
    throw std::invalid_argument(
        "sort: expected a target of the dtype of the rows, in memory of its own");
  if (keys.count()) Sort(keys, &rows, target).enqueue();
}

namespace {

// Kernels of arrays/permute.cl.
void move_rows(const char* name, const char* given, const char* expected, const Array& source,
               const Array& order, Array& target) {
  check_fits(order, source, order.count(), 1, given);
  check_fits(target, source, order.count(), source.components(), "target");
  if (!is_integer_of_32_or_64_bits(order.dtype()) || !order.is_packed() ||
      target.dtype() != source.dtype() || &target.buffer() == &source.buffer() ||
      &target.buffer() == &order.buffer())
    throw std::invalid_argument(std::string(name) + ": expected " + expected +
                                " of integers of 32 or 64 bits, and a target of the source's dtype "
                                "in memory of its own");
  if (!order.count()) return;
  Workspace& workspace = target.workspace();
  const Shares shares = shares_of(workspace.device(), order.count(), 0);
  const size_t row = size_of(source.dtype()) * source.components();
  const auto kernel = workspace.kernel("arrays/permute.cl",
                                       "-DINDEX=" + std::string(opencl_name_of(order.dtype())) +
                                           row_options(source) + shares.options(),
                                       name);
  const Name rows(given);
  workspace.context().queue().launch(
      Launch(kernel)
          .buffer("source", source.buffer())
          .int64("source_offset", source.offset())
          .int64("source_stride", source.stride())
          .buffer(rows, order.buffer())
          .int64(rows + "_offset", order.offset())
          .buffer("target", target.buffer())
          .int64("target_offset", target.offset())
          .int64("target_stride", target.stride())
          .int64("n", order.count())
          .range(shares.range())
          .traffic(static_cast<double>(order.count()) * (2 * row + size_of(order.dtype()))));
  target.touch();
}

}  // namespace

void permute(const Array& source, const Array& order, Array& target) {
  move_rows("permute", "order", "a packed order", source, order, target);
}

void distribute(const Array& source, const Array& places, Array& target) {
  check_fits(places, source, source.count(), 1, "places");
  move_rows("distribute", "places", "packed places", source, places, target);
}

}  // namespace particles
