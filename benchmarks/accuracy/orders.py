# SPDX-License-Identifier: BSD-3-Clause
"""Observed orders in space and time, by regression over several grids or steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import particles as pt

from benchmarks.accuracy.runs import Choice, left_out
from benchmarks.flows import SWIRL, Flow, relative_l1, sampled, uneven, uneven_move

KERNELS = ("L1", "M'4", "L2_2", "M'6", "L4_3", "L4_4", "L6_3", "L6_4", "L6_5", "L6_6", "L8_4")
KERNELS += ("M'8",)
SCHEMES = {"euler": 1, "rk2": 2, "heun": 2, "rk3": 3, "rk4": 4}
EXACT = 99
INTERPOLATIONS = {"linear": 2, "cubic": 4, "formula": EXACT}
GRIDS = {1: (64, 128, 256), 2: (48, 72, 108), 3: (24, 36, 54)}
CFL = 2.0
ROUNDED = {"float32": 1e-6, "float64": 1e-11}
"""Errors below are round-off as well: no order is read from them."""


def slope(sizes: Sequence[float], errors: Sequence[float]) -> float:
    """Return the order: minus the slope of the errors against the sizes, both as logarithms."""
    return float(-np.polyfit(np.log(sizes), np.log(errors), 1)[0])


def advection(
    flow: Flow, grid: pt.Grid, scheme: str, interpolation: str, dtype: str, device: pt.Device
) -> pt.AdvectionOp:
    """Return what moves the particles: by a formula, or by a velocity on the grid."""
    if interpolation == "formula":
        return pt.AdvectionOp(flow.formula(grid), scheme, dtype=dtype, device=device)
    options = {} if interpolation == "linear" else {"interpolation": interpolation}
    return pt.AdvectionOp(sampled(flow, grid, dtype, device), scheme, **options)


def in_space(device: pt.Device, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield the order of every kernel, scheme, interpolation, dimension and dtype.

    Grid and step are refined together, at a fixed CFL number, in a flow that splits exactly: so the
    order is the least of those of the kernel, the scheme and the interpolation.
    """
    motions = [(scheme, interpolation) for scheme in SCHEMES for interpolation in INTERPOLATIONS]
    kinds = [
        (*motion, ndim, dtype)
        for ndim in ((1,) if quick else (1, 2, 3))
        for dtype in ("float64", "float32")
        for motion in [("exact", "exact"), *motions]
    ]
    for scheme, interpolation, ndim, dtype in kinds:
        errors: dict[str, list[float]] = {kernel: [] for kernel in KERNELS}
        for n in GRIDS[ndim]:
            with left_out(f"{scheme}, {interpolation}, {dtype}"):
                found = errors_on(uneven(ndim), n, scheme, interpolation, dtype, device)
                for kernel, error in found.items():
                    errors[kernel].append(error)
        for kernel, values in errors.items():
            if len(values) < len(GRIDS[ndim]):
                continue
            motion = (SCHEMES.get(scheme, EXACT), INTERPOLATIONS.get(interpolation, EXACT))
            expected = min(pt.kernels.get(kernel).moments, *motion)
            yield {
                "kernel": kernel,
                "scheme": scheme,
                "interpolation": interpolation,
                "ndim": ndim,
                "dtype": dtype,
                "points": GRIDS[ndim],
                "errors": values,
                "expected": expected,
                "order": slope(GRIDS[ndim], values) if values[-1] > ROUNDED[dtype] else None,
            }


def errors_on(
    flow: Flow, n: int, scheme: str, interpolation: str, dtype: str, device: pt.Device
) -> dict[str, float]:
    """Return the error of each kernel; as the flow is steady, particles always move alike."""
    grid = pt.Grid((n,) * flow.ndim)
    steps = int(np.ceil(flow.duration * flow.speed * n / CFL))
    dt = flow.duration / steps
    if scheme == "exact":
        moved = [exact_move(grid, axis, dt, dtype, device) for axis in range(flow.ndim)]
    else:
        push = advection(flow, grid, scheme, interpolation, dtype, device)
        moved = [push.apply(dt, axis) for axis in range(flow.ndim)]
    u = pt.Field(grid, dtype=dtype, device=device)
    x = grid.coordinates()
    start, exact = flow.solution(x, 0.0), flow.solution(x, flow.duration)
    errors = {}
    for kernel in KERNELS:
        u[...] = start
        remesh = pt.RemeshOp(u, kernel)
        for _ in range(steps):
            for positions in moved:
                remesh.apply(positions)
        errors[kernel] = relative_l1(np.asarray(u, dtype=np.float64), exact)
    return errors


def exact_move(grid: pt.Grid, axis: int, dt: float, dtype: str, device: pt.Device) -> pt.Positions:
    """Return where an uneven flow takes the particles."""
    cells = pt.Field(grid, dtype=dtype, device=device)
    move = uneven_move(grid.coordinates()[axis], dt) / grid.spacing[axis]
    cells[...] = np.broadcast_to(move, grid.shape)
    return pt.Positions(cells, axis)


def in_time(device: pt.Device, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield the order of every scheme in the step, on a grid so fine that nothing else counts."""
    points = {1: 1024, 2: 256, 3: 80}
    steps = {1: (16, 24, 36), 2: (16, 24, 36), 3: (8, 12, 18)}
    for ndim in (1,) if quick else (1, 2, 3):
        for scheme, expected in SCHEMES.items():
            choice = Choice("L8_4", scheme, "formula", dtype="float64")
            yield from order_of(uneven(ndim), choice, points[ndim], steps[ndim], expected, device)


def of_splittings(device: pt.Device, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield the order of every splitting in the step, where sweeps do not commute."""
    points = 128 if quick else 256
    for splitting, expected in {"Lie": 1, "Strang": 2, "fourth": 4, "unsplit": 4}.items():
        choice = Choice("L8_4", "rk4", "formula", splitting=splitting, dtype="float64")
        yield from order_of(SWIRL, choice, points, (16, 24, 36), expected, device)


def order_of(
    flow: Flow, choice: Choice, points: int, steps: Sequence[int], expected: int, device: pt.Device
) -> Iterator[dict[str, Any]]:
    """Yield the order in the step, unless the choice is refused."""
    with left_out(str(choice)):
        errors = [choice.carry(flow, points, count, device)["l1"] for count in steps]
        yield {
            "scheme": choice.scheme,
            "splitting": choice.splitting,
            "ndim": flow.ndim,
            "points": points,
            "steps": steps,
            "errors": errors,
            "expected": expected,
            "order": slope(steps, errors),
        }
