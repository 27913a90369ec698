// SPDX-License-Identifier: BSD-3-Clause
#include "stepping/reach.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "arrays/reductions.hpp"
#include "fields/neighbours.hpp"
#include "motion/judgement.hpp"

namespace particles {
namespace {

// Cells are counted in 32 bits.
constexpr double kMovesAtMost = 1 << 30;

// Durations of which long lines keep how far a formula moves them: up to three along each of three
// axes, and those of a shorter step.
constexpr size_t kPushesKept = 18;

// Of a line's nodes: moves by less are not measured where a bound is known.
constexpr double kShareOfLine = 0.125;

std::invalid_argument too_far(const std::string& expected, double cells, int axis) {
  return std::invalid_argument("velocity: expected moves of " + expected + ", got " +
                               std::to_string(std::abs(cells)) + " along axis " +
                               std::to_string(axis));
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
  if (!is_formula || !sweep.needs_reach()) return std::nullopt;
  // How far a formula moves particles is known only once they have moved.
  if (!is_periodic || grid_.is_cut(axis)) {
    advection_->prepare_to_find_farthest(axis);
    return std::nullopt;
  }
  if (!displacements_) {
    displacements_ = std::make_shared<Field>(context_, grid_, 1, dtype_, "displacements");
    reduce(displacements_->array(), displacements_->everything(),
           Reduction::max_abs);  // builds what steps will need
  }
  advection_->prepare_to_displace(axis);
  return Motion::given(displacements_, axis);
}

void Reach::choose_for_chain(int axis) {
  const bool is_formula = advection_->flow().velocity().is_formula();
  ways_.at(axis) = is_formula ? &Reach::between_ends : &Reach::by_fields;
  if (is_formula) advection_->prepare_to_find_farthest(axis);
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
  return {advection_->flow().motion(axis, interval), known ? *known : farthest(axis, interval)};
}

// Between its points a formula may be anything: a particle that crosses an end has an image beyond
// it, which must be known of.
BoundedMotion Reach::between_ends(int axis, const Interval& interval) {
  auto cells = bound(axis, interval);
  if (!cells) cells = std::max(farthest(axis, interval), beyond_ends(axis, interval));
  return {advection_->flow().motion(axis, interval), *cells};
}

BoundedMotion Reach::displaced(int axis, const Interval& interval) {
  displace(axis, interval);
  const auto measure = [&] {
    return reduce(displacements_->array(), displacements_->everything(), Reduction::max_abs);
  };
  const auto known = bound(axis, interval);
  const bool is_timed = advection_->flow().velocity().depends_on_time;
  const double cells = is_timed && known ? *known : greatest_of({axis, interval.duration}, measure);
  return {Motion::given(displacements_, axis), cells};
}

// What is known without waiting, unless it is so much that to measure costs less than to look so
// far.
std::optional<double> Reach::bound(int axis, const Interval& interval) const {
  const double cells = advection_->extremes().bound_of_move(axis, interval);
  if (!(cells <= kShareOfLine * grid_.whole_along(axis))) return std::nullopt;
  return cells;
}

// Particles beyond the ends of a line, by a formula. Where it is asked for a velocity, the next
// node is half a cell away at most. Images move as far as those on the line do.
double Reach::beyond_ends(int axis, const Interval& interval) {
  const Ends& ends = grid_.boundary[axis];
  if (ends.low == Boundary::wall && ends.high == Boundary::wall) return 0;
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

double Reach::farthest(int axis, const Interval& interval) {
  forget_what_has_changed();
  return greatest_of({axis, interval.duration},
                     [&] { return advection_->farthest(axis, sweep_.push_of(interval)); });
}

void Reach::displace(int axis, const Interval& interval) {
  forget_what_has_changed();
  const Push push{axis, interval.duration};
  if (displaced_ == push) return;
  displaced_.reset();
  advection_->displace(axis, sweep_.push_of(interval), *displacements_);
  if (!advection_->flow().velocity().depends_on_time) displaced_ = push;
}

// The greatest move of a push, by `measure`. A steady formula gives the same ones for the same
// duration.
double Reach::greatest_of(const Push& push, const std::function<double()>& measure) {
  const bool is_steady = !advection_->flow().velocity().depends_on_time;
  const auto known = greatest_.find(push);
  if (is_steady && known != greatest_.end()) return known->second;
  const double cells = measure();
  check_move(cells, push.first);
  if (greatest_.size() == kPushesKept) greatest_.clear();
  if (is_steady) greatest_[push] = cells;
  return cells;
}

void Reach::forget_what_has_changed() {
  const int64_t version = advection_->flow().velocity().version();
  if (version_ == version) return;
  displaced_.reset();
  greatest_.clear();
  version_ = version;
}

void Reach::check_move(double cells, int axis) const {
  if (!(cells < kMovesAtMost)) throw too_far("less than 2**30 cells", cells, axis);
  const int64_t points = grid_.whole_along(axis);
  if (!grid_.boundary[axis].periodic() && cells > kMostLengths * static_cast<double>(points))
    throw too_far("at most " + std::to_string(kMostLengths) +
                      " times the length of lines with ends, " + std::to_string(points) + " cells",
                  cells, axis);
}

}  // namespace particles
