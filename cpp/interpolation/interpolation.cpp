// SPDX-License-Identifier: BSD-3-Clause
#include "interpolation/interpolation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "arrays/ceiling.hpp"
#include "arrays/reductions.hpp"
#include "arrays/regions.hpp"
#include "arrays/shares.hpp"
#include "arrays/sort.hpp"
#include "runtime/kernel_source.hpp"

namespace particles {

namespace {

using AxesOfThree = Interpolation::AxesOfThree;

constexpr int64_t kTilesPerUnit = 8;  // so that none waits long for the last one
constexpr int64_t kMostLanes = 16;
// Of a tile on a GPU: what is beside it is read as well, so it is large along all axes. What a
// work-item has sums of goes into registers.
constexpr int64_t kColumns = 64, kBlocks = 4;
constexpr int64_t kPlanesOfTile = 64, kFewestPlanes = 8;  // where tiles are too few for all units
constexpr int64_t kLinesGivenTo = 8, kLinesReadFrom = 2;  // of a work-item, at most
constexpr int64_t kBytesOfSums = 288, kPieces = 16, kBytesOfPiece = 56, kBytesOfKinds = 72;
constexpr int64_t kMostPassed = 3, kMostCellsOfOthers = 65536;
constexpr int64_t kRingBytes = 3;  // times those of a plain window: few lines are used at a time
constexpr double kDelay = 0.25;    // of a unit, in tiles
// Sampling goes through points beside a tile again, not through particles.
constexpr double kSamplesRepeated = 4;
constexpr int64_t kShortestTile = 4 * kCellsOfRow;
constexpr int64_t kFewLines = 16;    // of a tile: particles beside it are gone through again
constexpr size_t kMostTogether = 4;  // components of pairs of one launch, or one pair

AxesOfThree axes_of(int ndim) {
  if (ndim == 3) return {0, 1, 2};
  if (ndim == 2) return {0, -1, 1};
  return {-1, -1, 0};
}

int64_t at(const std::array<int64_t, 3>& numbers, int axis, int64_t otherwise) {
  return axis < 0 ? otherwise : numbers[axis];
}

bool is_wide(DType dtype) {
  return dtype == DType::float64 || (!is_real(dtype) && size_of(dtype) >= sizeof(int32_t));
}

void check(const Field& field, const Cells& box, const Array& values) {
  if (field.grid().ndim != box.ndim || field.components() != values.components() ||
      field.context() != values.context())
    throw std::invalid_argument("interpolation: expected a field like the values, got " +
                                field.name() + " and " + values.name());
}

// The shape of all, of which this may be a part.
std::array<int64_t, 3> whole_of(std::array<int64_t, 3> shape, const Part& part) {
  if (part.whole > 0) shape[0] = part.whole;
  return shape;
}

Part part_of(const Grid& grid) {
  return grid.is_cut(0) ? Part{grid.begin[0], grid.whole[0]} : Part{};
}

bool have_same_cells(const Cells& box, const Grid& grid, const Part& part) {
  return whole_of(box.shape, box.part) == whole_of(grid.shape, part);
}

void add_axes(Launch& launch, const Cells& box, const Grid& grid, const Part& part,
              const AxesOfThree& axes) {
  const auto cells = whole_of(box.shape, box.part), points = whole_of(grid.shape, part);
  for (int k = 0; k < 3; ++k) launch.int64({"cells", k}, at(cells, axes[k], 1));
  for (int k = 0; k < 3; ++k) launch.int64({"points", k}, at(points, axes[k], 1));
  for (int k = 0; k < 3; ++k)
    launch.int32({"ends", k}, bits_of(axes[k] < 0 ? Ends{} : box.ends[axes[k]]));
}

// The axes, and which planes of points and of cells there are.
void add_planes_given_to(Launch& launch, const Cells& box, const Grid& grid,
                         const AxesOfThree& axes) {
  const Part part = part_of(grid);
  add_axes(launch, box, grid, part, axes);
  launch.int64("own_planes", at(grid.shape, axes[0], 1))
      .int64("first_plane", part.first)
      .int64("first_cells", box.part.first);
}

// As pairs.cl has them.
template <class Pair>
void add_fields(Launch& launch, const std::vector<Pair>& pairs, const AxesOfThree& axes) {
  for (size_t p = 0; p < pairs.size(); ++p) {
    const Name name("field", static_cast<int>(p));
    launch.buffer(name, pairs[p].field.buffer())
        .int64(name + "_offset", pairs[p].field.layout().offset);
  }
  const Layout& layout = pairs.front().field.layout();
  launch.int64("stride_of_component", layout.component_stride);
  for (int k = 0; k < 3; ++k) launch.int64({"stride", k}, at(layout.stride, axes[k], 0));
}

void add_array(Launch& launch, const Name& name, const Array& array) {
  launch.buffer(name, array.buffer())
      .int64(name + "_offset", array.offset())
      .int64(name + "_stride", array.stride());
}

void add_particles(Launch& launch, const Places& places, const Interpolation::Rows& rows,
                   const std::vector<Interpolation::Given>& pairs) {
  const Array& order = rows.order != nullptr ? *rows.order : rows.starts;  // which is not read
  launch.buffer("cells", places.cells->buffer()).buffer("offsets", places.offsets->buffer());
  for (size_t p = 0; p < pairs.size(); ++p)
    add_array(launch, {"values", static_cast<int>(p)}, pairs[p].values);
  launch.buffer("starts", rows.starts.buffer()).buffer("order", order.buffer());
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

void check_starts(const Array& starts, const Cells& box) {
  if (starts.count() != rows_of(box) + 1)
    throw std::invalid_argument("interpolation: expected the starts of all rows");
}

void add_windows(Launch& launch, const Interpolation::Windows& windows, const Buffer& memory) {
  launch.buffer("windows", memory).int64("width", windows.width);
  Range range;
  range.global[0] = static_cast<size_t>(windows.count);
  range.local = {1, 1, 1};
  launch.range(range);
}

double bytes_for(const Field& field, const Places& places, const Array& values, size_t pairs) {
  const size_t row = size_of(places.cells->dtype()) +
                     places.offsets->components() * size_of(places.offsets->dtype()) +
                     pairs * values.components() * size_of(values.dtype());
  return static_cast<double>(row) * static_cast<double>(values.count()) +
         static_cast<double>(pairs * field.points()) * size_of(field.dtype());
}

// Whether a kernel can have both at the same time: their numbers are alike, and lie alike.
bool are_alike(const Field& one, const Field& other) {
  return one.dtype() == other.dtype() && one.components() == other.components() &&
         one.grid().shape == other.grid().shape && one.layout().stride == other.layout().stride &&
         one.layout().component_stride == other.layout().component_stride;
}

bool are_alike(const Interpolation::Read& one, const Interpolation::Read& other) {
  return are_alike(one.field, other.field) && one.results.dtype() == other.results.dtype() &&
         one.adds == other.adds && one.part.first == other.part.first &&
         one.part.whole == other.part.whole;
}

bool are_alike(const Interpolation::Given& one, const Interpolation::Given& other) {
  return are_alike(one.field, other.field) && one.values.dtype() == other.values.dtype();
}

bool are_alike(const std::shared_ptr<Field>& one, const std::shared_ptr<Field>& other) {
  return are_alike(*one, *other);
}

// Pairs that go together, each with those that it is alike, `most(pair)` of them at most.
template <class Pair, class Most>
std::vector<std::vector<Pair>> in_groups(const std::vector<Pair>& pairs, const Most& most) {
  std::vector<std::vector<Pair>> groups;
  for (const Pair& pair : pairs) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& some) {
      return are_alike(some.front(), pair) && some.size() < most(pair);
    });
    if (group == groups.end())
      groups.push_back({pair});
    else
      group->push_back(pair);
  }
  return groups;
}

