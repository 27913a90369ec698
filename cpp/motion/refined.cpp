// SPDX-License-Identifier: BSD-3-Clause
#include "motion/refined.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include "arrays/reductions.hpp"
#include "motion/velocity.hpp"
#include "runtime/kernel_source.hpp"

namespace particles {
namespace {

// Work-items of a group along either of two axes, and points of each along the third.
constexpr int64_t kSide = 16, kOutersEach = 16;

}  // namespace

std::array<Coarseness, 3> coarseness(const Grid& coarse, const Grid& fine) {
  std::array<Coarseness, 3> result;
  for (int axis = 0; axis < fine.ndim; axis++) {
    if (coarse.ndim != fine.ndim || fine.whole_along(axis) % coarse.whole_along(axis) != 0)
      throw std::invalid_argument(
          "grid: expected whole multiples of the velocity's points along every axis");
    result[axis].ratio = static_cast<int>(fine.whole_along(axis) / coarse.whole_along(axis));
    // Both grids of a periodic axis begin at the same point, others with half a cell of their own.
    if (!fine.boundary[axis].periodic()) result[axis].shift = (1 - result[axis].ratio) / 2.0;
  }
  return result;
}

// Each begins less than two units from where equal parts would: along the first axis of planes that
// are added up together, else of rows.
int64_t rows_apart(const Grid& coarse, const Grid& fine, int axis) {
  const int64_t whole = fine.whole_along(axis), whole_coarse = coarse.whole_along(axis);
  const int64_t ratio = whole / whole_coarse;
  if (!fine.is_cut(axis) || ratio == 1) return 0;
  const auto unit_along = [axis](int64_t rows) { return axis == 0 ? unit_of(rows) : 1; };
  return (2 * unit_along(whole) + ratio - 1) / ratio + 2 * unit_along(whole_coarse);
}

Refined::Refined(std::shared_ptr<Field> coarse, const Grid& fine, int axis,
                 const std::string& options)
    : coarse_(std::move(coarse)),
      axes_(axes_of_lines(fine, axis)),
      coarseness_(coarseness(coarse_->grid(), fine)) {
  bool is_coarse_across = false;
  for (const int across : {axes_.lane, axes_.outer})
    is_coarse_across = is_coarse_across || (across >= 0 && coarseness_[across].ratio > 1);
  if (!is_coarse_across) {
    field_ = coarse_;
    return;
  }
  Grid lines = fine;
  lines.shape[axis] = coarse_->grid().shape[axis];
  if (fine.is_cut(axis)) {
    lines.begin[axis] = coarse_->grid().begin[axis];
    lines.whole[axis] = coarse_->grid().whole[axis];
    lines.neighbours = coarse_->grid().neighbours;
  }
  constexpr int64_t kAround = 4;  // nodes that a point is interpolated between
  for (const int across : {axes_.lane, axes_.outer})
    if (across >= 0 && fine.is_cut(across) && coarseness_[across].ratio > 1)
      rows_beyond_[across] = rows_apart(coarse_->grid(), fine, across) + kAround;
  const auto& context = coarse_->context();
  field_ = std::make_shared<Field>(context, lines, 1, coarse_->dtype(), "refined velocity");
  kernel_ =
      context->kernel(kernel_source("motion/refine.cl"),
                      kernel_options(context->device(), coarse_->dtype()) + options, "refine");
}

void Refined::update() {
  if (field_ == coarse_) return;
  const int64_t version = coarse_->version();  // before reading: a later write makes it stale
  const bool is_part = is_cut_across(axes_.lane) || is_cut_across(axes_.outer);
  if (is_part ? !is_forgotten_ : version == version_ && !coarse_->is_shared()) return;
  // Axis after axis, so that corners come along.
  std::shared_ptr<Field> source = coarse_;
  int64_t origin = 0;  // of the whole grid's first node, from that of the source
  for (int axis = 0; axis < 3; axis++) {
    if (!is_cut_across(axis)) continue;
    const int64_t rows = rows_beyond_[axis];
    Extended& extended = extended_[axis];
    extended.reserve(*source, axis, coarse_->dtype(), rows, rows);
    extended.field()->copy_from(*source);
    extended.fetch(source, rows, rows);
    source = extended.widened(rows, rows);
  }
  for (int axis = 0; axis < 3; axis++)
    if (is_cut_across(axis))
      origin += (rows_beyond_[axis] - coarse_->grid().begin[axis]) * source->layout().stride[axis];
  const LineStrides from = strides_of(source->layout(), axes_);
  const Grid &fine = field_->grid(), &coarse = coarse_->grid();
  Launch launch(kernel_);
  launch.buffer("to", field_->buffer());
  add_strides(launch, "", strides_of(field_->layout(), axes_));
  // Of a part, nodes are counted on the whole axis.
  launch.buffer("from", source->buffer())
      .int64("from_offset", static_cast<int64_t>(source->layout().offset) + origin)
      .int64("from_row_stride", from.row);
  const auto points = [](const Grid& grid, int axis) { return axis < 0 ? 1 : grid.shape[axis]; };
  const auto add_axis = [&](const Name& name, int axis, int64_t stride) {
    const Coarseness own = axis < 0 ? Coarseness{} : coarseness_[axis];
    const Ends ends = axis < 0 ? Ends{} : fine.boundary[axis];
    const bool is_cut = is_cut_across(axis);
    launch.int64(name + "_stride", stride)
        .int32(name + "_nodes", is_cut ? coarse.whole[axis] : points(coarse, axis))
        .int32(name + "_is_part", is_cut)
        .int32(name + "_begin", is_cut ? fine.begin[axis] : 0)
        .int32(name + "_ratio", own.ratio)
        .add(name + "_shift", real_argument(coarse_->dtype(), own.shift))
        .int32(name + "_low", static_cast<int>(ends.low))
        .int32(name + "_high", static_cast<int>(ends.high));
  };
  add_axis("from_lane", axes_.lane, from.lane);
  add_axis("from_outer", axes_.outer, from.outer);
  const int64_t rows = points(fine, axes_.row), lanes = points(fine, axes_.lane),
                outers = points(fine, axes_.outer);
  const bool rows_are_neighbours = axes_.row == fine.ndim - 1;
  launch.int32("rows", rows)
      .int32("lanes", lanes)
      .int32("outers", outers)
      .int32("outers_each", kOutersEach)
      .int32("rows_are_neighbours", rows_are_neighbours);
  const auto whole = [](int64_t count, int64_t each) {
    return static_cast<size_t>((count + each - 1) / each * each);
  };
  const bool fits = coarse_->context()->device().largest_work_group >= kSide * kSide;
  const int64_t side = fits ? kSide : 1;
  Range range;
  range.global = {whole(rows_are_neighbours ? rows : lanes, side),
                  whole(rows_are_neighbours ? lanes : rows, side),
                  whole(outers, kOutersEach) / kOutersEach};
  range.local = {static_cast<size_t>(side), static_cast<size_t>(side), 1};
  const auto bytes = static_cast<double>(size_of(coarse_->dtype()));
  coarse_->context()->queue().launch(
      launch.range(range).traffic(bytes * (fine.points() + coarse.points())));
  field_->touch();
  version_ = version;
  is_forgotten_ = false;
}

}  // namespace particles
