// SPDX-License-Identifier: BSD-3-Clause
#include "interpolation/interpolation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

#include "arrays/regions.hpp"
#include "arrays/shares.hpp"
#include "arrays/sort.hpp"
#include "runtime/kernel_source.hpp"

namespace particles {

namespace {

constexpr int64_t kWindowsPerUnit = 4;  // so that none waits long for the last one

// The axes of a box among three, as stencil.cl has them: -1 where the box has none.
using AxesOfThree = std::array<int, 3>;

AxesOfThree axes_of(int ndim, bool by_rows) {
  if (ndim == 3) return {0, 1, 2};
  if (ndim == 2) return {0, -1, 1};
  return by_rows ? AxesOfThree{0, -1, -1} : AxesOfThree{-1, -1, 0};
}

int64_t at(const std::array<int64_t, 3>& numbers, int axis, int64_t otherwise) {
  return axis < 0 ? otherwise : numbers[axis];
}

bool is_wide(DType dtype) {
  return dtype == DType::float64 || (!is_real(dtype) && size_of(dtype) >= sizeof(int32_t));
}

DType real_of(const Device& device, DType field, DType values, DType offsets) {
  const bool has_wide = is_wide(field) || is_wide(values) || is_wide(offsets);
  return has_wide && device.has_double ? DType::float64 : DType::float32;
}

void check(const Field& field, const Cells& box, const Array& values) {
  if (field.grid().ndim != box.ndim || field.components() != values.components() ||
      field.context() != values.context())
    throw std::invalid_argument("interpolation: expected a field like the values, got " +
                                field.name() + " and " + values.name());
}

void add_axes(Launch& launch, const Cells& box, const Grid& grid, const AxesOfThree& axes) {
  for (int k = 0; k < 3; ++k) launch.int64({"cells", k}, at(box.shape, axes[k], 1));
  for (int k = 0; k < 3; ++k) launch.int64({"points", k}, at(grid.shape, axes[k], 1));
  for (int k = 0; k < 3; ++k)
    launch.int32({"ends", k}, bits_of(axes[k] < 0 ? Ends{} : box.ends[axes[k]]));
}

void add_field(Launch& launch, const Field& field, const AxesOfThree& axes) {
  const Layout& layout = field.layout();
  launch.buffer("field", field.buffer())
      .int64("field_offset", layout.offset)
      .int64("field_component", layout.component_stride);
  for (int k = 0; k < 3; ++k) launch.int64({"field", k}, at(layout.stride, axes[k], 0));
}

// Rows of points of a window along axes 0 and 1.
struct Tile {
  int64_t count0, count1;
};

Tile tile_for(int64_t points0, int64_t points1, int64_t most_rows) {
  const auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(most_rows)));
  const int64_t count0 = std::clamp<int64_t>(side, 1, points0);
  return {count0, std::clamp<int64_t>(most_rows / count0, 1, points1)};
}

DType starts_dtype(int64_t count) {
  return count <= std::numeric_limits<int32_t>::max() ? DType::int32 : DType::int64;
}

// An order by the bits of several numbers of each row, the last one that was added first.
class BitOrder {
 public:
  BitOrder(Workspace& workspace, std::shared_ptr<Context> context, int64_t count, DType index)
      : workspace_(workspace),
        context_(std::move(context)),
        order_(array(count, index)),
        next_(array(count, index)),
        of_keys_(array(count, index)) {}

  void add(const Array& numbers, int component) {
    const int64_t count = order_->count();
    if (!count) return;
    const DType key = size_of(numbers.dtype()) == sizeof(int64_t) ? DType::uint64 : DType::uint32;
    auto& keys = key == DType::uint64 ? wide_keys_ : keys_;
    if (!keys) keys = array(count, key);
    const Shares shares = shares_of(workspace_.device(), count, 0);
    context_->queue().launch(
        Launch(workspace_.kernel("interpolation/bits.cl",
                                 "-DBITS=" + word_of(numbers.dtype()) + " -DKEY=" + word_of(key) +
                                     " -DINDEX=" + opencl_name_of(order_->dtype()) +
                                     " -DIN_ORDER=" + (is_ordered_ ? "1" : "0") + shares.options(),
                                 "bits_of"))
            .buffer("numbers", numbers.buffer())
            .int64("offset", numbers.offset() + component)
            .int64("stride", numbers.stride())
            .buffer("order", order_->buffer())
            .int64("n", count)
            .buffer("keys", keys->buffer())
            .range(shares.range())
            .traffic(static_cast<double>(count) * (size_of(numbers.dtype()) + size_of(key))));
    if (!is_ordered_) {
      sort(*keys, *order_);
      is_ordered_ = true;
      return;
    }
    sort(*keys, *of_keys_);
    permute(*order_, *of_keys_, *next_);
    std::swap(order_, next_);
  }

