# SPDX-License-Identifier: BSD-3-Clause
"""A step of tracers in Numba, as one writes it by hand, on all cores: rk2, linear, periodic.

Positions and velocities are in cells.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from numba import njit, prange

Step = Callable[[npt.NDArray[np.float32], npt.NDArray[np.float32], np.float32], None]


@njit(inline="always")
def _around(x, n):
    """The point before a place, the one after it, and how far the place is between them."""
    before = int(np.floor(x))
    share = np.float32(x - before)
    before %= n
    return before, before + 1 if before + 1 < n else 0, share


@njit(inline="always")
def _between(one, other, share):
    return one + share * (other - one)


@njit(inline="always")
def _in_plane(u, y, x):
    """What a plane has at a place."""
    j, j1, b = _around(y, u.shape[0])
    k, k1, c = _around(x, u.shape[1])
    return _between(_between(u[j, k], u[j, k1], c), _between(u[j1, k], u[j1, k1], c), b)


@njit(inline="always")
def _in_box(u, z, y, x):
    i, i1, a = _around(z, u.shape[0])
    return _between(_in_plane(u[i], y, x), _in_plane(u[i1], y, x), a)


@njit(parallel=True, fastmath=True, error_model="numpy")
def _step_in_plane(positions, velocity, dt):
    half = np.float32(0.5) * dt
    for p in prange(len(positions)):
        y, x = positions[p, 0], positions[p, 1]
        v, w = _in_plane(velocity[0], y, x), _in_plane(velocity[1], y, x)
        middle_y, middle_x = y + half * v, x + half * w
        y += dt * _in_plane(velocity[0], middle_y, middle_x)
        x += dt * _in_plane(velocity[1], middle_y, middle_x)
        positions[p, 0] = y - velocity.shape[1] * np.floor(y / velocity.shape[1])
        positions[p, 1] = x - velocity.shape[2] * np.floor(x / velocity.shape[2])


@njit(parallel=True, fastmath=True, error_model="numpy")
def _step_in_box(positions, velocity, dt):
    half = np.float32(0.5) * dt
    for p in prange(len(positions)):
        z, y, x = positions[p, 0], positions[p, 1], positions[p, 2]
        middle_z = z + half * _in_box(velocity[0], z, y, x)
        middle_y = y + half * _in_box(velocity[1], z, y, x)
        middle_x = x + half * _in_box(velocity[2], z, y, x)
        z += dt * _in_box(velocity[0], middle_z, middle_y, middle_x)
        y += dt * _in_box(velocity[1], middle_z, middle_y, middle_x)
        x += dt * _in_box(velocity[2], middle_z, middle_y, middle_x)
        positions[p, 0] = z - velocity.shape[1] * np.floor(z / velocity.shape[1])
        positions[p, 1] = y - velocity.shape[2] * np.floor(y / velocity.shape[2])
        positions[p, 2] = x - velocity.shape[3] * np.floor(x / velocity.shape[3])


def step_for(ndim: int) -> Step:
    """Return ``step(positions, velocity, dt)`` in a plane or in a box."""
    return {2: _step_in_plane, 3: _step_in_box}[ndim]
