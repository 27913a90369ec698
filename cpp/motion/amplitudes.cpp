// SPDX-License-Identifier: BSD-3-Clause
#include "motion/amplitudes.hpp"

#include <cmath>
#include <limits>

namespace particles {
namespace {

bool is_finite(const Extremes& extremes) {
  return std::isfinite(extremes.speed) && std::isfinite(extremes.strain) &&
         std::isfinite(extremes.on_wall);
}

Extremes times(const Extremes& extremes, double factor) {
  return {extremes.speed * factor, extremes.strain * factor, extremes.on_wall * factor};
}

}  // namespace

std::vector<Extremes> Amplitudes::extremes(ExtremesOp& op, const Velocity& velocity,
                                           const std::vector<Look>& looks) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const int64_t version = velocity.version();
  const std::vector<double> parameters =
      velocity.parameters ? velocity.parameters->values() : std::vector<double>{};
  std::vector<double> now(looks.size(), 0.0);
  std::array<std::optional<size_t>, 3> greatest;  // where each axis has its greatest amplitude
  for (size_t k = 0; k < looks.size(); k++) {
    const auto axis = static_cast<size_t>(looks[k].axis);
    if (axis >= of_axes_.size() || !of_axes_[axis]) continue;
    const double amplitude = std::abs(of_axes_[axis]->at(looks[k].interval.begin, parameters));
    if (!std::isfinite(amplitude)) continue;
    now[k] = amplitude;
    if (amplitude > (greatest.at(axis) ? now[*greatest.at(axis)] : 0)) greatest.at(axis) = k;
  }
  std::array<const Unit*, 3> units{};
  for (size_t axis = 0; axis < units.size(); axis++)
    if (const auto k = greatest.at(axis)) units.at(axis) = unit(op, looks[*k], now[*k], version);
  std::vector<Extremes> found(looks.size());
  std::vector<Look> unknown;
  std::vector<size_t> places;
  for (size_t k = 0; k < looks.size(); k++) {
    const Unit* one = units.at(static_cast<size_t>(looks[k].axis));
    if (one && now[k] > 0) {
      found[k] = times(one->extremes, now[k] / one->amplitude);
    } else {
      unknown.push_back(looks[k]);
      places.push_back(k);
    }
  }
  const std::vector<Extremes> measured = op.measure(unknown);
  for (size_t k = 0; k < places.size(); k++) found[places[k]] = measured[k];
  return found;
}

// Null where that is not finite. It is measured anew where the amplitude is twice what it was:
// larger ones tell more exactly.
const Amplitudes::Unit* Amplitudes::unit(ExtremesOp& op, const Look& look, double amplitude,
                                         int64_t version) {
  auto& known = units_.at(static_cast<size_t>(look.axis));
  if (!known || known->version != version || amplitude > 2 * known->amplitude) {
    const Extremes extremes = op.measure({look}).front();
    if (!is_finite(extremes)) return nullptr;
    known = Unit{version, amplitude, extremes};
  }
  return &*known;
}

}  // namespace particles
