# SPDX-License-Identifier: BSD-3-Clause
"""What advances fields in time: steps, runs of them, their limits and progress."""

from __future__ import annotations

import math
from typing import Protocol

from particles._check import as_duration, as_real
from particles._progress import Pace, in_chunks
from particles._strain import Strain
from particles.advection import AdvectionOp
from particles.field import Field
from particles.remesh import RemeshOp


class Core(Protocol):
    """What enqueues steps.

    Attributes
    ----------
    steps_done : int
        How many have been enqueued.
    """

    @property
    def steps_done(self) -> int: ...

    def advance(self, time: float, dt: float, steps: int, joined: bool) -> None:
        """Enqueue `steps` steps of `dt` from `time`; `joined` ones may leave an end to `close`."""

    def close(self) -> None:
        """Enqueue what has been held back."""


class Gauge(Protocol):
    """What knows how much steps strain the particles.

    Attributes
    ----------
    is_timed : bool
        Whether the time occurs in the velocity.
    """

    @property
    def is_timed(self) -> bool: ...

    def of_step(self, time: float, dt: float) -> Strain:
        """Return the strain of a step of `dt` from `time`."""


class Stepper:
    """Advances carried fields in time; what a step is made of is up to the core.

    Parameters
    ----------
    advection : AdvectionOp
        Moves the particles.
    remesh : RemeshOp
        Puts them back on the grid, and holds the fields that are carried.
    time : float
        Time at the start.
    """

    _core: Core
    _gauge: Gauge

    def __init__(self, advection: AdvectionOp, remesh: RemeshOp, time: float) -> None:
        if not isinstance(advection, AdvectionOp):
            raise TypeError(f"advection must be an AdvectionOp, not {advection!r}")
        if not isinstance(remesh, RemeshOp):
            raise TypeError(f"remesh must be a RemeshOp, not {remesh!r}")
        _check_carried(advection, remesh)
        self.advection = advection
        self.remesh = remesh
        self.time = as_real("time", time)
        self._device = remesh.fields[0].device
        self._pace = Pace()

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
        return self._gauge.of_step(self.time, as_duration("dt", dt)).rate * dt

    def step(self, dt: float) -> None:
        """Advance all fields by `dt`; does not wait for the device.

        Warns with `LCFLWarning` where the strain of a sweep (`lcfl`) exceeds 0.5, and raises
        ValueError above 0.9.
        """
        duration = as_duration("dt", dt)
        self._check_strain(duration, stacklevel=3)
        self._core.advance(self.time, duration, 1, False)
        self.time += duration

    def run(self, until: float, dt: float, *, progress: bool | None = None) -> None:
        """Advance all fields to the time `until` by steps of `dt`, the last one shorter if need be.

        Strang steps are joined (`Splitting.joined_schedule`) where that costs no accuracy: the half
        sweep that ends a step and the one that begins the next are done as one if that strains the
        particles by 0.25 at most and the velocity does not depend on time. However a run ends, by
        an interrupt too, it ends with a whole step, and `time` is where that led.

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
        warned = self._advance(duration, steps, progress, warned=False)
        if rest:
            self._advance(rest, 1, False, warned)
        self.time = end
        self._device.finish()

    def _check_strain(self, dt: float, stacklevel: int | None) -> Strain:
        """Refuse a step that strains too much; warn of a large one if a stack level is given."""
        strain = self._gauge.of_step(self.time, dt)
        strain.judge(dt, stacklevel)
        return strain

    def _advance(self, dt: float, steps: int, progress: bool | None, warned: bool) -> bool:
        """Do steps that end whatever happens, and say whether there has been a warning."""
        start, before = self.time, self._core.steps_done
        chunks = in_chunks(
            steps, 1 if self._gauge.is_timed else self._pace, progress, self._device.finish
        )
        try:
            for done, count in chunks:
                self.time = start + done * dt
                strain = self._check_strain(dt, stacklevel=None if warned else 4)
                warned = warned or strain.is_large(dt)
                self._core.advance(self.time, dt, count, strain.bears_joints(dt))
        finally:
            self._core.close()
            self.time = start + (self._core.steps_done - before) * dt
        return warned


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
