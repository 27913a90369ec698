// SPDX-License-Identifier: BSD-3-Clause
#include "stepping/reach.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "arrays/reductions.hpp"
#include "fields/neighbours.hpp"

namespace particles {
namespace {

// Cells are counted in 32 bits.
constexpr double kMovesAtMost = 1 << 30;

// Durations of which long lines keep how far a formula moves them: up to three along each of three
// axes, and those of a shorter step.
constexpr size_t kPushesKept = 18;

// Of a line's nodes: moves by less are not measured where a bound is known.
constexpr double kShareOfLine = 0.125;

void check_move(double cells, int axis) {
  if (!(cells < kMovesAtMost))
    throw std::invalid_argument("velocity: expected moves of less than 2**30 cells, got " +
                                std::to_string(cells) + " along axis " + std::to_string(axis));
}

}  // namespace

Reach::Reach(std::shared_ptr<AdvectionOp> advection, const RemeshingKernel& kernel,
             const Field& carried)
    : advection_(std::move(advection)),
      sweep_(kind_of(kernel)),
      context_(carried.context()),
      grid_(carried.grid()),
      dtype_(arithmetic(carried.dtype())) {}

std::optional<Motion> Reach::choose(int axis, const Sweep& sweep) {
  const bool is_formula = advection_->flow().velocity().is_formula();
  const bool is_periodic = grid_.boundary[axis].periodic();
  Way& way = ways_.at(axis);
  way = !sweep.needs_reach()                ? &Reach::unasked
        : !is_formula                       ? &Reach::by_fields
        : is_periodic && grid_.is_cut(axis) ? &Reach::in_part
        : !is_periodic                      ? &Reach::between_ends
                                            : &Reach::displaced;
  if (!is_formula || !sweep.is_segmented()) return std::nullopt;
  // How far a formula moves particles is known only once they have moved.
  if (!displacements_) {
    displacements_ = std::make_shared<Field>(context_, grid_, 1, dtype_, "displacements");
    reduce(displacements_->array(), displacements_->everything(),
           Reduction::max_abs);  // builds what steps will need
  }
  advection_->prepare_to_displace(axis);
  if (is_periodic && grid_.is_cut(axis)) return std::nullopt;
  if (is_periodic) return Motion::given(displacements_, axis);
  way = &Reach::long_between_ends;
  return std::nullopt;
}

void Reach::choose_for_chain(int axis) {
  const bool is_formula = advection_->flow().velocity().is_formula();
  ways_.at(axis) = is_formula ? &Reach::between_ends : &Reach::by_fields;
}

BoundedMotion Reach::unasked(int axis, const Interval& interval) {
  return {advection_->flow().motion(axis, interval), 0};
}

BoundedMotion Reach::by_fields(int axis, const Interval& interval) {
  const double speed = advection_->extremes().measure({{axis, interval}}).front().speed;
  const double cells = speed * std::abs(interval.duration) / grid_.spacing[axis];
  if (grid_.is_cut(axis)) check_move(cells, axis);
  return {advection_->flow().motion(axis, interval, rows_looked_at(axis, cells)), cells};
}

// Beyond its own rows a part pushes those that may reach them, and each stage looks further.
int64_t Reach::rows_looked_at(int axis, double cells) const {
  constexpr int64_t kAround = 8;  // rows that a place is interpolated between, and some more
  if (!grid_.is_cut(axis)) return 0;
  const int64_t move = static_cast<int64_t>(std::ceil(cells)) + 1, whole = grid_.whole_along(axis);
  const Ends& ends = grid_.boundary[axis];
  const bool flows_in = ends.low == Boundary::inflow || ends.high == Boundary::inflow;
  int64_t pushed = (move + sweep_.reach) * (flows_in ? 2 : 1);  // ghosts may be twice as fast
  if (grid_.neighbours->most_rows(axis) + 2 * pushed > whole) pushed = std::max(pushed, whole);
  return pushed + kAround + scheme_of(advection_->flow().velocity().rule.scheme).reach() * move;
}

// A formula is evaluated wherever particles of other parts are. A steady one is measured once,
// which is nearer than its bound.
BoundedMotion Reach::in_part(int axis, const Interval& interval) {
  const bool is_timed = advection_->flow().velocity().depends_on_time;
  const auto known = is_timed ? bound(axis, interval) : std::nullopt;
  return {advection_->flow().motion(axis, interval), known ? *known : displace(axis, interval)};
}

BoundedMotion Reach::between_ends(int axis, const Interval& interval) {
  const auto known = bound(axis, interval);
  return {advection_->flow().motion(axis, interval), known ? *known : measured(axis, interval)};
}

BoundedMotion Reach::long_between_ends(int axis, const Interval& interval) {
  auto cells = bound(axis, interval);
  if (!cells) cells = std::max(displace(axis, interval), measured(axis, interval));
  return {advection_->flow().motion(axis, interval), *cells};
}

BoundedMotion Reach::displaced(int axis, const Interval& interval) {
  const double cells = displace(axis, interval);
  return {Motion::given(displacements_, axis), cells};
}

// What is known without waiting, unless it is so much that to measure costs less than to look so
// far.
std::optional<double> Reach::bound(int axis, const Interval& interval) const {
  const double cells = advection_->extremes().bound_of_move(axis, interval);
  if (!(cells <= kShareOfLine * grid_.whole_along(axis))) return std::nullopt;
  return cells;
}

// By a formula on a line with ends, particles beyond these included. Where it is asked for a
// velocity, the next node is half a cell away at most.
double Reach::measured(int axis, const Interval& interval) {
  const double spacing = grid_.spacing[axis];
  std::vector<Look> looks;
  for (const double time : instants_of(interval)) looks.push_back({axis, {time, 0}});
  double cells = 0;
  for (const Extremes& extremes : advection_->extremes().measure(looks)) {
    const double speed = extremes.speed + extremes.strain * spacing / 2;
    cells = std::max(cells, speed * std::abs(interval.duration) / spacing);
  }
  check_move(cells, axis);
  return cells;
}

// Returns the greatest displacement. A steady formula gives the same ones for the same duration.
double Reach::displace(int axis, const Interval& interval) {
  const Velocity& velocity = advection_->flow().velocity();
  const Push push{axis, interval.duration};
  const int64_t version = velocity.version();
  if (version_ != version) {
    displaced_.reset();
    greatest_.clear();
    version_ = version;
  }
  if (displaced_ != push) {
    displaced_.reset();
    advection_->displace(axis, sweep_.push_of(interval), *displacements_);
  }
  if (velocity.depends_on_time) {
    const auto known = bound(axis, interval);
    return known ? *known : greatest_displacement(axis);
  }
  displaced_ = push;
  const auto known = greatest_.find(push);
  if (known != greatest_.end()) return known->second;
  if (greatest_.size() == kPushesKept) greatest_.clear();
  return greatest_[push] = greatest_displacement(axis);
}

double Reach::greatest_displacement(int axis) const {
  double cells = reduce(displacements_->array(), displacements_->everything(), Reduction::max_abs);
  if (grid_.is_cut(axis)) cells = grid_.neighbours->greatest({cells}).front();
  check_move(cells, axis);
  return cells;
}

}  // namespace particles
