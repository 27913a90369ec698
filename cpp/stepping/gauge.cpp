// SPDX-License-Identifier: BSD-3-Clause
#include "stepping/gauge.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace particles {
namespace {

// Of what a joint may be strained, as it changes from step to step.
constexpr double kAimed = 0.98;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The fewest parts of which none is larger than allowed, but for rounding.
double fewest_parts(double ratio) { return std::max(1.0, std::ceil(ratio * (1 - 1e-9))); }

bool is_to_be_said(const Strain& strain, double dt, const Limits& limits) {
  return strain.rate * dt > limits.unsaid || (!limits.leaks_are_unsaid && strain.leak);
}

bool is_joined(const Strain& strain, double dt, const Limits& limits) {
  return strain.joint * dt <= limits.joined;
}

// Whether a duration is lost in the rounding of the time.
bool is_lost(double begin, double duration, double least_of_time) {
  return duration < least_of_time * std::max(std::abs(begin), std::abs(begin + duration));
}

// When steps along all axes look, with the weights of the looks. Of a series, the greatest counts:
// what is linear in time strains most where a piece ends.
struct Looks {
  std::vector<double> instants;
  std::vector<double> weights;  // none where the greatest counts
};

Looks looks_along_all(const Velocity& velocity, double begin, double dt) {
  if (!velocity.is_series()) {
    Looks looks;
    for (const auto& [share, weight] : looks_of(velocity)) {
      looks.instants.push_back((velocity.depends_on_time ? begin : 0) + share * dt);
      looks.weights.push_back(weight);
    }
    return looks;
  }
  Looks looks{{begin}, {}};
  for (const double time : velocity.times)
    if (begin < time && time < begin + dt) looks.instants.push_back(time);
  looks.instants.push_back(begin + dt);
  return looks;
}

// The strain of a step by that of its looks, and when it is most.
std::pair<double, double> weighted(const Looks& looks, const std::vector<double>& strains) {
  double sum = 0;
  std::pair<double, double> most{-1, 0};
  for (size_t k = 0; k < strains.size(); k++) {
    const double strain = looks.weights.empty() ? strains[k] : looks.weights[k] * strains[k];
    sum += strain;
    most = std::max(most, std::pair(strain, looks.instants[k]));
  }
  return {looks.weights.empty() ? most.first : sum, most.second};
}

// A sweep of a step, unless something of it cannot be borne. Of those that strain as much the last
// axis counts, and the last instant.
void take_in(Gauged& step, const Stage& sweep, const Judged& judged) {
  if (step.wrong) return;
  if (judged.wrong) {
    step = {{}, 0, judged.wrong};
    return;
  }
  Strain& strain = step.strain;
  const auto now =
      std::make_tuple(judged.strain * std::abs(sweep.length), sweep.axis, judged.instant);
  if (!strain.axis || now > std::make_tuple(strain.rate, *strain.axis, strain.instant))
    std::tie(strain.rate, strain.axis, strain.instant) = now;
  strain.cells = std::max(strain.cells, judged.cells);
  if (judged.leak && (!strain.leak || *judged.leak > *strain.leak)) strain.leak = judged.leak;
}

// The greatest strain of the first of some steps, up to one of which something is to be said, or
// one that is joined otherwise.
template <class OfStep>
Gauged of_those_alike(int64_t steps, const OfStep& of_step, double dt, const Limits& limits) {
  Gauged all;
  while (all.steps < steps) {
    const Gauged own = of_step(all.steps);
    const Strain& strain = own.strain;
    const bool is_said = own.wrong || is_to_be_said(strain, dt, limits);
    if (all.steps == 0) {
      all = own;
    } else if (!is_said) {
      if (is_joined(strain, dt, limits) != is_joined(all.strain, dt, limits)) break;
      all.steps++;
      all.strain.joint = std::max(all.strain.joint, strain.joint);
      all.strain.cells = std::max(all.strain.cells, strain.cells);
      if (strain.rate > all.strain.rate)
        std::tie(all.strain.rate, all.strain.axis, all.strain.instant) =
            std::tie(strain.rate, strain.axis, strain.instant);
    }
    if (is_said) break;
  }
  return all;
}

}  // namespace

Gauged Gauge::of_steps(const std::vector<double>& times, double dt, const Limits& limits) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return measured(times, dt, limits, held());
}

