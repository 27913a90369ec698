# SPDX-License-Identifier: BSD-3-Clause
"""What is measured: sweeps and runs of many kinds, timed beside the bandwidth of the device."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from time import perf_counter, process_time
from typing import Any

import numpy as np

from particles.base.checks import arithmetic
from particles.fields.field import Field
from particles.fields.grid import Grid
from particles.levelset import ball, flow
from particles.operators.advection import AdvectionOp
from particles.operators.remesh import RemeshOp
from particles.operators.velocity import Velocity
from particles.runtime.device import Device
from particles.runtime.devices import profile
from particles.stepping.splitting import LCFLWarning, Splitting

VELOCITIES = ("smooth", "formula", "rough", "wild", "vortex", "vortex formula")
STEPS = 20  # of a whole run
TRIAD_BYTES = 12  # of one element: two numbers read, one written
_JITTER = 0.4  # cells between neighbours of a rough velocity
_BLOCK = 1 << 22  # points filled at once

Numbers = Any  # arrays, or the symbols of a Velocity


@dataclass(frozen=True)
class Case:
    """A sweep along an axis or, where that is None, a run of Strang steps in a unit box.

    A sweep, like a step, lasts the time 1 and moves the fastest particles by `cfl` cells. The
    velocity is

    - ``"smooth"``: waves along every axis, with a wind where they would strain too much;
    - ``"formula"``: the same, evaluated where the particles are;
    - ``"rough"``: a wind with noise of less than half a cell from point to point;
    - ``"wild"``: a speed of its own for every line, the hardest for neighbouring lines in vectors;
    - ``"vortex"``: the flow of the level-set test, which carries its ball;
    - ``"vortex formula"``: the same, evaluated where the particles are.
    """

    shape: tuple[int, ...]
    axis: int | None = None
    cfl: float = 2.0
    kernel: str = "M'6"
    dtype: str = "float32"
    components: int = 1
    velocity: str = "smooth"

    @property
    def title(self) -> str:
        """How a table calls it."""
        points = " x ".join(map(str, self.shape))
        work = "Strang run" if self.axis is None else f"axis {self.axis}"
        several = f" x {self.components}" if self.components > 1 else ""
        return (
            f"{points}, {work}, CFL {self.cfl:g}, {self.kernel}, {self.dtype}{several}, "
            f"{self.velocity}"
        )


@dataclass(frozen=True)
class Timing:
    """The shortest time that a case took, on the clock and of the processors."""

    case: Case
    seconds: float
    processor_seconds: float | None  # of one compute unit; None where the host does not compute
    sweeps: int

    def row(self, bandwidth: float) -> dict[str, Any]:
        """Return it per particle, sweep and component, beside a triad's bytes per second."""
        case, busy = self.case, self.processor_seconds
        particles = math.prod(case.shape) * self.sweeps
        work = particles * case.components
        dtype = np.dtype(case.dtype)
        velocity = 0 if "formula" in case.velocity else arithmetic(dtype).itemsize
        moved = (velocity + 2 * case.components * dtype.itemsize) * particles
        return {
            **asdict(case),
            "seconds": self.seconds,
            "sweeps": self.sweeps,
            "ns": self.seconds / work * 1e9,
            "processor_ns": None if busy is None else busy / work * 1e9,
            "triads": self.seconds / work * bandwidth / TRIAD_BYTES,
            "share": moved / self.seconds / bandwidth,
        }


def measure(
    cases: Sequence[Case], device: Device, seconds: float
) -> Iterator[tuple[Timing, float]]:
    """Time cases, each for about so many seconds; yields the bandwidth measured beside it, too.

    Neighbouring cases that differ in their axis alone share their fields.
    """
    for common, group in groupby(cases, lambda case: replace(case, axis=None)):
        transport = prepare(common, device)
        bandwidth = device.core.measure_triad()
        for case in group:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LCFLWarning)  # nobody looks at the result
                timing = _time(case, transport, seconds)
            yield timing, bandwidth


