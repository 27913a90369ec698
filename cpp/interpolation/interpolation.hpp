// SPDX-License-Identifier: BSD-3-Clause
// Interpolation between particles anywhere in a box and the points of a grid of that box.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrays/workspace.hpp"
#include "fields/field.hpp"
#include "sets/particle_set.hpp"
#include "sweep/sweep_kind.hpp"

namespace particles {

// Weights are the products of a kernel's along each axis. Beyond a wall is the mirror image, beyond
// an open end the last point, in both directions, so that they are transposes of one another. All
// computes in the widest type of field, values and places; where particles carry integers of 32 or
// 64 bits in float64, if the device has it.
class Interpolation {
 public:
  // A window of particles_to_grid.cl has so many bytes at most, or one row; a ring has at most some
  // times as many.
  static constexpr int64_t kBytesOfWindow = 320 * 1024;
  // Rings are used where the rows beside tiles, which are gone through again, make the work at most
  // so many times as much, and some more to sample.
  static constexpr double kMostRepeated = 4;

  // The axes of a box among three, as stencil.cl has them: -1 where the box has none.
  using AxesOfThree = std::array<int, 3>;

  // Work-items have windows of so many elements, and tiles of rows of points along axes 0 and 1; of
  // one axis, which is axis 2, of points.
  struct Windows {
    int64_t tile0 = 1, tile1 = 1, tile2 = 1, width = 0, elements = 0, count = 0;
    size_t bytes = 0;
  };

  // Planes of cells that may have particles; all where there are 0.
  struct Own {
    int64_t first = 0, planes = 0;
  };

  // Where the particles of each row begin, and which ones: of an order, or null; and whether those
  // of a row are sorted by cell.
  struct Rows {
    const Array& starts;
    const Array* order = nullptr;
    bool by_cell = false;
  };

  // An attribute of particles, of as many components as a field. Those that are alike share
  // weights: a few of them go together.
  struct Read {
    const Field& field;
    Part part;  // of the planes of points, those that the particles read
    const Array& before;
    Array& results;
    bool adds;
  };
  struct Given {
    const Array& values;
    Field& field;
  };

  // With an infinite `most_repeated` rings are used wherever they can be, whatever their size; with
  // none nowhere.
  Interpolation(std::shared_ptr<Context> context, const RemeshingKernel& kernel,
                int64_t bytes_of_window = kBytesOfWindow, double most_repeated = kMostRepeated);

  // Whether particles that are sorted by row give to a ring of planes, which is the faster way on
  // CPUs.
  bool has_ring(const Field& field, const Cells& box, const Array& values,
                const Array& offsets) const;

  // Sets the results, of real numbers, to the field at the particles, plus what they have `before`
  // if it adds. The cells of the particles, which may be in some planes of them alone, are those of
  // `box`. Enqueued.
  // Where `starts` are given, the particles are sorted by row, on GPUs by cell, and begin there.
  void to_particles(const Cells& box, const Own& own, const Places& places,
                    const std::shared_ptr<Array>& starts, const std::vector<Read>& pairs);

  // Sets the fields to the sums of what particles give, or adds them. The particles are sorted as
  // `ParticleSet::sort_for_rows` does, as they are or by an order. Of fields on a part of a grid
  // the box is a part, too, with all cells whose particles reach it. Enqueued.
  void to_grid(const Cells& box, const Places& places, const Rows& rows,
               const std::vector<Given>& pairs, bool adds);
  // Makes the kernels and the memory that this takes.
  void prepare_to_grid(const Cells& box, const Places& places, const Rows& rows,
                       const std::vector<Given>& pairs);
  // Which of them share a launch, given values of their own dtypes.
  std::vector<Fields> given_together(const Cells& box, const Places& places,
                                     const Fields& fields) const;

  // The same with each component's particles in an order of its own, whatever theirs is: by cell,
  // then by the bits of their offsets, then by those of the component. Several components have one
  // order where no two particles are at the same place; to know this is waited for.
  void to_grid_in_any_order(const ParticleSet& set, const Places& places,
                            const std::vector<Given>& pairs, bool adds);

