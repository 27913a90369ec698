# SPDX-License-Identifier: BSD-3-Clause
"""The flow, the ball and the exact solution of the level-set test."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from particles.base.checks import as_numbers, as_shape
from particles.fields.field import Field
from particles.fields.grid import Grid, check_grid
from particles.operators.source import SourceOp
from particles.runtime.device import Device
from particles.runtime.devices import as_device

Reals: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = Any  # arrays, numbers, or the symbols of a Velocity

CENTRE, RADIUS = 0.35, 0.15
_STEPS_A_UNIT = 40  # of Runge and Kutta's rule: no point of a 128-cubed grid changes with more
_TOGETHER = (
    512  # points in a row, and rows at most, that are followed at a time: a cache holds them
)


def grid_of(
    shape: npt.ArrayLike, ndim: int, inside: Callable[..., npt.NDArray[np.bool_]], body: str
) -> Grid:
    """Return the grid of a test's shape, one number or `ndim`, that has points inside the body."""
    points = as_shape("shape", shape)
    if len(points) not in (1, ndim):
        several = {2: "two", 3: "three"}[ndim]
        raise ValueError(f"shape must be one number or {several}, not {points}")
    grid = Grid(points if len(points) == ndim else points * ndim, comm="self")
    if not inside(*grid.coordinates()).any():
        raise ValueError(f"shape must have points inside the {body}, but {grid.shape} has none")
    return grid


def flow(x: Numbers, y: Numbers, z: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return the velocity at points; for NumPy arrays and for `particles.Velocity`.

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


def exact(
    grid: Grid, times: npt.ArrayLike, device: Device | int | str | None = None
) -> npt.NDArray[np.bool_]:
    """Return which points of a grid are inside the carried ball, at ascending times.

    The device follows every point back along its path, in float64 if it has that.

    Parameters
    ----------
    grid : Grid
        A three-dimensional grid of the unit box.
    times : array_like
        The times; the initial time is 0.
    device : Device, int or str, optional
        By default the one of `default_device`.

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
    check_grid(grid)
    if grid.ndim != 3:
        raise ValueError(f"grid must have three axes, not {grid.ndim}")
    instants = as_numbers("times", times)
    if any(one > other for one, other in pairwise((0.0, *instants))):
        raise ValueError(f"times must ascend from 0, not be {instants}")
    coordinates = grid.coordinates()
    result = np.zeros((len(instants), *grid.shape), np.bool_)
    near = np.flatnonzero(_can_meet_ball(*coordinates))
    paths = _Paths(near.size, as_device(device))
    for begin in range(0, near.size, paths.size):
        part = near[begin : begin + paths.size]
        places = np.unravel_index(part, grid.shape)
        points = [x.ravel()[i] for x, i in zip(coordinates, places, strict=True)]
        for inside, now in zip(result, paths.inside_at(instants, points), strict=True):
            inside.flat[part] = now
    return result


def _can_meet_ball(x: Reals, y: Reals, z: Reals) -> npt.NDArray[np.bool_]:
    """Return the points whose orbits may pass through the ball.

    Along an orbit sin(pi x) sin(pi y) sin(pi z) and sin(pi y) / sin(pi z) are constant. In the ball
    the product is least and greatest on the diagonal; every sine there is between `least` and 1.
    """
    sin_x, sin_y, sin_z = np.sin(np.pi * x), np.sin(np.pi * y), np.sin(np.pi * z)
    low, high = np.sin(np.pi * (CENTRE + RADIUS * np.array([-1, 1]) / math.sqrt(3))) ** 3
    least = math.sin(math.pi * (CENTRE - RADIUS))
    product = sin_x * (sin_y * sin_z)
    alike = np.minimum(sin_y, sin_z) >= least * np.maximum(sin_y, sin_z)
    return np.asarray((low <= product) & (product <= high) & alike)


class _Paths:
    """Points that follow the flow back, as a source changes a field at every point.

    In X = cot(pi x), Y = cot(pi y) and Z = cot(pi z) the flow is rational, with S(X) = sin(2 pi x)
    = 2 X / (1 + X^2).
    """

    def __init__(self, points: int, device: Device) -> None:
        rows = min(_TOGETHER, max(1, math.ceil(points / _TOGETHER)))
        self.cotangents = Field(
            Grid((rows, _TOGETHER), comm="self"), 3, device.dtypes[-1], device, "cotangents"
        )
        self.source = SourceOp(self.cotangents, _rates_back)
        self.size = rows * _TOGETHER

    def inside_at(
        self, times: Sequence[float], points: Sequence[Reals]
    ) -> Iterator[npt.NDArray[np.bool_]]:
        """Yield which points are inside at each time; there are `size` at most."""
        for axis, coordinate in enumerate(points):
            padded = np.ones(self.size)
            padded[: coordinate.size] = 1 / np.tan(np.pi * coordinate)
            self.cotangents[axis] = padded.reshape(self.cotangents.grid.shape)
        now = 0.0
        for time in times:
            steps = math.ceil((time - now) * _STEPS_A_UNIT)
            for _ in range(steps):
                self.source.apply((time - now) / steps)
            now = time
            yield _in_ball(self.cotangents.get().reshape(3, -1)[:, : points[0].size])


def _rates_back(X: Numbers, Y: Numbers, Z: Numbers) -> tuple[Numbers, ...]:
    sin_x, sin_y, sin_z = (2 * cotangent / (1 + cotangent * cotangent) for cotangent in (X, Y, Z))
    return 2 * np.pi * sin_y * sin_z, -np.pi * sin_x * sin_z, -np.pi * sin_x * sin_y


def _in_ball(cotangents: Reals) -> npt.NDArray[np.bool_]:
    """Return which points are inside; most are outside of the ball's box, which says less."""
    near, far = 1 / np.tan(np.pi * np.array([CENTRE - RADIUS, CENTRE + RADIUS]))
    result: npt.NDArray[np.bool_] = ((far <= cotangents) & (cotangents <= near)).all(axis=0)
    result[result] = ball(*np.arctan2(1, cotangents[:, result]) / np.pi)
    return result
