// SPDX-License-Identifier: BSD-3-Clause
#include "stepping/unsplit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "arrays/ceiling.hpp"
#include "fields/neighbours.hpp"
#include "runtime/kernel_source.hpp"
#include "stepping/vectors.hpp"

namespace particles {
namespace {

constexpr int kPartial = 4;  // numbers of a work-group's strain

std::array<int64_t, 3> nodes_of(const Grid& grid) {
  std::array<int64_t, 3> nodes{1, 1, 1};
  for (int axis = 0; axis < grid.ndim; axis++) nodes[axis + 3 - grid.ndim] = grid.whole_along(axis);
  return nodes;
}

Cells cells_between(const Grid& grid) {
  Cells box;
  box.ndim = grid.ndim;
  for (int axis = 0; axis < grid.ndim; axis++) {
    box.shape[axis] = grid.whole_along(axis);
    box.low[axis] = grid.origin[axis];
    box.spacing[axis] = grid.spacing[axis];
    box.high[axis] = grid.origin[axis] + box.shape[axis] * grid.spacing[axis];
    box.ends[axis] = grid.boundary[axis];
  }
  return box;
}

}  // namespace

Unsplit::Unsplit(std::shared_ptr<AdvectionOp> advection, std::shared_ptr<RemeshOp> remesh)
    : advection_(std::move(advection)),
      remesh_(std::move(remesh)),
      context_(remesh_->first().context()),
      grid_(remesh_->first().grid()),
      dtype_(arithmetic(remesh_->first().dtype())),
      lanes_(lanes_for(advection_->flow().form(), context_->device(), dtype_)),
      nodes_(nodes_of(grid_)),
      velocity_around_(advection_->flow().velocity().fields.size()),
      velocity_beyond_(velocity_around_.size()),
      farthest_(context_, sizeof(cl_int), "the farthest move"),
      box_(cells_between(grid_)),
      interpolation_(context_, remesh_->kernel()),
      intactness_(context_) {
  if (advection_->flow().velocity().grid != grid_ || advection_->flow().dtype() != dtype_ ||
      advection_->flow().context() != context_)
    throw std::invalid_argument(
        "velocity: expected the grid, dtype and device of the fields it carries");
  const int64_t rows = grid_.ndim == 1 ? grid_.whole_along(0) : grid_.shape[0];
  partial_.emplace(context_, dtype_, kPartial,
                   shares_of_vectors(context_->device(), vectors_of(rows)).groups);
  compile_flow();
  make_room(around(1));
}

// Where images of a row would start as well, all do, once. So do they where rows of cells are
// along the axis that is cut.
Unsplit::Around Unsplit::around(int64_t moves) const {
  const int64_t whole = grid_.whole_along(0), begin = grid_.begin[0];
  if (!is_part()) return {moves, whole, whole, 0, 0, 0, whole, 0, 0};
  constexpr int64_t kAround = 8;  // rows that a place is interpolated between, and some more
  const int64_t beyond = moves + remesh_->kernel().stencil;
  const int64_t looked_at = kAround + scheme_of(velocity().rule.scheme).reach() * (moves + 1);
  const int64_t low = begin - beyond, high = begin + grid_.shape[0] + beyond;
  Around found{moves, whole, whole, 0, 0, 0, whole, whole, whole + looked_at};
  if (grid_.ndim == 1 || grid_.neighbours->most_rows(0) + 2 * beyond >= whole) return found;
  found.rows = high - low;
  found.low = low;
  found.tail = low < 0 ? high : std::max<int64_t>(high - whole, 0);
  found.head = low < 0 ? 0 : whole;
  if (high - low + 2 * moves < whole) {
    found.first_plane = (low - moves + whole) % whole;
    found.planes = high - low + 2 * moves;
  }
  found.carried_beyond = beyond;
  found.velocity_beyond = beyond + looked_at;
  return found;
}

// What steps need of the memory is there before the first one, unless particles of other parts come
// from further away than any did before.
void Unsplit::make_room(const Around& around) {
  around_ = around;
  if (is_part() && grid_.ndim > 1) {
    box_.shape[0] = around.planes;
    box_.part = {around.first_plane, grid_.whole_along(0)};
  }
  set_.emplace(context_, box_);
  const int64_t count = particles();
  const DType index = count <= std::numeric_limits<int32_t>::max() ? DType::int32 : DType::int64;
  const auto array = [&](int64_t rows, int components, DType dtype, const char* name) {
    return std::make_shared<Array>(context_, rows, components, dtype, name);
  };
  places_ = {array(count, 1, box_.cell_dtype(), "cells of particles"),
             array(count, grid_.ndim, dtype_, "places of particles in cells"), nullptr};
  order_ = array(count, 1, index, "an order of particles");
  starts_ = array(rows_of(box_) + 1, 1, index, "where rows of particles begin");
  make_groups();
  set_->sort_for_rows(*places_.cells, *order_, *starts_);
}

std::vector<Interpolation::Given> Unsplit::pairs_of(const Group& group) {
  std::vector<Interpolation::Given> pairs;
  for (const auto& [field, values, sums] : group) pairs.push_back({*values, *sums});
  return pairs;
}

void Unsplit::make_groups() {
  groups_.clear();
  const Fields& fields = remesh_->fields();
  const auto groups = interpolation_.given_together(box_, places_, fields);
  int most = 0;
  for (const Fields& group : groups) most = std::max(most, components_of(group));
  const int64_t count = particles();
  const DType dtype = fields.front()->dtype();
  const auto memory = std::make_shared<Buffer>(
      context_, static_cast<size_t>(count * most) * size_of(dtype), "particles");
  for (const Fields& together : groups) {
    Group group;
    for (const auto& field : together) {
      const int components = field->components();
      const auto first = static_cast<int64_t>(group.size()) * components * count;
      const auto values = std::make_shared<Array>(context_, count, components, dtype, "particles",
                                                  memory, first, components);
      group.push_back({field, values, sums_of(field, group.size())});
    }
    interpolation_.prepare_to_grid(box_, places_, {*starts_, order_.get()}, pairs_of(group));
    groups_.push_back(std::move(group));
  }
}

std::shared_ptr<Field> Unsplit::sums_of(const std::shared_ptr<Field>& field, size_t place) {
  if (!is_part() || grid_.ndim > 1) return field;
  Fields& lines = lines_[field->components()];
  if (place == lines.size()) {
    Grid whole = grid_;
    whole.shape[0] = grid_.whole_along(0);
    whole.begin = whole.whole = {};
    whole.neighbours = nullptr;
    lines.push_back(std::make_shared<Field>(context_, whole, field->components(), field->dtype(),
                                            "a line of all ranks"));
  }
  return lines[place];
}

std::string Unsplit::options() const {
  return kernel_options(context_->device(), dtype_) + " -DLANES=" + std::to_string(lanes_) +
         " -DDIMENSIONS=" + std::to_string(grid_.ndim) +
         " -DCELL=" + opencl_name_of(box_.cell_dtype()) +
         (is_part() && grid_.ndim > 1 ? " -DSOME_ROWS" : "");
}

void Unsplit::compile_flow() {
  std::string options = this->options() + shares_of_vectors(context_->device(), 1).options();
  options += options_of(velocity().rule);
  std::map<std::string, std::string> made{
      {"generated/scheme.cl", scheme_of(velocity().rule.scheme).source()}};
  if (velocity().is_formula()) {
    options += " -DFORMULA";
    made["generated/velocity_formulas.cl"] = formulas_source(velocity().formulas);
  } else {
    if (velocity().is_series()) options += " -DSERIES";
    if (velocity().fields.front()->grid() != grid_) options += " -DCOARSE";
  }
  const auto kernel = [&](const std::string& name) {
    return context_->kernel(kernel_source("stepping/" + name + ".cl", made), options, name);
  };
  push_ = kernel("unsplit_push");
  strain_ = kernel("unsplit_strain");
}

int64_t Unsplit::vectors_of(int64_t rows) const {
  const int64_t vectors = ceiling(nodes_[2], lanes_);
  return grid_.ndim == 1 ? vectors : vectors * rows * (grid_.ndim == 3 ? nodes_[1] : 1);
}

void Unsplit::add_rows(Launch& launch, const Around& around) const {
  if (!is_part() || grid_.ndim == 1) return;
  const int64_t first = velocity().is_formula() ? 0 : velocity().fields.front()->grid().begin[0];
  launch.int32("rows_count", around.rows)
      .int32("rows_tail", around.tail)
      .int32("rows_head", around.head)
      .int32("rows_low", around.low)
      .int32("rows_first", first);
}

void Unsplit::add_nodes(Launch& launch) const {
  for (int k = 0; k < 3; k++) launch.int32({"n", k}, nodes_[k]);
}

// Of the velocity's own grid, in which the particles' lies.
void Unsplit::add_coarseness(Launch& launch) const {
  const Grid& grid = velocity().fields.front()->grid();
  const std::array<Coarseness, 3> found = coarseness(grid, grid_);
  const Sizes nodes = nodes_of(grid);
  for (int k = 0; k < 3; k++) launch.int32({"nodes", k}, nodes[k]);
  std::array<double, 3> shifts{};
  for (int axis = 0; axis < grid_.ndim; axis++) shifts[axis] = found[axis].shift;
  for (int k = 0; k < 3; k++) {
    const int axis = axis_of(k, grid_.ndim);
    launch.int32({"ratio", k}, axis < 0 ? 1 : found[axis].ratio);
  }
  add_reals(launch, "shift", shifts, grid_.ndim, dtype_);
}

// At a time of a series, on the rows that are known. Neighbours are asked once, until they are
// forgotten or more rows are needed: all parts do so at once, as they agree on either.
const Field& Unsplit::velocity_at(size_t level) {
  const std::shared_ptr<Field>& own = velocity().fields[level];
  if (!is_part()) return *own;
  constexpr int64_t kAround = 6;  // rows that a place is interpolated between, and some more
  const int64_t ratio = grid_.whole_along(0) / own->grid().whole_along(0);
  int64_t beyond = around_.velocity_beyond;
  if (ratio > 1) beyond = beyond / ratio + kAround + rows_apart(own->grid(), grid_, 0);
  Extended& extended = velocity_around_[level];
  if (beyond > velocity_beyond_[level]) {
    extended.reserve(*own, 0, own->dtype(), beyond, beyond);
    extended.field()->copy_from(*own);
    extended.fetch(own, beyond, beyond);
    velocity_beyond_[level] = beyond;
  }
  return *extended.field();
}

void Unsplit::forget() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::fill(velocity_beyond_.begin(), velocity_beyond_.end(), 0);
  measured_ = {};
}