size_t most_together(const Field& field) {
  return std::max<size_t>(1, kMostTogether / field.components());
}

}  // namespace

Interpolation::Interpolation(std::shared_ptr<Context> context, const RemeshingKernel& kernel,
                             int64_t bytes_of_window, double most_repeated)
    : context_(std::move(context)),
      workspace_(context_),
      kernel_(kernel),
      bytes_of_window_(bytes_of_window),
      most_repeated_(most_repeated) {}

bool Interpolation::has_ring(const Field& field, const Cells& box, const Array& values,
                             const Array& offsets) const {
  return rings_given_to(field, box, 1, real_of(field, values, offsets)).has_value();
}

std::optional<Interpolation::Windows> Interpolation::rings_given_to(const Field& field,
                                                                    const Cells& box,
                                                                    int components,
                                                                    DType real) const {
  const Grid& grid = field.grid();
  return rings_for(field, part_of(grid), box, grid.shape[0], components, real, most_repeated_);
}

bool Interpolation::can_have_ring(const Field& field, const Part& part, const Cells& box) const {
  if (planes_around(box) > 8 || !workspace_.device().is_cpu() || box.ndim < 2 ||
      !have_same_cells(box, field.grid(), part))
    return false;
  const auto cells = whole_of(box.shape, box.part);
  for (int axis = 0; axis < box.ndim - 1; ++axis)
    if (!box.ends[axis].periodic() && cells[axis] < 2 * kernel_.stencil) return false;
  return true;
}

