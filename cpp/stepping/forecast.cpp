// SPDX-License-Identifier: BSD-3-Clause
#include "stepping/forecast.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "arrays/reductions.hpp"
#include "stepping/unsplit.hpp"

namespace particles {
namespace {

// Makes fields like others in a dry context, on a grid with another number of points if
// need be. Those that share memory go on sharing it.
class Likenesses {
 public:
  Likenesses(std::shared_ptr<Context> context, const Grid& before, const Grid& now)
      : context_(std::move(context)), before_(before), now_(now) {}

  Fields like(const Fields& fields, const std::string& role) {
    Fields dry;
    for (const auto& field : fields) dry.push_back(like(*field, role));
    return dry;
  }

 private:
  std::shared_ptr<Field> like(const Field& field, const std::string& role) {
    const std::string name = role + (field.name().empty() ? "" : " " + field.name());
    if (now_ != before_)
      return std::make_shared<Field>(context_, scaled(field.grid()), field.components(),
                                     field.dtype(), name);
    auto& memory = memories_[&field.buffer()];
    if (!memory) memory = std::make_shared<Buffer>(context_, field.buffer().bytes(), name);
    return std::make_shared<Field>(context_, field.grid(), field.components(), field.dtype(), name,
                                   memory, field.layout());
  }

  // A velocity's grid may be coarser, by whole ratios.
  Grid scaled(const Grid& own) const {
    Grid grid = now_;
    for (int axis = 0; axis < grid.ndim; axis++)
      grid.shape[axis] = now_.shape[axis] / (before_.shape[axis] / own.shape[axis]);
    return grid;
  }

  std::shared_ptr<Context> context_;
  Grid before_, now_;
  std::map<const Buffer*, std::shared_ptr<Buffer>> memories_;
};

// Of dry fields in place of carried ones.
Splitting::Diffusions like(const Splitting::Diffusions& diffusions, const Fields& carried,
                           const Fields& dry) {
  Splitting::Diffusions result;
  for (const auto& diffusion : diffusions) {
    Fields fields;
    for (const auto& field : diffusion->fields()) {
      const auto at = std::find(carried.begin(), carried.end(), field) - carried.begin();
      fields.push_back(dry.at(static_cast<size_t>(at)));
    }
    result.push_back(
        std::make_shared<Diffusion>(fields, diffusion->viscosities(), diffusion->inflow()));
  }
  return result;
}

}  // namespace

std::map<std::string, int64_t> memory_forecast(const AdvectionOp* advection, const RemeshOp& remesh,
                                               std::optional<int> order,
                                               const Splitting::Diffusions& diffusions,
                                               const Grid& grid) {
  const auto context = Context::dry(remesh.first().context()->device());
  Likenesses likenesses(context, remesh.first().grid(), grid);
  std::vector<Form> forms;
  for (int axis = 0; axis < grid.ndim; axis++) forms.push_back(remesh.form(axis));
  std::shared_ptr<AdvectionOp> moved;
  if (advection != nullptr) {
    Velocity velocity = advection->flow().velocity();
    velocity.grid = grid;
    velocity.fields = likenesses.like(velocity.fields, "velocity");
    moved = std::make_shared<AdvectionOp>(context, velocity, advection->flow().dtype(),
                                          advection->flow().form());
  }
  const auto carried = std::make_shared<RemeshOp>(likenesses.like(remesh.fields(), "carried field"),
                                                  remesh.kernel(), forms, remesh.inflow());
  std::optional<Splitting> splitting;
  std::optional<Unsplit> unsplit;
  if (order)
    splitting.emplace(moved, carried, *order, nullptr,
                      like(diffusions, remesh.fields(), carried->fields()));
  else
    unsplit.emplace(moved, carried);
  std::set<const Buffer*> looked_at;  // views of a field share what a reduction takes
  for (const auto& field : carried->fields())
    if (looked_at.insert(&field->buffer()).second)
      summary_of(field->array(), field->everything(), field->planes());
  return context->wanted();
}

}  // namespace particles
