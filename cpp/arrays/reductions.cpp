// SPDX-License-Identifier: BSD-3-Clause
#include "arrays/reductions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "arrays/ceiling.hpp"
#include "arrays/regions.hpp"
#include "arrays/shares.hpp"
#include "arrays/workspace.hpp"

namespace particles {

namespace {

// Groups enough for many compute units, yet few results for the host to combine: each leaves its
// lanes on CPUs and a single one on GPUs. Of long axes several planes are one unit.
constexpr int64_t kBlock = 1024, kMostCpuGroups = 512, kMostGroups = 4096, kGroup = 64, kChains = 8;
constexpr int64_t kMostUnits = 512;  // of a size that depends on the number of planes alone
const char* const kScratch = "partial results of a reduction";
constexpr double kNoBound = std::numeric_limits<double>::quiet_NaN();

// What the groups leave: of each result a value for every lane.
struct Partials {
  std::vector<std::vector<double>> of_result;
  size_t lanes;
};

Partials read_partials(const Buffer& buffer, DType dtype, int64_t groups, int64_t lanes,
                       int64_t results) {
  const std::vector<double> raw =
      read_reals(buffer, dtype, static_cast<size_t>(results * groups * lanes));
  Partials partials{std::vector<std::vector<double>>(static_cast<size_t>(results)),
                    static_cast<size_t>(lanes)};
  auto it = raw.begin();
  while (it != raw.end()) {
    for (auto& of_result : partials.of_result) {
      of_result.insert(of_result.end(), it, it + lanes);
      it += lanes;
    }
  }
  return partials;
}

// Who goes through the elements: vectors of lanes on CPUs, groups of work-items on GPUs.
struct Workers {
  int64_t lanes = 1, group = 1, most_groups = kMostGroups;
};

Workers workers_for(const Workspace& workspace, DType dtype) {
  const Device& device = workspace.device();
  Workers workers;
  if (device.is_cpu()) {
    workers.lanes = workspace.lanes(size_of(arithmetic(dtype)));
    workers.most_groups = kMostCpuGroups;
  } else {
    while (workers.group < kGroup &&
           2 * static_cast<size_t>(workers.group) <= device.largest_work_group)
      workers.group *= 2;
  }
  return workers;
}

std::string options_for(const Device& device, DType dtype, const Workers& workers,
                        bool unit_stride) {
  std::string options = dtype_options(dtype) + " -DLANES=" + std::to_string(workers.lanes) +
                        " -DGROUP=" + std::to_string(workers.group) +
                        " -DBLOCK=" + std::to_string(kBlock) + fma_option(device);
  if (unit_stride) options += " -DUNIT_STRIDE";
  return options;
}

// What is counted lies between them; the first is also what is taken from each number.
struct Bounds {
  double lower, upper;
};

int64_t blocks_of(const Region& region) {
  return region.points() / region.count[3] * ceiling(region.count[3], kBlock);
}

// A region whose blocks the groups share evenly, as if it had so many planes across its first axis.
struct Shared {
  Region region;
  int64_t planes, groups;
};

// Groups take the same blocks of a unit of planes in whatever part it is, those of all components
// together. The last unit may lack planes: its groups find less to do, or nothing.
Shared shared_by_groups(const Region& region, const Planes& planes, int64_t most_groups) {
  if (planes.axis < 0) return {region, region.count[0], std::min(most_groups, blocks_of(region))};
  Shared shared{region, 0, 0};
  Region& turned = shared.region;
  for (int k = planes.axis; k > 0; k--) {
    std::swap(turned.count[k], turned.count[k - 1]);
    std::swap(turned.stride[k], turned.stride[k - 1]);
  }
  const int64_t unit = unit_of(planes.whole);
  const auto units_of = [unit](int64_t count) { return ceiling(count, unit); };
  const int64_t units = units_of(turned.count[0]);
  const int64_t blocks = blocks_of(turned) / turned.count[0] * unit;
  shared.planes = units * unit;
  shared.groups = units * std::clamp<int64_t>(most_groups / units_of(planes.whole), 1, blocks);
  return shared;
}

Partials partials_of(const Array& array, const Region& whole, const Planes& planes,
                     const std::string& name, const std::string& choices, int64_t results,
                     const std::optional<Bounds>& bounds) {
  const DType dtype = array.dtype();
  Workspace& workspace = array.workspace();
  const Workers workers = workers_for(workspace, dtype);
  const Shared shared = shared_by_groups(whole, planes, workers.most_groups);
  const Region& region = shared.region;
  const auto kernel = workspace.kernel(
      ("arrays/" + name + ".cl").c_str(),
      options_for(workspace.device(), dtype, workers, region.stride[3] == 1) + choices,
      name.c_str());
  const auto scratch = workspace.scratch(
      {static_cast<size_t>(results * shared.groups * workers.lanes) * size_of(arithmetic(dtype))},
      kScratch);

  Range range;
  range.global[0] = static_cast<size_t>(shared.groups * workers.group);
  range.local = {static_cast<size_t>(workers.group), 1, 1};
  Launch launch(kernel);
  launch.buffer("u", array.buffer()).int64("offset", region.offset);
  for (int k = 0; k < 4; k++) launch.int64({"s", k}, region.stride[k]);
  add_counts(launch, region);
  launch.int64("shared", shared.planes);
  if (bounds)
    launch.add("lower", real_argument(dtype, bounds->lower))
        .add("upper", real_argument(dtype, bounds->upper));
  launch.buffer("partials", *scratch.buffers[0])
      .range(range)
      .traffic(static_cast<double>(region.points()) * size_of(dtype));
  workspace.context().queue().launch(launch);
  return read_partials(*scratch.buffers[0], dtype, shared.groups, workers.lanes, results);
}

Partials run(const Array& array, const Region& region, const Planes& planes,
             const std::string& action, const std::string& term, double lower = kNoBound,
             double upper = kNoBound) {
  return partials_of(array, region, planes, "reduce", " -DACTION=" + action + " -DTERM=" + term, 2,
                     Bounds{lower, upper});
}

// Knuth's two-sum carries rests along. Infinities and NaN among the values make rests meaningless:
// then the plain sum says it all.
struct Sum {
  double sum = 0, rest = 0, plain = 0;

