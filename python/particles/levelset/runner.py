# SPDX-License-Identifier: BSD-3-Clause
"""The level-set test: a ball drawn out to a thin sheet by a vortical flow, and carried back."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from particles import kernels
from particles.base.checks import (
    arithmetic,
    as_choice,
    as_duration,
    as_flag,
    as_numbers,
    as_optional_flag,
    check_advances,
)
from particles.base.kinds import is_a
from particles.base.progress import in_chunks
from particles.base.stopwatch import Stopwatch
from particles.fields.field import Field
from particles.levelset.body import Body
from particles.levelset.problem import Numbers, ball, exact, flow, grid_of
from particles.levelset.result import LevelSetResult, Row
from particles.operators.advection import AdvectionOp
from particles.operators.limits import Given
from particles.operators.remesh import RemeshOp
from particles.operators.velocity import Velocity
from particles.runtime.device import Device
from particles.runtime.devices import as_device, profile
from particles.runtime.profile import KernelTime, Profile
from particles.stepping.schedule import as_order
from particles.stepping.splitting import LCFLWarning, Splitting

__all__ = ["LevelSetResult", "Row", "ball", "exact", "flow", "run"]

CELLS_A_STEP = 12.8  # of the default dt: 20 steps to time 1 on 256 points
LONGEST_STEP = (
    0.15  # by default: a sweep's strain is pi times as much, and costs accuracy above 0.5
)
SNAPSHOTS = 5  # by default, after the initial one
VELOCITIES = ("grid", "formula")


def run(
    shape: npt.ArrayLike = 128,
    kernel: str | kernels.RemeshingKernel = "M'6",
    dt: float | None = None,
    until: float = 1.0,
    order: int = 2,
    dtype: npt.DTypeLike = "float32",
    device: Device | int | str | None = None,
    velocity: str = "grid",
    back: bool = True,
    snapshots: npt.ArrayLike | None = None,
    progress: bool | None = None,
) -> LevelSetResult:
    """Run the test.

    Parameters
    ----------
    shape : int or array_like
        Points along each axis.
    kernel : str or RemeshingKernel
        Remeshing kernel.
    dt : float, optional
        Duration of a step; by default 12.8 times the spacing, on 256 points the published 0.05, but at most
        0.15, because on fewer than 86 points longer steps would strain the particles too much.
    until : float
        Time at which the flow is reversed.
    order : int
        1 for Lie, 2 for Strang, 4 for Suzuki splitting.
    dtype : dtype
        float32 or float64; or float16, which is for storage only: arithmetic is in float32.
    device : Device, int or str, optional
        By default the one of `default_device`.
    velocity : {"grid", "formula"}
        Whether the velocity is interpolated on the grid or evaluated where the particles are.
    back : bool
        Whether to carry the field back with the reversed flow.
    snapshots : array_like, optional
        Times up to `until` at which to evaluate the field, each moved to the nearest end of a step;
        by default six, evenly spaced.
    progress : bool, optional
        Whether to show a progress bar; by default in a terminal or notebook.

    Returns
    -------
    LevelSetResult

    Examples
    --------
    >>> from particles import levelset
    >>> result = levelset.run(shape=32, kernel="M'4", dt=0.1, until=0.5, progress=False)
    >>> forth, back = result.rows[-2:]
    >>> forth.time, back.time, abs(back.mass_change) < 1e-6
    (0.5, 1.0, True)
    """
    grid = grid_of(shape, 3, ball, "ball")
    as_choice("velocity", velocity, VELOCITIES)
    as_flag("back", back)
    as_optional_flag("progress", progress)
    as_order(order)
    end = as_duration("until", until)
    usual = min(CELLS_A_STEP * min(grid.spacing), LONGEST_STEP)
    step = usual if dt is None else as_duration("dt", dt)
    check_advances("dt", step, step, end)
    times = _ends_of_steps(snapshots, step, end)
    place = as_device(device)

    watch = Stopwatch()
    with watch.part("set-up"):
        test = _Test(Field(grid, 1, dtype, place, "phi"), kernel, order, velocity, watch)
        test.carried.warm_up(test.transport, min(step, end), Given("dt", step))
    with watch.part("exact solution"):
        inside = [test.carried.initial, *exact(grid, times[1:], place)]
    _go(test, times, step, inside, back, progress)
    return test.result(step, end)


def _go(
    test: _Test,
    times: Sequence[float],
    dt: float,
    inside: Sequence[npt.NDArray[np.bool_]],
    back: bool,
    progress: bool | None,
) -> None:
    """Go through the times, and back from the last one; look everywhere."""
    test.look(0.0, inside[0])
    last = len(times) - 1
    for index, _ in in_chunks(last + back, 1, progress, test.phi.device.finish):
        if index < last:
            test.go_forth(times[index + 1], dt)
            test.look(times[index + 1], inside[index + 1])
        else:
            test.go_back(times[last], dt)
            test.look(2 * times[last], inside[0])


class _Test:
    """The carried field, its transport, and what has been found on the way."""

    def __init__(
        self,
        phi: Field,
        kernel: str | kernels.RemeshingKernel,
        order: int,
        velocity: str,
        watch: Stopwatch,
    ) -> None:
        self.phi = phi
        self.watch = watch
        self.remesh = RemeshOp(phi, kernel)
        self.order = order
        self.velocity = velocity
        self.kernels: dict[str, KernelTime] = {}
        self.sweeps = 0
        self.rows: list[Row] = []
        self.snapshots: dict[float, npt.NDArray[Any]] = {}
        self.carried = Body(phi, ball(*phi.grid.coordinates()))
        self.transport = self._transport(flow)

    def _transport(self, formula: Callable[..., Sequence[Numbers]]) -> Splitting:
        grid = self.phi.grid
        velocity: Field | Velocity = Velocity(grid, formula)
        if self.velocity == "grid":
            velocity = Field(grid, 3, arithmetic(self.phi.dtype), self.phi.device, "velocity")
            for axis, component in enumerate(formula(*grid.coordinates())):
                velocity[axis] = component
        self.advection = AdvectionOp(velocity)
        return Splitting(self.advection, self.remesh, self.order)

    def _reverse(self) -> None:
        """Turn the flow round, and begin at time 0 again."""
        velocity = self.advection.velocity
        if is_a(velocity, Field):
            velocity[...] = -velocity.get()
            self.transport.time = 0.0
        else:
            self.transport = self._transport(lambda x, y, z: [-a for a in flow(x, y, z)])

    def go_forth(self, until: float, dt: float) -> None:
        """Follow the flow, with a look at the clock and the kernels."""
        done = self.transport.sweeps
        with profile(self.phi.device) as part, self.watch.part("steps"):
            self._run(until, dt)
        self.sweeps += self.transport.sweeps - done
        for name, time in part.kernels.items():
            before = self.kernels.get(name, KernelTime(0, 0.0, 0.0))
            self.kernels[name] = KernelTime(
                before.launches + time.launches,
                before.seconds + time.seconds,
                before.bytes + time.bytes,
            )

    def go_back(self, duration: float, dt: float) -> None:
        """Follow the reversed flow."""
        with self.watch.part("set-up"):
            self._reverse()
        with self.watch.part("way back"):
            self._run(duration, dt)

    def _run(self, until: float, dt: float) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LCFLWarning)  # the first step has warned
            self.transport.run(until, dt, progress=False)

    def look(self, time: float, inside: npt.NDArray[np.bool_]) -> None:
        """Compare the field with the exact one and keep it."""
        with self.watch.part("comparison"):
            values = self.snapshots[time] = self.phi.get()
            self.rows.append(self.carried.compared(time, values, inside))

    def result(self, dt: float, until: float) -> LevelSetResult:
        """Return all that has been found."""
        device = self.phi.device
        return LevelSetResult(
            shape=self.phi.grid.shape,
            kernel=self.remesh.kernel.name,
            dt=dt,
            until=until,
            order=self.order,
            dtype=self.phi.dtype.name,
            device=f"{device.name}, {device.platform} {device.driver}",
            velocity=self.velocity,
            rows=tuple(self.rows),
            steps=max(1, math.ceil(until / dt - 1e-9)),
            sweeps=self.sweeps,
            seconds=self.watch.seconds["steps"],
            parts=self.watch.seconds,
            profile=Profile(self.kernels),
            snapshots=self.snapshots,
        )


def _ends_of_steps(snapshots: npt.ArrayLike | None, dt: float, end: float) -> list[float]:
    """Return the initial time, the ends of steps nearest to those wanted, and the final time."""
    if snapshots is None:
        snapshots = [i * end / SNAPSHOTS for i in range(1, SNAPSHOTS)]
    wanted = as_numbers("snapshots", snapshots)
    for time in wanted:
        if not 0 <= time <= end:
            raise ValueError(f"snapshots must be between 0 and {end}, not at {time}")
    return sorted({0.0, end, *(min(round(round(time / dt) * dt, 12), end) for time in wanted)})