  const Array& get() const { return *order_; }

 private:
  std::shared_ptr<Array> array(int64_t count, DType dtype) const {
    return std::make_shared<Array>(context_, count, 1, dtype, "an order of particles");
  }

  Workspace& workspace_;
  std::shared_ptr<Context> context_;
  std::shared_ptr<Array> order_, next_, of_keys_, keys_, wide_keys_;
  bool is_ordered_ = false;
};

int64_t parts_of(int64_t number, int64_t part) { return (number + part - 1) / part; }

}  // namespace

Interpolation::Interpolation(std::shared_ptr<Context> context, const RemeshingKernel& kernel,
                             int64_t bytes_of_window)
    : context_(std::move(context)),
      workspace_(context_),
      kernel_(kernel),
      bytes_of_window_(bytes_of_window) {}

std::string Interpolation::options(const Cells& box, const Field& field, const Array& values,
                                   const Array& offsets, bool by_rows) const {
  const Device& device = workspace_.device();
  const DType real = real_of(device, field.dtype(), values.dtype(), offsets.dtype());
  const AxesOfThree axes = axes_of(box.ndim, by_rows);
  // A vector has the weights of a row, and one lane for each axis.
  const int64_t widest = workspace_.lanes(size_of(real));
  const int64_t lanes = widest < 4 ? 1 : kernel_.stencil <= 4 ? 4 : std::min<int64_t>(8, widest);
  std::string text = kernel_options(device, real) + " -DLANES=" + std::to_string(lanes) +
                     " -DCELL=" + opencl_name_of(box.cell_dtype()) +
                     " -DOFFSET=" + opencl_name_of(offsets.dtype()) +
                     " -DFIELD=" + opencl_name_of(field.dtype()) +
                     " -DVALUE=" + opencl_name_of(values.dtype()) +
                     " -DCOMPONENTS=" + std::to_string(values.components()) +
                     " -DSAME_CELLS=" + (box.shape == field.grid().shape ? "1" : "0");
  for (int k = 0; k < 3; ++k)
    text += " -DIS_AXIS_" + std::to_string(k) + (axes[k] < 0 ? "=0" : "=1");
  return text;
}

void Interpolation::to_particles(const Field& field, const Cells& box, const Places& places,
                                 const Array& before, Array& target, bool adds) {
  check(field, box, target);
  const int64_t count = places.cells->count();
  if (!count) return;
  const AxesOfThree axes = axes_of(box.ndim, false);
  const Shares shares = shares_of(workspace_.device(), count, 0);
  const bool in_rows = field.layout().stride[box.ndim - 1] == 1;
  Launch launch(workspace_.kernel_made(
      "interpolation/grid_to_particles.cl", {{"generated/weights.cl", kernel_.source}},
      options(box, field, target, *places.offsets, false) +
          (in_rows ? " -DIN_ROWS=1" : " -DIN_ROWS=0") + shares.options(),
      "grid_to_particles"));
  launch.buffer("cells", places.cells->buffer())
      .buffer("offsets", places.offsets->buffer())
      .int64("n", count);
  add_axes(launch, box, field.grid(), axes);
  add_field(launch, field, axes);
  launch.buffer("before", before.buffer())
      .int64("before_offset", before.offset())
      .int64("before_stride", before.stride())
      .buffer("values", target.buffer())
      .int64("values_offset", target.offset())
      .int64("values_stride", target.stride())
      .int32("adds", adds);
  const double row = static_cast<double>(size_of(box.cell_dtype())) +
                     box.ndim * size_of(places.offsets->dtype()) +
                     target.components() * size_of(target.dtype());
  context_->queue().launch(
      launch.range(shares.range())
          .traffic(row * static_cast<double>(count) +
                   static_cast<double>(field.points()) * size_of(field.dtype())));
  target.touch();
}

