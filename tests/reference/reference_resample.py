# SPDX-License-Identifier: BSD-3-Clause
"""Resampling in NumPy, as a full matrix for every axis: from the formula alone, in float64."""

import numpy as np

from tests.reference import reference

MODES = {"periodic": "wrap", "wall": "symmetric", "inflow": "edge", "outflow": "edge"}


def continued(u, axis, count, boundary):
    """The values, with `count` more beyond either end."""
    ends = (boundary, boundary) if isinstance(boundary, str) else boundary
    low, high = [(0, 0)] * u.ndim, [(0, 0)] * u.ndim
    low[axis], high[axis] = (count, 0), (0, count)
    if ends[0] == ends[1]:
        return np.pad(u, np.add(low, high), MODES[ends[0]])
    return np.pad(np.pad(u, low, MODES[ends[0]]), high, MODES[ends[1]])


def matrix(kernel, points, spacing, new_points, new_spacing):
    """What each of the old points gives to each of the new ones."""
    widest = max(spacing, new_spacing)
    apart = (new_points[:, None] - points[None, :]) / widest
    return spacing / widest * reference.kernel_value(kernel, apart)


def resampled(u, grid, new, kernel):
    """The values of `u`, on `grid`, on the grid `new`."""
    for axis in range(u.ndim):
        if grid.shape[axis] == new.shape[axis]:
            continue
        h, new_h = grid.spacing[axis], new.spacing[axis]
        count = int(np.ceil((reference.half_width(kernel) + 1) * max(h, new_h) / h))
        old_points, new_points = (g.coordinates()[axis].ravel() for g in (grid, new))
        places = old_points[0] + h * np.arange(-count, len(old_points) + count)
        shares = matrix(kernel, places, h, new_points, new_h)
        every = continued(u, axis, count, grid.boundary[axis])
        u = np.moveaxis(np.tensordot(shares, every, (1, axis)), 0, axis)
    return u