int64_t Interpolation::planes_around(const Cells& box) const {
  return kernel_.stencil + (box.ends[0].periodic() ? 0 : 1);
}

DType Interpolation::real_of(const Field& field, const Array& values, const Array& offsets) const {
  const bool is_double =
      is_wide(field.dtype()) || is_wide(values.dtype()) || is_wide(offsets.dtype());
  return is_double && workspace_.device().has_double ? DType::float64 : DType::float32;
}

// A vector has the weights of a row, and one lane for each axis.
int64_t Interpolation::lanes_of(DType real) const {
  const int64_t widest = workspace_.lanes(size_of(real));
  if (widest < 4) return 1;
  return kernel_.stencil <= 4 ? 4 : std::min<int64_t>(8, widest);
}

std::string Interpolation::options(const Cells& box, const Field& field, const Part& part,
                                   const Array& values, const Array& offsets, int64_t lanes,
                                   size_t pairs) const {
  const AxesOfThree axes = axes_of(box.ndim);
  std::string text =
      kernel_options(workspace_.device(), real_of(field, values, offsets)) +
      " -DLANES=" + std::to_string(lanes) + " -DCELL=" + opencl_name_of(box.cell_dtype()) +
      " -DOFFSET=" + opencl_name_of(offsets.dtype()) + " -DFIELD=" + opencl_name_of(field.dtype()) +
      " -DVALUE=" + opencl_name_of(values.dtype()) +
      " -DCOMPONENTS=" + std::to_string(values.components()) + " -DPAIRS=" + std::to_string(pairs) +
      " -DSAME_CELLS=" + (have_same_cells(box, field.grid(), part) ? "1" : "0") +
      (part.whole > 0 ? " -DPART" : "");
  for (int k = 0; k < 3; ++k)
    text += " -DIS_AXIS_" + std::to_string(k) + (axes[k] < 0 ? "=0" : "=1");
  const std::array<const char*, 2> names{" -DPLANES_HAVE_ENDS=1", " -DLINES_HAVE_ENDS=1"};
  for (int k = 0; k < 2; ++k)
    if (axes[k] >= 0 && !box.ends[axes[k]].periodic()) text += names[k];
  return text;
}

std::optional<Interpolation::Windows> Interpolation::rings_for(const Field& field, const Part& part,
                                                               const Cells& box, int64_t planes,
                                                               int components, DType real,
                                                               double most_repeated) const {
  if (!can_have_ring(field, part, box)) return std::nullopt;
  const AxesOfThree axes = axes_of(box.ndim);
  const auto& shape = field.grid().shape;
  const int64_t points0 = planes, points1 = at(shape, axes[1], 1);
  const size_t bytes = size_of(real);
  Windows windows;
  // Whole vectors: what clears a window must not reach into the next one.
  windows.width = ceiling(width_for(at(shape, axes[2], 1)) * slots(box), kMostLanes) * kMostLanes;
  const int64_t beside0 = planes_around(box) - 1;
  const int64_t beside1 = axes[1] < 0 ? 0 : kernel_.stencil - (box.ends[1].periodic() ? 1 : 0);
  const int64_t most = kRingBytes * bytes_of_window_ /
                       static_cast<int64_t>(windows.width * components * bytes);  // lines
  const bool fits = most > 2 * beside1;
  const int64_t widest = std::clamp<int64_t>(most - 2 * beside1, 1, points1);
  // The least time until the last unit has done its tiles, each with the rows beside it; a tile
  // takes a part of its time longer on a unit that others keep busy.
  const int64_t tiles_at_most = kTilesPerUnit * units();
  const int64_t fewest1 = ceiling(points1, widest);
  double least = std::numeric_limits<double>::infinity();
  for (int64_t parts1 = fewest1; parts1 <= std::max(fewest1, std::min(points1, tiles_at_most));
       ++parts1)
    for (int64_t parts0 = 1; parts0 == 1 || (parts0 <= points0 && parts0 * parts1 <= tiles_at_most);
         ++parts0) {
      const int64_t tile0 = ceiling(points0, parts0), tile1 = ceiling(points1, parts1);
      const double rounds =
          static_cast<double>(ceiling(ceiling(points0, tile0) * ceiling(points1, tile1), units()));
      const double time =
          (rounds + kDelay) * static_cast<double>((tile0 + beside0) * (tile1 + beside1));
      if (time > least) continue;
      least = time;
      windows.tile0 = tile0, windows.tile1 = tile1;
    }
  const double repeated =
      fits ? static_cast<double>((windows.tile0 + beside0) * (windows.tile1 + beside1)) /
                 static_cast<double>(windows.tile0 * windows.tile1)
           : std::numeric_limits<double>::infinity();
  if (repeated > most_repeated) return std::nullopt;
  windows.elements = components * (windows.tile1 + 2 * beside1) * windows.width;
  const int64_t tiles = ceiling(points0, windows.tile0) * ceiling(points1, windows.tile1);
  windows.count = std::min(tiles, tiles_at_most);
  windows.bytes = static_cast<size_t>(windows.count * windows.elements) * bytes;
  return windows;
}

