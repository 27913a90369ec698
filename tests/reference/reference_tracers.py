# SPDX-License-Identifier: BSD-3-Clause
"""Paths of particles in NumPy: by Butcher's tableaus, through values on a grid or a function."""

import itertools

import numpy as np
from particles import kernels

TABLEAUS = {
    "euler": ([[]], [1]),
    "rk2": ([[], [1 / 2]], [0, 1]),
    "heun": ([[], [1]], [1 / 2, 1 / 2]),
    "rk3": ([[], [1 / 2], [-1, 2]], [1 / 6, 2 / 3, 1 / 6]),
    "rk4": ([[], [1 / 2], [0, 1 / 2], [0, 0, 1]], [1 / 6, 1 / 3, 1 / 3, 1 / 6]),
}


def ends_of(boundary):
    """Return what is at the two ends of an axis."""
    return (boundary, boundary) if isinstance(boundary, str) else boundary


def in_box(grid, x):
    """Return places in the box, and the sign of each component of a velocity there.

    Beyond a wall is the mirror image, beyond an open end what is at the end.
    """
    x, sign, _ = folded(grid, x)
    low = np.array(grid.origin)
    is_bounded = np.array([boundary != "periodic" for boundary in grid.boundary])
    return np.where(is_bounded, np.clip(x, low, low + grid.extent), x), sign


def folded(grid, x):
    """Return places mirrored at walls and brought back along periodic axes; the sign of each
    component of a velocity there; and how far beyond open ends they are, below 0 for within."""
    x, sign, beyond = x.copy(), np.ones_like(x), np.full(len(x), -np.inf)
    for axis, boundary in enumerate(grid.boundary):
        low, length = grid.origin[axis], grid.extent[axis]
        y = (x[:, axis] - low) / length
        if boundary == "periodic":
            y %= 1
        else:
            is_wall = [end == "wall" for end in ends_of(boundary)]
            if all(is_wall):
                y %= 2
            if is_wall[0]:
                sign[:, axis] *= np.where(y < 0, -1, 1)
                y = np.abs(y)
            if is_wall[1]:
                sign[:, axis] *= np.where(y > 1, -1, 1)
                y = np.where(y > 1, 2 - y, y)
            if not all(is_wall):
                beyond = np.maximum(beyond, length * np.maximum(-y, y - 1))
        x[:, axis] = low + length * y
    return x, sign, beyond


def on_points(grid, values, kernel):
    """Return the velocity as a function of places, from values (axis, points) on a grid."""
    kernel = kernels.get(kernel)
    reach = kernel.half_width

    def velocity(x, _t):
        inside, sign = in_box(grid, x)
        result = np.zeros_like(x)
        points, weights, flips = [], [], []
        for axis, boundary in enumerate(grid.boundary):
            n, h = grid.shape[axis], grid.spacing[axis]
            shift = 0 if boundary == "periodic" else 0.5
            place = (inside[:, axis] - grid.origin[axis]) / h - shift
            around = np.floor(place).astype(int)[:, None] + np.arange(1 - reach, reach + 1)
            weights.append(kernel(place[:, None] - around))
            flip = np.ones(around.shape)
            if boundary == "periodic":
                around = around % n
            else:
                is_wall = [end == "wall" for end in ends_of(boundary)]
                if all(is_wall):
                    around = around % (2 * n)
                if is_wall[0]:
                    flip = np.where(around < 0, -flip, flip)
                    around = np.where(around < 0, -1 - around, around)
                if is_wall[1]:
                    flip = np.where(around >= n, -flip, flip)
                    around = np.where(around >= n, 2 * n - 1 - around, around)
                around = np.clip(around, 0, n - 1)
            points.append(around)
            flips.append(flip)
        for stencil in itertools.product(range(2 * reach), repeat=grid.ndim):
            at = tuple(points[axis][:, k] for axis, k in enumerate(stencil))
            weight = np.prod([weights[axis][:, k] for axis, k in enumerate(stencil)], axis=0)
            for axis in range(grid.ndim):
                flip = flips[axis][:, stencil[axis]]
                result[:, axis] += weight * flip * values[axis][at]
        return sign * result

    return velocity


def by_formula(grid, formula):
    """Return a formula's velocity as a function of places, beyond the ends too."""

    def velocity(x, t):
        inside, sign = in_box(grid, x)
        components = formula(*inside.T, t)
        return sign * np.stack([np.broadcast_to(one, len(x)) for one in components], -1)

    return velocity


def between(one, other, duration):
    """Return what is one velocity at the time 0, another later, and linear between."""

    def velocity(x, t):
        return one(x, t) + t / duration * (other(x, t) - one(x, t))

    return velocity


def moved(velocity, scheme, x, time, dt):
    """Return where a step brings particles, wherever that is."""
    rows, weights = TABLEAUS[scheme]
    slopes = []
    for row in rows:
        place = x + dt * sum((share * slope for share, slope in zip(row, slopes, strict=True)), 0.0)
        slopes.append(velocity(place, time + sum(row) * dt))
    return x + dt * sum(weight * slope for weight, slope in zip(weights, slopes, strict=True))
