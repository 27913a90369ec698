# SPDX-License-Identifier: BSD-3-Clause
"""Orders and errors where the flow stands still, and at walls, where it does as well."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import particles as pt

from benchmarks.accuracy.orders import KERNELS, slope
from benchmarks.accuracy.runs import Choice, left_out
from benchmarks.flows import CELLS, SWIRL, Flow, relative_l1, resting, resting_move

GRIDS = (128, 256, 512)
CFL = 0.5  # larger steps strain the particles more, and finer grids are needed for the same orders


@dataclass(frozen=True)
class Rest:
    """Where a flow of one dimension stands still: in the middle of a period, or at walls."""

    name: str
    boundary: str
    waves: int
    flow: Flow

    def expected(self, kernel: pt.kernels.RemeshingKernel) -> tuple[int, int]:
        """Return the orders of the sum of errors and of the greatest one."""
        p, q = kernel.moments, kernel.smoothness
        if self.name == "walls, slope":
            return min(p, q + 1, 2), min(p, q, 1)
        return min(p, q + 1), min(p, q)


PLACES = (
    Rest(
        "stagnation points",
        "periodic",
        2,
        resting(2, lambda x: np.exp(np.cos(2 * np.pi * (x - 0.3))), "resting", 0.15),
    ),
    Rest(
        "walls, no slope",
        "wall",
        1,
        resting(1, lambda x: np.exp(np.cos(np.pi * x)), "resting between walls", 0.3),
    ),
    Rest(
        "walls, slope",
        "wall",
        1,
        resting(1, lambda x: 1 + 0.7 * x + 0.4 * np.sin(4 * x), "resting between walls", 0.3),
    ),
)


def errors_at(
    place: Rest, kernel: str, n: int, device: pt.Device, *, conservative: bool = True
) -> tuple[float, float]:
    """Return the sum of errors and the greatest one, relative; paths are exact."""
    grid = pt.Grid(n, boundary=place.boundary)
    x, duration = grid.coordinates(), place.flow.duration
    steps = int(np.ceil(duration * n / CFL))
    cells = pt.Field(grid, dtype="float64", device=device)
    way = 1 if conservative else -1
    cells[...] = resting_move(x[0], place.waves, way * duration / steps) * n
    positions = pt.Positions(cells, 0, back=not conservative)
    u = pt.Field(grid, dtype="float64", device=device)
    u[...] = place.flow.solution(x, 0.0)
    remesh = pt.RemeshOp(u, kernel, conservative=conservative)
    for _ in range(steps):
        remesh.apply(positions)
    if conservative:
        exact = place.flow.solution(x, duration)
    else:
        exact = place.flow.solution([x[0] + resting_move(x[0], place.waves, -duration)], 0.0)
    values = np.asarray(u)
    return relative_l1(values, exact), float(np.abs(values - exact).max() / exact.max())


def orders(device: pt.Device, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield the orders of every kernel where the flow stands still."""
    for place in PLACES:
        for name in KERNELS:
            with left_out(f"{name}, {place.name}"):
                found = [errors_at(place, name, n, device) for n in GRIDS]
                kernel = pt.kernels.get(name)
                yield {
                    "place": place.name,
                    "kernel": name,
                    "points": GRIDS,
                    "errors": found,
                    "expected": place.expected(kernel),
                    "orders": [slope(GRIDS, errors) for errors in zip(*found, strict=True)],
                }


def errors(device: pt.Device, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield errors in vortices of which one turns its middle, and four strain where they meet."""
    for flow in (SWIRL, CELLS):
        for name in ("M'6", "L4_4", "L6_4"):
            choice = Choice(name, "rk4", "formula", dtype="float64")
            for n in (64, 128) if quick else (64, 128, 256, 512):
                with left_out(f"{flow.name}, {name}"):
                    steps = round(flow.duration * flow.speed * n / 4)
                    yield {
                        "flow": flow.name,
                        "choice": name,
                        **choice.carry(flow, n, steps, device),
                    }
