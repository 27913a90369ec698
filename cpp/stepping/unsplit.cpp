// SPDX-License-Identifier: BSD-3-Clause
#include "stepping/unsplit.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "runtime/kernel_source.hpp"

namespace particles {
namespace {

constexpr int64_t kJobsPerUnit = 16;  // of work-items, so that all end at about the same time
constexpr int kPartial = 4;           // numbers of a work-item's strain

int64_t share(int64_t count, int64_t each) { return (count + each - 1) / each; }

std::array<int64_t, 3> nodes_of(const Grid& grid) {
  std::array<int64_t, 3> nodes{1, 1, 1};
  for (int axis = 0; axis < grid.ndim; axis++) nodes[axis + 3 - grid.ndim] = grid.shape[axis];
  return nodes;
}

void add_array(Launch& launch, const Name& name, const Field& field) {
  const Layout& layout = field.layout();
  launch.buffer(name, field.buffer())
      .uint64(name + "_offset", layout.offset)
      .int64(name + "_component", layout.component_stride);
  for (int k = 0; k < 3; k++) {
    const int axis = k - (3 - field.grid().ndim);
    launch.int64(name + "_stride" + k, axis < 0 ? 0 : layout.stride[axis]);
  }
}

Cells cells_between(const Grid& grid) {
  Cells box;
  box.ndim = grid.ndim;
  for (int axis = 0; axis < grid.ndim; axis++) {
    box.shape[axis] = grid.shape[axis];
    box.low[axis] = grid.origin[axis];
    box.spacing[axis] = grid.spacing[axis];
    box.high[axis] = grid.origin[axis] + grid.shape[axis] * grid.spacing[axis];
    box.ends[axis] = grid.boundary[axis];
  }
  return box;
}

}  // namespace

Unsplit::Unsplit(std::shared_ptr<AdvectionOp> advection, std::shared_ptr<RemeshOp> remesh,
                 std::string lane_tables)
    : advection_(std::move(advection)),
      remesh_(std::move(remesh)),
      context_(remesh_->first().context()),
      grid_(remesh_->first().grid()),
      dtype_(arithmetic(remesh_->first().dtype())),
      lanes_(lanes_for(advection_->flow().form(), context_->device(), dtype_)),
      nodes_(nodes_of(grid_)),
      vectors_(nodes_[0] * nodes_[1] * share(nodes_[2], lanes_)),
      box_(cells_between(grid_)),
      set_(context_, box_),
      interpolation_(context_, remesh_->kernel(), std::move(lane_tables)),
      intactness_(context_) {
  if (advection_->flow().velocity().grid != grid_ || advection_->flow().dtype() != dtype_ ||
      advection_->flow().context() != context_)
    throw std::invalid_argument(
        "velocity: expected the grid, dtype and device of the fields it carries");
  partial_.emplace(context_, dtype_, kPartial, range_of_vectors().global[0]);
  compile_flow();
  prepare_particles();
}

// What steps need of the memory is there before the first one.
void Unsplit::prepare_particles() {
  const int64_t count = grid_.points();
  const DType index = count <= std::numeric_limits<int32_t>::max() ? DType::int32 : DType::int64;
  const auto array = [&](int64_t rows, int components, DType dtype, const char* name) {
    return std::make_shared<Array>(context_, rows, components, dtype, name);
  };
  places_ = {array(count, 1, box_.cell_dtype(), "cells of particles"),
             array(count, grid_.ndim, dtype_, "places of particles in cells"), nullptr};
  order_ = array(count, 1, index, "an order of particles");
  starts_ = array(rows_of(box_) + 1, 1, index, "where rows of particles begin");
  for (const auto& field : remesh_->fields()) {
    auto& values = values_[field->components()];
    if (!values) values = array(count, field->components(), field->dtype(), "particles");
    interpolation_.prepare_to_grid(box_, places_, {*starts_, order_.get()}, *values, *field);
  }
  set_.sort_for_rows(*places_.cells, *order_, *starts_);
}

std::string Unsplit::options() const {
  return kernel_options(context_->device(), dtype_) + " -DLANES=" + std::to_string(lanes_) +
         " -DDIMENSIONS=" + std::to_string(grid_.ndim) +
         " -DCELL=" + opencl_name_of(box_.cell_dtype());
}

void Unsplit::compile_flow() {
  std::string options = this->options();
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

int64_t Unsplit::vectors_each() const {
  const Device& device = context_->device();
  if (!device.is_cpu()) return 1;
  return std::max<int64_t>(1, vectors_ / (kJobsPerUnit * std::max(1u, device.compute_units)));
}

Range Unsplit::range_of_vectors() const {
  Range range;
  range.global[0] = static_cast<size_t>(share(vectors_, vectors_each()));
  if (context_->device().is_cpu()) range.local = {1, 1, 1};
  return range;
}

void Unsplit::add_nodes(Launch& launch) const {
  for (int k = 0; k < 3; k++) launch.int32({"n", k}, nodes_[k]);
}

void Unsplit::add_reals(Launch& launch, const char* name,
                        const std::array<double, 3>& values) const {
  for (int k = 0; k < 3; k++) {
    const int axis = k - (3 - grid_.ndim);
    launch.add({name, k}, real_argument(dtype_, axis < 0 ? 0 : values[axis]));
  }
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
    const int axis = k - (3 - grid_.ndim);
    launch.int32({"ratio", k}, axis < 0 ? 1 : found[axis].ratio);
  }
  add_reals(launch, "shift", shifts);
}

// The velocity, and the duration and times of a step as it counts them.
void Unsplit::add_flow(Launch& launch, const char* scale, const std::array<double, 3>& scales,
                       const std::vector<Instant>& instants) const {
  add_nodes(launch);
  double begin = 0, unit = 1;
  if (velocity().is_formula()) {
    add_reals(launch, "origin", grid_.origin);
    add_reals(launch, "spacing", grid_.spacing);
    if (velocity().parameters) velocity().parameters->add_to(launch, dtype_);
  } else {
    size_t level = 0;
    if (velocity().is_series()) {
      const std::vector<double>& known = velocity().times;
      level = velocity().level_at(instants[instants.size() / 2].time);
      begin = known[level];
      unit = known[level + 1] - begin;
    }
    add_array(launch, "flow", *velocity().fields[level]);
    if (velocity().is_series()) add_array(launch, "next", *velocity().fields[level + 1]);
    add_coarseness(launch);
  }
  add_reals(launch, scale, scales);
  for (const auto& [name, time] : instants)
    launch.add(name, real_argument(dtype_, (time - begin) / unit));
}

void Unsplit::advance(double time, double dt, int64_t steps, int64_t first) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (int64_t step = first; step < first + steps; step++) {
    intactness_.keep([&] {
      for (const Interval& piece : velocity().pieces_of({time + step * dt, dt})) {
        push(piece);
        set_.sort_for_rows(*places_.cells, *order_, *starts_);
        for (const auto& field : remesh_->fields()) give(*field);
      }
    });
    steps_done_++;
  }
}

