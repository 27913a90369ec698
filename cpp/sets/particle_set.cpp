// SPDX-License-Identifier: BSD-3-Clause
#include "sets/particle_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "arrays/scan.hpp"
#include "arrays/shares.hpp"
#include "arrays/sort.hpp"

namespace particles {

namespace {

constexpr int64_t kChunksPerUnit = 4;  // of particles, so that none waits long for the last one
constexpr double kRoundings = 8;       // on the way to a place, to a difference and back, at most
constexpr int kLeft = 6, kCountsOfGroup = kLeft + 2;  // as move.cl has them

void check_column(const Array& column, int64_t count, int components, bool has_dtype) {
  if (column.count() == count && column.components() == components && has_dtype &&
      column.is_packed() && column.offset() == 0)
    return;
  throw std::invalid_argument("places: expected columns of " + std::to_string(count) +
                              " particles in a box of " + std::to_string(components) +
                              " axes, got " + column.name());
}

// What a column of a dtype is called in compute.cl: its type, and the functions that read and write
// it.
const char* type_of(DType dtype) { return opencl_name_of(dtype); }
const char* kind_of(DType dtype) {
  return dtype == DType::boolean ? "truth" : opencl_name_of(dtype);
}

// Generated text, and the arguments that go with it.
class ColumnTexts {
 public:
  void add_target(const Array& column) {
    const std::string name = declare("__global ", "target", targets_++, column);
    for (int k = 0; k < column.components(); ++k)
      stores_ += " store_" + std::string(kind_of(column.dtype())) + "(results[" +
                 std::to_string(results_++) + "], " + at(name, k) + ");";
  }

  void add_operand(const Array& column) {
    const std::string name = declare("__global const ", "value", operands_++, column);
    for (int k = 0; k < column.components(); ++k)
      loads_ += " values[" + std::to_string(values_++) + "] = load_" +
                std::string(kind_of(column.dtype())) + "(" + at(name, k) + ");";
  }

  void add_to(Launch& launch) const {
    for (const auto& [name, column] : columns_)
      launch.buffer(name, column->buffer())
          .int64(name + "_offset", column->offset())
          .int64(name + "_stride", column->stride());
  }

  std::string source(size_t numbers) const {
    std::string parameters, list;
    for (size_t k = 0; k < numbers; ++k) {
      parameters += ", const real number" + std::to_string(k);
      list += (k == 0 ? "number" : ", number") + std::to_string(k);
    }
    return "#define VALUES " + std::to_string(values_) + "\n#define RESULTS " +
           std::to_string(results_) + "\n#define COLUMN_PARAMETERS " + parameters_ +
           "\n#define LOAD_VALUES" + loads_ + "\n#define STORE_RESULTS" + stores_ +
           "\n#define NUMBER_PARAMETERS " + parameters + "\n#define GIVEN_NUMBERS {" +
           (numbers == 0 ? "0" : list) + "}\n";
  }

 private:
  std::string declare(const char* qualifiers, const char* kind, int number, const Array& column) {
    const Name name(kind, number);
    columns_.emplace_back(name, &column);
    parameters_ += std::string(qualifiers) + type_of(column.dtype()) + "* " + name.text() +
                   ", const long " + (name + "_offset").text() + ", const long " +
                   (name + "_stride").text() + ", ";
    return name.text();
  }

  static std::string at(const std::string& name, int component) {
    return name + " + " + name + "_offset + i * " + name + "_stride + " +
           std::to_string(component) + ", " + name + "_stride, count";
  }

