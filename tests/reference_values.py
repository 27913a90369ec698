# SPDX-License-Identifier: BSD-3-Clause
"""Values read where particles come from, in NumPy: an interpolation, point by point.

Lines are rows of arrays, double precision. Weights come from `reference.kernel_value`.
"""

import numpy as np
import reference

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
