# SPDX-License-Identifier: BSD-3-Clause
"""Flows carried with every choice, and how far the result is from the solution."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from time import perf_counter
from typing import Any

import numpy as np
import particles as pt

from benchmarks.flows import (
    DEFORMATION,
    HILL,
    LEVEL_SET,
    SWIRL,
    TURNS,
    VORTEX,
    ZALESAK,
    Flow,
    relative_l1,
    sampled,
)

REPEATS = 5
ORDERS = {"Lie": 1, "Strang": 2, "fourth": 4}
LEFT_OUT: list[str] = []
"""What a device or the library has refused, and why."""


@contextmanager
def left_out(what: str) -> Iterator[None]:
    """Go on without what is refused, as float64 where a device lacks it, and note it down."""
    try:
        yield
    except (TypeError, ValueError) as refusal:
        LEFT_OUT.append(f"{what}: {refusal}")


@dataclass(frozen=True)
class Choice:
    """One way to carry a field."""

    kernel: str = "M'6"
    scheme: str = "rk2"
    interpolation: str = "linear"
    splitting: str = "Strang"
    limiter: str | None = None
    conservative: bool = True
    dtype: str = "float32"
    coarser: int = 1

    def __str__(self) -> str:
        """What is not the default."""
        special = [
            f"{field.name} {getattr(self, field.name)}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return ", ".join(special) or "default"

    def transport(self, flow: Flow, u: pt.Field, sign: int = 1) -> pt.Splitting:
        """Return what carries a field with a flow, or back."""
        return self._stepper(self._advection(flow, u, sign), self._remesh(u))

    def _advection(self, flow: Flow, u: pt.Field, sign: int) -> pt.AdvectionOp:
        arithmetic = "float32" if self.dtype == "float16" else self.dtype
        if self.interpolation == "formula" or not flow.steady:
            velocity = flow.formula(u.grid)
            return pt.AdvectionOp(velocity, self.scheme, dtype=arithmetic, device=u.device)
        shape = tuple(n // self.coarser for n in u.grid.shape)
        velocity = sampled(flow, pt.Grid(shape), arithmetic, u.device)
        velocity[...] = sign * velocity.get()
        options: dict[str, Any] = {}
        if self.interpolation != "linear":
            options["interpolation"] = self.interpolation
        if self.coarser > 1:
            options["grid"] = u.grid
        return pt.AdvectionOp(velocity, self.scheme, **options)

    def _remesh(self, u: pt.Field) -> pt.RemeshOp:
        options: dict[str, Any] = {}
        if self.limiter:
            options["limiter"] = self.limiter
        if not self.conservative:
            options["conservative"] = False
        return pt.RemeshOp(u, self.kernel, **options)

    def _stepper(self, advection: pt.AdvectionOp, remesh: pt.RemeshOp) -> Any:
        if self.splitting == "unsplit":
            return pt.Unsplit(advection, remesh)
        return pt.Splitting(advection, remesh, ORDERS[self.splitting])

    def carry(
        self, flow: Flow, points: int, steps: int, device: pt.Device, *, back: bool = False
    ) -> dict[str, Any]:
        """Carry a field through a flow, perhaps back as well, and say what has become of it."""
        grid = pt.Grid((points,) * flow.ndim)
        u = pt.Field(grid, dtype=self.dtype, device=device)
        start = flow.solution(grid.coordinates(), 0.0)
        ways = [self.transport(flow, u, sign) for sign in ((1, -1) if back else (1,))]
        u[...] = start
        dt = flow.duration / steps
        begin = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pt.LCFLWarning)
            for way in ways:
                way.run(until=flow.duration, dt=dt, progress=False)
        seconds = perf_counter() - begin
        values = np.asarray(u).astype(np.float64)
        time = 0.0 if back or not flow.steady or flow is ZALESAK else flow.duration
        exact = start if time == 0 else flow.solution(grid.coordinates(), time)
        return {
            "points": points,
            "steps": steps,
            "cfl": flow.speed * dt * points,
            "seconds": seconds,
            "l1": relative_l1(values, exact),
            "max": float(np.abs(values - exact).max()),
            "volume": float((values > 0.5).sum() / max((exact > 0.5).sum(), 1) - 1),
            "mass": float(values.sum() / start.sum() - 1),
            "least": float(values.min()),
            "greatest": float(values.max()),
        }


PRESETS = {
    "default": Choice(),
    "accurate": Choice("L6_4", "rk4", "cubic"),
    "positive": Choice(limiter="positive"),
}


def rows(
    flow: Flow,
    choices: dict[str, Choice],
    points: tuple[int, ...],
    cfls: tuple[float, ...],
    device: pt.Device,
) -> Iterator[dict[str, Any]]:
    """Yield what becomes of a flow for every choice, grid and CFL number."""
    for name, choice in choices.items():
        for n in points:
            for cfl in cfls:
                steps = max(1, round(flow.duration * flow.speed * n / cfl))
                with left_out(f"{flow.name}, {name}, {n} points, CFL {cfl:g}"):
                    found = choice.carry(flow, n, steps, device)
                    yield {"flow": flow.name, "choice": name, **found, "cfl": cfl}


def reversing_flows(device: pt.Device, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield what is left of disks, hills and balls after a period of a flow that turns round."""
    choices = {
        **PRESETS,
        "monotone": Choice(limiter="monotone"),
        "M'4": Choice("M'4"),
        "values": Choice(conservative=False),
    }
    yield from rows(VORTEX, choices, (128,) if quick else (128, 256), (1.0, 10.0, 25.0), device)
    yield from rows(HILL, choices, (128,) if quick else (128, 256), (1.0, 10.0, 25.0), device)
    yield from rows(DEFORMATION, PRESETS, (32,) if quick else (64, 128), (1.0, 25.0), device)


