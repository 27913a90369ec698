// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/array.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include "arrays/regions.hpp"

namespace particles {

namespace {

using Transfers = std::vector<Transfer>;

// Whether kernels should work on the host's array itself: where the device shares its memory, and
// not for the few bytes of a single transfer, which are copied sooner than a kernel is started.
bool is_worth_a_host_array(const Device& device, size_t bytes, const Transfers& direct) {
  constexpr size_t kFewBytes = size_t{1} << 20;
  return device.is_cpu() && (direct.size() != 1 || bytes >= kFewBytes);
}

void read_all(const Buffer& buffer, const Transfers& transfers, void* host) {
  for (const Transfer& transfer : transfers) {
    buffer.read(static_cast<char*>(host) + transfer.host_offset, transfer.rectangle);
  }
}

void write_all(Buffer& buffer, const Transfers& transfers, const void* host) {
  for (const Transfer& transfer : transfers) {
    buffer.write(static_cast<const char*>(host) + transfer.host_offset, transfer.rectangle);
  }
}

template <class Integer>
uint64_t as_bits(const Number& value) {
  return std::visit([](auto number) { return static_cast<uint64_t>(static_cast<Integer>(number)); },
                    value);
}

Argument argument(DType dtype, const Number& value) {
  if (is_real(dtype))
    return real_argument(dtype, std::visit([](auto n) { return static_cast<double>(n); }, value));
  return integer_argument(dtype,
                          is_signed(dtype) ? as_bits<int64_t>(value) : as_bits<uint64_t>(value));
}

std::shared_ptr<Buffer> new_memory(const std::shared_ptr<Context>& context, size_t bytes,
                                   const std::string& name) {
  auto memory = std::make_shared<Buffer>(context, bytes, name);
  const cl_uchar zero = 0;
  if (!memory->begins_as_zeros()) memory->fill(&zero, sizeof zero, 0, memory->bytes());
  return memory;
}

void check_castable(DType from, DType to) {
  if (from != to && !(is_real(from) && is_real(to)))
    throw std::invalid_argument("dtype: expected " + std::string(name_of(to)) + ", got " +
                                name_of(from));
}

}  // namespace

Array::Array(std::shared_ptr<Context> context, int64_t count, int components, DType dtype,
             std::string name)
    : context_(std::move(context)),
      count_(count),
      components_(components),
      dtype_(dtype),
      name_(std::move(name)),
      stride_(components),
      state_(std::make_shared<State>(
          context_,
          new_memory(context_, size_of(dtype) * static_cast<size_t>(count * components), name_))) {}

Array::Array(std::shared_ptr<Context> context, int64_t count, int components, DType dtype,
             std::string name, std::shared_ptr<Buffer> memory, int64_t offset, int64_t stride)
    : context_(std::move(context)),
      count_(count),
      components_(components),
      dtype_(dtype),
      name_(std::move(name)),
      offset_(offset),
      stride_(stride),
      state_(std::make_shared<State>(context_, std::move(memory))) {
  if (count_ > 0) {
    const size_t bytes = size_of(dtype_) * end_of(everything(), size_of(dtype_));
    if (bytes > buffer().bytes())
      throw std::invalid_argument("array: expected a buffer of at least " + std::to_string(bytes) +
                                  " bytes, got " + std::to_string(buffer().bytes()));
  }
  mark_shared();
}

Array::Array(const Array& parent, int64_t count, int components, int64_t begin, std::string name)
    : context_(parent.context_),
      count_(count),
      components_(components),
      dtype_(parent.dtype_),
      name_(std::move(name)),
      offset_(parent.offset_ + begin),
      stride_(parent.stride_),
      state_(parent.state_) {}

std::shared_ptr<Array> Array::component(int index) const {
  if (index < 0 || index >= components_)
    throw std::out_of_range("component: expected 0 to " + std::to_string(components_ - 1) +
                            ", got " + std::to_string(index));
  return std::shared_ptr<Array>(
      new Array(*this, count_, 1, index, name_ + "[:, " + std::to_string(index) + "]"));
}

std::shared_ptr<Array> Array::rows(int64_t first, int64_t count) const {
  if (first < 0 || count < 0 || first + count > count_)
    throw std::out_of_range("rows: expected some of " + std::to_string(count_) + ", got " +
                            std::to_string(count) + " from " + std::to_string(first));
  return std::shared_ptr<Array>(new Array(*this, count, components_, first * stride_, name_));
}

std::shared_ptr<Array::Spare> Array::spare() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  auto spare = state_->spare.lock();
  if (!spare) {
    spare = std::make_shared<Spare>();
    spare->memory = new_memory(context_, buffer().bytes(), "results of sweeps of " + name_);
    state_->spare = spare;
  }
  return spare;
}

std::shared_ptr<Buffer> Array::scratch(size_t bytes) const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  auto scratch = state_->scratch.lock();
  if (!scratch || scratch->bytes() < bytes) {
    scratch = new_memory(context_, bytes, "sums of sweeps of " + name_);
    state_->scratch = scratch;
  }
  return scratch;
}

