// SPDX-License-Identifier: BSD-3-Clause
// How the velocity across an axis strains what comes in through its ends.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "motion/flow.hpp"
#include "runtime/buffer.hpp"

namespace particles {

class Crossflow {
 public:
  // Compiles for the ends of an axis. `ends`: through which of them particles come in. `instants`:
  // how many are measured at once, at most.
  Crossflow(const Flow& flow, int axis, const std::array<bool, 2>& ends,
            std::optional<size_t> instants = std::nullopt);

  // Enqueues where the velocity has changed, or depends on time: the rates in the middle of an
  // interval.
  void update(Flow& flow, const Interval& interval);

  // Enqueues at once: the rates in the middle of intervals, all of them between the same two times
  // of a series. `table`: room for a number of each, which nothing reads any more.
  void update(Flow& flow, const std::vector<Interval>& intervals, const Buffer& table);

  // The derivative of the velocity along each other axis, the lane axis first, at each line of
  // either end, at one instant after the other.
  const Buffer& rates() const { return *rates_; }

 private:
  struct Other {
    LinePlan plan;
    Kernel kernel;
  };
  struct Instants {
    const std::vector<Interval>& intervals;
    const Buffer& table;
  };
  size_t rates_of_instant() const { return ends_.size() * others_.size() * lines_; }
  void write(const Instants& instants, const Motion& motion) const;
  void measure(Flow& flow, const Interval& interval, const std::optional<Instants>& instants);
  void launch(size_t which, size_t end, const Motion& motion, const Interval& interval,
              const std::optional<Instants>& instants);
  template <class Real>
  void tell_others();

  std::shared_ptr<Context> context_;
  Grid grid_;
  LineAxes axes_;
  std::array<bool, 2> ends_;
  std::vector<Other> others_;  // along the lane axis, and along the outer axis
  DType dtype_;
  size_t lines_;
  std::unique_ptr<Buffer> rates_;
  std::optional<int64_t> version_;  // of the velocity they were measured on
};

}  // namespace particles