// Each step begins where the one before has ended, and is shortened until its strain is allowed.
Fitted Gauge::fit(const Wanted& wanted, const Limits& limits) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Fitted fitted;
  fitted.longest = wanted.longest;
  double time = wanted.begin, last_dt = wanted.last_dt;
  std::optional<HalfSweep> before = held();
  while (time < wanted.end && static_cast<int64_t>(fitted.steps.size()) < wanted.steps) {
    const bool is_first = fitted.steps.empty();
    const double span = wanted.end - time;
    double parts = fewest_parts(span / fitted.longest);
    const auto more_parts = [&](double ratio) {
      return std::max(parts + 1, fewest_parts(parts * ratio));
    };
    // A step that strains more than is wanted is shortened. False: it would not change the time.
    const auto shorten = [&](double strain) {
      if (!(strain > wanted.lcfl)) return true;
      parts = more_parts(strain / wanted.lcfl);
      return time + span / parts != time;
    };
    const auto are_fewer_joined = [&](double joined, double alone) {
      const double closed = std::ceil(joined / static_cast<double>(wanted.together));
      return take_fewer(schedules(), joined, closed - (before ? 1 : 0), alone);
    };
    const auto measure = [&] { return measured({time}, span / parts, limits, before); };
    bool changes_time = shorten(least_strain(time, span / parts));
    Gauged gauged;
    for (double strain = kInfinity; changes_time && strain > wanted.lcfl;) {
      gauged = measure();
      strain = gauged.wrong ? 0 : gauged.strain.rate * span / parts;
      changes_time = shorten(strain);
    }
    // It is shortened further if it can then be joined, and that takes fewer sweeps.
    const double beyond = gauged.strain.joint * span / parts / limits.joined;
    if (changes_time && !gauged.wrong && beyond > 1 && std::isfinite(beyond)) {
      const double alone = parts, joined = more_parts(beyond), dt = span / joined;
      if (are_fewer_joined(joined, alone) && time + dt != time) {
        parts = joined;
        gauged = measure();
        if (gauged.wrong || gauged.strain.rate * dt > wanted.lcfl ||
            !is_joined(gauged.strain, dt, limits)) {
          parts = alone;
          gauged = measure();
        }
      }
    }
    if (!changes_time) {
      if (is_first) fitted.is_too_short = true;
      return fitted;
    }
    if (gauged.wrong) {
      if (is_first) fitted.wrong = gauged.wrong;
      return fitted;
    }
    const double dt = span / parts, end = parts == 1 ? wanted.end : time + dt;
    const bool is_said = is_to_be_said(gauged.strain, dt, limits);
    if (!is_first && (is_said || end > wanted.known_until ||
                      is_lost(time, std::max(dt, last_dt), wanted.least_of_time)))
      return fitted;
    if (is_first) fitted.strain = gauged.strain;
    const bool is_last = parts == 1;  // and alone, where nothing is before it
    const bool joined = is_joined(gauged.strain, dt, limits) && (before || !is_last);
    fitted.steps.push_back({time, dt, end, schedules(), joined});
    before = half_left(fitted.steps.back());
    const double rate =
        joined ? std::max(gauged.strain.rate, gauged.strain.joint) : gauged.strain.rate;
    fitted.lcfl = std::max(fitted.lcfl, rate * dt);
    fitted.cells = std::max(fitted.cells, gauged.strain.cells * dt);
    // Where joints are the limit, the next step is longer by as much as this one's allows.
    const Strain& strain = gauged.strain;
    const bool joints_decide = joined && strain.joint > strain.rate &&
                               are_fewer_joined(parts, parts * strain.rate * dt / wanted.lcfl);
    const double growth =
        joints_decide ? std::clamp(kAimed * limits.joined / (strain.joint * dt), 1.0, 2.0) : 2.0;
    fitted.longest =
        std::min(wanted.most, parts == 1 ? std::max(fitted.longest, growth * dt) : growth * dt);
    if (is_said) return fitted;
    time = end;
    last_dt = dt;
  }
  return fitted;
}

Push SplittingGauge::push(int axis, double begin, double duration) const {
  if (is_back_) return {axis, {begin + duration, -duration}};
  return {axis, {begin, duration}};
}

std::vector<Stage> SplittingGauge::sweeps() const {
  std::vector<Stage> sweeps;
  for (const Stage& stage : splitting_->schedule())
    if (stage.axis >= 0) sweeps.push_back(stage);
  return sweeps;
}

std::optional<Wrong> SplittingGauge::choose(double time) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (has_chosen_ && is_timed()) return std::nullopt;
  std::vector<Push> pushes;
  const double begin = is_timed() ? time : 0;
  for (int axis = 0; axis < axes(); axis++) pushes.push_back(push(axis, begin, 0));
  std::vector<double> strains;
  for (const Judged& one : judge(*advection_, pushes)) {
    if (one.wrong) return one.wrong;
    strains.push_back(one.strain);
  }
  splitting_->choose_schedules({strains});
  has_chosen_ = true;
  return std::nullopt;
}

