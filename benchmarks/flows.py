# SPDX-License-Identifier: BSD-3-Clause
"""Flows whose solution is known, by a formula or by characteristics, for `benchmarks.accuracy`.

Velocities are written with NumPy's functions, so that they serve as arrays and as formulas alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import particles as pt

Array = np.ndarray[Any, np.dtype[np.float64]]
Solution = Callable[[Sequence[Array], float], Array]


@dataclass(frozen=True)
class Flow:
    """Transport of ``solution(x, 0)`` by a velocity; ``solution(x, time)`` is where it is known."""

    name: str
    ndim: int
    velocity: Callable[..., Sequence[Array]]
    solution: Solution
    duration: float = 1.0
    speed: float = 1.0
    steady: bool = True

    def formula(self, grid: pt.Grid) -> pt.Velocity:
        """Return the velocity where and when it is asked for."""
        return pt.Velocity(grid, with_names(self.velocity, self.ndim, timed=not self.steady))


def on_grid(values: Sequence[Array], shape: Sequence[int]) -> Array:
    """Return components as one array."""
    return np.stack([np.broadcast_to(value, shape) for value in values])


def sampled(flow: Flow, grid: pt.Grid, dtype: str, device: pt.Device) -> pt.Field:
    """Return the velocity of a steady flow on the points of a grid."""
    field = pt.Field(grid, flow.ndim, dtype, device)
    values = on_grid(flow.velocity(*grid.coordinates()), grid.shape)
    field[...] = values.reshape(field.shape)
    return field


def relative_l1(u: Array, exact: Array) -> float:
    """Sum of the errors over the sum of the exact values."""
    return float(np.abs(u - exact).sum() / np.abs(exact).sum())


UNEVENNESS = 0.5


def uneven_velocity(*x: Array) -> list[Array]:
    """Every component depends on its own coordinate alone, so that splitting is exact."""
    return [1 + UNEVENNESS * np.sin(2 * np.pi * c) for c in x]


def uneven_solution(x: Sequence[Array], time: float) -> Array:
    """A product of solutions in one dimension, along which ``u a`` is carried unchanged."""
    root = np.sqrt(1 - UNEVENNESS**2)
    result: Array = np.ones(())
    for c, a in zip(x, uneven_velocity(*x), strict=True):
        phase = np.arctan((np.tan(np.pi * c) + UNEVENNESS) / root) - np.pi * root * time
        departure = np.arctan(root * np.tan(phase) - UNEVENNESS) / np.pi
        hill = np.exp(np.cos(2 * np.pi * (departure - 0.5)))
        result = result * hill * uneven_velocity(departure)[0] / a
    return result


def uneven_move(x: Array, duration: float) -> Array:
    """How far a particle goes along an axis: an exact formula instead of a scheme."""
    root = np.sqrt(1 - UNEVENNESS**2)
    phase = np.arctan((np.tan(np.pi * x) + UNEVENNESS) / root) + np.pi * root * duration
    move = np.arctan(root * np.tan(phase) - UNEVENNESS) / np.pi - x
    return move - np.round(move)


def uneven(ndim: int) -> Flow:
    """Compression and expansion along every axis."""
    return Flow("uneven", ndim, uneven_velocity, uneven_solution, duration=0.4, speed=1.5)


def swirl_velocity(x: Array, y: Array) -> list[Array]:
    """One vortex that fills the box."""
    return [
        np.sin(np.pi * x) ** 2 * np.sin(2 * np.pi * y),
        -np.sin(2 * np.pi * x) * np.sin(np.pi * y) ** 2,
    ]


def hill(x: Array, y: Array) -> Array:
    """A smooth, periodic hill."""
    return np.exp(-(np.sin(np.pi * (x - 0.5)) ** 2 + np.sin(np.pi * (y - 0.75)) ** 2) / 0.1)


def followed(velocity: Callable[..., Sequence[Array]], start: Callable[..., Array]) -> Solution:
    """Return the solution in the plane on square grids, where the flow has no divergence."""

    def solution(x: Sequence[Array], time: float) -> Array:
        shape = np.broadcast_shapes(*(c.shape for c in x))
        return followed_back(velocity, start, shape[0], time) if time else start(*x)

    return solution


@lru_cache(maxsize=8)
def followed_back(
    velocity: Callable[..., Sequence[Array]],
    start: Callable[..., Array],
    points: int,
    time: float,
    steps: int = 200,
) -> Array:
    """Go back along the characteristics by Runge and Kutta's rule, to ten digits."""

    def a(x: Array) -> Array:
        return np.stack(velocity(*x))

    ends = np.stack(np.broadcast_arrays(*pt.Grid((points, points)).coordinates()))
    solved = []
    for x in np.array_split(ends, max(1, points // 8), axis=1):
        h = -time / steps
        for _ in range(steps):
            k1 = a(x)
            k2 = a(x + h / 2 * k1)
            k3 = a(x + h / 2 * k2)
            k4 = a(x + h * k3)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        solved.append(start(*x))
    return np.concatenate(solved)


SWIRL = Flow("swirl", 2, swirl_velocity, followed(swirl_velocity, hill))


def cells_velocity(x: Array, y: Array) -> list[Array]:
    """Four vortices, between which the flow stands still and strains."""
    return [
        np.sin(2 * np.pi * x) * np.cos(2 * np.pi * y),
        -np.cos(2 * np.pi * x) * np.sin(2 * np.pi * y),
    ]


def wide_hill(x: Array, y: Array) -> Array:
    """A smooth, periodic hill on all of the box."""
    return np.exp(np.cos(2 * np.pi * (x - 0.3)) + np.cos(2 * np.pi * (y - 0.2)) - 2)


CELLS = Flow("cells", 2, cells_velocity, followed(cells_velocity, wide_hill), duration=0.5)


def resting(waves: int, start: Callable[[Array], Array], name: str, duration: float) -> Flow:
    """Return a flow of one dimension, a = sin(pi waves x), that stands still at its zeros.

    With x' = tan(pi waves x / 2) it is x' exp(pi waves t). For walls at 0 and 1 `waves` is 1, in a
    period it is 2.
    """

    def solution(x: Sequence[Array], time: float) -> Array:
        (place,) = x
        departure = place + resting_move(place, waves, -time)
        strain = np.exp(-np.pi * waves * time)
        angle = np.pi * waves / 2 * place
        return start(departure) * strain / (np.cos(angle) ** 2 + (strain * np.sin(angle)) ** 2)

    return Flow(name, 1, lambda x: [np.sin(np.pi * waves * x)], solution, duration)


def resting_move(x: Array, waves: int, duration: float) -> Array:
    """How far a particle of a resting flow goes."""
    angle = np.pi * waves / 2 * x
    turned = np.arctan2(np.exp(np.pi * waves * duration) * np.sin(angle), np.cos(angle))
    move: Array = (turned - np.arctan2(np.sin(angle), np.cos(angle))) * 2 / (np.pi * waves)
    return move


def with_names(function: Callable[..., Any], ndim: int, *, timed: bool) -> Callable[..., Any]:
    """Return a function that names the coordinates, and the time, as a formula must."""
    named: dict[tuple[int, bool], Callable[..., Any]] = {
        (1, False): lambda x: function(x),
        (2, False): lambda x, y: function(x, y),
        (3, False): lambda x, y, z: function(x, y, z),
        (1, True): lambda x, t: function(x, t),
        (2, True): lambda x, y, t: function(x, y, t),
        (3, True): lambda x, y, z, t: function(x, y, z, t),
    }
    return named[ndim, timed]


def reversing(velocity: Callable[..., Sequence[Array]], period: float) -> Callable[..., Any]:
    """Return a velocity that turns round in the middle of its period."""

    def turning(*x: Array) -> list[Array]:
        *places, time = x
        factor = np.cos(np.pi / period * time)
        return [a * factor for a in velocity(*places)]

    return turning


def deformation(x: Array, y: Array, z: Array) -> list[Array]:
    """LeVeque's deformation of a ball."""
    sx, sy, sz = (np.sin(2 * np.pi * c) for c in (x, y, z))
    return [
        2 * np.sin(np.pi * x) ** 2 * sy * sz,
        -sx * np.sin(np.pi * y) ** 2 * sz,
        -sx * sy * np.sin(np.pi * z) ** 2,
    ]


def disk(x: Sequence[Array], _: float) -> Array:
    """Return 1 inside a disk, else 0."""
    return ((x[0] - 0.5) ** 2 + (x[1] - 0.75) ** 2 < 0.15**2).astype(np.float64)


def ball(x: Sequence[Array], _: float) -> Array:
    """Return 1 inside a ball, else 0."""
    return (sum((c - 0.35) ** 2 for c in x) < 0.15**2).astype(np.float64)


VORTEX = Flow("vortex in a box", 2, reversing(swirl_velocity, 8.0), disk, 8.0, steady=False)
HILL = Flow(
    "vortex in a box, hill",
    2,
    reversing(swirl_velocity, 8.0),
    lambda x, _: hill(*x),
    duration=8.0,
    steady=False,
)
DEFORMATION = Flow(
    "deformation of a ball", 3, reversing(deformation, 3.0), ball, 3.0, speed=2.0, steady=False
)

TURNS = 50


def shears(x: Array, y: Array) -> list[Array]:
    """Velocity whose Strang step of 1, x half, y full, x half, turns by 2 pi / TURNS."""
    angle = 2 * np.pi / TURNS
    return [-2 * np.tan(angle / 2) * (y - 0.5), np.sin(angle) * (x - 0.5)]


def slotted_disk(x: Sequence[Array], _: float) -> Array:
    """Zalesak's disk, of which nothing must change in a revolution."""
    inside = disk(x, 0.0) > 0
    slot = (np.abs(x[0] - 0.5) < 0.025) & (x[1] < 0.85)
    return (inside & ~slot).astype(np.float64)


ZALESAK = Flow("Zalesak's disk", 2, shears, slotted_disk, float(TURNS), np.pi / TURNS)
LEVEL_SET = Flow("level set", 3, deformation, ball, speed=2.0)