  void add(double term) {
    const double next = sum + term;
    const double shadow = next - sum;
    rest += (sum - (next - shadow)) + (term - shadow);
    sum = next;
  }
  void add_value(double value) {
    plain += value;
    add(value);
  }
  double result() const { return std::isfinite(plain) ? sum + rest : plain; }
};

// Of what the lanes of each group found, which become one number and its rest first. What rounding
// took from a number that is not finite means nothing.
ExactSum total(const std::vector<double>& values, const std::vector<double>& rests, size_t lanes) {
  ExactSum all;
  for (size_t first = 0; first < values.size(); first += lanes) {
    Sum of_group;
    for (size_t k = first; k < first + lanes; k++) {
      of_group.add(values[k]);
      of_group.rest += rests[k];
    }
    all.add(of_group.sum);
    if (std::isfinite(of_group.sum) && std::isfinite(of_group.rest)) all.add(of_group.rest);
  }
  return all;
}

ExactSum total(const Partials& partials, size_t result = 0) {
  return total(partials.of_result[result], partials.of_result[result + 1], partials.lanes);
}

double larger(double result, double value) {
  return value > result || std::isnan(value) ? value : result;
}

// The same whatever the order: of zeros and of NaN the sign is that of the one met first, so it is
// taken away.
double without_sign(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value + 0.0;
}

double largest(const std::vector<double>& values) {
  double result = values.front();
  for (double value : values) result = larger(result, value);
  return without_sign(result);
}

double least(std::vector<double> values) {
  for (double& value : values) value = -value;
  return without_sign(-largest(values));
}

// Lines along an axis of a region, by the other three axes.
struct Lines {
  int64_t offset, count, stride;
  std::array<int64_t, 3> others{}, other_strides{};

