// SPDX-License-Identifier: BSD-3-Clause
#include "stepping/tracers.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "arrays/ceiling.hpp"
#include "arrays/shares.hpp"
#include "fields/neighbours.hpp"
#include "runtime/kernel_source.hpp"

namespace particles {
namespace {

// As trace.cl has them.
constexpr int kLeft = 6, kFirstLeft = kLeft, kStuck = kLeft + 2, kFirstStuck = kLeft + 3;
constexpr int kCountsOfGroup = kLeft + 5;

DType wider(DType one, DType other) { return std::max(one, other); }

Shares shares_for(const Device& device, int64_t count) {
  return shares_of(device, count, kCountsOfGroup * sizeof(cl_long));
}

// The earlier event; of one step that of the first particle.
void earlier(Traced::First& first, int64_t step, int64_t particle) {
  if (step == 0) return;
  const bool is_first = first.step == 0 || step < first.step;
  if (is_first || (step == first.step && particle < first.particle)) first = {step, particle};
}

}  // namespace

Tracers::Tracers(std::shared_ptr<Context> context, Velocity velocity, const RemeshingKernel& kernel,
                 const Cells& box, DType offset)
    : context_(std::move(context)),
      velocity_(std::move(velocity)),
      kernel_(kernel),
      box_(box),
      grid_(velocity_.is_formula() ? velocity_.grid : velocity_.fields.front()->grid()),
      offset_(offset),
      dtype_(velocity_.is_formula() ? offset : wider(offset, velocity_.fields.front()->dtype())),
      has_open_ends_(std::any_of(box.ends.begin(), box.ends.begin() + box.ndim,
                                 [](const Ends& ends) { return (bits_of(ends) & ~1) != 0; })),
      lanes_(Workspace(context_).lanes(size_of(dtype_))),
      intactness_(context_) {
  if (grid_.ndim != box_.ndim)
    throw std::invalid_argument("velocity: expected a grid of as many axes as the set's");
  bool is_same = true, has_turns = false;
  for (int axis = 0; axis < box_.ndim; axis++) {
    is_same = is_same && (velocity_.is_formula() || points_along(axis) == box_.shape[axis]);
    has_turns = has_turns || box_.ends[axis].periodic();
  }
  const std::string cell = opencl_name_of(box_.cell_dtype());
  trace_ = kernel_of("trace", " -DCELL=" + cell + " -DOFFSET=" + opencl_name_of(offset_) +
                                  (is_same ? " -DSAME_CELLS=1" : " -DSAME_CELLS=0") +
                                  (has_turns ? " -DWITH_TURNS" : "") +
                                  (has_open_ends_ ? " -DWITH_GONE" : "") +
                                  shares_for(context_->device(), 1).options());
}

std::string Tracers::options() const {
  std::string text = kernel_options(context_->device(), dtype_) +
                     " -DLANES=" + std::to_string(lanes_) + " -DAXES=" + std::to_string(box_.ndim);
  for (int k = 0; k < 3; k++)
    if (axis_of(k) >= 0)
      text += " -DENDS_" + std::to_string(k) + "=" + std::to_string(bits_of(box_.ends[axis_of(k)]));
  if (velocity_.is_formula()) return text + " -DFORMULA";
  return text + (velocity_.is_series() ? " -DSERIES" : "") + (grid_.is_cut(0) ? " -DPART" : "") +
         (velocity_.fields.front()->dtype() == DType::float64 ? " -DFLOW_IS_DOUBLE" : "");
}

Kernel Tracers::kernel_of(const std::string& name, const std::string& options) const {
  std::map<std::string, std::string> made{
      {"generated/scheme.cl", scheme_of(velocity_.rule.scheme).source()},
      {"generated/weights.cl", kernel_.source}};
  if (velocity_.is_formula())
    made["generated/velocity_formulas.cl"] = formulas_source(velocity_.formulas);
  return context_->kernel(kernel_source("stepping/" + name + ".cl", made),
                          this->options() + options, name);
}

void Tracers::add_flow(Launch& launch, const std::array<double, 3>& spacing, const char* scale,
                       const std::array<double, 3>& scales,
                       const std::vector<NamedInstant>& instants) const {
  const Clock clock = clock_of(velocity_, instants);
  if (velocity_.is_formula()) {
    add_reals(launch, "low", box_.low, box_.ndim, dtype_);
    add_reals(launch, "spacing", spacing, box_.ndim, dtype_);
    if (velocity_.parameters) velocity_.parameters->add_to(launch, dtype_);
  } else {
    const auto& fields = grid_.is_cut(0) ? planes_ : velocity_.fields;
    launch.int32("first_plane", static_cast<int>(first_plane_));
    const auto at = [&](size_t k) -> const Field& {
      if (k >= fields.size() || !fields[k])
        throw std::logic_error("velocity: expected planes of it at that time");
      return *fields[k];
    };
    add_points(launch, "flow", at(clock.level));
    if (velocity_.is_series()) add_points(launch, "next", at(clock.level + 1));
  }
  add_reals(launch, scale, scales, box_.ndim, dtype_);
  add_instants(launch, instants, clock, dtype_);
}

void Tracers::read_from(std::vector<std::shared_ptr<Field>> planes, int64_t first_plane) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!grid_.is_cut(0) || planes.size() != velocity_.fields.size())
    throw std::invalid_argument("velocity: expected planes of a part of a grid");
  planes_ = std::move(planes);
  first_plane_ = first_plane;
}