 private:
  // As one launch, of pairs that are alike; or more, where that is faster.
  void read_together(const Cells& box, const Own& own, const Places& places,
                     const std::shared_ptr<Array>& starts, const std::vector<Read>& pairs);
  std::vector<std::vector<Given>> given_together(const Cells& box, const Places& places,
                                                 const std::vector<Given>& pairs) const;
  void prepare_together(const Cells& box, const Places& places, const Rows& rows,
                        const std::vector<Given>& pairs);
  void give_together(const Cells& box, const Places& places, const Rows& rows,
                     const std::vector<Given>& pairs, bool adds);
  // Whether each component has a launch of its own, and how many fields share one.
  bool gives_apart(const Cells& box, const Field& field, int components, DType real) const;
  size_t most_given(const Cells& box, const Field& field, DType real) const;
  std::string options(const Cells& box, const Field& field, const Part& part, const Array& values,
                      const Array& offsets, int64_t lanes, size_t pairs = 1) const;
  // Tiles of groups of work-items, as tile.cl has them.
  struct Tile {
    int64_t planes = 1, blocks = 1, lines_of_item = 1;
    int64_t lines() const { return blocks * lines_of_item; }
    std::string options;
    Range range;
  };
  // On GPUs, of planes that are given to, or of cells that have particles; nothing where it has not
  // room in local memory. It gives to no points that are much denser than cells, and reads those of
  // as many cells alone.
  std::optional<Tile> tile_for(const Field& field, const Cells& box, bool gives, int64_t planes,
                               const AxesOfThree& passed, int components, DType real) const;
  std::optional<Tile> tile_given_to(const Field& field, const Cells& box, int components,
                                    DType real) const;
  static std::optional<AxesOfThree> points_passed(const Cells& box, const Field& field);
  void to_tiles(const Tile& tile, const Cells& box, const Places& places, const Rows& rows,
                const std::vector<Given>& pairs, bool adds);
  Kernel tile_kernel(const Tile& tile, const Cells& box, const Places& places, const Rows& rows,
                     const Array& values, const Field& field, size_t pairs);
  // How one launch gives to a grid.
  struct Giving {
    Kernel kernel;
    bool in_ring;
    Windows windows;
  };
  Giving giving(const Cells& box, const Places& places, const Rows& rows, const Array& values,
                const Field& field, size_t pairs);
  // Rings of several components would not stay in a CPU's second-level cache, nor what a particle
  // has in its registers.
  bool is_one_by_one(const Cells& box) const { return slots(box) > 4 && box.ndim == 3; }
  // Whether rings of fewer components are faster than what all of them can have together.
  bool go_apart(const Cells& box, int components,
                const std::function<bool(int components)>& have_rings) const {
    return components > 1 && have_rings(1) && (is_one_by_one(box) || !have_rings(components));
  }
  // Whether no two particles are at the same place, of an order of places. Waits.
  bool are_apart(const Places& places, const Array& order);
  int64_t lanes_of(DType real) const;
  int64_t planes_around(const Cells& box) const;
  int64_t slots(const Cells& box) const { return planes_around(box) <= 4 ? 4 : 8; }  // as ring.cl
  bool can_have_ring(const Field& field, const Part& part, const Cells& box) const;
  // Of so many planes, those given to or those that have particles; of a field on a part.
  std::optional<Windows> rings_for(const Field& field, const Part& part, const Cells& box,
                                   int64_t planes, int components, DType real,
                                   double most_repeated) const;
  std::optional<Windows> rings_given_to(const Field& field, const Cells& box, int components,
                                        DType real) const;
  Windows windows_for(const Field& field, const AxesOfThree& axes, int components,
                      DType real) const;
  int64_t width_for(int64_t points) const;
  int64_t units() const { return std::max<int64_t>(1, workspace_.device().compute_units); }
  DType real_of(const Field& field, const Array& values, const Array& offsets) const;

  std::shared_ptr<Context> context_;
  Workspace workspace_;
  RemeshingKernel kernel_;
  int64_t bytes_of_window_;
  double most_repeated_;
};

}  // namespace particles