Interpolation::Windows Interpolation::windows_for(const Field& field, const AxesOfThree& axes,
                                                  int components, DType real) const {
  const auto& shape = field.grid().shape;
  const int64_t points0 = at(shape, axes[0], 1), points1 = at(shape, axes[1], 1);
  Windows windows;
  const int64_t points2 = at(shape, axes[2], 1);
  const auto element = static_cast<int64_t>(components * size_of(real));
  int64_t tiles = 0;
  const auto cut = [&](int64_t tile2) {
    windows.tile2 = tile2;
    windows.width = width_for(tile2) + (tile2 < points2 ? 2 * width_for(kernel_.stencil) : 0);
    const int64_t most = std::max<int64_t>(1, bytes_of_window_ / (windows.width * element));
    const auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(most)));
    windows.tile0 = std::clamp<int64_t>(axes[1] < 0 ? most : side, 1, points0);
    windows.tile1 = std::clamp<int64_t>(most / windows.tile0, 1, points1);
    tiles =
        ceiling(points0, windows.tile0) * ceiling(points1, windows.tile1) * ceiling(points2, tile2);
  };
  // Along the last axis tiles are whole lines, or shorter where these are too few for all units or
  // too long for a window of more than a few; so long that little reaches them from beside.
  const int64_t beside = width_for(0), wanted = kTilesPerUnit * units();
  if (axes[0] < 0 && axes[1] < 0) {
    cut(std::clamp(std::min(ceiling(points2, wanted), bytes_of_window_ / element - beside),
                   std::min(points2, 2 * beside), points2));
  } else {
    cut(points2);
    const int64_t few = std::min(points0 * points1, kFewLines);
    const auto is_too_long = [&] {
      return windows.width * element > bytes_of_window_ || windows.tile0 * windows.tile1 < few;
    };
    while ((tiles < wanted && windows.tile2 >= 2 * kShortestTile) ||
           (is_too_long() && windows.tile2 >= 4 * beside))
      cut(ceiling(windows.tile2, 2));
  }
  windows.elements = components * windows.tile0 * windows.tile1 * windows.width;
  windows.count = std::min(tiles, wanted);
  windows.bytes = static_cast<size_t>(windows.count * windows.elements) * size_of(real);
  return windows;
}

// As wide as what is beyond the ends and the lanes beyond the last weight ask for, or wider.
int64_t Interpolation::width_for(int64_t points) const {
  return points + 2 * kernel_.stencil + kMostLanes;
}

void Interpolation::to_particles(const Cells& box, const Own& own, const Places& places,
                                 const std::shared_ptr<Array>& starts,
                                 const std::vector<Read>& pairs) {
  for (const Read& pair : pairs) check(pair.field, box, pair.results);
  if (starts) check_starts(*starts, box);
  if (!places.cells->count()) return;
  const auto most = [](const Read& pair) { return most_together(pair.field); };
  for (const auto& group : in_groups(pairs, most)) read_together(box, own, places, starts, group);
  for (const Read& pair : pairs) pair.results.touch();
}

