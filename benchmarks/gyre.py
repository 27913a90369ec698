# SPDX-License-Identifier: BSD-3-Clause
"""A tracer from 0 to 1 in flows without divergence: what presets, limiters and steps make of it.

``python -m benchmarks.gyre --json FILE``
    the double gyre on 1024 x 512 points, a deformation on 96³, steady cells on 256²: two minutes
    on four cores
``python -m benchmarks.gyre --quick``
    on 256 x 128 and 32³ points: half a minute

No exact solution leaves the range of the start, at no time; each is found by following paths back.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import particles as pt
from particles.cli.bench import device_of
from particles.cli.machine import facts
from particles.kernels.ripple import ripple, strain_kept
from tqdm.auto import tqdm

from benchmarks.flows import Array, cells_velocity, deformation, with_names
from benchmarks.json_lines import write
from benchmarks.options import add_common_arguments
from benchmarks.tables import Row, gyre, gyre_cells, gyre_kernels

LCFLS = (0.8, 0.4, 0.2, 0.1)
KERNELS = ("M'4", "M'6", "L4_4", "L6_4", "L8_4", "M'8")
PATH_STEPS = 50  # in a unit of time, of paths that are followed back


@dataclass(frozen=True)
class Flow:
    """A flow with a smooth hill in it, of height one: of infinite width, it is one everywhere."""

    name: str
    velocity: Callable[..., Sequence[Array]]
    extent: tuple[float, ...]
    boundary: str
    centre: tuple[float, ...]
    duration: float
    points: int
    fewer: int
    width: float = 0.15

    def grid(self, quick: bool) -> pt.Grid:
        """Return its grid: so many points along the first axis."""
        spacing = self.extent[0] / (self.fewer if quick else self.points)
        shape = [round(length / spacing) for length in self.extent]
        return pt.Grid(shape, extent=self.extent, boundary=self.boundary)

    def hill(self, x: Sequence[Array]) -> Array:
        """Return what there is at the start."""
        far = sum((c - m) ** 2 for c, m in zip(x, self.centre, strict=True))
        hill: Array = np.exp(-far / self.width**2)
        return hill

    def solution(self, grid: pt.Grid) -> Array:
        """Return what there is at the end: what was where paths come from, by Runge and Kutta."""
        ends = np.stack(np.broadcast_arrays(*grid.coordinates()))
        steps = round(self.duration * PATH_STEPS)
        parts = np.array_split(ends, max(1, grid.size // 2**16), axis=1)
        return np.concatenate([self.hill(list(self._back(part, steps))) for part in parts])

    def _back(self, x: Array, steps: int) -> Array:
        h = -self.duration / steps
        for step in range(steps):
            t = self.duration + step * h
            k1 = self._at(x, t)
            k2 = self._at(x + h / 2 * k1, t + h / 2)
            k3 = self._at(x + h / 2 * k2, t + h / 2)
            k4 = self._at(x + h * k3, t + h)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return x

    def _at(self, x: Array, t: float) -> Array:
        return np.stack(self.velocity(*x, t))


def double_gyre(x: Array, y: Array, t: float) -> list[Array]:
    """Two vortices side by side; the wall between them swings (Shadden, Lekien and Marsden)."""
    s = 0.25 * np.sin(2 * np.pi / 10 * t)
    f, slope = s * x * x + (1 - 2 * s) * x, 2 * s * x + 1 - 2 * s
    return [
        -0.1 * np.pi * np.sin(np.pi * f) * np.cos(np.pi * y),
        0.1 * np.pi * np.cos(np.pi * f) * np.sin(np.pi * y) * slope,
    ]


GYRE = Flow("double gyre", double_gyre, (2.0, 1.0), "wall", (0.5, 0.5), 20.0, 1024, 256)
DEFORMATION = Flow(
    "deformation",
    lambda x, y, z, t: deformation(x, y, z),
    (1.0, 1.0, 1.0),
    "periodic",
    (0.35, 0.35, 0.35),
    duration=1.0,
    points=96,
    fewer=32,
)

CELLS = Flow(
    "cells",
    lambda x, y, t: cells_velocity(x, y),
    (1.0, 1.0),
    "periodic",
    (0.4, 0.3),
    duration=1.0,
    points=256,
    fewer=64,
)


@dataclass(frozen=True)
class Way:
    """How the tracer is carried."""

    kernel: str = "M'6"
    scheme: str = "rk2"
    limiter: str | None = None
    conservative: bool = True

    def carry(self, flow: Flow, grid: pt.Grid, lcfl: float, device: pt.Device) -> Row:
        """Return what has become of the tracer in steps of such a strain."""
        velocity = pt.Velocity(grid, with_names(flow.velocity, grid.ndim, timed=True))
        u = pt.Field(grid, device=device)
        u[...] = flow.hill(grid.coordinates())
        remesh = pt.RemeshOp(u, self.kernel, limiter=self.limiter, conservative=self.conservative)
        transport = pt.Splitting(pt.AdvectionOp(velocity, self.scheme), remesh)
        extremes = [u.min(), u.max()]

        def look(_: pt.Splitting) -> None:
            extremes[:] = min(extremes[0], u.min()), max(extremes[1], u.max())

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pt.LCFLWarning)
            transport.run(flow.duration, lcfl=lcfl, progress=False, callback=look, every=1)
        report = transport.report()
        (carried,) = report.carried
        return {
            "lcfl": lcfl,
            "steps": report.steps,
            "cfl": report.cfl,
            "least": extremes[0],
            "greatest": extremes[1],
            "end": (carried.end.least, carried.end.greatest),
            "mass": carried.change,
            "values": u.get(),
        }


MASSES = {
    "default": Way(),
    "accurate": Way("L6_4", "rk4"),
    "positive": Way(limiter="positive"),
    "accurate, with the floor": Way("L6_4", "rk4", "positive"),
    "default, monotone": Way(limiter="monotone"),
}
VALUES = {
    "default": Way(conservative=False),
    "accurate": Way("L6_4", "rk4", conservative=False),
    "positive": Way(limiter="positive", conservative=False),
    "accurate, monotone": Way("L6_4", "rk4", "monotone", conservative=False),
}


def errors(found: Row, exact: Array) -> Row:
    """Replace values by what they lack."""
    off = np.abs(found.pop("values").astype(np.float64) - exact)
    l2 = np.sqrt((off**2).sum() / (exact**2).sum())
    return {**found, "l1": float(off.sum() / exact.sum()), "l2": float(l2)}


def steps(device: pt.Device, quick: bool) -> Iterator[Row]:
    """Yield what every way and step makes of every flow."""
    for flow in (GYRE, DEFORMATION):
        grid = flow.grid(quick)
        exact = flow.solution(grid)
        for carries, ways in ("masses", MASSES), ("values", VALUES):
            for name, way in ways.items():
                for lcfl in LCFLS:
                    row = {"flow": flow.name, "shape": grid.shape, "carries": carries, "way": name}
                    yield row | errors(way.carry(flow, grid, lcfl, device), exact)


def kernels(device: pt.Device, quick: bool) -> Iterator[Row]:
    """Yield what a sweep of each kernel makes of a constant, and many sweeps of the tracer."""
    grid = GYRE.grid(quick)
    exact = GYRE.solution(grid)
    for name in KERNELS:
        kernel = pt.kernels.get(name)
        kept = [strain_kept(kernel, share) for share in (0.01, 0.02)]
        way = Way(name, "rk4", "positive")
        yield {
            "kernel": name,
            "kept": kept,
            "ripples": [
                max(ripple(kernel, 1 - strain), ripple(kernel, 1 + strain))
                for strain in (0.1, 0.2, 0.4, 0.8)
            ],
            "runs": [
                errors(way.carry(GYRE, grid, lcfl, device), exact) for lcfl in (kept[-1], 0.2, 0.4)
            ],
        }


def cells(device: pt.Device, quick: bool) -> Iterator[Row]:
    """Yield what becomes of a constant, and of the tracer, where a steady flow stands still."""
    grid = CELLS.grid(quick)
    exact = CELLS.solution(grid)
    ones = replace(CELLS, width=np.inf)
    ways = {name: Way(name) for name in KERNELS}
    ways["M'6, positive"] = Way(limiter="positive")
    ways["M'6, values"] = Way(conservative=False)
    for name, way in ways.items():
        runs = [way.carry(ones, grid, lcfl, device) for lcfl in LCFLS[1:]]
        for run in runs:
            del run["values"]
        yield {
            "way": name,
            "ones": runs,
            "hill": errors(way.carry(CELLS, grid, 0.2, device), exact),
        }


def main() -> None:
    """Read the command line, measure, print and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_common_arguments(parser)
    arguments = parser.parse_args()
    os.environ.setdefault("PARTICLES_TUNE", "off")
    device, quick = device_of(arguments), arguments.quick
    found: dict[str, Any] = {
        **facts(device),
        **{
            part.__name__: list(
                tqdm(part(device, quick), part.__name__, disable=not sys.stderr.isatty())
            )
            for part in (steps, kernels, cells)
        },
    }
    tables = (gyre, gyre_kernels, gyre_cells)
    print(*(table({"gyre": found}) for table in tables), sep="\n\n")
    write(found, arguments.json)


if __name__ == "__main__":
    main()