// The velocity, and the duration and times of a step as it counts them.
void Unsplit::add_flow(Launch& launch, const char* scale, const std::array<double, 3>& scales,
                       const std::vector<NamedInstant>& instants, const Around& around) {
  add_nodes(launch);
  add_rows(launch, around);
  const Clock clock = clock_of(velocity(), instants);
  if (velocity().is_formula()) {
    add_reals(launch, "origin", grid_.origin, grid_.ndim, dtype_);
    add_reals(launch, "spacing", grid_.spacing, grid_.ndim, dtype_);
    if (velocity().parameters) velocity().parameters->add_to(launch, dtype_);
  } else {
    // A line of all ranks begins with its first node, rows of others where one's own do.
    const Grid& own = velocity().fields[clock.level]->grid();
    const int64_t row = own.ndim == 1 ? -own.begin[0] : 0;
    add_points(launch, "flow", velocity_at(clock.level), row);
    if (velocity().is_series()) add_points(launch, "next", velocity_at(clock.level + 1), row);
    add_coarseness(launch);
  }
  add_reals(launch, scale, scales, grid_.ndim, dtype_);
  add_instants(launch, instants, clock, dtype_);
}

void Unsplit::advance(double time, double dt, int64_t steps, int64_t first) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (int64_t step = first; step < first + steps; step++) {
    intactness_.keep([&] {
      for (const Interval& piece : velocity().pieces_of({time + step * dt, dt})) {
        is_part() ? push_around(piece) : push(piece);
        set_->sort_for_rows(*places_.cells, *order_, *starts_);
        give();
      }
    });
    steps_done_++;
  }
}

