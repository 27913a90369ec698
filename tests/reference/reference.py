# SPDX-License-Identifier: BSD-3-Clause
"""Advection and remeshing in NumPy, from the mathematics alone: slow, clear, double precision.

A velocity is a sequence of arrays on the grid, one per axis, or a function of the coordinates and
the time that returns them. A grid has ``shape``, ``origin`` and ``spacing``, all axes periodic.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np

from tests.support.kernel_tables import PIECES

BLOCK = 1 << 18  # particles remeshed at once


def coordinates(grid):
    axes = (o + h * np.arange(n) for n, o, h in zip(*geometry(grid), strict=True))
    return np.meshgrid(*axes, indexing="ij", sparse=True)


def geometry(grid):
    return grid.shape, grid.origin, grid.spacing


@cache
def centred_pieces(kernel):
    """W on [i, i + 1] in descending powers of x - i - 1/2, without cancellation for large x."""
    divisor, pieces = PIECES[kernel]
    shifted = []
    for i, piece in enumerate(pieces):
        coefficients = [Fraction(c, divisor) for c in piece]
        for last in range(len(coefficients), 1, -1):  # repeated division by x - i - 1/2
            for k in range(1, last):
                coefficients[k] += coefficients[k - 1] * Fraction(2 * i + 1, 2)
        shifted.append([float(c) for c in coefficients])
    return shifted


def kernel_value(kernel, x):
    """W(x)."""
    x = np.abs(x)
    value = np.zeros_like(x)
    for i, coefficients in enumerate(centred_pieces(kernel)):
        piece = np.zeros_like(x)
        for c in coefficients:
            piece = piece * (x - i - 0.5) + c
        value = np.where((i <= x) & (x < i + 1), piece, value)
    return value


def half_width(kernel):
    return len(PIECES[kernel][1])


def component(velocity, axis, grid, time):
    """One component on the points of the grid."""
    value = velocity(*coordinates(grid), time)[axis] if callable(velocity) else velocity[axis]
    return np.broadcast_to(np.asarray(value, dtype=np.float64), grid.shape)


def displacement(velocity, axis, duration, grid, time=0.0):
    """How many cells every particle moves along the axis: the midpoint rule.

    An array is interpolated linearly along the line; a function is evaluated where it is needed.
    """
    h = grid.spacing[axis]
    start = component(velocity, axis, grid, time)
    half_way = start * duration / 2
    if callable(velocity):
        points = list(coordinates(grid))
        points[axis] = points[axis] + half_way
        midpoint = velocity(*points, time + duration / 2)[axis]
    else:
        midpoint = interpolate(start, half_way / h, axis)
    return np.broadcast_to(midpoint * duration / h, grid.shape)


def interpolate(a, cells, axis):
    """Values of ``a`` that many cells further along the axis."""
    a, cells = np.moveaxis(a, axis, -1), np.moveaxis(cells, axis, -1)
    n = a.shape[-1]
    whole = np.floor(cells)
    share = cells - whole
    left = (np.arange(n) + whole.astype(np.int64)) % n
    right = (left + 1) % n
    value = (1 - share) * np.take_along_axis(a, left, -1) + share * np.take_along_axis(a, right, -1)
    return np.moveaxis(value, -1, axis)


def remesh(u, cells, axis, kernel):
    """Strengths ``u`` of particles that have moved so many cells, spread over the nodes.

    In every line the particles come in ascending order, and the nodes of a particle too.
    """
    lines = np.ascontiguousarray(np.moveaxis(u, axis, -1), dtype=np.float64)
    moves = np.moveaxis(np.broadcast_to(cells, u.shape), axis, -1)
    n = lines.shape[-1]
    shape, lines, moves = lines.shape, lines.reshape(-1, n), moves.reshape(-1, n)
    block = max(1, BLOCK // n)
    result = [
        remesh_lines(lines[k : k + block], moves[k : k + block], kernel)
        for k in range(0, len(lines), block)
    ]
    return np.moveaxis(np.concatenate(result).reshape(shape), -1, axis)


def remesh_lines(u, cells, kernel):
    lines, n = u.shape
    whole = np.floor(cells)
    nodes = np.arange(1 - half_width(kernel), half_width(kernel) + 1)
    weights = kernel_value(kernel, (cells - whole)[..., None] - nodes)
    targets = (np.arange(n)[:, None] + whole.astype(np.int64)[..., None] + nodes) % n
    targets += np.arange(lines)[:, None, None] * n
    shares = u[..., None] * weights
    return np.bincount(targets.ravel(), shares.ravel(), lines * n).reshape(lines, n)


def sweep(u, velocity, axis, duration, grid, kernel, time=0.0):
    """Transport along one axis."""
    return remesh(u, displacement(velocity, axis, duration, grid, time), axis, kernel)


def strain(velocity, axis, grid, time=0.0):
    """Greatest difference of neighbouring velocities over the spacing."""
    a = component(velocity, axis, grid, time)
    return float(np.abs(np.roll(a, -1, axis) - a).max() / grid.spacing[axis])


def lcfl(velocity, dt, grid, order=2, time=0.0):
    """Greatest strain times duration of the sweeps of a step."""
    strains = [strain(velocity, axis, grid, time) for axis in range(len(grid.shape))]
    return max(strains[axis] * length * dt for axis, _, length in schedule(strains, order))


def schedule(strains, order):
    """Sweeps ``(axis, begin, length)`` of a step, in steps: Lie (1) or Strang (2).

    Strang's full sweep goes to the axis of least strain, the last one within 1 %.
    """
    axes = range(len(strains))
    if order == 1:
        return [(axis, 0.0, 1.0) for axis in axes]
    full = max(axis for axis in axes if strains[axis] <= 1.01 * min(strains))
    halves = [axis for axis in axes if axis != full]
    before = [(axis, 0.0, 0.5) for axis in halves]
    after = [(axis, 0.5, 0.5) for axis in reversed(halves)]
    return [*before, (full, 0.0, 1.0), *after]


def run(u, velocity, dt, steps, grid, kernel, order=2, time=0.0):
    """The field after so many steps."""
    if not isinstance(velocity, Sequence) and not callable(velocity):
        raise TypeError("velocity must be a sequence of arrays or a function")
    strains = [strain(velocity, axis, grid, time) for axis in range(len(grid.shape))]
    moves = {}
    for step in range(steps):
        for axis, begin, length in schedule(strains, order):
            key = (axis, length, step + begin if callable(velocity) else 0.0)
            if key not in moves:
                start = time + (step + begin) * dt
                moves[key] = displacement(velocity, axis, length * dt, grid, start)
            u = remesh(u, moves[key], axis, kernel)
        if callable(velocity):
            moves.clear()
    return u