void Tracers::begin(const Places& places, bool keeps) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const int64_t count = places.cells->count();
  const int64_t of_groups = shares_for(context_->device(), count).groups * kCountsOfGroup;
  if (!counts_ || counts_->count() != of_groups)
    counts_ = std::make_shared<Array>(context_, of_groups, 1, DType::int64, "counts of tracers");
  else
    counts_->fill(counts_->everything(), int64_t{0});
  if (has_open_ends_) {
    if (!gone_ || gone_->count() < count)
      gone_ = std::make_shared<Array>(context_, count, 1, DType::int32, "which tracers have left");
    else
      gone_->fill(gone_->everything(), int64_t{0});
  }
  steps_before_ = steps_done_;
  if (!keeps) return;
  const std::array<std::shared_ptr<Array>, 3> now{places.cells, places.offsets, places.turns};
  for (size_t k = 0; k < now.size(); k++) {
    if (!now[k]) continue;
    if (!kept_[k] || kept_[k]->count() < count)
      kept_[k] = std::make_shared<Array>(context_, count, now[k]->components(), now[k]->dtype(),
                                         "tracers as they were");
    if (count) kept_[k]->rows(0, count)->copy_from(*now[k]);
  }
}

void Tracers::go_back(const Places& places) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::array<std::shared_ptr<Array>, 3> now{places.cells, places.offsets, places.turns};
  const int64_t count = places.cells->count();
  for (size_t k = 0; k < now.size(); k++)
    if (now[k] && count) now[k]->copy_from(*kept_[k]->rows(0, count));
  if (gone_) gone_->fill(gone_->everything(), int64_t{0});
  counts_->fill(counts_->everything(), int64_t{0});
  steps_done_ = steps_before_;
}

std::shared_ptr<Array> Tracers::gone(int64_t count) const { return gone_->rows(0, count); }

void Tracers::advance(const Places& places, double time, double dt, int64_t steps, int64_t first) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (int64_t step = first; step < first + steps; step++) {
    intactness_.keep([&] {
      for (const Interval& piece : velocity_.pieces_of({time + step * dt, dt}))
        trace(places, piece, steps_done_ + 1 - steps_before_);
    });
    steps_done_++;
  }
}