  std::string parameters_, loads_, stores_;
  std::vector<std::pair<Name, const Array*>> columns_;
  int targets_ = 0, operands_ = 0, values_ = 0, results_ = 0;
};

// As a kernel takes it beside cells of a dtype.
Argument cells_argument(DType cell, int64_t count) {
  if (size_of(cell) == sizeof(cl_int)) return static_cast<cl_int>(count);
  return static_cast<cl_long>(count);
}

}  // namespace

ParticleSet::ParticleSet(std::shared_ptr<Context> context, const Cells& box)
    : workspace_(context), context_(std::move(context)), box_(box) {}

void ParticleSet::check_places(const Places& places, int64_t count) const {
  check_column(*places.cells, count, 1, places.cells->dtype() == box_.cell_dtype());
  const DType offset = places.offsets->dtype();
  check_column(*places.offsets, count, box_.ndim,
               offset == DType::float32 || offset == DType::float64);
  if (places.turns)
    check_column(*places.turns, count, box_.ndim, places.turns->dtype() == DType::int32);
}

std::string ParticleSet::place_options(const Array& offsets) const {
  return " -DAXES=" + std::to_string(box_.ndim) + " -DCELL=" + opencl_name_of(box_.cell_dtype()) +
         " -DOFFSET=" + opencl_name_of(offsets.dtype());
}

double ParticleSet::rounding_along(int axis, DType dtype) const {
  const double epsilon = dtype == DType::float64 ? std::numeric_limits<double>::epsilon()
                                                 : std::numeric_limits<float>::epsilon();
  const double farthest = std::max(std::abs(box_.low[axis]), std::abs(box_.high[axis]));
  const double cells = farthest / box_.spacing[axis] + static_cast<double>(box_.shape[axis]);
  return kRoundings * epsilon * cells;
}

Moved ParticleSet::move(const Places& from, const Array& moves,
                        const std::vector<bool>& differences, const Places& to, Array& gone) {
  const int64_t count = from.cells->count();
  check_places(from, count);
  check_places(to, count);
  check_column(moves, count, box_.ndim, is_real(moves.dtype()));
  check_column(gone, count, 1, gone.dtype() == DType::int32);
  if (differences.size() != static_cast<size_t>(box_.ndim))
    throw std::invalid_argument("move: expected one of differences for each axis");
  if (!from.turns != !to.turns || from.offsets->dtype() != to.offsets->dtype())
    throw std::invalid_argument("move: expected places of the same kind");
  Moved moved;
  if (!count) return moved;
  const DType real = std::max(moves.dtype(), to.offsets->dtype());
  const Shares shares = shares_of(workspace_.device(), count, sizeof(cl_long));
  const int64_t of_groups = shares.groups * kCountsOfGroup;
  const std::lock_guard<std::mutex> lock(counts_mutex_);
  if (!counts_ || counts_->count() != of_groups)
    counts_ = std::make_unique<Array>(context_, of_groups, 1, DType::int64, "counts of a move");
  const Array& counts = *counts_;
  const auto& turns = from.turns ? from.turns : from.cells;  // which are not read
  const auto& new_turns = to.turns ? to.turns : to.cells;
  const double particle =
      2.0 * (size_of(box_.cell_dtype()) +
             box_.ndim * (size_of(to.offsets->dtype()) + (to.turns ? sizeof(cl_int) : 0))) +
      box_.ndim * size_of(moves.dtype()) + sizeof(cl_int);
  Launch launch(workspace_.kernel("sets/move.cl",
                                  dtype_options(real) + place_options(*to.offsets) +
                                      " -DMOVED=" + opencl_name_of(moves.dtype()) + " -DLANES=" +
                                      std::to_string(workspace_.lanes(size_of(real))) +
                                      (to.turns ? " -DWITH_TURNS" : "") + shares.options(),
                                  "move"));
  launch.buffer("cells", from.cells->buffer())
      .buffer("offsets", from.offsets->buffer())
      .buffer("turns", turns->buffer())
      .buffer("moves", moves.buffer())
      .buffer("new_cells", to.cells->buffer())
      .buffer("new_offsets", to.offsets->buffer())
      .buffer("new_turns", new_turns->buffer())
      .buffer("gone", gone.buffer())
      .int64("n", count);
  for (int axis = 0; axis < 3; ++axis) launch.int64({"n", axis + 1}, box_.shape[axis]);
  for (int axis = 0; axis < 3; ++axis)
    launch.add({"cells", axis + 1}, real_argument(real, 1 / box_.spacing[axis]));
  for (int axis = 0; axis < 3; ++axis) {
    const bool is_rounded = axis < box_.ndim && differences[axis];
    launch.add({"rounding", axis + 1},
               real_argument(real, is_rounded ? rounding_along(axis, moves.dtype()) : 0));
  }
  for (int axis = 0; axis < 3; ++axis) launch.int32({"ends", axis + 1}, bits_of(box_.ends[axis]));
  launch.buffer("counts", counts.buffer())
      .range(shares.range())
      .traffic(static_cast<double>(count) * particle);
  context_->queue().launch(launch);
  for (const auto& written : {to.cells, to.offsets, to.turns})
    if (written) written->touch();
  gone.touch();

  std::vector<int64_t> host(counts.count());
  counts.read(counts.everything(), host.data());
  int64_t first = std::numeric_limits<int64_t>::max();
  for (size_t group = 0; group < host.size(); group += kCountsOfGroup) {
    for (int k = 0; k < kLeft; ++k) moved.left[k / 2][k % 2] += host[group + k];
    moved.not_finite += host[group + kLeft];
    first = std::min(first, host[group + kLeft + 1]);
  }
  if (moved.not_finite) moved.first_not_finite = first;
  return moved;
}

void ParticleSet::compute(const Places& places, const Arrays& operands, const Arrays& targets,
                          const ParticleFormula& formula) {
  const int64_t count = places.cells->count();
  check_places(places, count);
  ColumnTexts texts;
  double bytes = 0;
  const auto check = [&](const Array& column) {
    if (column.count() != count || column.context() != context_)
      throw std::invalid_argument("compute: expected columns of " + std::to_string(count) +
                                  " particles on one device, got " + column.name());
    bytes += static_cast<double>(column.elements()) * size_of(column.dtype());
  };
  for (const auto& target : targets) {
    check(*target);
    texts.add_target(*target);
  }
  for (const auto& operand : operands) {
    check(*operand);
    texts.add_operand(*operand);
  }
  if (!count || targets.empty()) return;

  const DType real = formula.real;
  const Shares shares = shares_of(workspace_.device(), count, 0);
  const std::string options = dtype_options(real) + place_options(*places.offsets) +
                              " -DLANES=" + std::to_string(workspace_.lanes(size_of(real))) +
                              fma_option(workspace_.device()) +
                              (formula.reads_places ? " -DWITH_PLACES" : "") + shares.options();
  Launch launch(
      workspace_.kernel_made("sets/compute.cl",
                             {{"generated/columns.cl", texts.source(formula.numbers.size())},
                              {"generated/results.cl", formula.text}},
                             options, "compute"));
  texts.add_to(launch);
  if (formula.reads_places) {
    launch.buffer("cells", places.cells->buffer()).buffer("offsets", places.offsets->buffer());
    for (int axis = 0; axis < 3; ++axis) launch.int64({"n", axis + 1}, box_.shape[axis]);
    for (int axis = 0; axis < 3; ++axis)
      launch.add({"low", axis + 1}, real_argument(real, box_.low[axis]));
    for (int axis = 0; axis < 3; ++axis)
      launch.add({"spacing", axis + 1}, real_argument(real, box_.spacing[axis]));
    bytes += static_cast<double>(count) *
             (size_of(box_.cell_dtype()) + box_.ndim * size_of(places.offsets->dtype()));
  }
  launch.int64("n", count);
  for (size_t k = 0; k < formula.numbers.size(); ++k)
    launch.add({"number", static_cast<int>(k)}, real_argument(real, formula.numbers[k]));
  context_->queue().launch(launch.range(shares.range()).traffic(bytes));
  for (const auto& target : targets) target->touch();
}

std::shared_ptr<Array> ParticleSet::keys_for(const Array& cells) {
  if (!keys_ || keys_->count() < cells.count())
    keys_ = std::make_shared<Array>(context_, cells.count(), 1, cells.dtype(), "keys of particles");
  return keys_->rows(0, cells.count());
}

void ParticleSet::sort(const Array& cells, bool by_row, Array& order) {
  check_column(cells, cells.count(), 1, cells.dtype() == box_.cell_dtype());
  if (!cells.count()) return;
  const std::lock_guard<std::mutex> lock(keys_mutex_);
  const auto keys = keys_for(cells);
  const Shares shares = shares_of(workspace_.device(), cells.count(), 0);
  context_->queue().launch(
      Launch(workspace_.kernel(
                 "sets/keys.cl",
                 "-DCELL=" + std::string(opencl_name_of(cells.dtype())) + shares.options(),
                 "keys_of"))
          .buffer("cells", cells.buffer())
          .int64("n", cells.count())
          .add("cells_of_line", cells_argument(cells.dtype(), by_row ? cells_of_line(box_) : 1))
          .buffer("keys", keys->buffer())
          .range(shares.range())
          .traffic(2.0 * static_cast<double>(cells.count()) * size_of(cells.dtype())));
  particles::sort(*keys, order);
}

bool ParticleSet::counts_rows(int64_t count) const {
  return workspace_.device().is_cpu() && rows_of(box_) <= count;
}

void ParticleSet::place_in_rows(const Array& cells, Array& places, Array& starts) {
  count_rows(cells, false, places, starts);
}

void ParticleSet::sort_for_rows(const Array& cells, Array& order, Array& starts) {
  if (counts_rows(cells.count())) {
    count_rows(cells, true, order, starts);
  } else {
    sort(cells, true, order);
    find_starts(cells, starts, &order);
  }
}

// A kernel of sets/rows.cl and its first arguments. It reads the cells and has a number for each.
Launch ParticleSet::rows_launch(const char* name, const Array& cells, const Array& starts) const {
  Launch launch(workspace_.kernel("sets/rows.cl",
                                  "-DCELL=" + std::string(opencl_name_of(cells.dtype())) +
                                      " -DINDEX=" + opencl_name_of(starts.dtype()),
                                  name));
  launch.buffer("cells", cells.buffer())
      .int64("n", cells.count())
      .add("cells_of_line", cells_argument(cells.dtype(), cells_of_line(box_)))
      .int64("rows", rows_of(box_));
  return launch.traffic(static_cast<double>(cells.count()) *
                        (size_of(cells.dtype()) + size_of(starts.dtype())));
}

void ParticleSet::count_rows(const Array& cells, bool wants_order, Array& result, Array& starts) {
  const int64_t count = cells.count(), rows = rows_of(box_);
  check_column(cells, count, 1, cells.dtype() == box_.cell_dtype());
  check_starts(starts);
  check_column(result, count, 1, result.dtype() == starts.dtype());
  const std::lock_guard<std::mutex> lock(keys_mutex_);
  // A count for every other particle, so that they are in a cache that reads these; where rows are
  // many, two for each at most, so that all units have a chunk.
  const int64_t units = std::max<int64_t>(1, workspace_.device().compute_units);
  const int64_t fewest = std::clamp<int64_t>(2 * count / rows, 1, units);
  const Shares chunks{std::clamp<int64_t>(count / (2 * rows), fewest, kChunksPerUnit * units), 1};
  const int64_t numbers = chunks.groups * rows;
  if (!row_counts_ || row_counts_->count() < numbers || row_counts_->dtype() != starts.dtype())
    row_counts_ = std::make_shared<Array>(context_, numbers, 1, starts.dtype(),
                                          "counts of rows of particles");
  const auto bytes = static_cast<double>(numbers) * size_of(starts.dtype());
  const Range of_rows = shares_of(workspace_.device(), rows, 0).range();
  const auto over_rows = [&](const char* name) {
    return Launch(workspace_.kernel("sets/rows.cl",
                                    "-DCELL=" + std::string(opencl_name_of(cells.dtype())) +
                                        " -DINDEX=" + opencl_name_of(starts.dtype()),
                                    name))
        .buffer("counts", row_counts_->buffer())
        .int64("rows", rows)
        .int32("chunks", chunks.groups)
        .range(of_rows)
        .traffic(bytes);
  };
  context_->queue().launch(rows_launch("count_rows", cells, starts)
                               .buffer("counts", row_counts_->buffer())
                               .range(chunks.range()));
  context_->queue().launch(over_rows("add_chunks").buffer("totals", starts.buffer()));
  const Scan before(workspace_, starts.dtype(), rows);
  const auto scratch = workspace_.scratch({before.scratch_bytes()}, "sums of rows of particles");
  before.enqueue({starts.buffer()}, {starts.buffer()}, true, *scratch.buffers[0]);
  context_->queue().launch(
      over_rows("find_firsts").int64("n", count).buffer("starts", starts.buffer()));
  context_->queue().launch(rows_launch("place_in_rows", cells, starts)
                               .buffer("firsts", row_counts_->buffer())
                               .int32("wants_order", wants_order)
                               .buffer("result", result.buffer())
                               .range(chunks.range()));
  starts.touch();
  result.touch();
}

void ParticleSet::check_starts(const Array& starts) const {
  const int64_t rows = rows_of(box_);
  if (starts.count() != rows + 1 || starts.components() != 1 || !starts.is_packed() ||
      starts.offset() != 0 || (starts.dtype() != DType::int32 && starts.dtype() != DType::int64))
    throw std::invalid_argument("starts: expected " + std::to_string(rows + 1) + " integers");
}

void ParticleSet::find_starts(const Array& cells, Array& starts, const Array* order) const {
  check_column(cells, cells.count(), 1, cells.dtype() == box_.cell_dtype());
  check_starts(starts);
  const int64_t rows = rows_of(box_);
  const Array& in_order = order != nullptr ? *order : starts;  // which is not read
  const Shares shares = shares_of(workspace_.device(), rows + 1, 0);
  context_->queue().launch(
      Launch(workspace_.kernel("sets/starts.cl",
                               "-DCELL=" + std::string(opencl_name_of(cells.dtype())) +
                                   " -DINDEX=" + opencl_name_of(starts.dtype()) + " -DIN_ORDER=" +
                                   (order != nullptr ? "1" : "0") + shares.options(),
                               "starts_of"))
          .buffer("cells", cells.buffer())
          .buffer("order", in_order.buffer())
          .int64("n", cells.count())
          .int64("cells_of_line", cells_of_line(box_))
          .int64("rows", rows)
          .buffer("starts", starts.buffer())
          .range(shares.range())
          .traffic(static_cast<double>(starts.elements()) * size_of(starts.dtype())));
  starts.touch();
}

void ParticleSet::find_cells(const Array& cells, Array& target) const {
  const auto is_column = [](const Array& column) {
    return column.components() == 1 && column.is_packed() &&
           (column.dtype() == DType::int32 || column.dtype() == DType::int64);
  };
  if (!is_column(cells) || !is_column(target) || cells.count() != target.count() ||
      target.dtype() != box_.cell_dtype())
    throw std::invalid_argument("cells: expected columns of as many numbers, got " + cells.name() +
                                " and " + target.name());
  if (!cells.count()) return;
  const int64_t of_plane = box_.shape[1] * box_.shape[2];
  const Shares shares = shares_of(workspace_.device(), cells.count(), 0);
  context_->queue().launch(
      Launch(workspace_.kernel("sets/parts.cl",
                               "-DCELL=" + std::string(opencl_name_of(cells.dtype())) +
                                   " -DPART_CELL=" + opencl_name_of(target.dtype()) +
                                   shares.options(),
                               "cells_of_part"))
          .buffer("cells", cells.buffer())
          .int64("cells_offset", cells.offset())
          .int64("n", cells.count())
          .int64("first", box_.part.first * of_plane)
          .int64("of_all", box_.part.whole * of_plane)
          .buffer("target", target.buffer())
          .int64("target_offset", target.offset())
          .range(shares.range())
          .traffic(static_cast<double>(cells.count()) *
                   static_cast<double>(size_of(cells.dtype()) + size_of(target.dtype()))));
  target.touch();
}

int64_t ParticleSet::bytes_to_sort() const {
  const std::lock_guard<std::mutex> lock(keys_mutex_);
  int64_t bytes = 0;
  if (row_counts_)
    bytes += row_counts_->count() * static_cast<int64_t>(size_of(row_counts_->dtype()));
  if (!keys_) return bytes;
  const auto key = static_cast<int64_t>(size_of(keys_->dtype()));
  return bytes +
         keys_->count() * (key + 2 * 2 * key);  // and what is sorted: twice a key with its place
}

}  // namespace particles