// Of particles at nodes; those of a formula, which are elsewhere when their schemes look, may be
// faster.
int64_t Unsplit::moves_during(const Interval& piece) {
  const Velocity& flow = velocity();
  std::vector<double> times{piece.begin, piece.begin + piece.duration};
  if (flow.is_formula()) times.push_back(piece.begin + piece.duration / 2);
  // Between its nodes the cubic exceeds them by a quarter at most along each axis.
  const double beyond_nodes = flow.rule.interpolation == "cubic" ? std::pow(1.25, grid_.ndim) : 1;
  double speed = 0;
  for (const FlowExtremes& one : measure_locked(times)) speed = std::max(speed, one.speeds[0]);
  const double cells = beyond_nodes * speed * std::abs(piece.duration) / grid_.spacing[0];
  return static_cast<int64_t>(std::ceil(cells)) + 1;
}

// All parts push again where a particle of one of them has moved further than was known.
void Unsplit::push_around(const Interval& piece) {
  int64_t moves = moves_during(piece);
  while (true) {
    if (moves > around_.moves) make_room(around(moves));
    const cl_int none = 0;
    farthest_.fill(&none, sizeof none, 0, sizeof none);
    push(piece);
    cl_int own = 0;
    Rectangle rectangle;
    rectangle.region[0] = sizeof own;
    farthest_.read(&own, rectangle);
    moves = static_cast<int64_t>(grid_.neighbours->greatest({static_cast<double>(own)}).front());
    if (moves <= around_.moves) return;
  }
}

