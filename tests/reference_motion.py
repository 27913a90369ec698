# SPDX-License-Identifier: BSD-3-Clause
"""Paths of particles in NumPy, from Butcher's tables and Lagrange's polynomials.

Slow, clear, double precision. A *sample* says what the velocity along an axis is so many cells
after every particle, at a time.
"""

import numpy as np

TABLES = {  # when, from which earlier slopes, and with which weights in the end
    "euler": ([0], [[]], [1]),
    "rk2": ([0, 1 / 2], [[], [1 / 2]], [0, 1]),
    "heun": ([0, 1], [[], [1]], [1 / 2, 1 / 2]),
    "rk3": ([0, 1 / 2, 1], [[], [1 / 2], [-1, 2]], [1 / 6, 4 / 6, 1 / 6]),
    "rk4": (
        [0, 1 / 2, 1 / 2, 1],
        [[], [1 / 2], [0, 1 / 2], [0, 0, 1]],
        [1 / 6, 2 / 6, 2 / 6, 1 / 6],
    ),
}
ORDERS = {"euler": 1, "rk2": 2, "heun": 2, "rk3": 3, "rk4": 4}
POINTS = {"linear": (0, 1), "cubic": (-1, 0, 1, 2)}


def displacement(sample, scheme, begin, duration, spacing):
    """How many cells every particle moves."""
    scale = duration / spacing
    when, earlier, weights = TABLES[scheme]
    slopes = []
    for time, row in zip(when, earlier, strict=True):
        place = scale * sum((a * k for a, k in zip(row, slopes, strict=True)), np.float64(0))
        slopes.append(sample(place, begin + time * duration))
    return scale * sum(b * k for b, k in zip(weights, slopes, strict=True))


def interpolate(values, places, axis, interpolation):
    """Values between the nodes of lines, at places counted in nodes from the first."""
    lines, places = np.moveaxis(values, axis, -1), np.moveaxis(places, axis, -1)
    whole = np.floor(places)
    nodes = POINTS[interpolation]
    result = np.zeros(np.broadcast_shapes(lines.shape[:-1], places.shape[:-1]) + places.shape[-1:])
    for node in nodes:
        weight = np.ones_like(places)
        for other in nodes:
            if other != node:
                weight = weight * (places - whole - other) / (node - other)
        index = (whole.astype(np.int64) + node) % lines.shape[-1]
        result += weight * np.take_along_axis(lines, np.broadcast_to(index, result.shape), -1)
    return np.moveaxis(result, -1, axis)


def across(values, axis, ratios, interpolation):
    """A coarse component on the fine points, but along its own axis."""
    for other, ratio in enumerate(ratios):
        if other != axis and ratio > 1:
            n = values.shape[other] * ratio
            shape = [n if k == other else values.shape[k] for k in range(values.ndim)]
            places = along(n, other, values.ndim) / ratio + np.zeros(shape)
            values = interpolate(values, places, other, interpolation)
    return values


def along(n, axis, ndim):
    return np.arange(n, dtype=np.float64).reshape([-1 if k == axis else 1 for k in range(ndim)])


def on_grid(component, axis, interpolation="linear", ratios=None):
    """A component on the nodes of a grid, of which the particles' is a multiple along each axis."""
    ratios = ratios or (1,) * component.ndim
    lines = across(np.asarray(component, dtype=np.float64), axis, ratios, interpolation)
    ratio = ratios[axis]
    start = along(lines.shape[axis] * ratio, axis, lines.ndim)
    shape = [start.shape[axis] if k == axis else lines.shape[k] for k in range(lines.ndim)]

    def sample(cells, time):
        places = (start + cells) / ratio + np.zeros(shape)
        return interpolate(lines, places, axis, interpolation)

    return sample


def at_times(samples, times):
    """Samples at two times, linear between them."""

    def sample(cells, time):
        share = (time - times[0]) / (times[1] - times[0])
        return (1 - share) * samples[0](cells, time) + share * samples[1](cells, time)

    return sample


def by_formula(flow, axis, grid):
    """A function of the coordinates and the time, continued periodically."""

    def sample(cells, time):
        points = [np.asarray(x) for x in grid.coordinates()]
        places = (points[axis] - grid.origin[axis]) / grid.spacing[axis] + cells
        points[axis] = grid.origin[axis] + grid.spacing[axis] * (places % grid.shape[axis])
        return np.broadcast_to(flow(*points, time)[axis], grid.shape)

    return sample