void Array::exchange(Spare& spare) {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  std::swap(state_->memory, spare.memory);
  state_->current = state_->memory.get();
}

Region Array::region(const RowSelection& selection) const {
  const std::array<int64_t, 2> lengths{count_, components_};
  for (size_t k = 0; k < 2; ++k) {
    const int64_t start = selection.start[k], count = selection.count[k], step = selection.step[k];
    if (start < 0 || count < 0 || step < 1 ||
        (count > 0 && start + (count - 1) * step >= lengths[k]))
      throw std::out_of_range("part: expected entries of an axis of length " +
                              std::to_string(lengths[k]) + ", got " + std::to_string(count) +
                              " from " + std::to_string(start) + " in steps of " +
                              std::to_string(step));
  }
  Region region;
  region.offset = offset_ + selection.start[0] * stride_ + selection.start[1];
  // What lies side by side is one row.
  const int64_t rows = selection.count[0], along = selection.step[0] * stride_,
                numbers = selection.count[1];
  if (numbers == 1 || (along == numbers && selection.step[1] == 1)) {
    region.count[3] = rows * numbers;
    region.stride[3] = numbers == 1 ? along : 1;
  } else {
    region.count[2] = rows;
    region.stride[2] = along;
    region.count[3] = numbers;
    region.stride[3] = selection.step[1];
  }
  return region;
}

Region Array::everything() const { return region({{0, 0}, {count_, components_}, {1, 1}}); }

void Array::read(const Region& region, void* host) const {
  if (!region.points()) return;
  const Region host_region = packed(region);
  const size_t bytes = region.points() * size_of(dtype_);
  const Transfers direct =
      has_whole_rows(region) ? transfers_of(region, size_of(dtype_)) : Transfers{};
  if (is_worth_a_host_array(context_->device(), bytes, direct)) {
    HostArray array(context_, host, bytes);
    copy_region(workspace(), {buffer(), dtype_, region}, {array, dtype_, host_region});
    array.hand_back();
  } else if (!direct.empty()) {
    read_all(buffer(), direct, host);
  } else {
    const Buffer part(context_, bytes, "part of " + name_);
    copy_region(workspace(), {buffer(), dtype_, region}, {part, dtype_, host_region});
    read_all(part, transfers_of(host_region, size_of(dtype_)), host);
  }
  state_->bytes_moved += bytes;
}

void Array::write(const Region& region, const void* host, DType host_dtype) {
  check_castable(host_dtype, dtype_);
  if (!region.points()) return;
  const Region host_region = packed(region);
  const size_t bytes = region.points() * size_of(host_dtype);
  const Transfers direct = has_whole_rows(region) && host_dtype == dtype_
                               ? transfers_of(region, size_of(dtype_))
                               : Transfers{};
  if (is_worth_a_host_array(context_->device(), bytes, direct)) {
    HostArray array(context_, host, bytes);
    copy_region(workspace(), {array, host_dtype, host_region}, {buffer(), dtype_, region});
    array.wait();  // it is the caller's again
  } else if (!direct.empty()) {
    write_all(buffer(), direct, host);
  } else {
    Buffer part(context_, bytes, "part of " + name_);
    write_all(part, transfers_of(host_region, size_of(host_dtype)), host);
    copy_region(workspace(), {part, host_dtype, host_region}, {buffer(), dtype_, region});
  }
  state_->bytes_moved += region.points() * size_of(dtype_);
  touch();
}

void Array::fill(const Region& region, const Number& value) {
  if (!region.points()) return;
  fill_region(workspace(), {buffer(), dtype_, region}, argument(dtype_, value));
  touch();
}

void Array::copy(const Region& target, const Array& source, const Region& region) {
  check_castable(source.dtype_, dtype_);
  if (source.context_ != context_ || region.count != target.count)
    throw std::invalid_argument("copy: expected an array of the same device and shape as " + name_ +
                                ", got " + source.name_);
  if (!region.points()) return;
  copy_region(workspace(), {source.buffer(), source.dtype_, region}, {buffer(), dtype_, target});
  touch();
}

void Array::copy_from(const Array& source) {
  check_fits(source, *this, count_, components_, "copy");
  Region from = source.everything(), to = everything();
  if (from.count != to.count) {  // one of them has gaps behind its rows
    from.count = to.count = {1, 1, count_, components_};
    from.stride = {1, 1, source.stride_, 1};
    to.stride = {1, 1, stride_, 1};
  }
  copy(to, source, from);
}

void check_fits(const Array& array, const Array& other, int64_t count, int components,
                const char* what) {
  if (array.context() == other.context() && array.count() == count &&
      array.components() == components)
    return;
  throw std::invalid_argument(std::string(what) + ": expected " + std::to_string(count) +
                              " rows of " + std::to_string(components) +
                              " components on the device of " + other.name() + ", got " +
                              std::to_string(array.count()) + " of " +
                              std::to_string(array.components()) + " in " + array.name());
}

}  // namespace particles
