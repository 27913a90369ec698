# SPDX-License-Identifier: BSD-3-Clause
"""The flow, the ball and the exact solution of the level-set test."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from particles._check import as_numbers, as_shape, shown
from particles.grid import Grid

Reals: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = Any  # arrays, numbers, or the symbols of a Velocity

CENTRE, RADIUS = 0.35, 0.15
_STEPS_A_UNIT = 40  # of Runge and Kutta's rule: no point of a 128-cubed grid changes with more


def grid_of(
    shape: int | Sequence[int], ndim: int, inside: Callable[..., npt.NDArray[np.bool_]], body: str
) -> Grid:
    """Return the grid of a test's shape, one number or `ndim`, that has points inside the body."""
    points = as_shape("shape", shape)
    if len(points) not in (1, ndim):
        several = {2: "two", 3: "three"}[ndim]
        raise ValueError(f"shape must be one number or {several}, not {points}")
    grid = Grid(points if len(points) == ndim else points * ndim)
    if not inside(*grid.coordinates()).any():
        raise ValueError(f"shape must give the {body} points inside, but {grid.shape} gives none")
    return grid


def flow(x: Numbers, y: Numbers, z: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the velocity at points, for NumPy arrays and for `particles.Velocity` alike.

    Parameters
    ----------
    x, y, z : array_like
        Coordinates of the points, which are broadcast, or the symbols of a formula.

    Returns
    -------
    tuple
        One component for each axis.

    Examples
    --------
    >>> [round(float(component), 3) for component in flow(0.5, 0.25, 0.25)]
    [2.0, -0.0, -0.0]
    """
    sin_x, sin_y, sin_z = np.sin(2 * np.pi * x), np.sin(2 * np.pi * y), np.sin(2 * np.pi * z)
    return (
        2 * np.sin(np.pi * x) ** 2 * sin_y * sin_z,
        -sin_x * np.sin(np.pi * y) ** 2 * sin_z,
        -sin_x * sin_y * np.sin(np.pi * z) ** 2,
    )


def ball(x: Reals, y: Reals, z: Reals) -> npt.NDArray[np.bool_]:
    """Return whether points are inside the initial ball.

    Parameters
    ----------
    x, y, z : array_like
        Coordinates of the points, which are broadcast.

    Returns
    -------
    numpy.ndarray
        Of bool.

    Examples
    --------
    >>> bool(ball(0.4, 0.4, 0.4)), bool(ball(0.6, 0.4, 0.4))
    (True, False)
    """
    inside = (x - CENTRE) ** 2 + (y - CENTRE) ** 2 + (z - CENTRE) ** 2 < RADIUS**2
    return np.asarray(inside)


def exact(grid: Grid, times: Sequence[float]) -> npt.NDArray[np.bool_]:
    """Return which points of a grid the flow has carried the ball to, at ascending times.

    Every point is followed back along its characteristic, in float64.

    Parameters
    ----------
    grid : Grid
        Three-dimensional, of the unit box.
    times : sequence of float
        When, the initial time being 0.

    Returns
    -------
    numpy.ndarray
        One array of bool for each time.

    Examples
    --------
    >>> import particles as pt
    >>> grid = pt.Grid((16, 16, 16))
    >>> before, after = exact(grid, [0.1, 0.2])
    >>> int(before.sum()), int(after.sum())
    (59, 52)
    """
    if not isinstance(grid, Grid):
        raise TypeError(f"grid must be a Grid, not {shown(grid)}")
    if grid.ndim != 3:
        raise ValueError(f"grid must have three axes, not {grid.ndim}")
    moments = as_numbers("times", times)
    if any(one > other for one, other in pairwise((0.0, *moments))):
        raise ValueError(f"times must ascend from 0, not be {moments}")
    x, y, z = grid.coordinates()
    result = np.empty((len(moments), *grid.shape), np.bool_)

    def follow_plane(i: int) -> None:
        result[:, i] = _inside_at(x[i], y[0], z[0], moments)

    with ThreadPoolExecutor() as threads:
        list(threads.map(follow_plane, range(grid.shape[0])))
    return result


def _inside_at(x: Reals, y: Reals, z: Reals, times: Sequence[float]) -> npt.NDArray[np.bool_]:
    """Return which points of a plane are inside at each time.

    In X = cot(pi x), Y = cot(pi y) and Z = cot(pi z) the flow is rational, with S(X) = sin(2 pi x)
    = 2 X / (1 + X^2).
    """
    x, y, z = np.broadcast_arrays(x, y, z)
    near = _can_meet_ball(x, y, z)
    point = 1 / np.tan(np.pi * np.stack([x[near], y[near], z[near]]))
    inside = np.zeros((len(times), *x.shape), np.bool_)
    now = 0.0
    for index, time in enumerate(times):
        steps = math.ceil((time - now) * _STEPS_A_UNIT)
        for _ in range(steps):
            point = _step(point, (now - time) / steps)
        now = time
        inside[index, near] = ball(*np.arctan2(1, point) / np.pi)
    return inside


def _can_meet_ball(x: Reals, y: Reals, z: Reals) -> npt.NDArray[np.bool_]:
    """Return the points whose orbits may pass through the ball, where every sine is >= least.

    Along an orbit sin(pi x) sin(pi y)^2 and sin(pi y) / sin(pi z) are constant.
    """
    sin_x, sin_y, sin_z = np.sin(np.pi * x), np.sin(np.pi * y), np.sin(np.pi * z)
    least = math.sin(math.pi * (CENTRE - RADIUS))
    result = (sin_x * np.minimum(sin_y, sin_z) ** 2 >= least**3) & (
        np.minimum(sin_y, sin_z) >= least * np.maximum(sin_y, sin_z)
    )
    return np.asarray(result)


def _rate(point: Reals) -> Reals:
    sine = 2 * point / (1 + point * point)
    return np.pi * np.stack([-2 * sine[1] * sine[2], sine[0] * sine[2], sine[0] * sine[1]])


def _step(point: Reals, dt: float) -> Reals:
    """Return the points one step of Runge and Kutta's fourth-order rule later."""
    a = _rate(point)
    b = _rate(point + dt / 2 * a)
    c = _rate(point + dt / 2 * b)
    d = _rate(point + dt * c)
    return np.asarray(point + dt / 6 * (a + 2 * (b + c) + d))
