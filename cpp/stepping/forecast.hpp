// SPDX-License-Identifier: BSD-3-Clause
// What operators and their fields take of a device's memory, found out without taking any.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "stepping/splitting.hpp"

namespace particles {

// Bytes by what they are for: of fields, velocity and operators like these on `grid`, advanced by a
// splitting of an order, or unsplit. `advection`: null where nothing moves.
std::map<std::string, int64_t> memory_forecast(const AdvectionOp* advection, const RemeshOp& remesh,
                                               std::optional<int> order,
                                               const Splitting::Diffusions& diffusions,
                                               const Grid& grid);

}  // namespace particles
