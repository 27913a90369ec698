# SPDX-License-Identifier: BSD-3-Clause
"""Velocities on coarse grids with ends, in NumPy.

A place along an axis is counted in cells of the fine grid from the box's beginning.
"""

import numpy as np

from tests.reference.reference_boundaries import PLACES, Line, on_nodes, polynomial
from tests.reference.reference_motion import POINTS, displacement


def interpolation_weights(places, ratio, ends, interpolation):
    """Coarse nodes, perhaps beyond the ends, and weights for places: one more axis, at the end."""
    first = 0.0 if ends == "periodic" else 0.5
    coarse = np.asarray(places) / ratio - first
    whole = np.floor(coarse)
    offset = coarse - whole
    points = POINTS[interpolation]
    weights = [
        np.prod([(offset - other) / (node - other) for other in points if other != node], axis=0)
        for node in points
    ]
    return whole[..., None].astype(int) + np.array(points), np.stack(weights, axis=-1)


def between(lines, places, ratio, ends, interpolation, is_along):
    """Values of coarse lines, which run along the last axis, at places, perhaps of each line."""
    nodes, weights = interpolation_weights(places, ratio, ends, interpolation)
    flat = nodes.reshape((*nodes.shape[:-2], -1))
    if ends == "periodic":
        flat = np.broadcast_to(flat % lines.shape[-1], (*lines.shape[:-1], flat.shape[-1]))
        values = np.take_along_axis(lines, flat, -1)
    else:
        values = on_nodes(lines, flat, ends, None if is_along else len(POINTS[interpolation]))
    values = values.reshape((*lines.shape[:-1], *nodes.shape[-2:]))
    return (weights * values).sum(axis=-1)


def across(component, axis, ratios, grid, interpolation):
    """A component on the lines of the fine grid along an axis, which stay coarse."""
    values = np.asarray(component, np.float64)
    for other, (n, ends) in enumerate(zip(values.shape, grid.boundary, strict=True)):
        if other == axis:
            continue
        points = np.arange(n * ratios[other]) + (0.0 if ends == "periodic" else 0.5)
        lines = np.moveaxis(values, other, -1)
        fine = between(lines, points, ratios[other], ends, interpolation, is_along=False)
        values = np.moveaxis(fine, -1, other)
    return values


def along(lines, places, ratio, ends, interpolation):
    """Values of coarse lines, which run along the last axis, at places of their own."""
    return between(lines, places, ratio, ends, interpolation, is_along=True)


def moves(component, axis, ratios, grid, interpolation, cells):
    """How many cells particles of the fine grid move by the midpoint rule."""
    ends = grid.boundary[axis]
    lines = np.moveaxis(across(component, axis, ratios, grid, interpolation), axis, -1)
    points = np.arange(lines.shape[-1] * ratios[axis]) + (0.0 if ends == "periodic" else 0.5)
    shape = (*lines.shape[:-1], len(points))

    def sample(moved, time):
        places = np.broadcast_to(points + moved, shape)
        return along(lines, places, ratios[axis], ends, interpolation)

    return np.moveaxis(displacement(sample, "rk2", 0.0, cells, 1.0), -1, axis)


def lines_of(ratio, interpolation):
    """Make lines for `reference_boundaries.sweep`, whose velocity is coarse lines at every time."""

    class CoarseLine(Line):
        def velocity_at(self, moved, time):
            places = self.nodes + 0.5 + moved
            return along(self.velocity(time), places, ratio, self.ends, interpolation)

        def near_end(self, end, time):
            near = self.velocity(time)[..., :: 1 if end == 0 else -1][..., :PLACES]
            return polynomial(near, ratio * (np.arange(near.shape[-1]) + 0.5)), near[..., :1]

    return CoarseLine
