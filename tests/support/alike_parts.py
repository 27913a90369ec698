# SPDX-License-Identifier: BSD-3-Clause
"""A part of a grid whose other parts have the same values: one device, and no thread for another."""

import numpy as np
import particles as pt
from particles import _core
from particles.communication.cuts import shape_of_rows, spread
from particles.fields.neighbours import Cut, Neighbours


class Alike:
    """In place of ranks, of which each has what this one has."""

    def __init__(self, rank, size, rows):
        self.rank, self.size, self._rows = rank, size, rows

    def exchange(self, sent, received, shape, axis, dtype, read, write):
        for one in received:
            rows = np.empty(shape_of_rows(shape, axis, one.rows), dtype)
            read(one.begin + (self.rank - one.owner) * self._rows, rows)
            write(one.place, spread(one, rows, axis))

    def greatest(self, what, values):
        return values

    def told(self, what, value, root=0):
        return value


def part_of(grid, axis, rank, size):
    """Return a grid of Python that is, below it, one of several alike parts of a longer one."""
    rows = grid.shape[axis]
    whole = [n * size if k == axis else n for k, n in enumerate(grid.shape)]
    begin = [rows * rank if k == axis else 0 for k in range(grid.ndim)]
    begins = tuple(range(0, whole[axis] + 1, rows))
    ends = [(end, end) if isinstance(end, str) else tuple(end) for end in grid.boundary]
    others = Alike(rank, size, rows)
    neighbours = Neighbours(others, {axis: Cut(others, begins, ends[axis])}, begins)
    part = pt.Grid(grid.shape, origin=grid.origin, extent=grid.extent, boundary=grid.boundary)
    core = _core.Grid(grid.shape, grid.origin, grid.spacing, ends, begin, whole, neighbours)
    object.__setattr__(part, "core", core)
    return part
