// SPDX-License-Identifier: BSD-3-Clause
#include "sweep/sweep_chain.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "arrays/ceiling.hpp"
#include "runtime/kernel_source.hpp"

namespace particles {
namespace {

// More are swept faster by all cores, though each sweep wakes them.
constexpr size_t kComponentsAtMost = 4;
constexpr int64_t kNumbersAtMost = 1 << 16;
// So many for each work-item: fewer are not worth waiting for one another.
constexpr int64_t kNumbersEach = 1 << 10;
// Where each has so many planes, little is lost when they are not a multiple.
constexpr int kPlanesEach = 2;

// Of a launch, which ends within milliseconds.
constexpr size_t kSweepsAtMost = 256;
constexpr size_t kLinkNumbers = 15;
// Of rates across an axis, for the sweeps of a launch.
constexpr size_t kBytesOfRates = 1 << 20;
// Distances in nodes are of two numbers of a link, as not all are numbers of float32.
constexpr int64_t kOfFirstNumber = 1 << 12;
// Counters are in cache lines of their own.
constexpr size_t kCounterBytes = 64;

bool is_chosen(const Form& form) {
  return form.kind || form.lanes || form.copied || form.transposed || form.images || form.group ||
         form.tiles || form.nodes;
}

std::vector<std::shared_ptr<Field>> all_components(const Fields& fields) {
  std::vector<std::shared_ptr<Field>> components;
  for (const auto& field : fields)
    for (int c = 0; c < field->components(); c++) components.push_back(field->component(c));
  return components;
}

// Lines along the last axis lie side by side while they are swept, and what moves them always.
LinePlan plan_axis(const Device& device, const Motion& kind, int components,
                   const SweepKind& sweep) {
  LineRequest request{device, kind.grid(), kind.axis(), kind.dtype()};
  request.padded = kind.is_padded();
  request.sums = sweep.rows * components;
  request.margin = sweep.margin;
  request.form.transposed = kind.axis() == kind.grid().ndim - 1;
  return plan_lines(request);
}

}  // namespace

std::optional<ChainPlan> plan_chain(const Flow& flow, const Fields& fields,
                                    const RemeshingKernel& kernel, const std::vector<Form>& forms) {
  const Device& device = flow.context()->device();
  const auto components = all_components(fields);
  const Layout& layout = components.front()->layout();
  const int64_t numbers = flow.velocity().grid.points() * static_cast<int64_t>(components.size());
  const auto lies_alike = [&](const auto& component) {
    return component->layout().padded && component->layout().stride == layout.stride;
  };
  if (!device.is_cpu() || flow.velocity().grid.neighbours ||
      components.size() > kComponentsAtMost || numbers > kNumbersAtMost ||
      std::any_of(forms.begin(), forms.end(), is_chosen) ||
      !std::all_of(components.begin(), components.end(), lies_alike))
    return std::nullopt;
  ChainPlan plan;
  int64_t items = std::clamp<int64_t>(numbers / kNumbersEach, 1, device.compute_units);
  for (int axis = 0; axis < flow.velocity().grid.ndim; axis++) {
    const Motion& motion = flow.kind(axis);
    const LinePlan lines =
        plan_axis(device, motion, static_cast<int>(components.size()), kind_of(kernel));
    const bool fills_lanes = lines.lanes > 1 || motion.grid().ndim == 1;
    if (lines.segmented() || !fills_lanes ||
        lines.lanes != (axis == 0 ? lines : plan.axes[0]).lanes)
      return std::nullopt;
    items = std::min(items, lines.jobs());
    plan.axes.push_back(lines);
  }
  plan.work_items = static_cast<int>(items);
  return plan;
}

SweepChain::SweepChain(std::shared_ptr<Flow> flow, const ChainPlan& plan, const Fields& fields,
                       const RemeshingKernel& kernel, const Inflow& inflow)
    : flow_(std::move(flow)), kind_(kind_of(kernel)), components_(all_components(fields)) {
  const auto& context = flow_->context();
  const DType stored = components_.front()->dtype();
  const LinePlan& last = plan.axes.back();
  const int rows = ceiling(last.nodes, last.lanes) * last.lanes;
  const size_t tile = static_cast<size_t>(rows) * last.lanes * size_of(stored);
  for (size_t c = 0; c < components_.size(); c++)
    side_by_side_.push_back(
        std::make_unique<Buffer>(context, plan.work_items * tile, "lines side by side"));
  const size_t bytes = kSweepsAtMost * kLinkNumbers * size_of(flow_->dtype());
  for (Slot& slot : slots_) {
    slot.links = std::make_unique<Buffer>(context, bytes, "a chain of sweeps");
    slot.jobs = std::make_unique<Buffer>(context, (1 + plan.work_items) * kCounterBytes,
                                         "a chain of sweeps");
  }
  std::vector<size_t> numbers(components_.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<Kind> kinds;
  for (const LinePlan& lines : plan.axes) {
    const int axis = lines.axes.row;
    const Motion& motion = flow_->kind(axis);
    const int across = axes_across(kind_, motion, inflow);
    const Kind kind{lines.options() + motion.options_along_any_axis() +
                        " -DCROSSFLOW=" + std::to_string(across),
                    comes_in(inflow, axis) ? inflow_source(numbers, inflow[axis]) : ""};
    const auto known = std::find(kinds.begin(), kinds.end(), kind);
    const auto number = static_cast<int>(known - kinds.begin());
    if (known == kinds.end()) kinds.push_back(kind);
    axes_.push_back({lines, number, MotionCopy(context, motion, lines), motion});
    if (across > 0) prepare_to_measure(axes_.back(), inflow_ends(inflow, axis));
  }
  kernel_ = context->kernel(program(kinds, kernel), kind_.kernel + "_chain");
  if (has_ends() && kind_.adds_up)
    for (const Axis& axis : axes_)
      crossed_.push_back(std::make_unique<Crossings>(context, axis.plan.jobs(), components_.size(),
                                                     last.lanes, flow_->dtype()));
  by_planes_ = axes_.size() == 3 && plan.axes[0].nodes >= kPlanesEach * plan.work_items;
  range_.global[0] = static_cast<size_t>(plan.work_items);
  range_.local = {1, 1, 1};
}

// A velocity that depends on time has other rates in each sweep.
void SweepChain::prepare_to_measure(Axis& axis, const std::array<bool, 2>& ends) {
  const auto& context = flow_->context();
  const Grid& grid = flow_->velocity().grid;
  const int row = axis.plan.axes.row;
  if (!flow_->velocity().depends_on_time) {
    axis.crossflow = std::make_unique<Crossflow>(*flow_, row, ends);
    return;
  }
  const size_t number = size_of(flow_->dtype());
  const size_t bytes = ends.size() * (grid.ndim - 1) * number * grid.points() / axis.plan.nodes;
  axis.instants = std::clamp<size_t>(kBytesOfRates / bytes, 1, kSweepsAtMost);
  axis.crossflow = std::make_unique<Crossflow>(*flow_, row, ends, axis.instants);
  for (Slot& slot : slots_)
    slot.instants.at(row) =
        std::make_unique<Buffer>(context, axis.instants * number, "a chain of sweeps");
}

// Of each kind of lines, that has these options.
std::vector<ProgramPart> SweepChain::program(const std::vector<Kind>& kinds,
                                             const RemeshingKernel& kernel) const {
  const Motion& motion = flow_->kind(0);
  auto files = motion.generated_files();
  files["generated/weights.cl"] = kernel.source;
  if (motion.is_formula())
    files["generated/velocity_formula.cl"] = formula_along_any_axis(flow_->velocity().formulas);
  files["generated/swept_fields.cl"] = fields_source(components_.size());
  const auto option = [](const std::string& name, size_t value) {
    return " -D" + name + "=" + std::to_string(value);
  };
  const std::string options =
      kernel_options(flow_->context()->device(), components_.front()->dtype()) + kFaintestAreZero +
      kind_.options_for(axes_.front().plan) + option("CHAINED", 1) + option("AXES", axes_.size()) +
      option("KINDS", kinds.size()) + option("HAS_ENDS", has_ends() ? 1 : 0) +
      option("HAS_RATES", has_rates() ? 1 : 0);
  std::vector<ProgramPart> parts;
  for (const auto& [own, inflow] : kinds) {
    auto with_inflow = files;
    if (!inflow.empty()) with_inflow["generated/inflow.cl"] = inflow;
    parts.push_back({kernel_source("sweep/" + kind_.kernel + ".cl", with_inflow),
                     options + own + option("KIND", parts.size())});
  }
  return parts;
}

bool SweepChain::has_ends(int axis) const {
  return !axes_.at(static_cast<size_t>(axis)).plan.ends.periodic();
}

bool SweepChain::has_ends() const {
  return std::any_of(axes_.begin(), axes_.end(),
                     [](const Axis& axis) { return !axis.plan.ends.periodic(); });
}

bool SweepChain::has_rates() const {
  return std::any_of(axes_.begin(), axes_.end(),
                     [](const Axis& axis) { return axis.crossflow != nullptr; });
}

std::vector<std::array<double, 2>> SweepChain::crossed(int axis) const {
  if (crossed_.empty()) return std::vector<std::array<double, 2>>(components_.size());
  return crossed_.at(static_cast<size_t>(axis))->sums();
}

void SweepChain::add(int axis, const Interval& interval, double greatest_move, const Leads& leads) {
  Axis& own = axes_.at(static_cast<size_t>(axis));
  const Velocity& velocity = flow_->velocity();
  const size_t level =
      velocity.is_series() ? velocity.level_at(interval.begin + interval.duration / 2) : 0;
  const bool is_full = links_.size() == kSweepsAtMost * kLinkNumbers ||
                       (velocity.depends_on_time && own.strained.size() == own.instants);
  if (is_full || level != level_) launch();
  level_ = level;
  if (!own.is_used) own.motion = own.copy.of(flow_->motion(axis, interval));
  own.is_used = true;
  // The sweep before goes on with this one, in the same planes.
  const bool is_in_planes =
      by_planes_ && axis > 0 && !links_.empty() && *(links_.end() - kLinkNumbers) > 0;
  if (is_in_planes) links_.back() = 1;
  const auto numbers = own.motion.numbers(kind_.push_of(interval));
  links_.push_back(axis);
  links_.insert(links_.end(), numbers.begin(), numbers.end());
  const int64_t reach = has_ends(axis) ? kind_.reach_of(greatest_move) : 0;
  const int64_t within = reach < 0 ? own.plan.nodes : reach;
  links_.push_back(static_cast<double>(within / kOfFirstNumber));
  links_.push_back(static_cast<double>(within % kOfFirstNumber));
  const LineAxes& axes = own.plan.axes;
  const auto lead = [&](int other) { return leads && other >= 0 ? (*leads)[other] : 0; };
  const double rates = add_strained(own, interval, leads);
  links_.insert(links_.end(), {static_cast<double>(own.kind), interval.begin, interval.duration,
                               rates, lead(axes.lane), lead(axes.outer), 0});
  const size_t moved = 2 * components_.size() * size_of(components_.front()->dtype());
  bytes_ += (own.motion.bytes() + static_cast<double>(moved)) * own.motion.grid().points();
}

// Which rates will be those across a sweep; less than 0 where it is alone.
double SweepChain::add_strained(Axis& axis, const Interval& interval, const Leads& leads) {
  if (!axis.crossflow || !leads) return -1;
  if (axis.strained.empty() || flow_->velocity().depends_on_time) axis.strained.push_back(interval);
  return static_cast<double>(axis.strained.size() - 1);
}

void SweepChain::measure_across(Axis& axis, const Slot& slot) {
  if (axis.strained.empty()) return;
  if (flow_->velocity().depends_on_time)
    axis.crossflow->update(*flow_, axis.strained, *slot.instants.at(axis.plan.axes.row));
  else
    axis.crossflow->update(*flow_, axis.strained.front());
  axis.strained.clear();
}

// Of an axis that has none, nothing is read.
const Buffer& SweepChain::rates_across(const Axis& axis) const {
  const auto measured = std::find_if(axes_.begin(), axes_.end(),
                                     [](const Axis& some) { return some.crossflow != nullptr; });
  return (axis.crossflow ? axis : *measured).crossflow->rates();
}

// The device has read what was in the slot before, and nothing of it is under way.
void SweepChain::write_links(const Slot& slot) const {
  if (flow_->context()->is_dry()) return;
  std::memset(slot.jobs->host_address(), 0, slot.jobs->bytes());
  void* const to = slot.links->host_address();
  if (flow_->dtype() == DType::float64)
    std::copy(links_.begin(), links_.end(), static_cast<double*>(to));
  else
    std::transform(links_.begin(), links_.end(), static_cast<float*>(to),
                   [](double number) { return static_cast<float>(number); });
}

void SweepChain::launch() {
  if (links_.empty()) return;
  Queue& queue = flow_->context()->queue();
  Slot& slot = slots_[slot_];
  slot_ = (slot_ + 1) % slots_.size();
  queue.wait_until(slot.ended);
  write_links(slot);
  for (Axis& axis : axes_) measure_across(axis, slot);
  Launch launch(kernel_);
  for (size_t c = 0; c < components_.size(); c++) {
    const auto number = static_cast<int>(c);
    const Field& field = *components_[c];
    launch.buffer({"u", number}, field.buffer())
        .uint64(Name("u", number) + "_offset", field.layout().offset)
        .buffer({"kept", number}, *side_by_side_[c])
        .uint64(Name("kept", number) + "_offset", 0);
  }
  launch.buffer("links", *slot.links).buffer("jobs", *slot.jobs);
  const Grid& grid = components_.front()->grid();
  const Layout& layout = components_.front()->layout();
  for (int k = 0; k < 3; k++) launch.int32({"points", k}, k < grid.ndim ? grid.shape[k] : 1);
  for (int k = 0; k < 3; k++) launch.int64({"stride", k}, k < grid.ndim ? layout.stride[k] : 0);
  for (const Axis& axis : axes_)
    axis.motion.add_levels(launch, axis.plan, {"motion", axis.plan.axes.row},
                           {"later_motion", axis.plan.axes.row});
  for (int k = 0; k < grid.ndim && axes_[k].motion.is_formula(); k++)
    launch.add({"origin", k}, real_argument(flow_->dtype(), grid.origin[k]))
        .add({"spacing", k}, real_argument(flow_->dtype(), grid.spacing[k]));
  for (size_t k = 0; k < crossed_.size(); k++)
    launch.buffer({"crossed", static_cast<int>(k)}, crossed_[k]->buffer());
  for (int k = 0; k < grid.ndim && has_rates(); k++)
    launch.buffer({"rates", k}, rates_across(axes_[k]));
  launch.int32("sweeps", static_cast<int64_t>(links_.size() / kLinkNumbers));
  axes_.front().motion.add_parameters(launch);
  slot.ended = queue.launch(launch.range(range_).traffic(bytes_));
  for (const auto& component : components_) component->touch();
  for (Axis& axis : axes_) axis.is_used = false;
  links_.clear();
  bytes_ = 0;
}

}  // namespace particles
