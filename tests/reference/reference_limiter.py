# SPDX-License-Identifier: BSD-3-Clause
"""Limited remeshing in NumPy, node by node from its definition.

Lines are rows of arrays, periodic, double precision. What a particle gives its nodes comes from
`reference.kernel_value`; fluxes are what is left between two sets of weights.
"""

import numpy as np

from tests.reference import reference


def linear_value(x):
    """The hat function."""
    return np.maximum(0, 1 - np.abs(x))


def scattered(u, cells, shares, nodes):
    """Sum of u times shares on the nodes so far from the particles' cells, in every line."""
    lines, n = u.shape
    targets = np.arange(n)[:, None] + np.floor(cells).astype(np.int64)[..., None] + nodes
    targets = targets % n + np.arange(lines)[:, None, None] * n
    return np.bincount(targets.ravel(), (u[..., None] * shares).ravel(), u.size).reshape(u.shape)


def shares_of(cells, kernel):
    """Nodes relative to a particle's cell, and the linear kernel's and the kernel's shares."""
    half = reference.half_width(kernel)
    nodes = np.arange(1 - half, half + 1)
    distance = (cells - np.floor(cells))[..., None] - nodes
    return nodes, linear_value(distance), reference.kernel_value(kernel, distance)


def limited_flux(low, flux, limiter):
    """Zalesak's limiter; ``flux[j]`` crosses the right face of node j.

    Bounds are 0, which a node that is below it may not leave downwards, or the range around it.
    """
    around = np.stack([np.roll(low, 1, -1), low, np.roll(low, -1, -1)])
    if limiter == "positive":
        least, greatest = np.minimum(low, 0), np.inf
    else:
        least, greatest = around.min(0), around.max(0)
    entering = np.roll(flux, 1, -1)
    gain = np.maximum(entering, 0) - np.minimum(flux, 0)
    loss = np.maximum(flux, 0) - np.minimum(entering, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rise = np.where(gain > 0, np.minimum(1, (greatest - low) / gain), 0)
        fall = np.where(loss > 0, np.minimum(1, (low - least) / loss), 0)
    rightwards = np.minimum(np.roll(rise, -1, -1), fall)
    leftwards = np.minimum(rise, np.roll(fall, -1, -1))
    return np.where(flux >= 0, rightwards, leftwards) * flux


def limited_lines(u, cells, kernel, limiter):
    nodes, linear, chosen = shares_of(cells, kernel)
    low = scattered(u, cells, linear, nodes)
    flux = scattered(u, cells, np.cumsum(linear - chosen, -1), nodes)
    leaving = limited_flux(low, flux, limiter)
    return low - leaving + np.roll(leaving, 1, -1)


def remesh(u, cells, axis, kernel, limiter):
    """The result of particles ``u`` that have moved so many cells along the axis."""
    lines = np.moveaxis(np.asarray(u, dtype=np.float64), axis, -1)
    moves = np.moveaxis(np.broadcast_to(cells, u.shape), axis, -1)
    shape, n = lines.shape, lines.shape[-1]
    result = limited_lines(lines.reshape(-1, n), moves.reshape(-1, n), kernel, limiter)
    return np.moveaxis(result.reshape(shape), -1, axis)
