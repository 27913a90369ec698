# SPDX-License-Identifier: BSD-3-Clause
"""Test problems that end as they began: a rotated disk, and a body in a vortex that reverses."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy.typing as npt

from particles import kernels
from particles.base.checks import as_duration, as_integer, as_optional_flag, check_advances, shown
from particles.base.progress import in_chunks
from particles.base.stopwatch import Stopwatch
from particles.fields.field import Field
from particles.fields.grid import Grid
from particles.levelset.body import Body
from particles.levelset.problem import grid_of
from particles.operators.advection import AdvectionOp
from particles.operators.limits import Given
from particles.operators.remesh import RemeshOp
from particles.operators.velocity import Velocity
from particles.problems.flows import (
    ROTATION_SPEEDS,
    VORTEX_BOX,
    Problem,
    slotted_disk,
    turned_disk,
)
from particles.problems.result import ProblemResult
from particles.runtime.device import Device
from particles.runtime.devices import as_device
from particles.stepping.presets import preset_of
from particles.stepping.splitting import LCFLWarning, Splitting

__all__ = ["ProblemResult", "vortex_box", "zalesak"]

ROTATION_POINTS, ROTATION_DT = 128, 0.02
LARGEST_ROTATION_DT = 0.125  # beyond, shears carry the disk out of the box
CFL, LEAST_STEPS = 10.0, 64  # by default, in the vortex
POINTS = {2: 256, 3: 128}

# What the method leaves of the disk in NumPy and double precision (`tests/reference/reference.py`).
ZALESAK_L1 = {"M'4": 0.207, "M'6": 0.159, "L6_4": 0.150, "L8_4": 0.145}  # 128 points, 50 steps
ZALESAK_RUN = ((128, 128), 50)
TOLERANCE = 1.1  # of the figures above
ROUNDING = {"float32": 2.0**-24, "float64": 2.0**-53}  # in a sweep, relative to the largest value


def zalesak(
    shape: npt.ArrayLike = ROTATION_POINTS,
    preset: str = "default",
    kernel: str | kernels.RemeshingKernel | None = None,
    *,
    dt: float | None = None,
    cfl: float | None = None,
    dtype: npt.DTypeLike = "float32",
    device: Device | int | str | None = None,
    progress: bool | None = None,
) -> ProblemResult:
    """Rotate Zalesak's slotted disk once, each step by three shears.

    Parameters
    ----------
    shape : int or array_like
        Points along each axis; by default 128.
    preset : {"default", "accurate", "positive"}
        As for `particles.Splitting.from_preset`.
    kernel : str or RemeshingKernel, optional
        Replaces the kernel of the preset.
    dt : float, optional
        Duration of a step, in revolutions; by default 0.02. It is shortened to make an even number
        of equal steps.
    cfl : float, optional
        Instead of `dt`: cells that the fastest particles move in a step.
    dtype : dtype
        float32 or float64; or float16, which is for storage only: arithmetic is in float32.
    device : Device, int or str, optional
        By default the one of `default_device`.
    progress : bool, optional
        Whether to show a progress bar; by default in a terminal or notebook.

    Returns
    -------
    ProblemResult

    Examples
    --------
    >>> from particles import problems
    >>> result = problems.zalesak(128, progress=False)
    >>> result.end.l1_error < 1.1 * 0.159, result.missed
    (True, [])
    """
    as_optional_flag("progress", progress)
    grid = grid_of(shape, 2, slotted_disk, "disk")
    if dt is None and cfl is None:
        dt = ROTATION_DT
    steps, given = _steps(grid, ROTATION_SPEEDS, 1.0, dt, cfl)
    if 1 / steps > LARGEST_ROTATION_DT:
        raise ValueError(
            f"{given.name} must be at most {LARGEST_ROTATION_DT * given.per_unit:.6g}, "
            f"not {given.value:g}: a step must be at most {LARGEST_ROTATION_DT} of a revolution"
        )
    known = ZALESAK_L1 if (grid.shape, steps) == ZALESAK_RUN else {}
    run = _Run(turned_disk(steps), grid, steps, given, preset, kernel, dtype, device)
    return run.go(known, progress)


def vortex_box(
    shape: npt.ArrayLike | None = None,
    preset: str = "default",
    kernel: str | kernels.RemeshingKernel | None = None,
    *,
    dim: int = 2,
    dt: float | None = None,
    cfl: float | None = None,
    dtype: npt.DTypeLike = "float32",
    device: Device | int | str | None = None,
    progress: bool | None = None,
) -> ProblemResult:
    """Stretch a body in a vortex that reverses at half its period T.

    In two dimensions it is a disk in a vortex that fills the box, with T = 8; in three a ball in
    LeVeque's deformation, with T = 3.

    Parameters
    ----------
    shape : int or array_like, optional
        Points along each axis; by default 256 in two dimensions and 128 in three.
    preset : {"default", "accurate", "positive"}
        As for `particles.Splitting.from_preset`.
    kernel : str or RemeshingKernel, optional
        Replaces the kernel of the preset.
    dim : {2, 3}
        Number of dimensions.
    dt : float, optional
        Duration of a step. It is shortened to make an even number of equal steps.
    cfl : float, optional
        Instead of `dt`: cells that the fastest particles move in a step; by default 10, or
        fewer for 64 steps.
    dtype, device, progress
        As for `zalesak`.

    Returns
    -------
    ProblemResult

    Examples
    --------
    >>> from particles import problems
    >>> result = problems.vortex_box(64, progress=False)
    >>> result.end.time, abs(result.end.mass_change) < 1e-6
    (8.0, True)
    """
    if as_integer("dim", dim) not in VORTEX_BOX:
        raise ValueError(f"dim must be 2 or 3, not {shown(dim)}")
    as_optional_flag("progress", progress)
    problem = VORTEX_BOX[dim]
    grid = grid_of(POINTS[dim] if shape is None else shape, dim, problem.inside, problem.body)
    if dt is None and cfl is None:
        dt = min(CFL / _cells(grid, problem.speeds, 1.0), problem.duration / LEAST_STEPS)
    steps, given = _steps(grid, problem.speeds, problem.duration, dt, cfl)
    return _Run(problem, grid, steps, given, preset, kernel, dtype, device).go({}, progress)


def _steps(
    grid: Grid, speeds: Sequence[float], duration: float, dt: float | None, cfl: float | None
) -> tuple[int, Given]:
    """Return the least even number of steps that are no longer than wanted, and what was given."""
    if dt is not None and cfl is not None:
        raise TypeError(f"one of dt and cfl must be given, not dt={dt} and cfl={cfl}")
    if dt is None:
        given = Given("cfl", as_duration("cfl", cfl), _cells(grid, speeds, 1.0))
    else:
        given = Given("dt", as_duration("dt", dt))
    step = given.value / given.per_unit
    check_advances(given.name, cfl if dt is None else dt, step, duration)
    return 2 * math.ceil(duration / step / 2 - 1e-9), given


def _cells(grid: Grid, speeds: Sequence[float], dt: float) -> float:
    """Return how many cells the fastest particles move."""
    return max(speed * dt / h for speed, h in zip(speeds, grid.spacing, strict=True))


class _Run:
    """The carried field, its transport, and what has been found on the way."""

    def __init__(
        self,
        problem: Problem,
        grid: Grid,
        steps: int,
        given: Given,
        preset: str,
        kernel: str | kernels.RemeshingKernel | None,
        dtype: npt.DTypeLike,
        device: Device | int | str | None,
    ) -> None:
        choice = preset_of(preset)
        self.problem, self.preset, self.steps = problem, preset, steps
        self.dt = problem.duration / steps
        self.watch = Stopwatch()
        with self.watch.part("set-up"):
            self.u = Field(grid, 1, dtype, as_device(device), "u")
            wanted = choice.kernel if kernel is None else kernel
            self.remesh = RemeshOp(self.u, wanted, limiter=choice.limiter)
            advection = AdvectionOp(Velocity(grid, problem.velocity), choice.scheme)
            self.transport = Splitting(advection, self.remesh)
            self.sweeps = steps * len(self.transport.schedule)
            self.carried = Body(self.u, problem.inside(*grid.coordinates()))
            self.carried.warm_up(self.transport, self.dt, given)

    def go(self, known: dict[str, float], progress: bool | None) -> ProblemResult:
        """Carry the body to where it was; `known` are L1 errors of kernels."""
        snapshots = self._carry(progress)
        with self.watch.part("comparison"):
            last = self.problem.duration
            end = self.carried.compared(last, self.u.get(), self.carried.initial)
        device, grid = self.u.device, self.u.grid
        return ProblemResult(
            problem=self.problem.name,
            shape=grid.shape,
            preset=self.preset,
            kernel=self.remesh.kernel.name,
            limiter=self.remesh.limiter,
            dt=self.dt,
            cfl=_cells(grid, self.problem.speeds, self.dt),
            steps=self.steps,
            dtype=self.u.dtype.name,
            device=f"{device.name}, {device.platform} {device.driver}",
            end=end,
            limits=self._limits(known),
            sweeps=self.sweeps,
            seconds=self.watch.seconds["steps"],
            parts=self.watch.seconds,
            snapshots=snapshots,
        )

    def _carry(self, progress: bool | None) -> dict[float, npt.NDArray[Any]]:
        """Do all steps; return the field before, halfway and after."""
        finish, duration = self.u.device.finish, self.problem.duration
        seconds, snapshots = 0.0, {0.0: self.u.get()}
        begin = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LCFLWarning)  # the first step has warned
            for done, count in in_chunks(self.steps, 1, progress, finish):
                self.transport.step(self.dt)
                share = (done + count) / self.steps
                if share in (0.5, 1.0):
                    finish()
                    seconds += perf_counter() - begin
                    snapshots[share * duration] = self.u.get()
                    begin = perf_counter()
        self.watch.seconds["steps"] = seconds
        return snapshots

    def _limits(self, known: dict[str, float]) -> dict[str, float]:
        """Return what figures must not exceed."""
        limits = {}
        if (error := known.get(self.remesh.kernel.name)) is not None:
            limits["l1_error"] = TOLERANCE * error
        if (rounding := ROUNDING.get(self.u.dtype.name)) is not None:
            limits["mass_change"] = rounding * self.sweeps
        if self.remesh.limiter is not None:
            limits["undershoot"] = 0.0
        return limits
