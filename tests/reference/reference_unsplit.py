# SPDX-License-Identifier: BSD-3-Clause
"""Transport by the full velocity and tensor-product remeshing in NumPy: slow, clear, double.

A velocity is a sequence of arrays on the grid or a coarser one, one per axis, or a function of the
coordinates and the time that returns them. A grid has ``shape``, ``origin`` and ``spacing``, all
axes periodic.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from tests.reference.reference import coordinates, half_width, kernel_value

# Butcher's tableaux: what each stage takes of the slopes before it, and the weights of all.
SCHEMES = {
    "euler": ([[]], [1]),
    "rk2": ([[], [1 / 2]], [0, 1]),
    "heun": ([[], [1]], [1 / 2, 1 / 2]),
    "rk3": ([[], [1 / 2], [-1, 2]], [1 / 6, 2 / 3, 1 / 6]),
    "rk4": ([[], [1 / 2], [0, 1 / 2], [0, 0, 1]], [1 / 6, 1 / 3, 1 / 3, 1 / 6]),
}


@dataclass(frozen=True)
class Series:
    """Arrays at two times, linear in between."""

    fields: Sequence
    times: Sequence

    def at(self, time):
        share = (time - self.times[0]) / (self.times[1] - self.times[0])
        return [(1 - share) * a + share * b for a, b in zip(*self.fields, strict=True)]


def displacements(velocity, dt, grid, time=0.0, scheme="rk2", interpolation="linear"):
    """How many cells every particle moves along each axis."""
    rows, weights = SCHEMES[scheme]
    h = np.array(grid.spacing).reshape(-1, *[1] * len(grid.shape))
    slopes = []
    for row in rows:
        moved = dt * sum((a * k for a, k in zip(row, slopes, strict=True)), np.zeros(1))
        moved = np.broadcast_to(moved, (len(grid.shape), *grid.shape))
        slopes.append(velocity_at(velocity, moved / h, grid, time + sum(row) * dt, interpolation))
    return dt / h * sum(b * k for b, k in zip(weights, slopes, strict=True))


def velocity_at(velocity, cells, grid, time, interpolation):
    """The velocity of particles that have moved so many cells."""
    if isinstance(velocity, Series):
        velocity = velocity.at(time)
    if callable(velocity):
        places = [x + m * h for x, m, h in zip(coordinates(grid), cells, grid.spacing, strict=True)]
        return np.stack([np.broadcast_to(a, grid.shape) for a in velocity(*places, time)])
    ratio = np.array(grid.shape) // np.shape(velocity[0])
    places = (np.indices(grid.shape) + cells) / ratio.reshape(-1, *[1] * len(grid.shape))
    return np.stack([interpolate(np.asarray(a), places, interpolation) for a in velocity])


def interpolate(a, places, interpolation):
    """Values of ``a`` at places counted in its cells: products of Lagrange's polynomials."""
    whole = np.floor(places).astype(np.int64)
    nodes = range(2) if interpolation == "linear" else range(-1, 3)
    value = np.zeros(places[0].shape)
    for offsets in product(nodes, repeat=a.ndim):
        weight = np.ones(value.shape)
        for offset, share in zip(offsets, places - whole, strict=True):
            for other in nodes:
                if other != offset:
                    weight = weight * (share - other) / (offset - other)
        at = whole + np.array(offsets).reshape(-1, *[1] * a.ndim)
        value += weight * a[tuple(i % n for i, n in zip(at, a.shape, strict=True))]
    return value


def remesh(u, cells, kernel):
    """Strengths ``u`` of particles that have moved so many cells, spread over the nodes."""
    whole = np.floor(cells).astype(np.int64)
    shares = cells - whole
    nodes = np.arange(1 - half_width(kernel), half_width(kernel) + 1)
    result = np.zeros(u.size)
    for offsets in product(nodes, repeat=u.ndim):
        strength = np.array(u, dtype=np.float64)
        for offset, share in zip(offsets, shares, strict=True):
            strength *= kernel_value(kernel, share - offset)
        places = np.indices(u.shape) + whole + np.array(offsets).reshape(-1, *[1] * u.ndim)
        wrapped = [i % n for i, n in zip(places, u.shape, strict=True)]
        at = np.ravel_multi_index(wrapped, u.shape)
        result += np.bincount(at.ravel(), strength.ravel(), u.size)
    return result.reshape(u.shape)


def step(u, velocity, dt, grid, kernel, time=0.0, scheme="rk2", interpolation="linear"):
    """The field after one step."""
    moved = displacements(velocity, dt, grid, time, scheme, interpolation)
    return remesh(u, moved, kernel)


def strain(velocity, grid, time=0.0, interpolation="linear"):
    """Greatest sum, over the axes, of the differences of one component over the spacing."""
    still = np.zeros((len(grid.shape), *grid.shape))
    a = velocity_at(velocity, still, grid, time, interpolation)
    return max(
        float(
            sum(
                np.abs(np.roll(component, -1, axis) - component) / h
                for axis, h in enumerate(grid.spacing)
            ).max()
        )
        for component in a
    )
