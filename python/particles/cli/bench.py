# SPDX-License-Identifier: BSD-3-Clause
"""Measure the speed of a device, and compare it with its memory bandwidth."""

from __future__ import annotations

import argparse
import json
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from particles import kernels
from particles.base.checks import (
    MOST_COMPONENTS,
    arithmetic,
    as_duration,
    as_integer,
    as_shape,
)
from particles.base.progress import step_bar
from particles.cli.common import Command, add_device_argument, add_dtype_argument
from particles.cli.machine import facts
from particles.fields.field import Field
from particles.fields.grid import Grid
from particles.levelset import ball, flow
from particles.operators.advection import AdvectionOp
from particles.operators.remesh import RemeshOp
from particles.operators.velocity import Velocity
from particles.runtime.device import Device
from particles.runtime.devices import as_device
from particles.stepping.splitting import LCFLWarning, Splitting

SECONDS, QUICK_SECONDS = 1.0, 0.2  # for each case
POINTS, QUICK_POINTS = (256, 256, 256), (128, 128, 128)
VELOCITIES = ("smooth", "formula", "rough", "wild", "vortex", "vortex formula")
STEPS = 20  # of a whole run
ELEMENT_BYTES = 12  # of a triad or an axpy: two numbers read, one written
_JITTER = 0.4  # cells between neighbours of a rough velocity
_BLOCK = 1 << 22  # points filled at once

