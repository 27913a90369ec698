// SPDX-License-Identifier: BSD-3-Clause
#include "sweep/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "arrays/ceiling.hpp"
#include "arrays/regions.hpp"
#include "fields/neighbours.hpp"
#include "runtime/kernel_source.hpp"

namespace particles {
namespace {

// Components that one launch carries: their sums share a work-item's memory. On GPUs few of them
// are in it at once.
size_t slots_at_most(const Device& device, int nodes, const SweepKind& kind) {
  int most = 4;
  while (device.is_cpu() && most > 1 && kind.rows * most > kPrivateRows / nodes) most--;
  return static_cast<size_t>(most);
}

// Lines of sums that are not results begin in memory as sub-groups of a GPU like it.
constexpr int64_t kSideBySide = 32;

// Distances in the sums of a walk that are not its results: all rows of a kind, one after the
// other, with a number for each line.
struct SumStrides {
  int64_t row, outer, kind;
};

SumStrides sum_strides(const LinePlan& plan) {
  const int64_t few = plan.lines, many = ceiling(few, kSideBySide) * kSideBySide;
  const int64_t pitch = few < kSideBySide ? few : many, row = pitch * plan.outers;
  return {row, pitch, row * (plan.own + 2 * plan.margin)};
}

void add_field(Launch& launch, const Name& name, const Buffer& buffer, const Field& field) {
  launch.buffer(name, buffer).uint64(name + "_offset", field.layout().offset);
}

// A field of one component in memory of its own, with the strides of another.
std::shared_ptr<Field> field_like(const Field& field, DType dtype, const char* name) {
  const Grid& grid = field.grid();
  Layout layout = field.layout();
  layout.offset = 0;
  int64_t elements = kVector;  // the last row is written in whole ones
  for (int k = 0; k < grid.ndim; k++) elements += (grid.shape[k] - 1) * layout.stride[k];
  auto memory = std::make_shared<Buffer>(field.context(),
                                         static_cast<size_t>(elements) * size_of(dtype), name);
  return std::make_shared<Field>(field.context(), grid, 1, dtype, name, memory, layout);
}

}  // namespace

std::array<bool, 2> inflow_ends(const Inflow& inflow, int axis) {
  return {!inflow.at(axis)[0].empty(), !inflow.at(axis)[1].empty()};
}

bool comes_in(const Inflow& inflow, int axis) {
  const auto ends = inflow_ends(inflow, axis);
  return ends[0] || ends[1];
}

int axes_across(const SweepKind& kind, const Motion& motion, const Inflow& inflow) {
  const bool are_strained = kind.adds_up && !motion.is_given() && comes_in(inflow, motion.axis());
  return are_strained ? motion.grid().ndim - 1 : 0;
}

std::string fields_source(size_t components) {
  std::string parameters, fields, kept, elsewhere, others;
  for (size_t c = 0; c < components; c++) {
    const std::string number = std::to_string(c), comma = c == 0 ? "" : ", ";
    const auto pointer = [&](const std::string& name) {
      return "__global stored *" + name + number + ", const ulong " + name + number + "_offset";
    };
    const auto value = [&](const std::string& name) {
      return comma + name + number + " + " + name + number + "_offset";
    };
    parameters += comma + pointer("u") + ", " + pointer("kept");
    elsewhere += ", " + pointer("others");
    fields += value("u");
    kept += value("kept");
    others += value("others");
  }
  return "#define COMPONENTS " + std::to_string(components) + "\n#define FIELD_PARAMETERS " +
         parameters + "\n#define FIELD_POINTERS {" + fields + "}\n#define KEPT_POINTERS {" + kept +
         "}\n#define OTHERS_PARAMETERS " + elsewhere + "\n#define OTHERS_POINTERS {" + others +
         "}\n";
}

std::string inflow_source(const std::vector<size_t>& numbers,
                          const std::array<std::vector<std::string>, 2>& inflow) {
  std::string formulas, choices;
  for (size_t end = 0; end < 2; end++)
    for (size_t c = 0; !inflow[end].empty() && c < numbers.size(); c++) {
      const std::string name = "inflow_" + std::to_string(c) + "_" + std::to_string(end);
      formulas += "#define inflow_formula " + name + "\n" + inflow[end].at(numbers[c]) +
                  "#undef inflow_formula\n";
      choices += "  if (component == " + std::to_string(c) + " && end == " + std::to_string(end) +
                 ") return " + name + "(time, (V)(0), (V)(0), REAL(0.0));\n";
    }
  return formulas + "INLINE V inflow_value(const int component, const int end, const V time) {\n" +
         choices + "  return (V)(REAL(0.0));\n}\n";
}

Sweep::Sweep(std::shared_ptr<Context> context, const Motion& motion, const Fields& fields,
             const RemeshingKernel& kernel, const Form& form, const Inflow& inflow)
    : context_(std::move(context)),
      kind_(kind_of(kernel)),
      axes_across_(axes_across(kind_, motion, inflow)) {
  const LineAxes axes = axes_of_lines(motion.grid(), motion.axis());
  const auto alike = [&](const Slot& a, const Slot& b) {
    const Layout &one = a.home->layout(), &other = b.home->layout();
    return one.padded == other.padded && strides_of(one, axes) == strides_of(other, axes);
  };
  const int nodes = static_cast<int>(motion.grid().shape[motion.axis()]);
  const size_t most = slots_at_most(context_->device(), nodes, kind_);
  std::vector<std::vector<Slot>> sets;
  size_t number = 0;
  for (const auto& field : fields)
    for (int c = 0; c < field->components(); c++) {
      const auto component = field->component(c);
      const Slot slot{component, component, nullptr, number++};
      const auto set = std::find_if(sets.begin(), sets.end(), [&](const auto& candidates) {
        return candidates.size() < most && alike(candidates.front(), slot);
      });
      if (set == sets.end())
        sets.push_back({slot});
      else
        set->push_back(slot);
    }
  for (auto& slots : sets) add_group(motion, std::move(slots), kernel.source, form, inflow);
}

void Sweep::add_group(const Motion& motion, std::vector<Slot> slots, const std::string& weights,
                      const Form& form, const Inflow& inflow) {
  const auto& device = context_->device();
  LineRequest request{device, motion.grid(), motion.axis(), motion.dtype()};
  request.padded = motion.is_padded() && slots.front().home->layout().padded;
  request.sums = kind_.rows * static_cast<int>(slots.size());
  request.margin = kind_.margin;
  request.form = form;
  const DType stored = slots.front().home->dtype();
  request.window = kind_.window;
  request.by_nodes = !kind_.adds_up;
  request.laid_down = kind_.adds_up ? kind_.weights + static_cast<int>(slots.size()) + 1 : 0;
  request.knows_reach = !motion.is_formula();
  request.looks_often = motion.looks() > 2;
  Group group;
  group.plan = plan_lines(request);
  const bool in_registers = group.plan.kind == LineKind::registers;
  // Else partial sums would be rounded.
  const bool are_apart =
      in_registers && kind_.adds_up && (kind_.margin > 0 || stored != motion.dtype());
  const bool in_result = !are_apart && (in_registers || group.plan.kind == LineKind::global_lines);
  const DType swept = in_result && kind_.adds_up ? motion.dtype() : stored;
  for (Slot& slot : slots) {
    if (group.plan.transposed)
      slot.swept = transposed_field(context_, motion.grid(), swept, "transposed field");
    else if (swept != stored)
      slot.swept = field_like(*slot.home, swept, "sums of a sweep");
    else if (group.plan.is_part() && !slot.home->layout().padded)  // `kept` has other distances
      slot.swept = std::make_shared<Field>(context_, motion.grid(), 1, swept, "rows of a part");
    if (in_registers && in_result && slot.swept == slot.home) {
      slot.kept = slot.home;
      slot.spare = slot.home->array().spare();
      continue;
    }
    if (group.plan.is_part() && !in_registers) continue;  // others' rows are `kept`
    const bool has_edges = group.plan.segmented() && !in_registers;
    slot.kept = has_edges   ? field_like(*slot.swept, swept, "edges of segments")
                : in_result ? field_like(*slot.swept, swept, "particles of a sweep")
                            : slot.swept;
  }
  group.is_in_result = in_result;
  group.has_others = in_registers && group.plan.is_part();
  group.copy = MotionCopy(context_, motion, group.plan);
  auto files = motion.generated_files();
  files["generated/weights.cl"] = weights;
  files["generated/swept_fields.cl"] = fields_source(slots.size());
  std::vector<size_t> numbers;
  for (const Slot& slot : slots) numbers.push_back(slot.number);
  if (comes_in(inflow, motion.axis()))
    files["generated/inflow.cl"] = inflow_source(numbers, inflow[motion.axis()]);
  const std::string options = kernel_options(device, swept) + group.plan.options() +
                              (are_apart ? " -DLINES_IN_GLOBAL" : "");
  const bool is_team = group.plan.kind == LineKind::team;
  const std::string file = !kind_.adds_up ? kind_.kernel
                           : in_registers ? "walk"
                           : is_team      ? "team"
                                          : kind_.kernel;
  const std::string name = in_registers && !kind_.adds_up ? "gather_nodes" : file;
  const std::string of_sweep =
      options + kFaintestAreZero + kind_.options_for(group.plan) + motion.options(group.plan);
  const std::string crossflow = " -DCROSSFLOW=" + std::to_string(axes_across_);
  group.sweep =
      context_->kernel(kernel_source("sweep/" + file + ".cl", files), of_sweep + crossflow, name);
  if (are_apart)
    group.store_results =
        context_->kernel(kernel_source("sweep/walk_results.cl", files), of_sweep, "walk_results");
  if (group.plan.segmented() && group.plan.segment < group.plan.own && !in_registers)
    group.keep_edges =
        context_->kernel(kernel_source("sweep/keep_edges.cl", files), options, "keep_edges");
  group.slots = std::move(slots);
  if (are_apart) make_room_for_sums(group, motion.dtype());
  if (kind_.adds_up && !group.plan.ends.periodic()) {
    const size_t items = is_team ? group.plan.groups(device) : group.plan.range(device).global[0];
    group.crossed = std::make_unique<Crossings>(context_, items, group.slots.size(),
                                                group.plan.lanes, motion.dtype());
  }
  groups_.push_back(std::move(group));
}

std::vector<std::string> Sweep::forms() const {
  std::vector<std::string> names;
  for (const Group& group : groups_) {
    const LinePlan& plan = group.plan;
    const std::string name = plan.images ? name_of(plan.kind) + std::string(", images")
                                         : std::string(name_of(plan.kind));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

bool Sweep::needs_reach() const {
  return std::any_of(groups_.begin(), groups_.end(), [](const Group& group) {
    return group.plan.meets_neighbours() || !group.plan.ends.periodic();
  });
}

// Room for lines along any axis, which sweeps along the others share.
void Sweep::make_room_for_sums(Group& group, DType dtype) {
  const Field& first = *group.slots.front().home;
  int64_t most = 0;
  for (int axis = 0; axis < first.grid().ndim; axis++) {
    LinePlan plan = group.plan;
    plan.axes = axes_of_lines(first.grid(), axis);
    const auto along = [&](int k) { return k < 0 ? 1 : static_cast<int>(first.grid().shape[k]); };
    plan.own = along(plan.axes.row);
    plan.lines = along(plan.axes.lane);
    plan.outers = along(plan.axes.outer);
    most = std::max(most, sum_strides(plan).kind);
  }
  const size_t kinds = group.slots.size() * static_cast<size_t>(kind_.rows);
  group.sums = first.array().scratch(kinds * static_cast<size_t>(most) * size_of(dtype));
}

std::vector<std::array<double, 2>> Sweep::crossed() const {
  std::vector<std::array<double, 2>> sums;
  for (const Group& group : groups_) {
    std::vector<std::array<double, 2>> own(group.slots.size());
    if (group.crossed) own = group.crossed->sums();
    for (const Slot& slot : group.slots) sums.resize(std::max(sums.size(), slot.number + 1));
    for (size_t c = 0; c < own.size(); c++) sums[group.slots[c].number] = own[c];
  }
  return sums;
}

void Sweep::apply(const Motion& motion, const Interval& interval, double greatest_move,
                  const Turns& turns) {
  for (Group& group : groups_) {
    for (const Slot& slot : group.slots)
      if (slot.spare)
        continue;
      else if (group.is_in_result)
        slot.kept->copy_from(*slot.home);
      else if (slot.swept != slot.home)
        slot.swept->copy_from(*slot.home);
    if (group.plan.is_part()) fetch(group, rows_of_others(greatest_move));
    launch(group, group.copy.of(motion), interval, greatest_move, turns);
    for (const Slot& slot : group.slots) {
      if (slot.swept != slot.home) slot.home->copy_from(*slot.swept);
      slot.home->touch();
    }
  }
  bring_home();
}

// What has been swept out of place: memory is exchanged where all of it has been swept and nobody
// else knows it; else results are copied.
void Sweep::bring_home() {
  std::map<Array::Spare*, std::vector<const Slot*>> swept;
  for (const Group& group : groups_)
    for (const Slot& slot : group.slots)
      if (slot.spare) swept[slot.spare.get()].push_back(&slot);
  for (const auto& [spare, slots] : swept) {
    const Field& first = *slots.front()->home;
    const size_t bytes = slots.size() * first.layout().component_stride * size_of(first.dtype());
    if (!first.is_shared() && bytes == first.buffer().bytes()) {
      first.array().exchange(*spare);
      continue;
    }
    for (const Slot* slot : slots) {
      const Region region = slot->home->everything();
      copy_region(slot->home->workspace(), {*spare->memory, first.dtype(), region},
                  {slot->home->buffer(), first.dtype(), region});
    }
  }
}

// Where a particle may come from both sides, the whole line is pushed from its first node on,
// wherever that is.
int64_t Sweep::rows_of_others(double greatest_move) const {
  const Group& group = groups_.front();
  const Ends& ends = group.plan.ends;
  const bool flows_in = ends.low == Boundary::inflow || ends.high == Boundary::inflow;
  // What comes in may be twice as fast as particles.
  const int64_t reach = kind_.reach_of(greatest_move) * (flows_in ? 2 : 1);
  if (reach < 0) throw std::invalid_argument("velocity: expected moves of less than 2**30 cells");
  const int64_t most = group.slots.front().home->grid().neighbours->most_rows(group.plan.axes.row);
  const bool goes_around = ends.periodic() && most + 2 * reach > group.plan.nodes;
  return goes_around ? std::max<int64_t>(reach, group.plan.nodes) : reach;
}

// What particles of other parts carry that may reach this one.
void Sweep::fetch(Group& group, int64_t rows) const {
  for (Slot& slot : group.slots) {
    const auto& here = group.has_others ? slot.kept : slot.swept;
    slot.extended.reserve(*here, group.plan.axes.row, here->dtype(), rows, rows);
    slot.extended.fetch(here, rows, rows);
    if (!group.has_others) slot.kept = slot.extended.field();
  }
}

// With the fields, and their division into lines and segments.
Launch Sweep::launch_of(const Kernel& kernel, const Group& group) const {
  Launch launch(kernel);
  for (size_t c = 0; c < group.slots.size(); c++) {
    const Slot& slot = group.slots[c];
    const int number = static_cast<int>(c);
    add_field(launch, {"u", number}, slot.results(), *slot.swept);
    add_field(launch, {"kept", number}, slot.kept->buffer(), *slot.kept);
  }
  add_strides(launch, "", strides_of(group.slots.front().swept->layout(), group.plan.axes));
  group.plan.add_to(launch, context_->device());
  return launch;
}

// Where rows of other parts lie, and how far from it a segment must look.
void Sweep::add_neighbours(Launch& launch, const Group& group, double greatest_move) const {
  for (size_t c = 0; group.has_others && c < group.slots.size(); c++) {
    const Field& others = *group.slots[c].extended.field();
    add_field(launch, {"others", static_cast<int>(c)}, others.buffer(), others);
  }
  if (group.plan.is_part()) {
    const Layout& layout = group.slots.front().extended.field()->layout();
    launch.int64(group.has_others ? "others_outer_stride" : "kept_outer_stride",
                 strides_of(layout, group.plan.axes).outer);
  }
  const int64_t reach = kind_.reach_of(greatest_move);
  const int nodes = group.plan.nodes;
  const bool within = reach >= 0 && (!group.plan.ends.periodic() || reach < nodes);
  launch.int32("reach", within ? reach : nodes);
}

void Sweep::launch(const Group& group, const Motion& motion, const Interval& interval,
                   double greatest_move, const Turns& turns) {
  const LinePlan& plan = group.plan;
  const Range range = plan.range(context_->device());
  const size_t bytes = group.slots.size() * size_of(group.slots.front().swept->dtype());
  if (group.keep_edges) {
    const double share = std::min(1.0, 2 * (greatest_move + 2 * kind_.reach) / plan.segment);
    Launch launch = launch_of(group.keep_edges, group);
    add_neighbours(launch, group, greatest_move);
    context_->queue().launch(
        launch.range(range).traffic(2.0 * share * bytes * motion.grid().points()));
  }
  Launch launch = launch_of(group.sweep, group);
  add_neighbours(launch, group, greatest_move);
  const auto add_real = [&](const Name& name, double value) {
    launch.add(name, real_argument(motion.dtype(), value));
  };
  if (group.crossed) launch.buffer("crossed", group.crossed->buffer());
  if (!plan.ends.periodic()) {
    add_real("sweep_begin", interval.begin);
    add_real("sweep_duration", interval.duration);
  }
  if (needs_turns()) {
    const auto leads = turns.leads.value_or(std::array<double, 3>{});
    launch.int32("others_are_swept", turns.leads.has_value());
    launch.buffer("rates_across", turns.crossflow->rates());
    add_real("lane_lead", plan.axes.lane < 0 ? 0 : leads[plan.axes.lane]);
    add_real("outer_lead", plan.axes.outer < 0 ? 0 : leads[plan.axes.outer]);
  }
  if (plan.kind == LineKind::team) launch.int32("room", plan.room);
  if (plan.kind == LineKind::local_lines || plan.kind == LineKind::team)
    launch.local("local_rows", plan.numbers_in_local() * size_of(motion.dtype()));
  const auto add_sums = [&](Launch& to) {
    const SumStrides strides = sum_strides(plan);
    to.buffer("sums", *group.sums)
        .int64("sums_row_stride", strides.row)
        .int64("sums_outer_stride", strides.outer)
        .int64("sums_kind_stride", strides.kind);
  };
  if (group.sums) add_sums(launch);
  motion.add_to(launch, plan, kind_.push_of(interval));
  const double summed = group.sums ? static_cast<double>(group.slots.size()) * kind_.rows *
                                         static_cast<double>(size_of(motion.dtype()))
                                   : 0;
  const double of_sweep = motion.bytes() + (group.sums ? bytes + summed : 2.0 * bytes);
  context_->queue().launch(launch.range(range).traffic(of_sweep * motion.grid().points()));
  if (!group.sums) return;
  Launch storing = launch_of(group.store_results, group);
  if (group.crossed) storing.buffer("crossed", group.crossed->buffer());
  add_sums(storing);
  context_->queue().launch(storing.range(range).traffic((summed + bytes) * motion.grid().points()));
}

}  // namespace particles