  int64_t number() const { return others[0] * others[1] * others[2]; }
};

Lines lines_along(const Region& region, int axis) {
  Lines lines{region.offset, region.count[axis], region.stride[axis]};
  for (int k = 0, j = 0; k < 4; k++) {
    if (k == axis) continue;
    lines.others[j] = region.count[k];
    lines.other_strides[j++] = region.stride[k];
  }
  return lines;
}

// A number for each line; where they are sums, what rounding took from them follows.
std::vector<double> run_along(const Array& array, const Lines& lines, const char* action,
                              const char* term, const Buffer* centres = nullptr) {
  const DType dtype = array.dtype();
  Workspace& workspace = array.workspace();
  const Device& device = workspace.device();
  Workers workers = workers_for(workspace, dtype);
  workers.group = 1;
  const auto kernel = workspace.kernel(
      "arrays/reduce_along.cl",
      options_for(device, dtype, workers, lines.other_strides[2] == 1) + " -DACTION=" + action +
          " -DTERM=" + term + " -DCHAINS=" + std::to_string(device.is_cpu() ? kChains : 1),
      "reduce_along");
  const bool is_sum = std::string(action) != "LARGEST";
  const auto results = static_cast<size_t>(lines.number()) * (is_sum ? 2 : 1);
  const auto scratch = workspace.scratch({results * size_of(arithmetic(dtype))}, kScratch);
  Region rows;
  std::copy(lines.others.begin(), lines.others.end(), rows.count.begin() + 1);
  Launch launch(kernel);
  launch.buffer("u", array.buffer()).int64("offset", lines.offset);
  for (int k = 0; k < 3; k++) launch.int64({"t", k}, lines.other_strides[k]);
  launch.int64("s", lines.stride);
  for (int k = 0; k < 3; k++) launch.int64({"m", k}, lines.others[k]);
  launch.int64("n", lines.count);
  if (centres) launch.buffer("centres", *centres);
  launch.buffer("partials", *scratch.buffers[0])
      .range(range_for_rows(device, rows))
      .traffic(static_cast<double>(lines.number()) * lines.count * size_of(dtype));
  workspace.context().queue().launch(launch);
  return read_reals(*scratch.buffers[0], dtype, results);
}

// Which lines are reduced on the device, along the longest axis of those that are meant, and which
// result each of them is part of.
struct LineResults {
  Lines lines;
  std::array<int64_t, 3> steps{};  // to the next result along each of the other axes
  int64_t results = 1;