Numbers = Any  # arrays, or the symbols of a Velocity


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``particles bench``."""
    add_common_arguments(parser)
    add = parser.add_argument
    add(
        "--shape",
        type=int,
        nargs="+",
        metavar="N",
        help="points, a number for each axis (default: 256 256 256, with --quick 128 128 128)",
    )
    add("--axis", type=int, nargs="+", help="axes of the sweeps (default: all, and whole runs)")
    add("--cfl", type=float, nargs="+", default=[2.0, 25.0], help="cells moved in a sweep")
    add("--kernel", default="M'6", help="remeshing kernel, such as M'4, M'6 or L6_4")
    add_dtype_argument(parser)
    add("--components", type=int, default=1, metavar="N", help="numbers that a particle carries")
    add("--velocity", default="smooth", choices=VELOCITIES, help="what moves the particles")
    add("--json", action="store_true", help="print JSON")


def add_common_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of every command that measures."""
    words = "use fewer points, in a fifth of the time"
    parser.add_argument("--quick", action="store_true", help=words)
    add_device_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print a table or JSON."""
    cases = _cases(arguments)
    device = device_of(arguments)
    found = {**facts(device), **measurements(cases, device, arguments.quick)}
    print(json.dumps(found, indent=2) if arguments.json else table(found))
    return 0


def device_of(arguments: argparse.Namespace) -> Device:
    """Return the device that the options name."""
    return as_device(arguments.device)


def _cases(arguments: argparse.Namespace) -> list[Case]:
    default = QUICK_POINTS if arguments.quick else POINTS
    shape = default if arguments.shape is None else as_shape("shape", arguments.shape)
    axes = [*range(len(shape)), None] if arguments.axis is None else arguments.axis
    for axis in axes:
        if axis is not None and not 0 <= axis < len(shape):
            raise ValueError(f"axis must be from 0 to {len(shape) - 1}, not {axis}")
    if "vortex" in arguments.velocity and len(shape) != 3:
        raise ValueError(
            f"velocity {arguments.velocity!r} needs three dimensions, not {len(shape)}"
        )
    as_integer("components", arguments.components, 1, MOST_COMPONENTS)
    kernels.get(arguments.kernel)
    for cfl in arguments.cfl:
        as_duration("cfl", cfl)
    options = {name: getattr(arguments, name) for name in ("kernel", "dtype", "components")}
    return [
        Case(shape, axis, cfl, velocity=arguments.velocity, **options)
        for cfl in arguments.cfl
        for axis in axes
    ]


def measurements(cases: Sequence[Case], device: Device, quick: bool = False) -> dict[str, Any]:
    """Measure cases under a progress bar; what is returned can be JSON."""
    timings, every = [], []
    with step_bar(None, len(cases), "case") as show:
        for timing, bandwidths in measure(cases, device, QUICK_SECONDS if quick else SECONDS):
            timings.append(timing)
            every.append(bandwidths)
            if show is not None:
                show(1)
    best = Bandwidths.best(every)
    return {**best._asdict(), "cases": [timing.row(best) for timing in timings]}


def table(found: dict[str, Any]) -> str:
    """Return what was found, for people."""
    device, memory = found["device"], Bandwidths(found["triad"], found["axpy"])
    fields = Case.__dataclass_fields__
    titles = [Case(**{name: row[name] for name in fields}).title for row in found["cases"]]
    width = max(map(len, titles))
    lines = [
        f"{device['name']}, {device['platform']} {device['driver']}",
        memory.text,
        "ns per particle, sweep and component, on the clock and of the processors:",
        f"{'':{width}}  clock  processors  triads  axpys  of bandwidth        ms",
    ]
    for title, row in zip(titles, found["cases"], strict=True):
        busy = "" if row["processor_ns"] is None else f"{row['processor_ns']:.3f}"
        lines.append(
            f"{title:{width}}  {row['ns']:5.3f}  {busy:>10}  {row['triads']:6.2f}"
            f"  {row['axpys']:5.2f}  {row['share']:12.0%}  {row['seconds'] * 1e3:8.3f}"
        )
    return "\n".join(lines)


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


class Bandwidths(NamedTuple):
    """Bytes per second of ``c = a + s b`` and of ``a += s b``, on arrays far beyond the caches."""

    triad: float
    axpy: float

    @classmethod
    def of(cls, device: Device) -> Bandwidths:
        """Measure them."""
        return cls(device.core.measure_triad(), device.core.measure_axpy())

    @classmethod
    def best(cls, several: Sequence[Bandwidths]) -> Bandwidths:
        """Return the greatest of each."""
        return cls(*map(max, zip(*several, strict=True)))

    @property
    def greatest(self) -> float:
        """The strictest measure of what memory can do, of which shares are."""
        return max(self)

    @property
    def text(self) -> str:
        """Both of them, with the time of an element."""
        return "; ".join(
            f"{name} {rate / 1e9:.1f} GB/s, {ELEMENT_BYTES / rate * 1e9:.3f} ns for "
            f"{ELEMENT_BYTES} bytes"
            for name, rate in self._asdict().items()
        )


@dataclass(frozen=True)
class CaseTiming:
    """The shortest time that a case took, on the clock and of the processors."""

    case: Case
    seconds: float
    processor_seconds: float | None  # of one compute unit; None where the host does not compute
    sweeps: int

    def row(self, bandwidths: Bandwidths) -> dict[str, Any]:
        """Return it per particle, sweep and component, beside what memory can do."""
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
            "triads": self.seconds / work * bandwidths.triad / ELEMENT_BYTES,
            "axpys": self.seconds / work * bandwidths.axpy / ELEMENT_BYTES,
            "share": moved / self.seconds / bandwidths.greatest,
        }


def measure(
    cases: Sequence[Case], device: Device, seconds: float
) -> Iterator[tuple[CaseTiming, Bandwidths]]:
    """Time cases, each for about so many seconds; yields the bandwidths measured beside it, too.

    Neighbouring cases that differ in their axis alone share their fields.
    """
    for common, group in groupby(cases, lambda case: replace(case, axis=None)):
        transport = prepare(common, device)
        bandwidths = Bandwidths.of(device)
        for case in group:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LCFLWarning)  # nobody looks at the result
                timing = _time(case, transport, seconds)
            yield timing, bandwidths


def prepare(case: Case, device: Device) -> Splitting:
    """Return what carries a random field, or the ball, with the velocity of a case."""
    grid = Grid(case.shape, comm="self")
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


def _time(case: Case, transport: Splitting, seconds: float) -> CaseTiming:
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

    before = transport.sweeps
    work()
    sweeps = transport.sweeps - before
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
    return CaseTiming(case, min(walls), shared, sweeps if axis is None else 1)


COMMAND = Command(
    "Measure the speed of a device, and compare it with its memory bandwidth.", add_arguments, run
)
