# SPDX-License-Identifier: BSD-3-Clause
"""Time steps made of sweeps along the axes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from particles import _core
from particles._check import as_duration, as_index, as_integer, as_real
from particles._progress import in_chunks
from particles.advection import AdvectionOp
from particles.field import Field
from particles.remesh import RemeshOp

__all__ = ["LCFLWarning", "Splitting", "Stage"]

LCFL_WARNED, LCFL_REFUSED = 0.5, 0.9


class LCFLWarning(UserWarning):
    """A step strains the particles so much that the method loses accuracy.

    Examples
    --------
    >>> import warnings
    >>> import particles as pt
    >>> warnings.simplefilter("ignore", pt.LCFLWarning)
    """


class Stage(NamedTuple):
    """One sweep of a step, along `axis`, over ``[begin, begin + length]`` of the step.

    Examples
    --------
    >>> import particles as pt
    >>> pt.Stage(axis=0, begin=0.5, length=0.5).begin
    0.5
    """

    axis: int
    begin: float
    length: float


class Splitting:
    """Advance fields in time by sweeps along one axis after the other.

    Solves ``du/dt + div(a u) = 0``. Nothing leaves the device during a step.

    Parameters
    ----------
    advection : AdvectionOp
        Moves the particles.
    remesh : RemeshOp
        Puts them back on the grid, and holds the fields that are carried.
    order : int
        1 for Lie splitting, one sweep per axis; 2 for Strang splitting, second order in time, whose
        full sweep is along the axis of least strain.
    time : float
        Time at the start.

    Attributes
    ----------
    advection, remesh, order
        As above.
    time : float
        Where the fields are in time.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> grid = pt.Grid((64, 64))
    >>> x, y = grid.coordinates()
    >>> u = pt.Field(grid)
    >>> u[...] = np.exp(-50 * ((x - 0.5) ** 2 + (y - 0.25) ** 2))
    >>> swirl = pt.Velocity(grid, lambda x, y: (np.sin(2 * np.pi * y), np.sin(2 * np.pi * x)))
    >>> transport = pt.Splitting(pt.AdvectionOp(swirl), pt.RemeshOp(u), order=2)
    >>> before = u.sum()
    >>> transport.run(until=0.5, dt=0.05)
    >>> transport.time, abs(u.sum() / before - 1) < 1e-6
    (0.5, True)
    >>> transport.schedule[0]
    Stage(axis=0, begin=0.0, length=0.5)
    """

    def __init__(
        self, advection: AdvectionOp, remesh: RemeshOp, order: int = 2, *, time: float = 0.0
    ) -> None:
        if not isinstance(advection, AdvectionOp):
            raise TypeError(f"advection must be an AdvectionOp, not {advection!r}")
        if not isinstance(remesh, RemeshOp):
            raise TypeError(f"remesh must be a RemeshOp, not {remesh!r}")
        if as_integer("order", order) not in (1, 2):
            raise ValueError(f"order must be 1 (Lie) or 2 (Strang), not {order}")
        _check_carried(advection, remesh)
        self.advection = advection
        self.remesh = remesh
        self.order = order
        self.time = as_real("time", time)
        carried = remesh.fields[0]
        self._device = carried.device
        self._advection_core = advection.core_for(carried.device, carried.dtype)
        self._core = _core.Splitting(self._advection_core, remesh.core, order)
        self._version: int | None = None

    @property
    def schedule(self) -> tuple[Stage, ...]:
        """The sweeps of a step, in their order: of the last one, if the velocity varies in time."""
        if self._version is None or not self._velocity_changes_by_itself():
            self._choose_schedule(self._measurement(0.0), self.time)
        return tuple(Stage(s.axis, s.begin, s.length) for s in self._core.schedule)

    def lcfl(self, dt: float) -> float:
        """Strain of the most strained sweep of a step of `dt`: the particles keep order below 1.

        Examples
        --------
        >>> import numpy as np
        >>> import particles as pt
        >>> grid = pt.Grid(100)
        >>> a = pt.Velocity(grid, lambda x: np.sin(2 * np.pi * x))
        >>> transport = pt.Splitting(pt.AdvectionOp(a), pt.RemeshOp(pt.Field(grid)))
        >>> round(transport.lcfl(0.1), 2)
        0.63
        """
        return self._strain_rate(as_duration("dt", dt))[0] * dt

    def step(self, dt: float) -> None:
        """Advance all fields by `dt`; does not wait for the device.

        Warns with `LCFLWarning` where the strain of a sweep (`lcfl`) exceeds 0.5, and raises
        ValueError above 0.9.
        """
        duration = as_duration("dt", dt)
        self._check_strain(duration)
        self._core.advance(self.time, duration, 1)
        self.time += duration

    def run(self, until: float, dt: float, *, progress: bool | None = None) -> None:
        """Advance all fields to the time `until` by steps of `dt`, the last one shorter if need be.

        Parameters
        ----------
        until : float
            Final time.
        dt : float
            Duration of a step.
        progress : bool, optional
            Whether to show a progress bar; by default in a terminal or notebook.
        """
        duration, end = as_duration("dt", dt), as_real("until", until)
        if self.time + duration == self.time:
            raise ValueError(f"dt must advance the time {self.time}, not be as small as {duration}")
        if end < self.time:
            raise ValueError(f"until must not be before the present time {self.time}, not {end}")
        steps, rest = _steps_between(self.time, end, duration)
        start = self.time
        changes = self._velocity_changes_by_itself()
        warned = bool(steps) and self._check_strain(duration)
        for done, count in in_chunks(steps, 1 if changes else None, progress, self._device.finish):
            if changes and done:
                warned = self._check_strain(duration, silent=warned) or warned
            self._core.advance(self.time, duration, count)
            self.time = start + (done + count) * duration
        if rest:
            if changes or not steps:
                self._check_strain(rest, silent=warned)
            self._core.advance(self.time, rest, 1)
        self._device.finish()
        self.time = end

    def sweep(self, axis: int, dt: float) -> None:
        """Do one sweep along `axis` over the duration `dt`, outside the schedule.

        For building splittings of one's own; `time` does not change, nothing is waited for.
        """
        direction = as_index("axis", axis, self.remesh.grid.ndim)
        duration = as_duration("dt", dt)
        strain = self._measurement(duration)(direction, self.time + duration / 2)
        _judge_strain(strain, direction, duration, stacklevel=3)
        self._core.sweep(direction, self.time, duration)

    def _velocity_changes_by_itself(self) -> bool:
        velocity = self.advection.velocity
        return not isinstance(velocity, Field) and velocity.depends_on_time

    def _choose_schedule(self, measure: Callable[[int, float], float], time: float) -> None:
        """Choose the schedule by the strains at `time`, unless the velocity is as it was."""
        velocity = self.advection.velocity
        version = velocity.core.version if isinstance(velocity, Field) else 0
        may_differ = self._velocity_changes_by_itself() or (
            isinstance(velocity, Field) and velocity.core.is_shared
        )
        if may_differ or version != self._version:
            axes = range(self.remesh.grid.ndim)
            self._core.choose_schedule([measure(axis, time) for axis in axes])
            self._version = version

    def _measurement(self, dt: float) -> Callable[[int, float], float]:
        """Return a function that gives the strain along an axis at a time, measured once."""

        @cache
        def measure(axis: int, time: float) -> float:
            return self.advection.check_move(self._advection_core, axis, time, dt)[1]

        return measure

    def _strain_rate(self, dt: float) -> tuple[float, int]:
        """Greatest strain of a sweep per unit of step, and its axis.

        The midpoint rule moves particles with the velocity in the middle of each sweep.
        """
        measure = self._measurement(dt)
        self._choose_schedule(measure, self.time + dt / 2)
        return max(
            (measure(s.axis, self.time + (s.begin + s.length / 2) * dt) * s.length, s.axis)
            for s in self._core.schedule
        )

    def _check_strain(self, dt: float, silent: bool = False) -> bool:
        """Whether a step was worth a warning, which is given unless `silent`."""
        rate, axis = self._strain_rate(dt)
        _judge_strain(rate, axis, dt, stacklevel=None if silent else 4)
        return rate * dt > LCFL_WARNED

    def __repr__(self) -> str:
        name = {1: "Lie", 2: "Strang"}[self.order]
        sweeps = " ".join(f"{s.axis}[{s.begin:g},{s.begin + s.length:g}]" for s in self.schedule)
        return (
            f"Splitting({name}, sweeps {sweeps}, time={self.time:g},\n"
            f"  {self.advection!r},\n  {self.remesh!r})"
        )


def _judge_strain(rate: float, axis: int, dt: float, stacklevel: int | None) -> None:
    """Refuse, or warn if a stack level is given, when a sweep is strained by `rate` times `dt`."""
    strain = rate * dt
    if strain <= LCFL_WARNED:
        return
    found = f"the strain of a sweep along axis {axis} is {strain:.3g}"
    if strain > LCFL_REFUSED * (1 + 1e-6):
        raise ValueError(
            f"dt must be at most {LCFL_REFUSED / rate:.6g}, not {dt:g}: {found}, above "
            f"{LCFL_REFUSED} particles lose their order"
        )
    if stacklevel is None:
        return
    warnings.warn(
        f"dt = {dt:g} is large: {found}, above {LCFL_WARNED} accuracy is lost; "
        f"{LCFL_WARNED / rate:.6g} would keep it, {LCFL_REFUSED / rate:.6g} is the limit",
        LCFLWarning,
        stacklevel=stacklevel,
    )


def _steps_between(start: float, end: float, dt: float) -> tuple[int, float]:
    """Whole steps, and what is left; what is left by rounding alone is none."""
    steps = (end - start) / dt
    if abs(steps - round(steps)) <= 1e-9 * max(1.0, steps):
        return round(steps), 0.0
    whole = math.floor(steps)
    return whole, end - (start + whole * dt)


def _check_carried(advection: AdvectionOp, remesh: RemeshOp) -> None:
    if advection.grid != remesh.grid:
        raise ValueError(
            f"the velocity must be on the grid of the fields, not on {advection.grid} "
            f"with the fields on {remesh.grid}"
        )
    velocity = advection.velocity
    if not isinstance(velocity, Field):
        return
    for field in remesh.fields:
        if velocity.dtype != field.dtype:
            raise TypeError(
                f"the velocity must have the dtype of the fields, not {velocity.dtype} "
                f"with the fields in {field.dtype}"
            )
        if velocity.device is not field.device:
            raise ValueError(
                f"the velocity must be on the device of the fields, not on {velocity.device} "
                f"with the fields on {field.device}"
            )
        if velocity.core.memory == field.core.memory:
            raise ValueError(
                "the velocity must have memory of its own, not that of a carried field"
            )
