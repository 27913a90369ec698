# SPDX-License-Identifier: BSD-3-Clause
"""What advances fields in time: steps, runs of them, their limits and progress."""

from __future__ import annotations

import math
from itertools import product
from typing import Protocol

from particles._check import arithmetic, as_duration, as_real
from particles._progress import Pace, in_chunks, share_bar
from particles._strain import REFUSED, Strain
from particles.advection import AdvectionOp
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

    Attributes
    ----------
    advection, remesh
        As above.
    time : float
        Where the fields are in time.
    last_dt : float or None
        Duration of the last step.
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
        self.last_dt: float | None = None
        self._device = remesh.fields[0].device
        self._pace = Pace()

    @property
    def steps(self) -> int:
        """How many steps have been done."""
        return self._core.steps_done

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
        self.advection.check_times(self.time, self.time + duration)
        self._check_strain(duration, stacklevel=3)
        self._core.advance(self.time, duration, 1, False)
        self.time += duration
        self.last_dt = duration

    def run(
        self,
        until: float,
        dt: float | None = None,
        *,
        lcfl: float | None = None,
        progress: bool | None = None,
    ) -> None:
        """Advance all fields to the time `until`, by steps of `dt` or as large as `lcfl` allows.

        Strang steps are joined (`Splitting.joined_schedule`) where that costs no accuracy: the half
        sweep that ends a step and the one that begins the next are done as one if that strains the
        particles by 0.25 at most and the velocity does not depend on time. However a run ends, by
        an interrupt too, it ends with a whole step, and `time` is where that led.

        Parameters
        ----------
        until : float
            Final time.
        dt : float, optional
            Duration of a step; the last one is shorter if need be.
        lcfl : float, optional
            In place of `dt`: strain that no sweep exceeds, at most 0.9. A steady velocity makes
            the fewest equal steps. If the velocity depends on time, each step is fitted to it and
            at most twice as long as the one before, the first at most an eighth of the run. Only
            strain counts: a steady velocity that is uniform along each axis makes a single step,
            even if it shears, and sources bound nothing; choose `dt` there.
        progress : bool, optional
            Whether to show a progress bar; by default in a terminal or notebook.
        """
        if (dt is None) == (lcfl is None):
            raise TypeError(f"run needs one of dt and lcfl, not dt={dt} and lcfl={lcfl}")
        duration = None if dt is None else as_duration("dt", dt)
        limit = None if lcfl is None else _as_limit(lcfl)
        end = as_real("until", until)
        if end < self.time:
            raise ValueError(f"until must not be before the present time {self.time}, not {end}")
        self.advection.check_times(self.time, end)
        if duration is not None:
            self._run_by(duration, end, progress)
        elif limit is not None and end > self.time:
            self._run_within(limit, end, progress)
        self.time = end
        self._device.finish()

    def _run_by(self, dt: float, end: float, progress: bool | None) -> None:
        if self.time + dt == self.time:
            raise ValueError(f"dt must advance the time {self.time}, not be as small as {dt}")
        steps, rest = _steps_between(self.time, end, dt)
        warned = self._advance(dt, steps, progress, stacklevel=5)
        if rest:
            self._advance(rest, 1, False, stacklevel=None if warned else 5)

    def _run_within(self, lcfl: float, end: float, progress: bool | None) -> None:
        if not self._gauge.is_timed:
            span = end - self.time
            steps = _parts(span * self._gauge.of_step(self.time, 0.0).rate / lcfl)
            self._advance(span / steps, steps, progress, None, lcfl)
            return
        longest = (end - self.time) / 8
        with share_bar(progress) as show:
            start = self.time
            while self.time < end:
                steps = self._steps_within(lcfl, end, longest)
                dt = (end - self.time) / steps
                longest = 2 * dt
                self._advance(dt, 1, False, None)
                if steps == 1:
                    self.time = end
                show((self.time - start) / (end - start))

    def _steps_within(self, lcfl: float, end: float, longest: float) -> int:
        """Return the fewest equal steps to the end of which the next is allowed."""
        span = end - self.time
        steps = _parts(span / longest)
        while (strain := self._gauge.of_step(self.time, span / steps).rate * span / steps) > lcfl:
            steps = max(steps + 1, _parts(steps * strain / lcfl))
            if self.time + span / steps == self.time:
                raise ValueError(f"lcfl must allow steps that advance the time, not {lcfl}")
        return steps

    def _check_strain(self, dt: float, stacklevel: int | None) -> Strain:
        """Refuse a step that strains too much; warn of a large one if a stack level is given."""
        strain = self._gauge.of_step(self.time, dt)
        strain.judge(dt, stacklevel)
        return strain

    def _advance(
        self,
        dt: float,
        steps: int,
        progress: bool | None,
        stacklevel: int | None,
        joints: float = math.inf,
    ) -> bool:
        """Do steps that end whatever happens, and say whether one of them was large.

        The first large one is warned of if a stack level is given. `joints` may be so strained.
        """
        start, before, large = self.time, self._core.steps_done, False
        chunks = in_chunks(
            steps, 1 if self._gauge.is_timed else self._pace, progress, self._device.finish
        )
        try:
            for done, count in chunks:
                self.time = start + done * dt
                strain = self._check_strain(dt, None if large else stacklevel)
                large = large or strain.is_large(dt)
                self.last_dt = dt
                self._core.advance(self.time, dt, count, strain.bears_joints(dt, joints))
        finally:
            self._core.close()
            self.time = start + (self._core.steps_done - before) * dt
        return large


def _as_limit(lcfl: float) -> float:
    limit = as_real("lcfl", lcfl)
    if not 0 < limit <= REFUSED:
        raise ValueError(f"lcfl must be above 0 and at most {REFUSED}, not {limit}")
    return limit


def _parts(ratio: float) -> int:
    """Return the fewest parts of which none is larger than allowed, but for rounding."""
    return max(1, math.ceil(ratio * (1 - 1e-9)))


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
    for velocity, field in product(advection.fields, remesh.fields):
        if velocity.dtype != arithmetic(field.dtype):
            raise TypeError(
                f"the velocity must be of {arithmetic(field.dtype)}, not {velocity.dtype}, "
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
