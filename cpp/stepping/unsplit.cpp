// SPDX-License-Identifier: BSD-3-Clause
#include "stepping/unsplit.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "runtime/kernel_source.hpp"

namespace particles {
namespace {

constexpr int64_t kChunk = 128;       // particles that are looked at, or passed over, as one
constexpr int64_t kJobsPerUnit = 16;  // of work-items, so that all end at about the same time
constexpr int kPartial = 4;           // numbers of a work-item's strain

int64_t share(int64_t count, int64_t each) { return (count + each - 1) / each; }

std::array<int64_t, 3> nodes_of(const Grid& grid) {
  std::array<int64_t, 3> nodes{1, 1, 1};
  for (int axis = 0; axis < grid.ndim; axis++) nodes[axis + 3 - grid.ndim] = grid.shape[axis];
  return nodes;
}

// One function of all components, made of the text of each.
std::string formulas_source(const std::vector<std::string>& formulas) {
  std::string functions, members, instants, calls;
  for (size_t k = 0; k < formulas.size(); k++) {
    const std::string number = std::to_string(k);
    std::string renamed, restored;
    for (const std::string name : {"velocity_formula", "Instant", "instant_at"}) {
      renamed += "#define " + name + " " + name + "_" + number + "\n";
      restored += "#undef " + name + "\n";
    }
    functions += renamed + formulas[k] + restored;
    members += "Instant_" + number + " of_" + number + "; ";
    instants += "  at.of_" + number + " = instant_at_" + number + "(t FORMULA_ARGUMENTS);\n";
    calls +=
        "  a[" + number + "] = velocity_formula_" + number + "(x, y, z, &at->of_" + number + ");\n";
  }
  return functions + "#include \"common/formula_parameters.cl\"\n" + "typedef struct { " + members +
         "} Instants;\n" +
         "INLINE Instants instants_at(const real t FORMULA_PARAMETERS) {\n  Instants at;\n" +
         instants + "  return at;\n}\n" +
         "INLINE void velocity_formulas(const V x, const V y, const V z, const Instants* at,\n"
         "                              __private V* a) {\n" +
         calls + "}\n";
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

// Nodes of a row that a vector holds: those of the stencil, as far as the device goes.
int64_t width_of_rows(const Device& device, DType dtype, int stencil) {
  const auto widest = static_cast<int64_t>(device.vector_bytes() / size_of(dtype));
  constexpr int64_t kFewest = 4, kMost = 16;
  if (!device.is_cpu() || widest < kFewest) return 1;
  int64_t width = kFewest;
  while (width < stencil && 2 * width <= std::min(widest, kMost)) width *= 2;
  return width;
}

}  // namespace

Unsplit::Unsplit(std::shared_ptr<AdvectionOp> advection, std::shared_ptr<RemeshOp> remesh,
                 const std::vector<int64_t>& patch)
    : advection_(std::move(advection)),
      remesh_(std::move(remesh)),
      context_(remesh_->first().context()),
      grid_(remesh_->first().grid()),
      dtype_(arithmetic(remesh_->first().dtype())),
      lanes_(lanes_for(advection_->flow().form(), context_->device(), dtype_)),
      nodes_(nodes_of(grid_)),
      vectors_(nodes_[0] * nodes_[1] * share(nodes_[2], lanes_)),
      chunks_(nodes_[0] * nodes_[1] * share(nodes_[2], kChunk)),
      intactness_(context_) {
  if (advection_->flow().velocity().grid != grid_ || advection_->flow().dtype() != dtype_ ||
      advection_->flow().context() != context_)
    throw std::invalid_argument(
        "velocity: expected the grid, dtype and device of the fields it carries");
  moves_ = std::make_shared<Field>(context_, grid_, grid_.ndim, dtype_, "moves of particles");
  const int64_t parts = chunks_ + nodes_[0] * nodes_[1] + nodes_[0];
  reaches_ = std::make_unique<Buffer>(context_, parts * 6 * sizeof(cl_int), "reach of particles");
  partial_.emplace(context_, dtype_, kPartial, range_of_vectors().global[0]);
  choose_patch(patch);
  compile_flow();
  compile_deposits();
}

// Large patches share few particles with others, but there should be some for every unit.
void Unsplit::choose_patch(const std::vector<int64_t>& patch) {
  const Device& device = context_->device();
  constexpr int64_t kLargest = 64, kLeast = 8, kPatchesPerUnit = 2;
  const auto patches = [&] { return share(nodes_[0], patch_[0]) * share(nodes_[1], patch_[1]); };
  patch_ = device.is_cpu() ? Sizes{kLargest, kLargest, 4096} : Sizes{1, 1, 32};
  while (device.is_cpu() && patch_[1] > kLeast &&
         patches() < kPatchesPerUnit * device.compute_units)
    patch_[0] = patch_[1] /= 2;
  for (size_t axis = 0; axis < patch.size(); axis++) patch_[axis + 3 - grid_.ndim] = patch[axis];
  for (int k = 0; k < 3; k++) patch_[k] = std::clamp<int64_t>(patch_[k], 1, nodes_[k]);
}

std::string Unsplit::options() const {
  return kernel_options(context_->device(), dtype_) + " -DLANES=" + std::to_string(lanes_) +
         " -DDIMENSIONS=" + std::to_string(grid_.ndim) + " -DCHUNK=" + std::to_string(kChunk);
}

void Unsplit::compile_flow() {
  std::string options = this->options();
  const std::string reach = kernel_source("stepping/unsplit_reach.cl");
  reach_ = context_->kernel(reach, options, "unsplit_reach");
  reach_of_all_ = context_->kernel(reach, options, "unsplit_reach_of_all");
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

void Unsplit::compile_deposits() {
  const std::string source = kernel_source("stepping/unsplit_deposit.cl",
                                           {{"generated/weights.cl", remesh_->kernel().source}});
  const int64_t width = width_of_rows(context_->device(), dtype_, remesh_->kernel().stencil);
  for (const auto& field : remesh_->fields()) {
    const int components = field->components();
    Deposit& own = deposits_[components];
    if (own.sums) continue;
    own.sums = std::make_shared<Field>(context_, grid_, components, dtype_, "sums of nodes");
    if (field->dtype() != dtype_)
      own.particles = std::make_shared<Field>(context_, grid_, components, dtype_, "particles");
    own.kernel =
        context_->kernel(source,
                         options() + kFaintestAreZero + " -DWIDTH=" + std::to_string(width) +
                             " -DCOMPONENTS=" + std::to_string(components),
                         "unsplit_deposit");
  }
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
        find_reach();
        for (const auto& field : remesh_->fields()) deposit(*field);
      }
    });
    steps_done_++;
  }
}