void Tracers::trace(const Places& places, const Interval& piece, int64_t step) {
  const int64_t count = places.cells->count();
  if (!count) return;
  Launch launch(trace_);
  launch.buffer("cells", places.cells->buffer())
      .buffer("offsets", places.offsets->buffer())
      .buffer("turns", (places.turns ? places.turns : places.cells)->buffer())
      .buffer("gone", (gone_ ? gone_ : places.cells)->buffer())
      .int64("n", count);
  for (int k = 0; k < 3; k++)
    launch.int64({"cells", k}, axis_of(k) < 0 ? 1 : box_.shape[axis_of(k)]);
  for (int k = 0; k < 3; k++) {
    const int axis = axis_of(k);
    const int64_t n = axis < 0 ? 1 : velocity_.is_formula() ? box_.shape[axis] : points_along(axis);
    launch.int32({"n", k}, static_cast<int>(n));
  }
  std::array<double, 3> scales{};
  for (int axis = 0; axis < box_.ndim; axis++)
    scales[axis] =
        piece.duration / (velocity_.is_formula() ? box_.spacing[axis] : grid_.spacing[axis]);
  add_flow(launch, box_.spacing, "scale", scales, named_instants_of(piece));
  const double bytes = 2.0 * (size_of(box_.cell_dtype()) +
                              box_.ndim * (size_of(offset_) + (places.turns ? sizeof(cl_int) : 0)));
  launch.int64("step_number", step)
      .buffer("counts", counts_->buffer())
      .range(shares_for(context_->device(), count).range())
      .traffic(bytes * static_cast<double>(count));
  context_->queue().launch(launch);
  for (const auto& written : {places.cells, places.offsets, places.turns})
    if (written) written->touch();
}

Traced Tracers::look() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  Traced traced;
  if (!counts_) return traced;
  std::vector<int64_t> host(counts_->count());
  counts_->read(counts_->everything(), host.data());
  for (size_t group = 0; group < host.size(); group += kCountsOfGroup) {
    const int64_t* const its = host.data() + group;
    for (int k = 0; k < kLeft; k++) traced.left[k / 2][k % 2] += its[k];
    traced.stuck += its[kStuck];
    earlier(traced.first_left, its[kFirstLeft], its[kFirstLeft + 1]);
    earlier(traced.first_stuck, its[kFirstStuck], its[kFirstStuck + 1]);
  }
  return traced;
}

int64_t Tracers::steps_before() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return steps_before_;
}

std::vector<double> Tracers::measure(const std::vector<double>& times) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!partial_) {
    const int64_t vectors =
        grid_.points() / grid_.shape[grid_.ndim - 1] * ceiling(grid_.shape[grid_.ndim - 1], lanes_);
    strain_shares_ = shares_of_vectors(context_->device(), vectors);
    strain_ = kernel_of("trace_strain", strain_shares_.options());
    partial_.emplace(context_, dtype_, 1, strain_shares_.groups);
  }
  const auto strain_of = [](const std::vector<double>& greatest) { return greatest[0]; };
  const std::vector<double> result = measure_at(
      times, velocity_, measured_, *partial_, [&](double time) { launch_strain(time); }, strain_of);
  return grid_.neighbours ? grid_.neighbours->greatest(result) : result;
}

void Tracers::launch_strain(double time) {
  Launch launch(strain_);
  partial_->add_to(launch, strain_shares_.groups);
  launch.int64("vectors_each", strain_shares_.each);
  for (int k = 0; k < 3; k++)
    launch.int32({"own", k}, static_cast<int>(axis_of(k) < 0 ? 1 : grid_.shape[axis_of(k)]));
  launch.int32("begin", static_cast<int>(grid_.begin[0]));
  for (int k = 0; k < 3; k++)
    launch.int32({"n", k}, static_cast<int>(axis_of(k) < 0 ? 1 : points_along(axis_of(k))));
  std::array<double, 3> per_cell{};
  for (int axis = 0; axis < grid_.ndim; axis++) per_cell[axis] = 1 / grid_.spacing[axis];
  add_flow(launch, grid_.spacing, "per_cell", per_cell, {{"time", time}});
  const double bytes = static_cast<double>(grid_.points()) * grid_.ndim * size_of(dtype_);
  context_->queue().launch(launch.range(strain_shares_.range()).traffic(bytes));
}

int64_t Tracers::bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  int64_t sum = 0;
  for (const auto& array : {counts_, gone_, kept_[0], kept_[1], kept_[2]})
    if (array)
      sum += array->count() * array->components() * static_cast<int64_t>(size_of(array->dtype()));
  return sum;
}

}  // namespace particles
