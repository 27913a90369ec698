# SPDX-License-Identifier: BSD-3-Clause
"""Transport problems with known solutions, shared by tests and benchmarks.

Velocities are written with NumPy's functions, so that they serve as arrays and as formulas alike.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Problem:
    """Transport of ``initial`` by a steady ``velocity``, solenoidal but in one dimension."""

    ndim: int
    velocity: Callable
    initial: Callable
    duration: float = 1.0

    def departure(self, coordinates, time, steps=100):
        """Where the particles that arrive at the coordinates come from: Runge and Kutta's rule.

        In the precision of the coordinates.
        """
        x = np.stack(np.broadcast_arrays(*coordinates))
        h = -time / steps

        def a(x):
            return np.stack(np.broadcast_arrays(*self.velocity(*x)))

        for _ in range(steps):
            k1 = a(x)
            k2 = a(x + h / 2 * k1)
            k3 = a(x + h / 2 * k2)
            k4 = a(x + h * k3)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return x

    def exact(self, coordinates, time, steps=100):
        """The solution on a grid, in slabs that fit in the cache."""
        first, *others = coordinates
        slabs = np.array_split(first, min(64, len(first)))
        return np.concatenate([self._exact_slab((x, *others), time, steps) for x in slabs])

    def _exact_slab(self, coordinates, time, steps):
        departure = self.departure(coordinates, time, steps)
        solution = self.initial(*departure)
        if self.ndim == 1:  # compression along a line: u a is carried unchanged
            solution = solution * self.velocity(*departure)[0] / self.velocity(*coordinates)[0]
        return solution


def uneven_velocity(x):
    return (1 + 0.5 * np.sin(2 * np.pi * x),)


def bump(x):
    return np.exp(-(np.sin(np.pi * (x - 0.5)) ** 2) / 0.1)


UNEVEN = Problem(1, uneven_velocity, bump, duration=1 / np.sqrt(0.75))
"""One way through a velocity that stretches and compresses; the duration is one period."""


def swirl_velocity(x, y):
    return (
        np.sin(np.pi * x) ** 2 * np.sin(2 * np.pi * y),
        -np.sin(2 * np.pi * x) * np.sin(np.pi * y) ** 2,
    )


def swirl_initial(x, y):
    return np.exp(-(np.sin(np.pi * (x - 0.5)) ** 2 + np.sin(np.pi * (y - 0.75)) ** 2) / 0.1)


SWIRL = Problem(2, swirl_velocity, swirl_initial)
"""A smooth hill wound up by a vortex."""


def level_set_velocity(x, y, z):
    sin_x, sin_y, sin_z = (np.sin(2 * np.pi * c) for c in (x, y, z))
    return (
        2 * np.sin(np.pi * x) ** 2 * sin_y * sin_z,
        -sin_x * np.sin(np.pi * y) ** 2 * sin_z,
        -sin_x * sin_y * np.sin(np.pi * z) ** 2,
    )


def ball(x, y, z):
    return ((x - 0.35) ** 2 + (y - 0.35) ** 2 + (z - 0.35) ** 2 < 0.15**2).astype(np.float64)


LEVEL_SET = Problem(3, level_set_velocity, ball)
"""A ball drawn out to a thin sheet."""

TURNS = 50  # steps of a revolution


def shears(x, y):
    """Velocity whose Strang step ``dt = 1``, x half, y full, x half, turns by 2 pi / TURNS."""
    angle = 2 * np.pi / TURNS
    return -2 * np.tan(angle / 2) * (y - 0.5), np.sin(angle) * (x - 0.5)


def slotted_disk(x, y):
    disk = (x - 0.5) ** 2 + (y - 0.75) ** 2 < 0.15**2
    slot = (np.abs(x - 0.5) < 0.025) & (y < 0.85)
    return (disk & ~slot).astype(np.float64)


ZALESAK = Problem(2, shears, slotted_disk, duration=float(TURNS))
"""Zalesak's disk, turned once; the exact solution after TURNS steps is the initial one."""


def relative_l1(u, exact):
    """Sum of the errors over the sum of the exact values."""
    return float(np.abs(u - exact).sum() / np.abs(exact).sum())


def volume(u):
    """Number of points inside the level 0.5."""
    return int(np.count_nonzero(np.asarray(u) > 0.5))


def order(errors):
    """Observed order between the last two of errors on grids each twice as fine."""
    return float(np.log2(errors[-2] / errors[-1]))
