// SPDX-License-Identifier: BSD-3-Clause
// The lines of a grid along one axis, and how a device works on them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fields/field.hpp"
#include "lines/form.hpp"
#include "runtime/context.hpp"

namespace particles {

// Rows of vectors that a work-item may hold in private memory, all components together: 256 KiB,
// which stays within a CPU's second-level cache and, twice, within the stack of a thread.
constexpr int kPrivateRows = 4096;

// Kernels count the nodes of a line in 32 bits, and beyond its ends as many again on either side.
constexpr int64_t kNodesAtMost = int64_t{1} << 29;

// What lies beyond the ends of a line, as the kernels number it.
std::string end_options(const Ends& ends);

// Axis along the line, axis of neighbouring lines, and the one that is left; -1 where the grid has
// no such axis.
struct LineAxes {
  int row, lane, outer;
};

LineAxes axes_of_lines(const Grid& grid, int axis);

// The same for one memory layout: distances in elements.
struct LineStrides {
  int64_t row, lane, outer;
  bool operator==(const LineStrides& o) const {
    return row == o.row && lane == o.lane && outer == o.outer;
  }
};

LineStrides strides_of(const Layout& layout, const LineAxes& axes);

// Arguments row_stride, lane_stride and outer_stride, with something before each of these names.
void add_strides(Launch& launch, const Name& before, const LineStrides& strides);

// What lines are wanted for.
struct LineRequest {
  const Device& device;
  const Grid& grid;
  int axis;
  DType dtype;               // that is computed with
  bool padded = false;       // every array that takes part has our own padded layout
  int sums = 1, margin = 0;  // lines of sums, or of values, that a work-item holds, and nodes more
                             // at either end
  bool in_place = false;     // it holds none: rows are read where they lie, and lines need not be
                             // cut but along the memory
  int window = 0;            // nodes around a particle whose sums may be in registers; 0: none may
  int laid_down = 0;         // numbers that a particle tells its team; 0: there are no teams
  bool by_nodes = false;     // a node needs nothing of what is found for others
  bool knows_reach =
      false;  // there are particles, and how far they come is known without moving them
  bool looks_often = false;  // what moves them is looked at so often that a copy of it pays
  Form form = {};
};

// One way to work on all lines along an axis.
struct LinePlan {
  LineKind kind = LineKind::private_lines;
  LineAxes axes{0, -1, -1};
  int nodes = 1;              // of a line
  int begin = 0, own = 1;     // of those that are here: the first, and how many
  int lines = 1, outers = 1;  // how many along the lane axis, and along the outer axis
  int lanes = 1;              // lines or segments side by side in one vector
  int sums = 1, margin = 0;   // rows held per node, and nodes beyond either end that have them
  int laid_down = 0;          // numbers that a particle tells its team
  int capacity = 1;           // nodes of which private memory holds the rows
  int segment = 1;  // nodes that one work-item sums up: all of them, or less where they do not fit
                    // or where lines are too few to fill the lanes
  bool along_memory = false;  // lanes of segments whose nodes are neighbours in memory
  bool transposed = false;    // lines are moved to where they lie side by side
  bool copied = false;        // what moves them is copied to private memory
  bool images = false;        // what moves them is read from an image
  int group = 1;              // work-items of a work-group
  int room = 0;               // particles that a team has local memory for
  std::optional<int> tiles;   // of a work-item, where that is chosen
  bool one_tile = false;      // of a work-item, on whatever grid
  Ends ends;                  // of a line
  bool by_nodes = false;      // each is found alone
  // Whether other nodes of its lines are elsewhere, and so many are here.
  bool is_part() const { return own < nodes; }
  bool segmented() const { return is_part() || segment < nodes; }
  // Whether a team has no room for all particles of its lines at once.
  bool in_portions() const { return kind == LineKind::team && room < segment; }
  // Whether particles of other segments matter.
  bool meets_neighbours() const { return is_part() || (segmented() && !by_nodes); }
  // Numbers in the local memory of a group: of each sum one row more, for all nodes that have none;
  // and of a team what particles tell it, and sums where they come in portions.
  size_t numbers_in_local() const;
  size_t groups(const Device& device) const;
  int64_t jobs() const;                       // tiles of `lanes` lines or segments
  int jobs_each(const Device& device) const;  // of a work-item
  Range range(const Device& device) const;
  std::string options() const;
  // What kernels must know of the division into lines and segments.
  void add_to(Launch& launch, const Device& device) const;
};

LinePlan plan_lines(const LineRequest& request);

// One component whose lines along the last axis lie side by side in memory.
std::shared_ptr<Field> transposed_field(const std::shared_ptr<Context>& context, const Grid& grid,
                                        DType dtype, const char* name);

}  // namespace particles