def prepare(case: Case, device: Device) -> Splitting:
    """Return what carries a random field, or the ball, with the velocity of a case."""
    grid = Grid(case.shape)
    carried = Field(grid, case.components, case.dtype, device)
    random = np.random.default_rng(0)
    for block, points in _blocks(grid):
        for c in range(case.components):
            shape = np.broadcast_shapes(*(x.shape for x in points))
            part = ball(*points) if "vortex" in case.velocity else random.random(shape, np.float32)
            carried.component(c)[block] = part
    moves = _moves(case, grid)
    velocity: Field | Velocity
    if "formula" in case.velocity:
        velocity = Velocity(grid, _with_named_arguments(grid.ndim, moves))
    else:
        velocity = Field(grid, grid.ndim, arithmetic(np.dtype(case.dtype)), device)
        for block, points in _blocks(grid):
            for axis, component in enumerate(moves(*points)):
                velocity.component(axis)[block] = component
    return Splitting(AdvectionOp(velocity), RemeshOp(carried, case.kernel))


def _blocks(grid: Grid) -> Iterator[tuple[slice, tuple[Numbers, ...]]]:
    """Yield parts of the first axis with the coordinates of their points."""
    first, *others = grid.coordinates()
    rows = max(1, _BLOCK * grid.shape[0] // grid.size)
    for start in range(0, grid.shape[0], rows):
        block = slice(start, start + rows)
        yield block, (first[block], *others)


def _moves(case: Case, grid: Grid) -> Callable[..., Sequence[Numbers]]:
    """Return the velocity as a function of the coordinates."""
    if "vortex" in case.velocity:
        scale = case.cfl * grid.spacing[0] / 2
        return lambda *points: [scale * a for a in flow(*points)]

    def component(axis: int, points: Sequence[Numbers]) -> Numbers:
        spacing, n = grid.spacing[axis], grid.shape[axis]
        if case.velocity == "wild":
            across = [0 if other == axis else x for other, x in enumerate(points)]
            return spacing * case.cfl * (2 * _noise(across) - 1)
        # A wave of n / 8 cells strains by pi / 8: no step is refused.
        jitter = _JITTER if case.velocity == "rough" else 0
        height = min(case.cfl - jitter, n / (80 if jitter else 8))
        wave = height * _wave(axis, points) + (case.cfl - jitter - height)
        return spacing * (wave + jitter * _noise(points) if jitter else wave)

    return lambda *points: [component(axis, points) for axis in range(grid.ndim)]


def _noise(points: Sequence[Numbers]) -> Numbers:
    """Numbers in [0, 1) that neighbouring points have nothing to do with."""
    phase = sum(prime * x for prime, x in zip((7919, 6841, 5417), points, strict=False))
    return 1e4 * np.sin(phase + 1) % 1


def _wave(axis: int, points: Sequence[Numbers]) -> Numbers:
    result: Numbers = 1
    for other, x in enumerate(points):
        result = result * (np.sin(np.pi * x) ** 2 if other == axis else np.sin(2 * np.pi * x))
    return result


def _with_named_arguments(ndim: int, moves: Callable[..., Numbers]) -> Callable[..., Numbers]:
    """Give a function the arguments that `Velocity` counts."""
    return (
        lambda x: moves(x),
        lambda x, y: moves(x, y),
        lambda x, y, z: moves(x, y, z),
    )[ndim - 1]


def _time(case: Case, transport: Splitting, seconds: float) -> Timing:
    """Shortest times of a case; the field is what it was before each of them."""
    (carried,) = transport.remesh.fields
    device, initial = carried.device, carried.copy()
    axis = case.axis

    def work() -> None:
        if axis is None:
            transport.run(transport.time + STEPS, 1.0, progress=False)
        else:
            transport.sweep(axis, 1.0)
        device.finish()

    with profile(device) as launched:
        work()
    sweeps = sum(time.launches for name, time in launched.kernels.items() if "sweep" in name)
    walls: list[float] = []
    busy: list[float] = []
    end = perf_counter() + seconds
    while len(walls) < 3 or (perf_counter() < end and len(walls) < 100):
        carried[...] = initial
        device.finish()
        wall, processor = perf_counter(), process_time()
        work()
        walls.append(perf_counter() - wall)
        busy.append(process_time() - processor)
    carried[...] = initial
    shared = min(busy) / device.compute_units if device.is_cpu else None
    return Timing(case, min(walls), shared, sweeps if axis is None else 1)
