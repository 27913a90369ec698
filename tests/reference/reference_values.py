# SPDX-License-Identifier: BSD-3-Clause
"""Values read where particles come from, in NumPy: an interpolation, point by point.

Lines are rows of arrays, double precision. Weights come from `reference.kernel_value`.
"""

import numpy as np

from tests.reference import reference, reference_boundaries

BOUNDS = {
    None: lambda near: (-np.inf, np.inf),
    "positive": lambda near: (np.minimum(near.min(0), 0), np.inf),
    "monotone": lambda near: (near.min(0), near.max(0)),
}
"""What a limiter allows, from the points on either side of a place, or that on which it is."""


def read(lines, cell, share, kernel, limiter=None):
    """What the kernel makes of the points around places, which are shares of cells of the lines."""
    half = reference.half_width(kernel)
    values = {j: np.take_along_axis(lines, cell + j, -1) for j in range(1 - half, half + 1)}
    found = sum(reference.kernel_value(kernel, share - j) * at for j, at in values.items())
    beyond = np.where(share > 0, values[1], values[0])
    return np.clip(found, *BOUNDS[limiter](np.stack([values[0], beyond])))


def remesh(u, cells, axis, kernel, limiter=None):
    """Values on periodic lines, read so many cells from every point along the axis."""
    lines = np.moveaxis(np.asarray(u, dtype=np.float64), axis, -1)
    moves = np.moveaxis(np.broadcast_to(cells, u.shape), axis, -1)
    shape, n = lines.shape, lines.shape[-1]
    lines, moves = lines.reshape(-1, n), moves.reshape(-1, n)
    beyond = reference.half_width(kernel)
    around = lines[:, np.arange(-beyond, n + beyond) % n]
    whole = np.floor(moves)
    cell = (np.arange(n) + whole.astype(np.int64)) % n + beyond
    found = read(around, cell, moves - whole, kernel, limiter)
    return np.moveaxis(found.reshape(shape), -1, axis)


def sweep(
    u,
    velocity,
    axis,
    cells_per_speed,
    ends,
    kernel,
    inflow=None,
    begin=0.0,
    duration=0.0,
    limiter=None,
    ghosts=80,
    lines=reference_boundaries.Line,
):
    """The values after a sweep by the midpoint rule along an axis with ends."""
    line = lines(u, velocity, axis, ends, ghosts)
    moves = line.moves(-cells_per_speed, begin + duration, -duration)
    before = line.strengths(cells_per_speed, inflow, begin, duration, carries_values=True)
    on_line = slice(ghosts, ghosts + line.n)
    whole = np.floor(moves)
    cell = np.arange(len(line.nodes)) + whole.astype(np.int64)
    found = read(before, cell[..., on_line], (moves - whole)[..., on_line], kernel, limiter)
    return np.moveaxis(found, -1, axis)
