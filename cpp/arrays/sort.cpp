// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/sort.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "arrays/scan.hpp"
#include "arrays/shares.hpp"

namespace particles {

namespace {

// A CPU's cache holds a line for each digit of eight bits; a work-item of a GPU counts each digit.
constexpr int kDigitBitsOfCpu = 8, kDigitBitsOfGpu = 4;

bool is_integer_of_32_or_64_bits(DType dtype) {
  return !is_real(dtype) && size_of(dtype) >= sizeof(int32_t);
}

// One sort on its way: kernels, and what it needs of the memory.
class Sort {
 public:
  Sort(const Array& keys, Array& order)
      : keys_(keys),
        order_(order),
        workspace_(keys.workspace()),
        count_(keys.count()),
        digit_bits_(workspace_.device().is_cpu() ? kDigitBitsOfCpu : kDigitBitsOfGpu),
        shares_(shares_of(workspace_.device(), count_,
                          ((size_t{1} << digit_bits_) + 1) * sizeof(cl_uint))),
        counts_(workspace_, order.dtype(), shares_.groups << digit_bits_) {}

  void enqueue() {
    const size_t index = size_of(order_.dtype()), key = size_of(keys_.dtype());
    const size_t entry = 2 * std::max(index, key);
    const auto scratch = workspace_.scratch(
        {static_cast<size_t>(count_) * entry, static_cast<size_t>(count_) * entry,
         static_cast<size_t>(shares_.groups << digit_bits_) * index, counts_.scratch_bytes(),
         static_cast<size_t>(shares_.groups) * key, (1 + most_passes()) * sizeof(cl_int)},
        "a sort");
    const opencl::Buffer *even = scratch.buffers[0], *odd = scratch.buffers[1],
                         *counts = scratch.buffers[2], *sums = scratch.buffers[3],
                         *differences = scratch.buffers[4], *passes = scratch.buffers[5];
    const auto keys_bytes = static_cast<double>(count_) * key;
    const auto entries_bytes = static_cast<double>(count_) * entry;
    const uint64_t sign = is_signed(keys_.dtype()) ? uint64_t{1} << (8 * key - 1) : 0;
    const opencl::Argument flipped = integer_argument(keys_.dtype(), sign);
    const cl_long count{count_}, offset{keys_.offset()};
    opencl::Context& context = workspace_.context();
    context.launch(kernel("sort_differences"), shares_.range(),
                   {&keys_.buffer(), offset, count, differences}, keys_bytes);
    context.launch(kernel("sort_digits"), {},
                   {differences, static_cast<cl_int>(shares_.groups), passes}, 0);
    for (int pass = 0; pass < most_passes(); ++pass) {
      const opencl::Buffer *from = pass % 2 ? even : odd, *to = pass % 2 ? odd : even;
      context.launch(kernel("sort_count"), shares_.range(),
                     {cl_int{pass}, passes, &keys_.buffer(), flipped, offset, from, count, counts},
                     entries_bytes);
      counts_.enqueue({*counts}, {*counts}, false, *sums);
      context.launch(kernel("sort_move"), shares_.range(),
                     {cl_int{pass}, passes, &keys_.buffer(), flipped, offset, from, count, counts,
                      to, &order_.buffer(), cl_long{order_.offset()}},
                     2 * entries_bytes);
    }
    order_.touch();
  }

 private:
  int most_passes() const {
    return (static_cast<int>(8 * size_of(keys_.dtype())) + digit_bits_ - 1) / digit_bits_;
  }

  opencl::Kernel kernel(const char* name) const {
    const std::string options = "-DKEY=" + word_of(keys_.dtype()) +
                                " -DINDEX=" + word_of(order_.dtype()) +
                                " -DDIGIT_BITS=" + std::to_string(digit_bits_) + shares_.options();
    return workspace_.kernel("arrays/sort.cl", options, name);
  }

  const Array& keys_;
  Array& order_;
  Workspace& workspace_;
  int64_t count_;
  int digit_bits_;
  Shares shares_;
  Scan counts_;
};

}  // namespace

void sort(const Array& keys, Array& order) {
  check_fits(keys, order, keys.count(), 1, "keys");
  check_fits(order, keys, keys.count(), 1, "order");
  const bool has_places = size_of(order.dtype()) > sizeof(int32_t) ||
                          keys.count() <= std::numeric_limits<int32_t>::max();
  if (!is_integer_of_32_or_64_bits(keys.dtype()) || !is_integer_of_32_or_64_bits(order.dtype()) ||
      !keys.is_packed() || !order.is_packed() || !has_places || &keys.buffer() == &order.buffer())
    throw std::invalid_argument(
        "sort: expected packed keys and an order of integers of 32 or 64 bits, in memory of their "
        "own, the order of 64 for 2^31 keys or more");
  if (keys.count()) Sort(keys, order).enqueue();
}

void permute(const Array& source, const Array& order, Array& target) {
  check_fits(order, source, order.count(), 1, "order");
  check_fits(target, source, order.count(), source.components(), "target");
  if (!is_integer_of_32_or_64_bits(order.dtype()) || !order.is_packed() ||
      target.dtype() != source.dtype() || &target.buffer() == &source.buffer() ||
      &target.buffer() == &order.buffer())
    throw std::invalid_argument(
        "permute: expected a packed order of integers of 32 or 64 bits, and a target of the "
        "source's dtype in memory of its own");
  if (!order.count()) return;
  Workspace& workspace = target.workspace();
  const Shares shares = shares_of(workspace.device(), order.count(), 0);
  const size_t row = size_of(source.dtype()) * source.components();
  workspace.context().launch(
      workspace.kernel("arrays/permute.cl",
                       "-DWORD=" + signed_word_of(source.dtype()) +
                           " -DCOMPONENTS=" + std::to_string(source.components()) +
                           " -DINDEX=" + opencl_name_of(order.dtype()) + shares.options(),
                       "permute"),
      shares.range(),
      {&source.buffer(), cl_long{source.offset()}, cl_long{source.stride()}, &order.buffer(),
       cl_long{order.offset()}, &target.buffer(), cl_long{target.offset()},
       cl_long{target.stride()}, cl_long{order.count()}},
      static_cast<double>(order.count()) * (2 * row + size_of(order.dtype())));
  target.touch();
}

}  // namespace particles
