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


def interpolate(values, starts, cells, axis, interpolation):
    """Values between the nodes of lines, so many cells after the nodes `starts`."""
    lines, cells = np.moveaxis(values, axis, -1), np.moveaxis(cells, axis, -1)
    whole = np.floor(cells)
    first, offset = starts + whole.astype(np.int64), cells - whole
    nodes = POINTS[interpolation]
    result = np.zeros(cells.shape)
    for node in nodes:
        weight = np.ones_like(offset)
        for other in nodes:
            if other != node:
                weight = weight * (offset - other) / (node - other)
        index = (first + node) % lines.shape[-1]
        result += weight * np.take_along_axis(lines, index, -1)
    return np.moveaxis(result, -1, axis)


def refined(values, axis, ratio, cells, interpolation):
    """Values on points that divide the cells along an axis, so many of the finer cells further."""
    shape = [n * ratio if k == axis else n for k, n in enumerate(values.shape)]
    points = np.arange(shape[axis])
    within = np.moveaxis(np.broadcast_to(cells, shape), axis, -1) + points % ratio
    return interpolate(
        values, points // ratio, np.moveaxis(within / ratio, -1, axis), axis, interpolation
    )


def on_grid(component, axis, interpolation="linear", ratios=None):
    """A component on the nodes of a grid, of which the particles' is a multiple along each axis."""
    lines = np.asarray(component, dtype=np.float64)
    ratios = ratios or (1,) * lines.ndim
    for across, ratio in enumerate(ratios):
        if across != axis and ratio > 1:
            lines = refined(lines, across, ratio, 0.0, interpolation)

    def sample(cells, time):
        return refined(lines, axis, ratios[axis], cells, interpolation)

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


def order_of(errors, steps):
    """The exponent with which errors fall, by regression."""
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


def path(velocity, x, time, duration, steps=200):
    """Where particles come to: a classical step so small that rounding is all that is left."""
    h = duration / steps
    for _ in range(steps):
        k1 = velocity(x, time)
        k2 = velocity(x + h / 2 * k1, time + h / 2)
        k3 = velocity(x + h / 2 * k2, time + h / 2)
        k4 = velocity(x + h * k3, time + h)
        x, time = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), time + h
    return x