void Unsplit::push(const Interval& piece) {
  Launch launch(push_);
  launch.buffer("cells", places_.cells->buffer())
      .buffer("offsets", places_.offsets->buffer())
      .int64("vectors_each", vectors_each());
  std::array<double, 3> scales{};
  for (int axis = 0; axis < grid_.ndim; axis++) scales[axis] = piece.duration / grid_.spacing[axis];
  const auto instants = instants_of(piece);
  add_flow(launch, "scale", scales,
           {{"time", instants[0]}, {"middle_time", instants[1]}, {"end_time", instants[2]}});
  const double vectors = static_cast<double>(grid_.points()) * grid_.ndim * size_of(dtype_);
  const double cells = static_cast<double>(grid_.points()) * size_of(box_.cell_dtype());
  const bool is_read = !velocity().is_formula();
  context_->queue().launch(
      launch.range(range_of_vectors()).traffic((is_read ? 2 : 1) * vectors + cells));
  places_.cells->touch();
  places_.offsets->touch();
}

void Unsplit::give(Field& field) {
  Array& values = *values_.at(field.components());
  const Region nodes = field.everything();
  Region rows = nodes;  // of all components of a node, as particles have them
  rows.offset = 0;
  int64_t stride = field.components();
  for (size_t k = rows.count.size() - 1; k > 0; k--) {
    rows.stride[k] = stride;
    stride *= rows.count[k];
  }
  rows.stride[0] = 1;
  values.copy(rows, field.array(), nodes);
  interpolation_.to_grid(box_, places_, {*starts_, order_.get()}, values, field, false);
}

int64_t Unsplit::steps_done() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return steps_done_;
}

std::vector<FlowExtremes> Unsplit::measure(const std::vector<double>& times) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const int64_t version = velocity().version();
  std::vector<double> keys = times;
  if (!velocity().depends_on_time) std::fill(keys.begin(), keys.end(), 0);
  const auto known = [&](double time) -> std::optional<FlowExtremes> {
    const FlowExtremes* extremes = velocity().is_shared() ? nullptr : measured_.at(version, time);
    return extremes ? std::optional(*extremes) : std::nullopt;
  };
  const auto extremes_of = [&](double time, const std::vector<double>& greatest) {
    const FlowExtremes extremes{{greatest.begin() + 3 - grid_.ndim, greatest.begin() + 3},
                                greatest[3]};
    measured_.keep(version, time, extremes);
    return extremes;
  };
  const std::map<double, FlowExtremes> found = partial_->measure<FlowExtremes>(
      keys, known, [&](double time) { launch_strain(time); }, extremes_of);
  std::vector<FlowExtremes> result;
  for (const double time : keys) result.push_back(found.at(time));
  return result;
}

void Unsplit::launch_strain(double time) {
  const Range range = range_of_vectors();
  Launch launch(strain_);
  partial_->add_to(launch, range.global[0]);
  launch.int64("vectors_each", vectors_each());
  std::array<double, 3> per_cell{};
  for (int axis = 0; axis < grid_.ndim; axis++) per_cell[axis] = 1 / grid_.spacing[axis];
  add_flow(launch, "per_cell", per_cell, {{"time", time}});
  const double bytes = static_cast<double>(grid_.points()) * grid_.ndim * size_of(dtype_);
  context_->queue().launch(launch.range(range).traffic(bytes));
}

}  // namespace particles