void Interpolation::read_together(const Cells& box, const Own& own, const Places& places,
                                  const std::shared_ptr<Array>& starts,
                                  const std::vector<Read>& pairs) {
  const Read& first = pairs.front();
  const Field& field = first.field;
  const Part& part = first.part;
  const Array& results = first.results;
  const int components = results.components(), all = static_cast<int>(pairs.size()) * components;
  const DType real = real_of(field, results, *places.offsets);
  const int64_t own_planes = own.planes > 0 ? own.planes : box.shape[0];
  const auto rings_of = [&](int number) {
    const double most = kSamplesRepeated * most_repeated_;
    return starts ? rings_for(field, part, box, own_planes, number, real, most) : std::nullopt;
  };
  const bool has_all = part.whole == 0 && own_planes == box.shape[0];
  const bool has_planes = (box.ndim > 1 || has_all) && have_same_cells(box, field.grid(), part);
  const int64_t planes = box.ndim > 1 ? own_planes : 1;
  const auto tile_of = [&](int number) {
    return starts && has_planes ? tile_for(field, box, false, planes, {}, number, real)
                                : std::nullopt;
  };
  const bool in_rings = go_apart(box, all, [&](int n) { return rings_of(n).has_value(); });
  const bool in_tiles = !tile_of(all) && tile_of(components);
  if (pairs.size() > 1 && (in_rings || in_tiles)) {
    const auto middle = pairs.begin() + pairs.size() / 2;
    read_together(box, own, places, starts, {pairs.begin(), middle});
    read_together(box, own, places, starts, {middle, pairs.end()});
    return;
  }
  if (in_rings) {
    for (int c = 0; c < components; ++c)
      read_together(box, own, places, starts,
                    {{*field.component(c), part, *first.before.component(c), *results.component(c),
                      first.adds}});
    return;
  }
  const std::optional<Windows> rings = rings_of(all);
  const std::optional<Tile> tile = tile_of(all);
  const AxesOfThree axes = axes_of(box.ndim);
  const int64_t count = places.cells->count();
  const Shares shares = shares_of(workspace_.device(), count, 0);
  const bool in_rows = field.layout().stride[box.ndim - 1] == 1;
  std::string with = options(box, field, part, results, *places.offsets,
                             rings  ? kMostLanes
                             : tile ? 1
                                    : lanes_of(real),
                             pairs.size());
  const std::map<std::string, std::string> made{{"generated/weights.cl", kernel_.source}};
  const char* name = "grid_to_particles";
  if (rings) {
    name = "ring_to_particles";
  } else if (tile) {
    name = "tile_to_particles";
    with += tile->options + " -DBY_CELL=1";
  } else {
    with += std::string(" -DIN_ROWS=") + (in_rows ? "1" : "0") + shares.options();
  }
  if (rings || tile) with += std::string(" -DINDEX=") + opencl_name_of(starts->dtype());
  const std::string file = "interpolation/" + std::string(name) + ".cl";
  Launch launch(workspace_.kernel_made(file.c_str(), made, with, name));
  launch.buffer("cells", places.cells->buffer()).buffer("offsets", places.offsets->buffer());
  if (rings || tile)
    launch.buffer("starts", starts->buffer());
  else
    launch.int64("n", count);
  add_axes(launch, box, field.grid(), part, axes);
  std::optional<Workspace::Scratch> scratch;
  if (rings || tile) launch.int64("first_own", own.first).int64("own_planes", planes);
  launch.int64("first_plane", part.first);
  if (rings) {
    scratch.emplace(workspace_.scratch({rings->bytes}, "planes around particles"));
    launch.int64("tile0", rings->tile0).int64("tile1", rings->tile1);
    add_windows(launch, *rings, *scratch->buffers[0]);
  } else if (tile) {
    launch.int64("tile0", tile->planes).range(tile->range);
  } else {
    launch.range(shares.range());
  }
  add_fields(launch, pairs, axes);
  for (size_t p = 0; p < pairs.size(); ++p)
    add_array(launch, {"values", static_cast<int>(p)}, pairs[p].before);
  for (size_t p = 0; p < pairs.size(); ++p)
    add_array(launch, {"results", static_cast<int>(p)}, pairs[p].results);
  launch.int32("adds", first.adds);
  context_->queue().launch(launch.traffic(bytes_for(field, places, results, pairs.size())));
}