void Interpolation::to_grid(const Cells& box, const Places& places, const Array& starts,
                            const Array& values, Field& field, bool adds) {
  check(field, box, values);
  if (starts.count() != rows_of(box) + 1 || values.count() != places.cells->count())
    throw std::invalid_argument("interpolation: expected the starts of all rows");
  const Device& device = workspace_.device();
  const DType real = real_of(device, field.dtype(), values.dtype(), places.offsets->dtype());
  const AxesOfThree axes = axes_of(box.ndim, true);
  const auto& shape = field.grid().shape;
  // As wide as BEYOND_LOW, BEYOND_HIGH and the lanes beyond the last weight ask for, or wider.
  const int64_t width = at(shape, axes[2], 1) + 2 * kernel_.stencil + 16;
  const int64_t row_bytes = width * values.components() * static_cast<int64_t>(size_of(real));
  const int64_t points0 = at(shape, axes[0], 1), points1 = at(shape, axes[1], 1);
  const Tile tile = tile_for(points0, points1, std::max<int64_t>(1, bytes_of_window_ / row_bytes));
  const int64_t tiles = parts_of(points0, tile.count0) * parts_of(points1, tile.count1);
  const int64_t windows = std::min<int64_t>(
      tiles, kWindowsPerUnit * std::max<int64_t>(1, static_cast<int64_t>(device.compute_units)));
  const auto window_bytes = static_cast<size_t>(row_bytes * tile.count0 * tile.count1);
  const auto scratch =
      workspace_.scratch({static_cast<size_t>(windows) * window_bytes}, "sums of particles");

  Launch launch(workspace_.kernel_made("interpolation/particles_to_grid.cl",
                                       {{"generated/weights.cl", kernel_.source}},
                                       options(box, field, values, *places.offsets, true) +
                                           " -DINDEX=" + opencl_name_of(starts.dtype()),
                                       "particles_to_grid"));
  launch.buffer("cells", places.cells->buffer())
      .buffer("offsets", places.offsets->buffer())
      .buffer("values", values.buffer())
      .int64("values_offset", values.offset())
      .int64("values_stride", values.stride())
      .buffer("starts", starts.buffer());
  add_axes(launch, box, field.grid(), axes);
  launch.int64("tile0", tile.count0)
      .int64("tile1", tile.count1)
      .buffer("windows", *scratch.buffers[0])
      .int64("width", width);
  add_field(launch, field, axes);
  launch.int32("adds", adds);
  Range range;
  range.global[0] = static_cast<size_t>(windows);
  range.local = {1, 1, 1};
  const double row = static_cast<double>(size_of(box.cell_dtype())) +
                     box.ndim * size_of(places.offsets->dtype()) +
                     values.components() * size_of(values.dtype());
  context_->queue().launch(
      launch.range(range).traffic(row * static_cast<double>(values.count()) +
                                  static_cast<double>(field.points()) * size_of(field.dtype())));
  field.touch();
}

void Interpolation::to_grid_in_any_order(const ParticleSet& set, const Places& places,
                                         const Array& values, Field& field, bool adds) {
  check(field, set.box(), values);
  const int64_t count = values.count();
  const Cells& box = set.box();
  const DType index = starts_dtype(count);
  const auto new_array = [&](int64_t rows, int components, DType dtype) {
    return std::make_shared<Array>(context_, rows, components, dtype, "particles in their order");
  };
  const auto cells = new_array(count, 1, places.cells->dtype());
  const auto offsets = new_array(count, box.ndim, places.offsets->dtype());
  const auto given = new_array(count, 1, values.dtype());
  const auto starts = new_array(rows_of(box) + 1, 1, index);
  for (int c = 0; c < values.components(); ++c) {
    BitOrder order(workspace_, context_, count, index);
    order.add(values, c);
    for (int axis = box.ndim - 1; axis >= 0; --axis) order.add(*places.offsets, axis);
    order.add(*places.cells, 0);
    permute(*places.cells, order.get(), *cells);
    permute(*places.offsets, order.get(), *offsets);
    permute(*values.component(c), order.get(), *given);
    set.find_starts(*cells, *starts);
    to_grid(box, {cells, offsets, nullptr}, *starts, *given, *field.component(c), adds);
  }
  field.touch();
}

}  // namespace particles