def work(device: pt.Device, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield error and time of the presets, the least of some runs: the first one compiles."""
    sizes = (64, 128) if quick else (64, 128, 256, 512)
    runs = [
        list(rows(SWIRL, PRESETS, sizes, (1.0, 2.0, 5.0, 10.0, 25.0), device))
        for _ in range(REPEATS)
    ]
    for same in zip(*runs, strict=True):
        yield same[0] | {"seconds": min(row["seconds"] for row in same)}


def precisions(device: pt.Device, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield the errors of every dtype."""
    choices = {dtype: Choice(dtype=dtype) for dtype in ("float64", "float32", "float16")}
    yield from rows(SWIRL, choices, (64, 128, 256), (4.0,), device)


def resolutions(device: pt.Device, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield the errors of velocities on coarser grids."""
    choices = {
        f"{interpolation}, {coarser} times coarser": Choice(
            scheme="rk4", interpolation=interpolation, coarser=coarser
        )
        for interpolation in ("linear", "cubic")
        for coarser in (1, 2, 4, 8)
    }
    yield from rows(SWIRL, choices, (128, 256), (4.0,), device)


def kernels(device: pt.Device, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield what each kernel leaves of Zalesak's disk, the swirl and the level set."""
    for kernel in ("M'4", "M'6", "L6_4", "L8_4"):
        for limiter in (None, "positive", "monotone"):
            choice = Choice(kernel, limiter=limiter)
            name = kernel if limiter is None else f"{kernel}, {limiter}"
            cases = [
                (ZALESAK, 128, TURNS, False),
                (SWIRL, 128, 32, False),
                (SWIRL, 128, 32, True),
                *([] if quick else [(LEVEL_SET, 128, 10, True)]),
            ]
            for flow, points, steps, back in cases:
                with left_out(f"{flow.name}, {name}"):
                    found = choice.carry(flow, points, steps, device, back=back)
                    yield {"flow": flow.name, "choice": name, "back": back, **found}