Interpolation::Giving Interpolation::giving(const Cells& box, const Places& places,
                                            const Rows& rows, const Array& values,
                                            const Field& field, size_t pairs) {
  const DType real = real_of(field, values, *places.offsets);
  const int components = static_cast<int>(pairs) * values.components();
  const std::optional<Windows> rings = rings_given_to(field, box, components, real);
  const std::map<std::string, std::string> made{{"generated/weights.cl", kernel_.source}};
  const int64_t lanes = rings ? kMostLanes : lanes_of(real);
  return {
      workspace_.kernel_made(
          rings ? "interpolation/particles_to_ring.cl" : "interpolation/particles_to_grid.cl", made,
          options(box, field, part_of(field.grid()), values, *places.offsets, lanes, pairs) +
              kFaintestAreZero + " -DINDEX=" + opencl_name_of(rows.starts.dtype()) +
              " -DIN_ORDER=" + (rows.order != nullptr ? "1" : "0"),
          rings ? "particles_to_ring" : "particles_to_grid"),
      rings.has_value(), rings ? *rings : windows_for(field, axes_of(box.ndim), components, real)};
}

// Points along each axis, 0, 1, 2, that a particle passes on its way through a cell, as tile.cl has
// them; nothing where there are many, or so many cells that a place may be rounded to another one.
std::optional<AxesOfThree> Interpolation::points_passed(const Cells& box, const Field& field) {
  const auto cells = whole_of(box.shape, box.part);
  const auto points = whole_of(field.grid().shape, part_of(field.grid()));
  const AxesOfThree axes = axes_of(box.ndim);
  AxesOfThree passed{};
  if (cells == points) return passed;
  for (int k = 0; k < 3; ++k) {
    const int64_t of_axis = at(cells, axes[k], 1);
    passed[k] = axes[k] < 0 ? 0 : static_cast<int>(ceiling(points[axes[k]], of_axis));
    if (passed[k] > kMostPassed || of_axis > kMostCellsOfOthers) return std::nullopt;
  }
  return passed;
}

std::optional<Interpolation::Tile> Interpolation::tile_given_to(const Field& field,
                                                                const Cells& box, int components,
                                                                DType real) const {
  const std::optional<AxesOfThree> passed = points_passed(box, field);
  if (!passed) return std::nullopt;
  const int64_t planes = at(field.grid().shape, axes_of(box.ndim)[0], 1);
  return tile_for(field, box, true, planes, *passed, components, real);
}

// The bytes of local memory of particles_to_tile.cl and tile_to_particles.cl.
std::optional<Interpolation::Tile> Interpolation::tile_for(const Field& field, const Cells& box,
                                                           bool gives, int64_t planes_of_all,
                                                           const AxesOfThree& passed,
                                                           int components, DType real) const {
  const Device& device = workspace_.device();
  if (device.is_cpu()) return std::nullopt;
  const int64_t stencil = kernel_.stencil;
  const int64_t planes = box.ndim > 1 ? stencil + 1 + passed[0] : 1;
  const auto size = static_cast<int64_t>(size_of(real));
  Tile tile;
  tile.blocks = box.ndim < 3 ? 1 : kBlocks;
  const auto largest = static_cast<int64_t>(device.largest_work_group);
  while (tile.blocks > 1 && tile.blocks * kColumns > largest) tile.blocks /= 2;
  const auto bytes_of = [&](int64_t lines) {
    if (!gives)
      return planes * components * (lines + (box.ndim < 3 ? 0 : stencil)) * (kColumns + stencil) *
                 size +
             2 * lines * static_cast<int64_t>(sizeof(cl_long));
    const int64_t beyond = stencil + 1;
    return ((components + 2) * stencil * kColumns + components * planes * lines * beyond) * size +
           kColumns * static_cast<int64_t>(3 * sizeof(cl_int)) +
           (kColumns + beyond) * static_cast<int64_t>(4 * sizeof(cl_uint)) +
           kPieces * kBytesOfPiece + kBytesOfKinds;
  };
  tile.lines_of_item = box.ndim < 3 ? 1 : gives ? kLinesGivenTo : kLinesReadFrom;
  while (gives && tile.lines_of_item > 1 &&
         components * planes * tile.lines_of_item * size > kBytesOfSums)
    tile.lines_of_item /= 2;
  while (bytes_of(tile.lines()) > static_cast<int64_t>(device.local_memory)) {
    if (tile.lines() == 1) return std::nullopt;
    (tile.lines_of_item > 1 ? tile.lines_of_item : tile.blocks) /= 2;
  }
  if (largest < kColumns) return std::nullopt;
  tile.options = " -DBLOCKS=" + std::to_string(tile.blocks) +
                 " -DLINES_OF_ITEM=" + std::to_string(tile.lines_of_item);
  for (int k = 0; k < 3; ++k)
    tile.options += " -DPASSED_" + std::to_string(k) + "=" + std::to_string(passed[k]);
  const auto& shape = field.grid().shape;
  const AxesOfThree axes = axes_of(box.ndim);
  const int64_t beside =
      ceiling(at(shape, axes[1], 1), tile.lines()) * ceiling(at(shape, axes[2], 1), kColumns);
  tile.planes = kPlanesOfTile;
  while (tile.planes > kFewestPlanes && ceiling(planes_of_all, tile.planes) * beside < units())
    tile.planes /= 2;
  tile.planes = std::min(planes_of_all, tile.planes);
  tile.range.local = {static_cast<size_t>(tile.blocks * kColumns), 1, 1};
  tile.range.global[0] =
      tile.range.local[0] * static_cast<size_t>(ceiling(planes_of_all, tile.planes) * beside);
  return tile;
}

