// SPDX-License-Identifier: BSD-3-Clause
#include "operators/source.hpp"

#include <stdexcept>

#include "arrays/regions.hpp"
#include "runtime/kernel_source.hpp"

namespace particles {
namespace {

std::string places_source(const Fields& every, int components) {
  std::string parameters, places;
  for (size_t f = 0; f < every.size(); f++) {
    const std::string name = "field" + std::to_string(f) + "_";
    parameters += (f == 0 ? "" : ", ") + ("__global stored* " + name) + ", STRIDES(" + name + ")";
    for (int c = 0; c < every[f]->components(); c++)
      places +=
          (places.empty() ? "COMPONENT(" : ", COMPONENT(") + name + ", " + std::to_string(c) + ")";
  }
  return "#define COMPONENTS " + std::to_string(components) + "\n#define VALUES " +
         std::to_string(components_of(every)) + "\n#define FIELD_PARAMETERS " + parameters +
         "\n#define FIELD_COMPONENTS {" + places + "}\n";
}

}  // namespace

SourceOp::SourceOp(Fields fields, Fields given, const std::string& rates,
                   std::shared_ptr<const Parameters> parameters)
    : fields_(std::move(fields)), every_(fields_), parameters_(std::move(parameters)) {
  check_alike(fields_);
  every_.insert(every_.end(), given.begin(), given.end());
  check_alike(every_);
  bool unit_stride = true;
  for (const auto& field : every_) unit_stride = unit_stride && field->everything().stride[3] == 1;
  const int64_t lanes = first().workspace().lanes(size_of(arithmetic(first().dtype())));
  const auto source =
      kernel_source("operators/source.cl",
                    {{"generated/source_fields.cl", places_source(every_, components_of(fields_))},
                     {"generated/rates.cl", rates}});
  kernel_ = first().context()->kernel(source,
                                      kernel_options(first().context()->device(), first().dtype()) +
                                          " -DLANES=" + std::to_string(lanes) +
                                          " -DNDIM=" + std::to_string(first().grid().ndim) +
                                          (unit_stride ? " -DUNIT_STRIDE" : ""),
                                      "source");
}

void SourceOp::apply(const Interval& interval) {
  const Grid& grid = first().grid();
  Launch launch(kernel_);
  for (size_t f = 0; f < every_.size(); f++) {
    const Name name = Name("field", static_cast<int>(f)) + "_";
    add_region(launch, name, name, every_[f]->buffer(), every_[f]->everything());
  }
  Region points = first().everything();
  points.count[0] = 1;
  add_counts(launch, points);
  const auto add_real = [&](const Name& name, double value) {
    launch.add(name, real_argument(first().dtype(), value));
  };
  for (int k = 1; k <= 3; k++) {
    const int axis = grid.ndim - 4 + k;
    launch.int64({"first", k}, axis < 0 ? 0 : grid.begin[axis]);
  }
  for (int k = 1; k <= 3; k++) {
    const int axis = grid.ndim - 4 + k;
    add_real({"origin", k}, axis < 0 ? 0 : grid.origin[axis]);
    add_real({"spacing", k}, axis < 0 ? 0 : grid.spacing[axis]);
  }
  add_real("begin", interval.begin);
  add_real("middle", interval.begin + interval.duration / 2);
  add_real("end", interval.begin + interval.duration);
  add_real("duration", interval.duration);
  if (parameters_) parameters_->add_to(launch, first().dtype());
  const int values = components_of(fields_) + components_of(every_);
  const double bytes = 1.0 * values * size_of(first().dtype()) * grid.points();
  Context& context = *first().context();
  context.queue().launch(launch.range(range_for_rows(context.device(), points)).traffic(bytes));
  for (const auto& field : fields_) field->touch();
}

}  // namespace particles