void Unsplit::push(const Interval& piece) {
  Launch launch(push_);
  add_array(launch, "moves", *moves_);
  launch.int64("vectors_each", vectors_each());
  std::array<double, 3> scales{};
  for (int axis = 0; axis < grid_.ndim; axis++) scales[axis] = piece.duration / grid_.spacing[axis];
  const auto instants = instants_of(piece);
  add_flow(launch, "scale", scales,
           {{"time", instants[0]}, {"middle_time", instants[1]}, {"end_time", instants[2]}});
  const double vectors = static_cast<double>(grid_.points()) * grid_.ndim * size_of(dtype_);
  const bool is_read = !velocity().is_formula();
  context_->queue().launch(launch.range(range_of_vectors()).traffic((is_read ? 2 : 1) * vectors));
}

// Of chunks, of rows made of them, and of planes made of those.
void Unsplit::find_reach() {
  Launch launch(reach_);
  launch.buffer("reach", *reaches_);
  add_array(launch, "moves", *moves_);
  add_nodes(launch);
  Range range;
  range.global[0] = static_cast<size_t>(chunks_);
  context_->queue().launch(launch.range(range).traffic(static_cast<double>(grid_.points()) *
                                                       grid_.ndim * size_of(dtype_)));
  const int64_t rows = nodes_[0] * nodes_[1];
  const auto merge = [&](int64_t parts, int64_t wholes, int64_t count, int64_t each) {
    range.global[0] = static_cast<size_t>(count);
    const double bytes = 6.0 * sizeof(cl_int) * count * (each + 1);
    context_->queue().launch(Launch(reach_of_all_)
                                 .buffer("reach", *reaches_)
                                 .uint64("parts", parts)
                                 .uint64("wholes", wholes)
                                 .int32("each", each)
                                 .range(range)
                                 .traffic(bytes));
  };
  merge(0, chunks_, rows, chunks_ / rows);
  merge(chunks_, chunks_ + rows, nodes_[0], nodes_[1]);
}

void Unsplit::deposit(Field& field) {
  const Deposit& own = deposits_.at(field.components());
  const Field& particles = own.particles ? *own.particles : field;
  if (own.particles) own.particles->copy_from(field);
  Launch launch(own.kernel);
  add_array(launch, "sums", *own.sums);
  add_array(launch, "u", particles);
  add_array(launch, "moves", *moves_);
  launch.buffer("reach", *reaches_);
  add_nodes(launch);
  Range patches;
  for (int k = 0; k < 3; k++) {
    launch.int32({"size", k}, patch_[k]);
    patches.global[0] *= static_cast<size_t>(share(nodes_[k], patch_[k]));
  }
  if (context_->device().is_cpu()) patches.local = {1, 1, 1};
  const double numbers = 2.0 * field.components() + grid_.ndim;
  context_->queue().launch(
      launch.range(patches).traffic(numbers * grid_.points() * size_of(dtype_)));
  field.copy_from(*own.sums);
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