Kernel Interpolation::tile_kernel(const Tile& tile, const Cells& box, const Places& places,
                                  const Rows& rows, const Array& values, const Field& field,
                                  size_t pairs) {
  return workspace_.kernel_made(
      "interpolation/particles_to_tile.cl", {{"generated/weights.cl", kernel_.source}},
      options(box, field, part_of(field.grid()), values, *places.offsets, 1, pairs) +
          kFaintestAreZero + " -DINDEX=" + opencl_name_of(rows.starts.dtype()) +
          " -DIN_ORDER=" + (rows.order != nullptr ? "1" : "0") +
          " -DBY_CELL=" + (rows.by_cell ? "1" : "0") + tile.options,
      "particles_to_tile");
}

void Interpolation::to_tiles(const Tile& tile, const Cells& box, const Places& places,
                             const Rows& rows, const std::vector<Given>& pairs, bool adds) {
  const auto& [values, field] = pairs.front();
  const AxesOfThree axes = axes_of(box.ndim);
  Launch launch(tile_kernel(tile, box, places, rows, values, field, pairs.size()));
  add_particles(launch, places, rows, pairs);
  add_planes_given_to(launch, box, field.grid(), axes);
  launch.int64("tile0", tile.planes);
  add_fields(launch, pairs, axes);
  launch.int32("adds", adds).range(tile.range);
  context_->queue().launch(launch.traffic(bytes_for(field, places, values, pairs.size())));
}

bool Interpolation::gives_apart(const Cells& box, const Field& field, int components,
                                DType real) const {
  if (tile_given_to(field, box, 1, real)) return !tile_given_to(field, box, components, real);
  return go_apart(box, components,
                  [&](int number) { return rings_given_to(field, box, number, real).has_value(); });
}

size_t Interpolation::most_given(const Cells& box, const Field& field, DType real) const {
  size_t most = most_together(field);
  while (most > 1 && gives_apart(box, field, static_cast<int>(most) * field.components(), real))
    --most;
  return most;
}

std::vector<Fields> Interpolation::given_together(const Cells& box, const Places& places,
                                                  const Fields& fields) const {
  return in_groups(fields, [&](const auto& field) {
    return most_given(box, *field, real_of(*field, field->array(), *places.offsets));
  });
}

std::vector<std::vector<Interpolation::Given>> Interpolation::given_together(
    const Cells& box, const Places& places, const std::vector<Given>& pairs) const {
  return in_groups(pairs, [&](const Given& pair) {
    return most_given(box, pair.field, real_of(pair.field, pair.values, *places.offsets));
  });
}

void Interpolation::prepare_to_grid(const Cells& box, const Places& places, const Rows& rows,
                                    const std::vector<Given>& pairs) {
  for (const auto& group : given_together(box, places, pairs))
    prepare_together(box, places, rows, group);
}

void Interpolation::prepare_together(const Cells& box, const Places& places, const Rows& rows,
                                     const std::vector<Given>& pairs) {
  const auto& [values, field] = pairs.front();
  const int components = static_cast<int>(pairs.size()) * values.components();
  const DType real = real_of(field, values, *places.offsets);
  if (gives_apart(box, field, components, real))
    return prepare_together(box, places, rows, {{*values.component(0), *field.component(0)}});
  if (const auto tile = tile_given_to(field, box, components, real))
    tile_kernel(*tile, box, places, rows, values, field, pairs.size());
  else
    workspace_.scratch({giving(box, places, rows, values, field, pairs.size()).windows.bytes},
                       "sums of particles");
}

