# SPDX-License-Identifier: BSD-3-Clause
"""The same work by other libraries, each where it is installed, checked before it is timed."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import particles as pt
from particles.cli.bench import STEPS, Case, measure
from tqdm.auto import tqdm

LIBRARIES = ("numba", "taichi", "jax", "torch", "scipy")
CFL, LARGE_CFL = 2.0, 0.1  # the latter for each point along an axis
REPEATS, SECONDS = 2, 2.0  # the more of both

Array = npt.NDArray[Any]


class Problem(NamedTuple):
    """A smooth field and how many cells everything moves: the flow of the level-set test."""

    u: Array
    motion: list[Array]
    cfl: float

    def step_tolerance(self, of_values: float) -> float:
        """How far a step along all axes at once, to which its interpolation adds, may be from ours.

        Ours takes one axis after the other, which matters in large steps.
        """
        return of_values if self.cfl <= CFL else 5e-2


class Peer(NamedTuple):
    """Work that another library does.

    It stands for a sweep along an axis or, where that is None, for a step; `tolerance` is how far
    its result may be from ours, as a share of the greatest value.
    """

    name: str
    axis: int | None
    work: Callable[[], Array | None]
    tolerance: float
    found: Callable[[], Array] | None = None
    """What it has found, where that stays on a device."""

    def result(self) -> Array:
        """Work once, and return what comes of it."""
        out = self.work()
        if self.found is not None:
            return self.found()
        assert out is not None
        return out


def compare(device: pt.Device, points: int, hysop: Path | None = None) -> dict[str, Any]:
    """Time every peer that is installed, and our own sweeps and steps beside them.

    `hysop`: folder of the sources of HySoP's kernels, to time them as well.
    """
    shape = (points,) * 3
    rows = [row for cfl in (CFL, LARGE_CFL * points) for row in compared(device, shape, cfl, hysop)]
    return {"shape": shape, "rows": rows}


def peers_for(
    problem: Problem, device: pt.Device, hysop: Path | None
) -> Iterator[tuple[Peer, str]]:
    """Yield peers and their versions, library by library."""
    installed = [name for name in LIBRARIES if find_spec(name)]
    for library in tqdm(installed, disable=not sys.stderr.isatty(), unit="library"):
        for peer in import_module(f"benchmarks.peers.{library}").peers(problem):
            yield peer, f"{library} {version(library)}"
    if hysop is not None:
        for peer in import_module("benchmarks.peers.hysop").peers(problem, device, hysop):
            yield peer, "its sources of 2016"


def compared(
    device: pt.Device, shape: tuple[int, ...], cfl: float, hysop: Path | None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one CFL number, ours first."""
    problem = smooth_problem(shape, cfl)
    rows = list(ours(shape, cfl, device))
    yield from rows
    own = {row["axis"]: row["ns"] for row in rows}
    expected = {axis: carried(problem, axis, device) for axis in (0, 1, 2, None)}
    for peer, of_version in peers_for(problem, device, hysop):
        error = float(np.abs(peer.result() - expected[peer.axis]).max() / problem.u.max())
        if not error <= peer.tolerance:
            raise RuntimeError(f"{peer.name} is off by {error:.3g} > {peer.tolerance:g}")
        nanoseconds, busy = (seconds / problem.u.size * 1e9 for seconds in shortest(peer.work))
        yield {
            "name": peer.name,
            "axis": peer.axis,
            "cfl": cfl,
            "ns": nanoseconds,
            "processor_ns": busy / (os.cpu_count() or 1),
            "times_ours": nanoseconds / own[peer.axis],
            "error": error,
            "version": of_version,
        }


def ours(shape: tuple[int, ...], cfl: float, device: pt.Device) -> Iterator[dict[str, Any]]:
    """Yield our own rows: the time of a sweep along each axis, and of a step of a run."""
    cases = [Case(shape, axis, cfl, velocity="vortex") for axis in (0, 1, 2, None)]
    for timing, _ in measure(cases, device, SECONDS):
        count = STEPS if timing.case.axis is None else 1
        work = count * math.prod(shape) / 1e9
        busy = timing.processor_seconds
        yield {
            "name": "particles",
            "axis": timing.case.axis,
            "cfl": cfl,
            "ns": timing.seconds / work,
            "processor_ns": None if busy is None else busy / work,
            "times_ours": 1.0,
            "error": None,
            "version": f"particles {pt.__version__}",
        }


def smooth_problem(shape: tuple[int, ...], cfl: float) -> Problem:
    """Return the problem on a grid, with moves of one duration of a step."""
    grid = pt.Grid(shape)
    x, y, z = grid.coordinates()
    wave = np.sin(2 * np.pi * x) * np.sin(2 * np.pi * y) * np.sin(2 * np.pi * z)
    # The flow's greatest speed is 2.
    motion = [(cfl / 2 * a).astype(np.float32) for a in pt.levelset.flow(x, y, z)]
    return Problem((1 + wave / 2).astype(np.float32), motion, cfl)


def carried(problem: Problem, axis: int | None, device: pt.Device) -> Array:
    """Return our own result of a sweep or a step."""
    grid = pt.Grid(problem.u.shape, spacing=1)
    u, velocity = pt.Field(grid, device=device), pt.Field(grid, 3, device=device)
    u[...] = problem.u
    for component, motion in enumerate(problem.motion):
        velocity[component] = motion
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u))
    if axis is None:
        transport.step(1.0)
    else:
        transport.sweep(axis, 1.0)
    return u.get()


def shortest(work: Callable[[], Array | None]) -> tuple[float, float]:
    """Shortest times of what has been done once before: on the clock, and of all processors."""
    walls: list[float] = []
    busy: list[float] = []
    while len(walls) < REPEATS or sum(walls) < SECONDS:
        wall, processor = perf_counter(), process_time()
        work()
        walls.append(perf_counter() - wall)
        busy.append(process_time() - processor)
    return min(walls), min(busy)
