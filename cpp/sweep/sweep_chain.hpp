// SPDX-License-Identifier: BSD-3-Clause
// Many sweeps in one launch, of fields so small that waking threads for each sweep would take
// longer than the sweep.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "motion/flow.hpp"
#include "sweep/sweep.hpp"

namespace particles {

// How lines are worked on where a launch does a chain of sweeps.
struct ChainPlan {
  std::vector<LinePlan> axes;  // with as many lanes; lines along the last are moved
  int work_items = 1;
};

// None where each sweep needs a launch of its own: on a GPU, where lines must be cut or are many
// enough for all cores, where vectors cannot be filled, and where a form has been chosen.
std::optional<ChainPlan> plan_chain(const Flow& flow, const Fields& fields,
                                    const RemeshingKernel& kernel, const std::vector<Form>& forms);

// Sweeps of a set of fields along any axes, enqueued together. Not for several threads at once.
class SweepChain {
 public:
  SweepChain(std::shared_ptr<Flow> flow, const ChainPlan& plan, const Fields& fields,
             const RemeshingKernel& kernel, const Inflow& inflow);

  // One more, over an interval within one piece. Enqueues those before it where there is no room
  // for it, or where what moves particles lies elsewhere. `greatest_move`: no particle of lines
  // with ends moves further, in cells.
  void add(int axis, const Interval& interval, double greatest_move, const Leads& leads);

  // Enqueues all that have been added.
  void launch();

  // Whether lines along an axis have ends. `greatest_move` above is needed then.
  bool has_ends(int axis) const;

  // Waits. What has left through the low and the high end of lines along an axis so far, of each
  // component of all fields.
  std::vector<std::array<double, 2>> crossed(int axis) const;

 private:
  // What a launch reads while the host makes ready the next ones.
  struct Slot {
    std::unique_ptr<Buffer> links, jobs;
    std::array<std::unique_ptr<Buffer>, 3> instants;  // of rates across each axis
    Event ended;
  };

  // Lines that one function sweeps: its options, and the text of what comes in.
  using Kind = std::pair<std::string, std::string>;

  // What moves particles along an axis, where it is read.
  struct Axis {
    LinePlan plan;
    int kind;  // of its lines: those of one are swept by the same function
    MotionCopy copy;
    Motion motion;
    bool is_used = false;                            // by a sweep that has been added
    std::unique_ptr<Crossflow> crossflow = nullptr;  // where other axes strain what comes in
    size_t instants = 1;                             // that are measured together, at most
    std::vector<Interval> strained = {};             // where they will be
  };

  bool has_ends() const;
  bool has_rates() const;
  const Buffer& rates_across(const Axis& axis) const;
  std::vector<ProgramPart> program(const std::vector<Kind>& kinds,
                                   const RemeshingKernel& kernel) const;
  void prepare_to_measure(Axis& axis, const std::array<bool, 2>& ends);
  double add_strained(Axis& axis, const Interval& interval, const Leads& leads);
  void measure_across(Axis& axis, const Slot& slot);
  void write_links(const Slot& slot) const;

  std::shared_ptr<Flow> flow_;
  SweepKind kind_;
  std::vector<std::shared_ptr<Field>> components_;
  std::vector<std::unique_ptr<Buffer>> side_by_side_;  // of each, the lines of a tile
  std::vector<Axis> axes_;
  std::vector<std::unique_ptr<Crossings>> crossed_;  // of each axis, of each tile; or none
  Kernel kernel_;
  Range range_;
  bool by_planes_ = false;     // sweeps along axes 1 and 2 are done plane by plane
  std::vector<double> links_;  // numbers of all sweeps that have been added
  double bytes_ = 0;           // that they move
  size_t level_ = 0;           // of a series, which they lie after
  std::array<Slot, 4> slots_;
  size_t slot_ = 0;  // the next one
};

}  // namespace particles
