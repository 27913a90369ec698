# SPDX-License-Identifier: BSD-3-Clause
"""Velocities on coarse grids with ends, in NumPy.

A place along an axis is counted in cells of the fine grid from the box's beginning.
"""

import numpy as np
from reference_boundaries import Line, continued
from reference_motion import POINTS, displacement


def beyond(nodes, n, ends):
    """On which nodes those beyond the ends depend, and the sign of a component across the ends."""
    if ends == "periodic":
        return nodes % n, np.ones(nodes.shape)
    sources, signs = continued(nodes + 0.5, n, ends)
    return np.clip(np.floor(sources), 0, n - 1).astype(int), signs


def interpolation_weights(places, n, ratio, ends, interpolation):
    """Coarse nodes, weights and signs for places: one more axis, at the end."""
    first = 0.0 if ends == "periodic" else 0.5
    coarse = np.asarray(places) / ratio - first
    whole = np.floor(coarse)
    offset = coarse - whole
    points = POINTS[interpolation]
    weights = [
        np.prod([(offset - other) / (node - other) for other in points if other != node], axis=0)
        for node in points
    ]
    nodes, signs = beyond(whole[..., None].astype(int) + np.array(points), n, ends)
    return nodes, np.stack(weights, axis=-1), signs


def across(component, axis, ratios, grid, interpolation):
    """A component on the lines of the fine grid along an axis, which stay coarse."""
    values = np.asarray(component, np.float64)
    for other, (n, ends) in enumerate(zip(values.shape, grid.boundary, strict=True)):
        if other == axis:
            continue
        first = 0.0 if ends == "periodic" else 0.5
        points = np.arange(n * ratios[other]) + first
        nodes, weights, _ = interpolation_weights(points, n, ratios[other], ends, interpolation)
        lines = np.moveaxis(values, other, -1)[..., nodes]
        values = np.moveaxis((lines * weights).sum(axis=-1), -1, other)
    return values


def along(lines, places, ratio, ends, interpolation):
    """Values of coarse lines, which run along the last axis, at places of their own."""
    nodes, weights, signs = interpolation_weights(
        places, lines.shape[-1], ratio, ends, interpolation
    )
    flat = nodes.reshape((*places.shape[:-1], -1))
    values = np.take_along_axis(lines, flat, -1).reshape(nodes.shape)
    return (signs * weights * values).sum(axis=-1)


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

    return CoarseLine