void SplittingGauge::forget() {
  const std::lock_guard<std::mutex> lock(mutex_);
  has_chosen_ = false;
  known_.reset();
}

std::optional<HalfSweep> SplittingGauge::half_left(const FittedStep& step) const {
  if (!step.joined || !joint_of(step.schedules)) return std::nullopt;
  const Stage& last = step.schedules.joined.back();
  return HalfSweep{last.axis, {step.begin + last.begin * step.dt, last.length * step.dt}};
}

// Pushes over the whole of each step along each axis, which decide the order of the sweeps, and
// where the time occurs in the velocity those of the sweeps, and the last: of steps that are
// joined, the joint with the one before. Then the first half sweep is not done.
SplittingGauge::Looked SplittingGauge::look(const std::vector<double>& times, double dt,
                                            bool joined, std::optional<HalfSweep> before) const {
  const Schedules schedules = splitting_->schedules();
  const std::optional<Stage> half = joint_of(schedules);
  Looked looked;
  std::vector<Push> pushes;
  for (const double time : times) {
    const double begin = is_timed() ? time : 0;
    for (int axis = 0; axis < axes(); axis++) pushes.push_back(push(axis, begin, dt));
    looked.joints.push_back(0);
    if (!is_timed()) continue;
    std::optional<Push> joint;
    if (joined && half && half->axis >= 0 && before && before->axis == half->axis) {
      looked.joints.back() = before->interval.duration + half->length * dt;
      joint = push(half->axis, before->interval.begin, looked.joints.back());
    }
    bool is_first = true;
    for (const Stage& sweep : sweeps()) {
      const Push own = push(sweep.axis, begin + sweep.begin * dt, sweep.length * dt);
      pushes.push_back(is_first && joint && sweep.axis == half->axis ? *joint : own);
      is_first = false;
    }
    pushes.push_back(joint.value_or(pushes.back()));
    before = half_left({time, dt, time + dt, schedules, joined});
  }
  looked.judged = judge(*advection_, pushes);
  looked.each = pushes.size() / times.size();
  return looked;
}

// One step of them; after one that is not joined, the next finds nothing to be joined to.
Gauged SplittingGauge::step_of(const Looked& looked, int64_t step, double dt) const {
  const auto place = static_cast<size_t>(step), count = static_cast<size_t>(axes());
  const Judged* own = looked.judged.data() + place * looked.each;
  const std::vector<Stage> sweeps = this->sweeps();
  Gauged found{{}, 1, std::nullopt};
  for (size_t k = 0; k < sweeps.size(); k++)
    take_in(found, sweeps[k], own[is_timed() ? count + k : static_cast<size_t>(sweeps[k].axis)]);
  Strain& strain = found.strain;
  strain.joint = joint(splitting_->schedules(), own);
  if (const double duration = looked.joints[place]; duration > 0) {
    const Judged& last = own[looked.each - 1];
    take_in(found, {sweeps.front().axis, 0, 0}, last);
    strain.joint = std::max(strain.joint, last.strain * duration / dt);
  }
  return found;
}

Gauged SplittingGauge::measured(const std::vector<double>& times, double dt, const Limits& limits,
                                const std::optional<HalfSweep>& before) {
  const Velocity& velocity = advection_->flow().velocity();
  const int64_t version = velocity.version();
  if (known_ && known_->version == version && known_->dt == dt && !velocity.is_shared())
    return known_->gauged;
  const bool may_join = limits.joined >= 0;
  const auto count = static_cast<size_t>(axes());
  Looked looked;
  const auto wrong_along_axes = [&](size_t step) -> std::optional<Wrong> {
    for (size_t axis = 0; axis < count; axis++) {
      const Judged& judged = looked.judged[step * looked.each + axis];
      if (judged.wrong) return judged.wrong;
    }
    return std::nullopt;
  };
  Chosen chosen{true, 0};
  while (chosen.is_new) {
    looked = look(times, dt, may_join, before);
    if (const auto wrong = wrong_along_axes(0)) return {{}, 0, wrong};
    std::vector<std::vector<double>> strains;
    for (size_t step = 0; step < times.size() && !wrong_along_axes(step); step++) {
      strains.emplace_back();
      for (size_t axis = 0; axis < count; axis++)
        strains.back().push_back(looked.judged[step * looked.each + axis].strain);
    }
    chosen = splitting_->choose_schedules(strains);
    has_chosen_ = true;
    if (!is_timed()) break;
  }
  const double joint = step_of(looked, 0, dt).strain.joint;
  const bool is_alone = is_timed() && joint * dt > limits.joined;
  if (is_alone && may_join) looked = look(times, dt, false, before);
  const auto of_step = [&](int64_t step) {
    Gauged found = step_of(looked, step, dt);
    if (step == 0 && is_alone) found.strain.joint = joint;
    return found;
  };
  const Gauged gauged = of_those_alike(chosen.steps, of_step, dt, limits);
  if (!is_timed() && !gauged.wrong) known_ = Known{version, dt, gauged};
  return gauged;
}

