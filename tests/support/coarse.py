# SPDX-License-Identifier: BSD-3-Clause
"""Boxes with a coarse and a fine grid, and velocities on the coarse one."""

import numpy as np
import particles as pt

from tests.support.sweeps import field, noise


def boxes(coarse, ratios, boundary):
    fine = tuple(np.multiply(coarse, ratios).tolist())
    place = {"origin": (-1.5, 0.25, 7.0)[: len(coarse)], "boundary": boundary}
    return pt.Grid(coarse, **place), pt.Grid(fine, **place)


def random_velocity(grid, dtype, device, seed=0):
    values = [noise(grid, seed + axis) for axis in range(grid.ndim)]
    return field(values, grid, dtype, device)


CASES = [
    ((1,), (5,), ["wall"], "cubic"),
    ((2,), (8,), [("wall", "outflow")], "cubic"),
    ((1, 2), (3, 4), ["wall", "outflow"], "linear"),
    ((8, 9), (1, 2), ["periodic", ("wall", "inflow")], "cubic"),
    ((5, 9, 8), (2, 3, 2), ["wall", ("outflow", "wall"), "inflow"], "cubic"),
    ((3, 2, 7), (4, 1, 3), ["periodic", "wall", ("wall", "outflow")], "linear"),
]
