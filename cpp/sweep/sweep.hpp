// SPDX-License-Identifier: BSD-3-Clause
// One directional sweep of a set of fields.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fields/extended.hpp"
#include "motion/crossflow.hpp"
#include "sweep/crossings.hpp"
#include "sweep/sweep_kind.hpp"

namespace particles {

// What flows in through either end of each axis, for each component of all fields: OpenCL C of
// functions of the time. Empty where nothing does.
using Inflow = std::array<std::array<std::vector<std::string>, 2>, 3>;

// How much further in time a sweep begins than those along the other axes have come, by axis; none
// where it is alone.
using Leads = std::optional<std::array<double, 3>>;

// How a sweep takes turns with those along the other axes.
struct Turns {
  Leads leads;
  const Crossflow* crossflow = nullptr;
};

// Through which ends of lines along an axis something comes in.
std::array<bool, 2> inflow_ends(const Inflow& inflow, int axis);
bool comes_in(const Inflow& inflow, int axis);

// How many other axes strain what comes in along the axis of a motion: masses alone are strained.
int axes_across(const SweepKind& kind, const Motion& motion, const Inflow& inflow);

// What stands for inflow.cl along an axis: chooses among the formulas of the numbered components.
std::string inflow_source(const std::vector<size_t>& numbers,
                          const std::array<std::vector<std::string>, 2>& inflow);

// What stands for swept_fields.cl, for so many components.
std::string fields_source(size_t components);

// One directional sweep of a set of fields by one kind of motion: compiled once, launched often.
class Sweep {
 public:
  Sweep(std::shared_ptr<Context> context, const Motion& motion, const Fields& fields,
        const RemeshingKernel& kernel, const Form& form, const Inflow& inflow);

  // The names of the forms that sweep its components, each once.
  std::vector<std::string> forms() const;

  // True where a line is worked on from beyond its ends. `greatest_move` below is needed then.
  bool needs_reach() const;

  // The interval over which particles are pushed in a sweep over another.
  Interval push_of(const Interval& sweep) const { return kind_.push_of(sweep); }

  // True where other axes strain what comes in. `turns` below are needed then.
  bool needs_turns() const { return axes_across_ > 0; }

  // Of a part of lines: how many rows of others are needed on either side.
  int64_t rows_of_others(double greatest_move) const;

  // Enqueues. `greatest_move`: no particle moves further, in cells.
  void apply(const Motion& motion, const Interval& interval, double greatest_move,
             const Turns& turns = {});

  // Waits. What has left through the low and the high end so far, less what has come in, of each
  // component of all fields.
  std::vector<std::array<double, 2>> crossed() const;

 private:
  // One component: where it is at home, where it is swept (there, unless the plan asks for a
  // transposed layout, or sums that are stored less exactly than they are added up, or a part is
  // not in our own layout), and where particles are that a sweep overwrites too early: those of
  // neighbouring segments, or all where the sums lie in the result.
  struct Slot {
    std::shared_ptr<Field> home, swept, kept;
    size_t number;                                  // among the components of all fields
    std::shared_ptr<Array::Spare> spare = nullptr;  // where a sweep at home leaves its results, if
                                                    // it is out of place
    Extended extended = {};                         // of a part of lines: what others have, whose
                                                    // outer lines have a distance of their own; it
                                                    // is `kept` too, unless all particles are there
    const Buffer& results() const { return spare ? *spare->memory : swept->buffer(); }
  };
  // Components of the same layout, carried together.
  struct Group {
    std::vector<Slot> slots;
    LinePlan plan;
    bool is_in_result = false;  // what is summed up, while particles lie elsewhere
    bool has_others = false;    // in `extended` alone, while those of a part are in `kept`
    Kernel sweep, keep_edges, store_results;
    std::shared_ptr<Buffer> sums;  // of a walk, where they are not its results
    MotionCopy copy;
    std::unique_ptr<Crossings> crossed;  // of each work-item; none of a periodic line
  };

  void add_group(const Motion& motion, std::vector<Slot> slots, const std::string& weights,
                 const Form& form, const Inflow& inflow);
  void make_room_for_sums(Group& group, DType dtype);
  void bring_home();
  void fetch(Group& group, int64_t rows) const;
  void launch(const Group& group, const Motion& motion, const Interval& interval,
              double greatest_move, const Turns& turns);
  Launch launch_of(const Kernel& kernel, const Group& group) const;
  void add_neighbours(Launch& launch, const Group& group, double greatest_move) const;

  std::shared_ptr<Context> context_;
  SweepKind kind_;
  int axes_across_;
  std::vector<Group> groups_;
};

}  // namespace particles
