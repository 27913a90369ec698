// SPDX-License-Identifier: BSD-3-Clause
// How much steps strain what is carried, and how long they may be.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "motion/judgement.hpp"
#include "stepping/schedule.hpp"
#include "stepping/splitting.hpp"
#include "stepping/tracers.hpp"
#include "stepping/unsplit.hpp"

namespace particles {

// Of the sweeps of a step, per unit of its duration.
struct Strain {
  double rate = 0;          // of the most strained one
  std::optional<int> axis;  // of that; none where a step moves along all axes at once
  // Of the sweep that joins two steps; infinite where steps cannot be joined, 0 where they have as
  // long a sweep anyway.
  double joint = std::numeric_limits<double>::infinity();
  double instant = 0;  // when the velocity strains so much
  double cells = 0;    // that particles cross along one axis, at most
  std::optional<Leak> leak;
};

// The greatest strain of some steps, and of how many. Or, of none, what cannot be borne.
struct Gauged {
  Strain strain;
  int64_t steps = 0;
  std::optional<Wrong> wrong;
};

// What tells steps apart: something is said of those that strain more than is `unsaid`, or let
// something through walls, unless that is unsaid as well; and joints are strained by `joined` at
// most.
struct Limits {
  double unsaid;
  bool leaks_are_unsaid;
  double joined;
};

// Steps as large as a strain allows.
struct Wanted {
  double begin, end;     // the last one ends there
  double lcfl;           // the strain
  double longest, most;  // the first one is at most so long, and all are
  double last_dt;        // of the step before the first; 0 for none
  double known_until;    // others than the first end by then
  double least_of_time;  // what share of a time can be told from it; 0 for any
  int64_t steps;         // at most
  int64_t together;      // that may be joined to one another
};

// Some of them, about which nothing is said, or the first alone. None where that cannot be borne,
// or would have to be so short that the time stays what it is.
struct Fitted {
  std::vector<FittedStep> steps;
  Strain strain;               // of the first
  double lcfl = 0, cells = 0;  // the greatest strain and the most cells of a step
  double longest = 0;          // that the next may be
  std::optional<Wrong> wrong;
  bool is_too_short = false;
};

class Gauge {
 public:
  virtual ~Gauge() = default;

  // Of steps of `dt` at times: the greatest strain of those before the first about which something
  // is to be said, or which is joined while they are not, or the reverse; or of that if something
  // is to be said about the first. What is joined does not depend on which steps are asked about
  // together.
  Gauged of_steps(const std::vector<double>& times, double dt, const Limits& limits);

  Fitted fit(const Wanted& wanted, const Limits& limits);

 protected:
  // `before`: what the first step may be joined to.
  virtual Gauged measured(const std::vector<double>& times, double dt, const Limits& limits,
                          const std::optional<HalfSweep>& before) = 0;
  // What a step strains at least, by few looks.
  virtual double least_strain(double, double) { return 0; }
  virtual Schedules schedules() const { return {}; }
  // The half sweep that waits for the next step, and that which a step leaves.
  virtual std::optional<HalfSweep> held() const { return std::nullopt; }
  virtual std::optional<HalfSweep> half_left(const FittedStep&) const { return std::nullopt; }

  std::mutex mutex_;  // one caller at a time
};

// Has the schedules of a splitting follow its velocity.
class SplittingGauge : public Gauge {
 public:
  // `is_back`: particles are followed back, as values want it.
  SplittingGauge(std::shared_ptr<AdvectionOp> advection, std::shared_ptr<Splitting> splitting,
                 bool is_back)
      : advection_(std::move(advection)), splitting_(std::move(splitting)), is_back_(is_back) {}

  // Chooses schedules for a step from a time on. Where the time occurs in the velocity, those of
  // the last step stay.
  std::optional<Wrong> choose(double time);

  // What is known, and that schedules have been chosen.
  void forget();

 protected:
  Gauged measured(const std::vector<double>& times, double dt, const Limits& limits,
                  const std::optional<HalfSweep>& before) override;
  double least_strain(double time, double dt) override;
  Schedules schedules() const override { return splitting_->schedules(); }
  std::optional<HalfSweep> held() const override { return splitting_->held(); }
  std::optional<HalfSweep> half_left(const FittedStep& step) const override;

 private:
  Push push(int axis, double begin, double duration) const;
  std::vector<Stage> sweeps() const;
  // What has been found of some steps, so many pushes of each; and how long the joint with the one
  // before is, 0 where there is none.
  struct Looked {
    std::vector<Judged> judged;
    size_t each = 0;
    std::vector<double> joints;
  };
  Looked look(const std::vector<double>& times, double dt, bool joined,
              std::optional<HalfSweep> before) const;
  Gauged step_of(const Looked& looked, int64_t step, double dt) const;
  bool is_timed() const { return advection_->flow().velocity().depends_on_time; }
  int axes() const { return advection_->flow().velocity().grid.ndim; }
  double joint(const Schedules& schedules, const Judged* of_axes) const;

  std::shared_ptr<AdvectionOp> advection_;
  std::shared_ptr<Splitting> splitting_;
  bool is_back_, has_chosen_ = false;
  // Of a steady velocity, the last that was found.
  struct Known {
    int64_t version;
    double dt;
    Gauged gauged;
  };
  std::optional<Known> known_;
};

// Of particles that move along all axes at once.
class UnsplitGauge : public Gauge {
 public:
  UnsplitGauge(std::shared_ptr<AdvectionOp> advection, std::shared_ptr<Unsplit> unsplit)
      : advection_(std::move(advection)), unsplit_(std::move(unsplit)) {}

 protected:
  Gauged measured(const std::vector<double>& times, double dt, const Limits& limits,
                  const std::optional<HalfSweep>& before) override;

 private:
  std::shared_ptr<AdvectionOp> advection_;
  std::shared_ptr<Unsplit> unsplit_;
};

// Of what is anywhere in a box. Nothing is refused but what is not finite.
class TracersGauge : public Gauge {
 public:
  explicit TracersGauge(std::shared_ptr<Tracers> tracers) : tracers_(std::move(tracers)) {}

 protected:
  Gauged measured(const std::vector<double>& times, double dt, const Limits& limits,
                  const std::optional<HalfSweep>& before) override;

 private:
  std::shared_ptr<Tracers> tracers_;
};

}  // namespace particles
