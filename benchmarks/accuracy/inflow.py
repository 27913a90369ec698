# SPDX-License-Identifier: BSD-3-Clause
"""Orders and errors of what comes in where the velocity changes, along the axis or along the face."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import particles as pt

from benchmarks.accuracy.orders import slope
from benchmarks.accuracy.runs import left_out

Numbers = npt.NDArray[np.float64]

KERNELS = ("M'4", "M'6", "L6_4")
CFLS = (1.5, 6.0, 16.0)
MOTIONS = ("formula", "cubic", "linear")
GRIDS = (64, 128, 256, 512)
DURATION = 0.4
SEEN = 0.7  # of the box: beyond that errors of the outflow count

SPLITTINGS = {"Lie": 1, "Strang": 2, "order 4": 4}
SQUARES = (64, 128, 256)
FAN = 0.3  # the velocity along the face is so much times sin 2 pi y
SEEN_OF_FAN = 0.35


def speed(x: Any) -> Any:
    """Return the velocity at places, at the time 0."""
    return 0.8 + 0.3 * np.sin(2 * np.pi * x + 0.4)


def delay(x: Numbers) -> Numbers:
    """Return how long that velocity takes from the end to places, by Gauss' quadrature."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    return np.array([(end / 2 * weights / speed(end * (nodes + 1) / 2)).sum() for end in x])


def clock(t: Any, is_steady: bool) -> Any:
    """Return the integral of the factor by which the velocity depends on time."""
    return t if is_steady else t + 0.1 * (1 - np.cos(3 * t))


def wave(t: Any) -> Any:
    """Return what comes in, times the velocity."""
    return 1 + 0.5 * np.sin(5 * t)


def error_of(
    kernel: str, motion: str, cfl: float, n: int, conservative: bool, device: pt.Device
) -> float:
    """Return the greatest error; on the grid the velocity is steady."""
    is_steady = motion != "formula"
    grid = pt.Grid(n, boundary=[("inflow", "outflow")])
    (x,) = grid.coordinates()
    velocity: pt.Field | pt.Velocity
    if is_steady:
        velocity = pt.Field(grid, dtype="float64", device=device)
        velocity[...] = speed(x)
        advection = pt.AdvectionOp(velocity, "rk4", interpolation=motion)
    else:
        velocity = pt.Velocity(grid, lambda x, t: speed(x) * (1 + 0.3 * np.sin(3 * t)))
        advection = pt.AdvectionOp(velocity, "rk4", dtype="float64", device=device)

    def exact(time: float) -> Numbers:
        values: Numbers = wave(clock(time, is_steady) - delay(x))
        return values / speed(x) if conservative else values

    density = 1 / float(speed(0.0)) if conservative else 1.0
    u = pt.Field(grid, dtype="float64", device=device)
    u[...] = exact(0.0)
    remesh = pt.RemeshOp(
        u,
        kernel,
        conservative=conservative,
        inflow=lambda t: wave(clock(t, is_steady)) * density,
    )
    steps = max(1, round(DURATION * 1.4 * n / cfl))
    pt.Splitting(advection, remesh, order=1).run(DURATION, DURATION / steps)
    return float(np.abs(u.get() - exact(DURATION))[x < SEEN].max())


def orders(device: pt.Device, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield the orders of kernels by kinds of velocity, of masses and of values."""
    kinds = [(motion, True) for motion in MOTIONS] + [("formula", False)]
    for kernel in KERNELS:
        for cfl in CFLS[:1] if quick else CFLS:
            for motion, conservative in kinds:
                with left_out(f"{kernel}, {motion}, inflow"):
                    found = [error_of(kernel, motion, cfl, n, conservative, device) for n in GRIDS]
                    yield {
                        "kernel": kernel,
                        "cfl": cfl,
                        "motion": motion + ("" if conservative else ", values"),
                        "points": GRIDS,
                        "errors": found,
                        "order": slope(GRIDS, found),
                    }


def spread(y: Numbers, lag: Numbers) -> Numbers:
    """Return how much less dense that flow makes what it has carried for so long."""
    growth = 2 * np.pi * FAN * lag
    narrow, wide = np.cos(np.pi * y) ** 2, np.sin(np.pi * y) ** 2
    density: Numbers = np.exp(-growth) / (narrow + wide * np.exp(-2 * growth))
    return density


def error_along_face(kernel: str, order: int, cfl: float, n: int, device: pt.Device) -> float:
    """Return the greatest error of masses where the flow diverges along the face, on n x n points.

    It comes in with speed 1 everywhere.
    """
    grid = pt.Grid((n, n), boundary=[("inflow", "outflow"), "periodic"])
    x, y = np.broadcast_arrays(*grid.coordinates())
    velocity = pt.Velocity(grid, lambda x, y: (1, FAN * np.sin(2 * np.pi * y)))
    u = pt.Field(grid, dtype="float64", device=device)
    u[...] = wave(-x) * spread(y, x)
    advection = pt.AdvectionOp(velocity, "rk4", dtype="float64", device=device)
    remesh = pt.RemeshOp(u, kernel, inflow=wave)
    steps = max(1, round(DURATION * n / cfl))
    pt.Splitting(advection, remesh, order).run(DURATION, DURATION / steps)
    error = np.abs(u.get() - wave(DURATION - x) * spread(y, x))
    return float(error[x < SEEN_OF_FAN].max())


def orders_along_face(device: pt.Device, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield the orders of splittings, of masses in two dimensions."""
    for splitting, order in SPLITTINGS.items():
        for cfl in CFLS[:1] if quick else CFLS[:2]:
            with left_out(f"{splitting}, inflow that diverges"):
                found = [error_along_face("M'6", order, cfl, n, device) for n in SQUARES]
                yield {
                    "splitting": splitting,
                    "cfl": cfl,
                    "points": SQUARES,
                    "errors": found,
                    "order": slope(SQUARES, found),
                }