void Interpolation::to_grid(const Cells& box, const Places& places, const Rows& rows,
                            const std::vector<Given>& pairs, bool adds) {
  for (const auto& [values, field] : pairs) {
    check(field, box, values);
    if (field.grid().is_cut(0) != (box.part.whole > 0) || (field.grid().is_cut(0) && box.ndim < 2))
      throw std::invalid_argument("interpolation: expected the cells around a part of a grid");
  }
  check_starts(rows.starts, box);
  for (const auto& group : given_together(box, places, pairs))
    give_together(box, places, rows, group, adds);
  for (const auto& [values, field] : pairs) field.touch();
}

void Interpolation::give_together(const Cells& box, const Places& places, const Rows& rows,
                                  const std::vector<Given>& pairs, bool adds) {
  const auto& [values, field] = pairs.front();
  const int components = static_cast<int>(pairs.size()) * values.components();
  const DType real = real_of(field, values, *places.offsets);
  if (gives_apart(box, field, components, real)) {
    for (const auto& [its_values, its_field] : pairs)
      for (int c = 0; c < its_values.components(); ++c)
        give_together(box, places, rows, {{*its_values.component(c), *its_field.component(c)}},
                      adds);
    return;
  }
  if (const auto tile = tile_given_to(field, box, components, real))
    return to_tiles(*tile, box, places, rows, pairs, adds);
  const Giving found = giving(box, places, rows, values, field, pairs.size());
  const auto scratch = workspace_.scratch({found.windows.bytes}, "sums of particles");
  const AxesOfThree axes = axes_of(box.ndim);
  Launch launch(found.kernel);
  add_particles(launch, places, rows, pairs);
  add_planes_given_to(launch, box, field.grid(), axes);
  const Windows& windows = found.windows;
  launch.int64("tile0", windows.tile0).int64("tile1", windows.tile1);
  if (!found.in_ring) launch.int64("tile2", windows.tile2);
  add_windows(launch, windows, *scratch.buffers[0]);
  add_fields(launch, pairs, axes);
  launch.int32("adds", adds);
  context_->queue().launch(launch.traffic(bytes_for(field, places, values, pairs.size())));
}

bool Interpolation::are_apart(const Places& places, const Array& order) {
  const int64_t count = order.count();
  if (!count) return true;
  const int axes = places.offsets->components();
  const Array apart(context_, count, 1, order.dtype(), "which particles are apart");
  const Shares shares = shares_of(workspace_.device(), count, 0);
  context_->queue().launch(
      Launch(workspace_.kernel("interpolation/apart.cl",
                               "-DCELL=" + word_of(places.cells->dtype()) +
                                   " -DBITS=" + word_of(places.offsets->dtype()) +
                                   " -DAXES=" + std::to_string(axes) +
                                   " -DINDEX=" + opencl_name_of(order.dtype()) + shares.options(),
                               "apart_from_next"))
          .buffer("cells", places.cells->buffer())
          .buffer("offsets", places.offsets->buffer())
          .buffer("order", order.buffer())
          .int64("n", count)
          .buffer("apart", apart.buffer())
          .range(shares.range())
          .traffic(static_cast<double>(count) *
                   (size_of(places.cells->dtype()) + axes * size_of(places.offsets->dtype()) +
                    2 * size_of(order.dtype()))));
  return integer_summary_of(apart, apart.everything()).min == 1;
}

void Interpolation::to_grid_in_any_order(const ParticleSet& set, const Places& places,
                                         const std::vector<Given>& pairs, bool adds) {
  const Cells& box = set.box();
  const int64_t count = places.cells->count();
  const DType index = starts_dtype(count);
  Array starts(context_, rows_of(box) + 1, 1, index, "particles in their order");
  const auto add_places = [&](BitOrder& order) {
    for (int axis = box.ndim - 1; axis >= 0; --axis) order.add(*places.offsets, axis);
    order.add(*places.cells, 0);
  };
  const auto give = [&](const BitOrder& order, const std::vector<Given>& some) {
    set.find_starts(*places.cells, starts, &order.get());
    to_grid(box, places, {starts, &order.get(), true}, some, adds);
  };
  int components = 0;
  for (const auto& [values, field] : pairs) {
    check(field, box, values);
    components += values.components();
  }
  if (components > 1) {
    BitOrder order(workspace_, context_, count, index);
    add_places(order);
    if (are_apart(places, order.get())) return give(order, pairs);
  }
  for (const auto& [values, field] : pairs) {
    for (int c = 0; c < values.components(); ++c) {
      BitOrder order(workspace_, context_, count, index);
      order.add(values, c);
      add_places(order);
      give(order, {{*values.component(c), *field.component(c)}});
    }
  }
}

}  // namespace particles