// Some axis is swept by the longest part of all, and each by its own.
double SplittingGauge::least_strain(double time, double dt) {
  if (!is_timed()) return 0;
  std::vector<Push> pushes;
  std::vector<double> strains, longest(static_cast<size_t>(axes()), 0.0);
  for (int axis = 0; axis < axes(); axis++) pushes.push_back(push(axis, time, dt));
  for (const Judged& one : judge(*advection_, pushes)) {
    if (one.wrong) return 0;
    strains.push_back(one.strain * dt);
  }
  for (const Stage& sweep : sweeps())
    longest[sweep.axis] = std::max(longest[sweep.axis], std::abs(sweep.length));
  const auto [least, greatest] = std::minmax_element(strains.begin(), strains.end());
  const auto [shortest, whole] = std::minmax_element(longest.begin(), longest.end());
  return std::max(*least * *whole, *greatest * *shortest);
}

double SplittingGauge::joint(const Schedules& schedules, const Judged* of_axes) const {
  const std::optional<Stage> half = joint_of(schedules);
  if (!half) return kInfinity;
  const double length = 2 * half->length;
  for (const Stage& stage : schedules.joined)
    if (stage.axis == half->axis && stage.length >= length) return 0;
  return half->axis >= 0 ? of_axes[half->axis].strain * length : kInfinity;
}

Gauged UnsplitGauge::measured(const std::vector<double>& times, double dt, const Limits& limits,
                              const std::optional<HalfSweep>&) {
  const Flow& flow = advection_->flow();
  const Velocity& velocity = flow.velocity();
  const Grid& grid = velocity.grid;
  const size_t count = velocity.is_series() ? 1 : times.size();
  std::vector<Looks> looks;
  std::vector<double> instants;
  for (size_t step = 0; step < count; step++) {
    looks.push_back(looks_along_all(velocity, times[step], dt));
    instants.insert(instants.end(), looks.back().instants.begin(), looks.back().instants.end());
  }
  const std::vector<FlowExtremes> found = unsplit_->measure(instants);
  const auto of_step = [&](int64_t step) -> Gauged {
    const Looks& own = looks[static_cast<size_t>(step)];
    const FlowExtremes* one = found.data() + static_cast<size_t>(step) * own.instants.size();
    Strain strain;
    std::vector<double> strains;
    for (size_t k = 0; k < own.instants.size(); k++, ++one) {
      for (int axis = 0; axis < grid.ndim; axis++) {
        const double speed = one->speeds[axis];
        if (!is_borne(flow, axis, speed, 0, dt))
          return {{}, 0, Wrong{axis, speed, 0, own.instants[k], dt}};
        strain.cells = std::max(strain.cells, speed / grid.spacing[axis]);
      }
      if (!std::isfinite(one->strain))
        return {{}, 0, Wrong{std::nullopt, 0, one->strain, own.instants[k], dt}};
      strains.push_back(one->strain);
    }
    std::tie(strain.rate, strain.instant) = weighted(own, strains);
    return {strain, 1, std::nullopt};
  };
  return of_those_alike(static_cast<int64_t>(count), of_step, dt, limits);
}

// The first step is judged, by which each is fitted.
Gauged TracersGauge::measured(const std::vector<double>& times, double dt, const Limits&,
                              const std::optional<HalfSweep>&) {
  const Looks looks = looks_along_all(tracers_->velocity(), times.front(), dt);
  const std::vector<double> strains = tracers_->measure(looks.instants);
  for (size_t k = 0; k < strains.size(); k++)
    if (!std::isfinite(strains[k]))
      return {{}, 0, Wrong{std::nullopt, 0, strains[k], looks.instants[k], dt}};
  Gauged gauged;
  gauged.steps = 1;
  std::tie(gauged.strain.rate, gauged.strain.instant) = weighted(looks, strains);
  return gauged;
}

}  // namespace particles
