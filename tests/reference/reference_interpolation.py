# SPDX-License-Identifier: BSD-3-Clause
"""Interpolation between particles and points in NumPy, point by point."""

import itertools

import numpy as np
from particles import kernels


def stored(points, n, ends):
    """Return the points of an axis that stand for those beyond its ends."""
    points = np.array(points)
    if ends == "periodic":
        return points % n
    low, high = (end == "wall" for end in ends)
    if low and high:
        points = points % (2 * n)
        return np.where(points < n, points, 2 * n - 1 - points)
    if low:
        points = np.where(points < 0, -1 - points, points)
    if high:
        points = np.where(points >= n, 2 * n - 1 - points, points)
    return np.clip(points, 0, n - 1)


def shares(grid, positions, kernel):
    """Yield the points that stand for each of a stencil's, and their weights, for all particles."""
    kernel = kernels.get(kernel)
    of_axes = []
    for axis in range(grid.ndim):
        place = (positions[:, axis] - grid.first[axis]) / grid.spacing[axis]
        below = np.floor(place)
        weights = kernel.weights(np.clip(place - below, 0, 1))
        first = below.astype(int) - kernel.half_width + 1
        points = [
            stored(first + j, grid.shape[axis], grid.boundary[axis]) for j in range(kernel.stencil)
        ]
        of_axes.append(list(zip(points, weights, strict=True)))
    for several in itertools.product(*of_axes):
        yield tuple(points for points, _ in several), np.prod([w for _, w in several], axis=0)


def to_grid(grid, positions, values, kernel):
    """Return what the points receive, (..., components) last."""
    result = np.zeros((*grid.shape, *values.shape[1:]))
    for points, weights in shares(grid, positions, kernel):
        np.add.at(result, points, (values.T * weights).T)
    return result


def to_particles(grid, positions, values, kernel):
    """Return what the particles receive of values (*shape, ...)."""
    return sum(
        (values[points].T * weights).T for points, weights in shares(grid, positions, kernel)
    )