void Unsplit::push(const Interval& piece) {
  const VectorShares shares = shares_of_vectors(context_->device(), vectors_of(around_.rows));
  Launch launch(push_);
  launch.buffer("cells", places_.cells->buffer())
      .buffer("offsets", places_.offsets->buffer())
      .buffer("farthest", farthest_)
      .int64("vectors_each", shares.each)
      .int32("first_plane", around_.first_plane);
  std::array<double, 3> scales{};
  for (int axis = 0; axis < grid_.ndim; axis++) scales[axis] = piece.duration / grid_.spacing[axis];
  add_flow(launch, "scale", scales, named_instants_of(piece), around_);
  const double vectors = static_cast<double>(particles()) * grid_.ndim * size_of(dtype_);
  const double cells = static_cast<double>(particles()) * size_of(box_.cell_dtype());
  const bool is_read = !velocity().is_formula();
  context_->queue().launch(
      launch.range(shares.range()).traffic((is_read ? 2 : 1) * vectors + cells));
  places_.cells->touch();
  places_.offsets->touch();
}

// In the order of particles, all components of one side by side.
void Unsplit::take_values(const Field& field, Array& values) {
  struct Rows {
    int64_t place, first, count;  // of particles, and of the field
  };
  const int64_t begin = grid_.begin[0], tail = around_.tail;
  const std::array<Rows, 2> parts{
      {{0, around_.head - begin, tail}, {tail, around_.low - begin, around_.rows - tail}}};
  const int first_axis = static_cast<int>(Region{}.count.size()) - grid_.ndim;
  for (const Rows& part : parts) {
    if (part.count == 0) continue;
    Region nodes = field.everything();
    nodes.offset += part.first * nodes.stride[first_axis];
    nodes.count[first_axis] = part.count;
    Region rows = nodes;
    int64_t stride = field.components();
    for (size_t k = rows.count.size() - 1; k > 0; k--) {
      rows.stride[k] = stride;
      stride *= rows.count[k];
    }
    rows.stride[0] = 1;
    rows.offset = values.offset() + part.place * rows.stride[first_axis];
    values.copy(rows, field.array(), nodes);
  }
}

// Parts fetch in the order of the fields, which is the same for all: groups may not be.
void Unsplit::give() {
  if (is_part()) {
    const int64_t beyond = around_.carried_beyond;
    for (const auto& field : remesh_->fields()) {
      Extended& extended = carried_around_[field.get()];
      extended.reserve(*field, 0, field->dtype(), beyond, beyond);
      extended.field()->copy_from(*field);
      extended.fetch(field, beyond, beyond);
    }
  }
  for (const Group& group : groups_) give(group);
}

void Unsplit::give(const Group& group) {
  for (const auto& [field, values, sums] : group)
    take_values(is_part() ? *carried_around_.at(field.get()).field() : *field, *values);
  interpolation_.to_grid(box_, places_, {*starts_, order_.get()}, pairs_of(group), false);
  for (const auto& [field, values, sums] : group) {
    if (sums == field) continue;
    Region part = sums->everything();
    part.offset += grid_.begin[0] * part.stride[3];
    part.count[3] = grid_.shape[0];
    field->array().copy(field->everything(), sums->array(), part);
    field->touch();
  }
}

std::vector<FlowExtremes> Unsplit::measure(const std::vector<double>& times) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return measure_locked(times);
}

std::vector<FlowExtremes> Unsplit::measure_locked(const std::vector<double>& times) {
  const auto extremes_of = [&](const std::vector<double>& own) -> FlowExtremes {
    const std::vector<double> greatest = is_part() ? grid_.neighbours->greatest(own) : own;
    return {{greatest.begin() + 3 - grid_.ndim, greatest.begin() + 3}, greatest[3]};
  };
  return measure_at(
      times, velocity(), measured_, *partial_, [&](double time) { launch_strain(time); },
      extremes_of);
}

void Unsplit::launch_strain(double time) {
  Around own = around_;  // nodes
  if (is_part() && grid_.ndim > 1) {
    own.rows = grid_.shape[0], own.tail = 0;
    own.low = grid_.begin[0];
  }
  const VectorShares shares = shares_of_vectors(context_->device(), vectors_of(own.rows));
  Launch launch(strain_);
  partial_->add_to(launch, shares.groups);
  launch.int64("vectors_each", shares.each);
  std::array<double, 3> per_cell{};
  for (int axis = 0; axis < grid_.ndim; axis++) per_cell[axis] = 1 / grid_.spacing[axis];
  add_flow(launch, "per_cell", per_cell, {{"time", time}}, own);
  const double bytes = static_cast<double>(grid_.points()) * grid_.ndim * size_of(dtype_);
  context_->queue().launch(launch.range(shares.range()).traffic(bytes));
}

}  // namespace particles
