# SPDX-License-Identifier: BSD-3-Clause
"""The steps by which a sweep became fast: those of the paper's section 3, and ours after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import fmean
from time import perf_counter, process_time
from typing import Any

import numpy as np
import particles as pt
from particles.levelset import ball, flow

DT = 0.05  # of the paper's run: CFL 25 with 256 points
KERNEL = "M'6"
BUFFER, IMAGE = "one kernel", "one kernel, velocity in an image"  # alike but for that

Sweep = Callable[[int, float], None]


@dataclass(frozen=True)
class Rung:
    """One kernel with the form `remesh`; or two, one of which pushes with the form `push`."""

    name: str
    remesh: pt.Form
    push: pt.Form | None = None


def rungs(device: pt.Device) -> Iterator[Rung]:
    """Yield the steps that a device can take, in the paper's order, then in ours."""
    yield from papers_rungs(device)
    kind, turned = ("private", False) if device.is_cpu else ("local", True)
    yield Rung(BUFFER, pt.Form(kind, transposed=turned))
    if device.has_images:
        yield Rung(IMAGE, pt.Form(kind, transposed=turned, images=True))
    for lanes in (4, 8, 16):
        if lanes * 4 <= device.info.widest_vector:
            yield Rung(f"{lanes} lines in a vector", pt.Form("lanes", lanes=lanes))
    yield Rung("what suits the device", pt.Form())


def papers_rungs(device: pt.Device) -> Iterator[Rung]:
    """Yield the steps of the paper's section 3: a line per work-item, two kernels."""
    strided = pt.Form("global", lanes=1, copied=False, transposed=False)
    copied = pt.Form("global", lanes=1, copied=True, transposed=False)
    turned = pt.Form("global", lanes=1, copied=True, transposed=True)
    yield Rung("paper: all in global memory", strided, strided)
    yield Rung("paper: + velocity's line copied", strided, copied)
    yield Rung("paper: + transposed layout", turned, turned)
    for kind in ("private", "local"):
        buffered = pt.Form(kind, copied=True, transposed=True)
        yield Rung(f"paper: + result in {kind} memory", buffered, buffered)
    if device.has_images:
        pictured = pt.Form("local", copied=True, transposed=True, images=True)
        yield Rung("paper: + images, not buffers", pictured, pictured)


class Problem:
    """The paper's level-set test on n cubed particles, with its velocity on the grid."""

    def __init__(self, device: pt.Device, points: int) -> None:
        self.device = device
        self.grid = pt.Grid((points,) * 3)
        self.velocity = pt.Field(self.grid, 3, device=device)
        for axis, component in enumerate(flow(*self.grid.coordinates())):
            self.velocity[axis] = component
        self.u = pt.Field(self.grid, device=device)
        self.u[...] = ball(*self.grid.coordinates()).astype(np.float32)
        self.displacement = pt.Field(self.grid, device=device)

    def sweep(self, rung: Rung) -> Sweep:
        """Return a function that enqueues a sweep along an axis, of a duration."""
        if rung.push is None:
            return pt.Splitting(pt.AdvectionOp(self.velocity), self.remesh(rung)).sweep
        push, remesh = self.pushing(rung.push), self.remeshing(rung)

        def two_kernels(axis: int, dt: float) -> None:
            push(axis, dt)
            remesh(axis, dt)

        return two_kernels

    def remesh(self, rung: Rung) -> pt.RemeshOp:
        """Return the operator that remeshes in the form of a rung."""
        return pt.RemeshOp(self.u, kernel=KERNEL, form=rung.remesh)

    def pushing(self, form: pt.Form) -> Sweep:
        """Return a function that enqueues the pushing kernel alone."""
        advection = pt.AdvectionOp(self.velocity, form=form)
        core = advection.core_for(self.device, self.u.dtype)
        return lambda axis, dt: core.displace(axis, 0.0, dt, self.displacement.core)

    def remeshing(self, rung: Rung) -> Sweep:
        """Return a function that enqueues the remeshing kernel alone."""
        core = self.remesh(rung).core
        speed = [self.velocity.component(axis).core.max_abs() for axis in range(3)]

        def remesh(axis: int, dt: float) -> None:
            cells = speed[axis] * dt / self.grid.spacing[axis]
            core.apply(axis, self.displacement.core, cells)

        return remesh


def climb(problem: Problem, repeats: int) -> list[dict[str, Any]]:
    """Return the times of every step, one row for each."""
    return [
        {"name": rung.name, **times(problem, problem.sweep(rung), repeats)}
        for rung in rungs(problem.device)
    ]


def kernel_times(problem: Problem, repeats: int) -> dict[str, float]:
    """Return the mean ns per particle of each kernel, in the form that suits the device."""
    form = pt.Form()
    works = {
        "push": problem.pushing(form),
        "remesh": problem.remeshing(Rung("", form, form)),
        "fused": problem.sweep(Rung("", form)),
    }
    return {name: undisturbed(times(problem, work, repeats)) for name, work in works.items()}


def undisturbed(row: dict[str, Any]) -> float:
    """Return the mean ns of the axes, as if no other program ran where that is known."""
    return row["unit_ns"] or fmean(row["ns"])


def times(problem: Problem, sweep: Sweep, repeats: int) -> dict[str, Any]:
    """Return the least ns per particle along each axis, after a call that may compile.

    Beside the wall time it is the mean of what a compute unit takes, which other programs disturb
    little; None where the host does not compute.
    """
    device, each = problem.device, 1e9 / problem.grid.size
    found = [[seconds(device, sweep, axis) for _ in range(repeats + 1)] for axis in range(3)]
    busy = [min(processor for _, processor in axis) / device.compute_units for axis in found]
    return {
        "ns": [min(wall for wall, _ in axis) * each for axis in found],
        "unit_ns": fmean(busy) * each if device.is_cpu else None,
    }


def seconds(device: pt.Device, sweep: Sweep, axis: int) -> tuple[float, float]:
    """Return the wall time of a sweep, and that of the processors."""
    device.finish()
    wall, processor = perf_counter(), process_time()
    sweep(axis, DT)
    device.finish()
    return perf_counter() - wall, process_time() - processor
