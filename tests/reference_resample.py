# SPDX-License-Identifier: BSD-3-Clause
"""Resampling in NumPy, as a full matrix for every axis: from the formula alone, in float64."""

import numpy as np
import reference


def matrix(kernel, points, spacing, new_points, new_spacing, length):
    """What each of the old points, at `points`, gives to each of the new ones."""
    if len(points) == len(new_points):
        return np.eye(len(points))
    widest = max(spacing, new_spacing)
    reach = reference.half_width(kernel) * widest
    images = range(-int(reach / length) - 1, int(reach / length) + 2)
    apart = new_points[:, None] - points[None, :]
    shares = sum(reference.kernel_value(kernel, (apart + k * length) / widest) for k in images)
    return spacing / widest * shares


def resampled(u, grid, new, kernel):
    """The values of `u`, on `grid`, on the grid `new`; both are periodic."""
    for axis in range(u.ndim):
        old_points, new_points = (g.coordinates()[axis].ravel() for g in (grid, new))
        shares = matrix(
            kernel,
            old_points,
            grid.spacing[axis],
            new_points,
            new.spacing[axis],
            grid.extent[axis],
        )
        u = np.moveaxis(np.tensordot(shares, u, (1, axis)), 0, axis)
    return u