  int64_t result_of(int64_t line) const {
    const int64_t row = line / lines.others[2];
    return row / lines.others[1] * steps[0] + row % lines.others[1] * steps[1] +
           line % lines.others[2] * steps[2];
  }
};

LineResults line_results(const Region& region, const std::array<bool, 4>& along) {
  int axis = -1;  // the longest one on the device, the others here
  for (int k = 0; k < 4; k++)
    if (along[k] && (axis < 0 || region.count[k] > region.count[axis])) axis = k;

  LineResults found{lines_along(region, axis)};
  for (int k = 3, j = 2; k >= 0; k--) {
    if (k == axis) continue;
    found.steps[j] = along[k] ? 0 : found.results;
    if (!along[k]) found.results *= found.lines.others[j];
    j--;
  }
  return found;
}

// Of what was found for each line, and what rounding took from it.
std::vector<double> totals(const LineResults& by_line, const std::vector<double>& found) {
  std::vector<Sum> sums(by_line.results);
  const int64_t number = by_line.lines.number();
  for (int64_t k = 0; k < number; k++) {
    Sum& sum = sums[by_line.result_of(k)];
    sum.add_value(found[k]);
    sum.add(found[number + k]);
  }
  std::vector<double> values;
  for (const Sum& sum : sums) values.push_back(sum.result());
  return values;
}

}  // namespace

int64_t unit_of(int64_t planes) {
  int64_t unit = 1;
  while (planes / unit > kMostUnits) unit *= 2;
  return unit;
}

ExactSum exact_sum(const Array& array, const Region& region, Reduction reduction,
                   const Planes& planes) {
  switch (reduction) {
    case Reduction::sum:
      return total(run(array, region, planes, "ADD", "VALUE"));
    case Reduction::sum_abs:
      return total(run(array, region, planes, "ADD", "MAGNITUDE"));
    case Reduction::sum_squares:
      return total(run(array, region, planes, "ADD_SQUARES", "VALUE"));
    default:
      throw std::invalid_argument("reduction: expected one that adds");
  }
}

double reduce(const Array& array, const Region& region, Reduction reduction, const Planes& planes) {
  switch (reduction) {
    case Reduction::min:
      return without_sign(-largest(run(array, region, planes, "LARGEST", "NEGATIVE").of_result[0]));
    case Reduction::max:
      return largest(run(array, region, planes, "LARGEST", "VALUE").of_result[0]);
    case Reduction::max_abs:
      return largest(run(array, region, planes, "LARGEST", "MAGNITUDE").of_result[0]);
    default:
      return exact_sum(array, region, reduction, planes).value();
  }
}

Summary summary_of(const Array& array, const Region& region, const Planes& planes) {
  const Partials partials = partials_of(array, region, planes, "summary", "", 6, std::nullopt);
  return {total(partials).value(), total(partials, 2).value(), least(partials.of_result[4]),
          largest(partials.of_result[5])};
}

int64_t count_between(const Array& array, const Region& region, double lower, double upper) {
  return std::llround(total(run(array, region, {}, "ADD", "INSIDE", lower, upper)).value());
}

ExactSum sum_squared_deviations(const Array& array, const Region& region, double centre,
                                const Planes& planes) {
  return total(run(array, region, planes, "ADD_SQUARES", "DEVIATION", centre));
}

std::vector<double> reduce_along(const Array& array, const Region& region, Reduction reduction,
                                 const std::array<bool, 4>& axes) {
  const LineResults by_line = line_results(region, axes);
  if (reduction == Reduction::sum)
    return totals(by_line, run_along(array, by_line.lines, "ADD", "VALUE"));
  const bool is_min = reduction == Reduction::min;
  const std::vector<double> found =
      run_along(array, by_line.lines, "LARGEST", is_min ? "NEGATIVE" : "VALUE");
  std::vector<double> values(by_line.results, -std::numeric_limits<double>::infinity());
  for (int64_t k = 0; k < by_line.lines.number(); k++) {
    double& value = values[by_line.result_of(k)];
    value = larger(value, found[k]);
  }
  if (is_min)
    for (double& value : values) value = -value;
  return values;
}

std::vector<double> sum_squared_deviations_along(const Array& array, const Region& region,
                                                 const std::array<bool, 4>& axes,
                                                 const std::vector<double>& centres) {
  const LineResults by_line = line_results(region, axes);
  if (static_cast<int64_t>(centres.size()) != by_line.results)
    throw std::invalid_argument("centres: expected one for each of " +
                                std::to_string(by_line.results) + " results, not " +
                                std::to_string(centres.size()));
  const int64_t lines = by_line.lines.number();
  const DType real = arithmetic(array.dtype());
  Buffer of_lines(array.buffer().context(), static_cast<size_t>(lines) * size_of(real),
                  "centres of deviations");
  const auto write = [&](auto zero) {
    std::vector<decltype(zero)> host(static_cast<size_t>(lines));
    for (int64_t k = 0; k < lines; k++)
      host[k] = static_cast<decltype(zero)>(centres[by_line.result_of(k)]);
    Rectangle rectangle;
    rectangle.region[0] = of_lines.bytes();
    of_lines.write(host.data(), rectangle);
  };
  real == DType::float64 ? write(double{}) : write(float{});
  return totals(by_line, run_along(array, by_line.lines, "ADD_SQUARES", "DEVIATION", &of_lines));
}

IntegerSummary integer_summary_of(const Array& array, const Region& region) {
  const DType dtype = array.dtype();
  const bool has_sign = is_signed(dtype);
  Workspace& workspace = array.workspace();
  const Shares shares = shares_of(workspace.device(), region.points(), 3 * sizeof(cl_long));
  std::vector<uint64_t> found(static_cast<size_t>(3 * shares.groups));
  const auto scratch = workspace.scratch({found.size() * sizeof(uint64_t)}, kScratch);
  const auto kernel =
      workspace.kernel("arrays/integers.cl",
                       std::string("-DNUMBER=") + opencl_name_of(dtype) +
                           " -DWIDE=" + (has_sign ? "long" : "ulong") + shares.options(),
                       "integers");
  workspace.context().queue().launch(
      Launch(kernel)
          .buffer("from", array.buffer())
          .int64("offset", region.offset)
          .int64("row_stride", region.stride[2])
          .int64("stride", region.stride[3])
          .int64("rows", region.count[2])
          .int64("columns", region.count[3])
          .buffer("partials", *scratch.buffers[0])
          .range(shares.range())
          .traffic(static_cast<double>(region.points()) * size_of(dtype)));
  Rectangle rectangle;
  rectangle.region[0] = found.size() * sizeof(uint64_t);
  scratch.buffers[0]->read(found.data(), rectangle);

  const auto is_less = [has_sign](uint64_t a, uint64_t b) {
    return has_sign ? static_cast<int64_t>(a) < static_cast<int64_t>(b) : a < b;
  };
  IntegerSummary summary{0, found[1], found[2]};
  for (size_t k = 0; k < found.size(); k += 3) {
    summary.sum += found[k];
    summary.min = std::min(summary.min, found[k + 1], is_less);
    summary.max = std::max(summary.max, found[k + 2], is_less);
  }
  return summary;
}

}  // namespace particles
