// SPDX-License-Identifier: BSD-3-Clause
#include "fields/field.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include "fields/boxes.hpp"

namespace particles {

size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return 2;
    case DType::float32:
      return sizeof(float);
    default:
      return sizeof(double);
  }
}

const char* name_of(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return "float16";
    case DType::float32:
      return "float32";
    default:
      return "float64";
  }
}

DType arithmetic(DType dtype) { return dtype == DType::float16 ? DType::float32 : dtype; }

std::string dtype_options(DType dtype) {
  if (dtype == DType::float16) return "-DSTORED_IS_HALF";
  return dtype == DType::float64 ? "-DREAL_IS_DOUBLE" : "";
}

std::string source_options(DType dtype) {
  if (dtype == DType::float16) return " -DSOURCE_IS_HALF";
  return dtype == DType::float64 ? " -DSOURCE_IS_DOUBLE" : "";
}

opencl::Argument real_argument(DType dtype, double value) {
  if (dtype == DType::float64) return value;
  return static_cast<float>(value);
}

namespace {

template <class Real>
std::vector<double> read_as(const opencl::Buffer& buffer, size_t count) {
  std::vector<Real> values(count);
  opencl::Box box;
  box.region[0] = count * sizeof(Real);
  buffer.read(values.data(), box);
  return {values.begin(), values.end()};
}

using Transfers = std::vector<Transfer>;

// Whether kernels should work on the host's array itself: where the device shares its memory, and
// not for the few bytes of a single transfer, which are copied sooner than a kernel is started.
bool is_worth_a_host_array(const opencl::Device& device, size_t bytes, const Transfers& direct) {
  constexpr size_t kFewBytes = size_t{1} << 20;
  return device.is_cpu() && (direct.size() != 1 || bytes >= kFewBytes);
}

void read_all(const opencl::Buffer& buffer, const Transfers& transfers, void* host) {
  for (const Transfer& transfer : transfers) {
    buffer.read(static_cast<char*>(host) + transfer.host_offset, transfer.box);
  }
}

void write_all(opencl::Buffer& buffer, const Transfers& transfers, const void* host) {
  for (const Transfer& transfer : transfers) {
    buffer.write(static_cast<const char*>(host) + transfer.host_offset, transfer.box);
  }
}

}  // namespace

std::vector<double> read_reals(const opencl::Buffer& buffer, DType dtype, size_t count) {
  return dtype == DType::float64 ? read_as<double>(buffer, count) : read_as<float>(buffer, count);
}

int64_t most_elements(const opencl::Context& context, DType dtype) {
  return static_cast<int64_t>(context.device().largest_allocation / size_of(dtype));
}

Field::Field(std::shared_ptr<opencl::Context> context, const Grid& grid, int components,
             DType dtype, std::string name)
    : context_(std::move(context)),
      grid_(grid),
      components_(components),
      dtype_(dtype),
      name_(std::move(name)),
      layout_(pitched_layout(grid, components, most_elements(*context_, dtype))),
      state_(std::make_shared<State>(context_)) {
  const size_t bytes = layout_.component_stride * components_ * size_of(dtype_);
  memory_ = std::make_shared<opencl::Buffer>(context_, bytes, describe());
  const float zero = 0;
  if (!memory_->begins_as_zeros()) memory_->fill(&zero, sizeof zero, 0, bytes);
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
      state_(std::make_shared<State>(context_)) {
  const size_t bytes =
      size_of(dtype_) * end_of(region(everything(grid_, components_)), size_of(dtype_));
  if (bytes > memory_->bytes()) {
    throw std::invalid_argument("array: expected a buffer of at least " + std::to_string(bytes) +
                                " bytes, got " + std::to_string(memory_->bytes()));
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
  const Region source = region(selection), host_region = packed(source);
  const size_t bytes = source.points() * size_of(dtype_);
  const Transfers direct =
      has_whole_rows(source) ? transfers_of(source, size_of(dtype_)) : Transfers{};
  if (is_worth_a_host_array(context_->device(), bytes, direct)) {
    opencl::HostArray array(context_, host, bytes);
    copy_box(workspace(), {*memory_, dtype_, source}, {array, dtype_, host_region});
    array.hand_back();
  } else if (!direct.empty()) {
    read_all(*memory_, direct, host);
  } else {
    const opencl::Buffer part(context_, bytes, "part of " + describe());
    copy_box(workspace(), {*memory_, dtype_, source}, {part, dtype_, host_region});
    read_all(part, transfers_of(host_region, size_of(dtype_)), host);
  }
  state_->bytes_moved += bytes;
}

void Field::write(const Selection& selection, const void* host, DType host_dtype) {
  const Region target = region(selection), host_region = packed(target);
  const size_t bytes = target.points() * size_of(host_dtype);
  const Transfers direct = has_whole_rows(target) && host_dtype == dtype_
                               ? transfers_of(target, size_of(dtype_))
                               : Transfers{};
  if (is_worth_a_host_array(context_->device(), bytes, direct)) {
    opencl::HostArray array(context_, host, bytes);
    copy_box(workspace(), {array, host_dtype, host_region}, {*memory_, dtype_, target});
    array.wait();  // it is the caller's again
  } else if (!direct.empty()) {
    write_all(*memory_, direct, host);
  } else {
    opencl::Buffer part(context_, bytes, "part of " + describe());
    write_all(part, transfers_of(host_region, size_of(host_dtype)), host);
    copy_box(workspace(), {part, host_dtype, host_region}, {*memory_, dtype_, target});
  }
  state_->bytes_moved += target.points() * size_of(dtype_);
  touch();
}

void Field::fill(const Selection& selection, double value) {
  fill_box(workspace(), {*memory_, dtype_, region(selection)}, value);
  touch();
}

void Field::copy_from(const Field& other) {
  if (other.context_ != context_ || other.grid_.shape != grid_.shape ||
      other.components_ != components_) {
    throw std::invalid_argument("copy: expected a field of the same device and shape as " +
                                describe() + ", got " + other.describe());
  }
  copy_box(workspace(),
           {*other.memory_, other.dtype_, other.region(everything(grid_, components_))},
           {*memory_, dtype_, region(everything(grid_, components_))});
  touch();
}

}  // namespace particles
