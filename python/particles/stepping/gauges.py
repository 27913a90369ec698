# SPDX-License-Identifier: BSD-3-Clause
"""How much steps strain the particles, and how long they may be; the core measures and judges."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from particles import _core
from particles.base.errors import DeviceError
from particles.base.kinds import is_a
from particles.fields.field import Field
from particles.operators.flow import Flow
from particles.operators.limits import (
    ALONE,
    REFUSED,
    ROUNDING,
    Leak,
    Strain,
    check_finite,
    refuse_wrong,
    steepest_place,
    strain_of_push,
)
from particles.runtime.crew import made
from particles.stepping.planes_of_flow import PlanesOfFlow

_ALONE = nullcontext()
_AHEAD = 64  # steps for which it is known at once how fast a velocity can be


class Fit(NamedTuple):
    """What steps are wanted.

    Attributes
    ----------
    begin, end : float
        They lead from one time to another.
    lcfl : float
        The strain that none exceeds.
    longest, most : float
        How long the first one may be, and each.
    last_dt : float
        Duration of the one before, or 0.
    least_of_time : float
        What share of a time a step must be.
    steps : int
        At most.
    together : int
        How many may be joined to one another.
    """

    begin: float
    end: float
    lcfl: float
    longest: float
    most: float
    last_dt: float
    least_of_time: float
    steps: int
    together: int


class Stillness:
    """The gauge of steps in which nothing moves.

    Attributes
    ----------
    is_timed : bool
        Whether the time occurs in the velocity.
    """

    is_timed = False

    def update_schedules(self, time: float) -> None:
        """Leave them as they are."""

    def of_steps(
        self,
        times: Sequence[float],
        dt: float,
        borne: float = 0.0,
        joints: float = ALONE,
        *,
        walls: bool = True,
    ) -> tuple[Strain, int]:
        """Return no strain, so that all steps are joined to those that there are."""
        return Strain(0.0, None, 0.0, times[0], 0.0, math.inf), len(times)

    def place_of(self, strain: Strain) -> str:
        """Say that there is no such place."""
        return "nothing moves"


class Gauge:
    """Knows how much a velocity strains steps.

    Attributes
    ----------
    is_timed : bool
        Whether the time occurs in the velocity.
    """

    _limit = REFUSED  # beyond which a step is refused

    def __init__(self, flow: Flow, core: _core.Gauge) -> None:
        velocity = flow.velocity
        self.is_timed = not is_a(velocity, Field) and velocity.depends_on_time
        self._flow = flow
        self._core = core
        self._agreed: int | None = None  # version of the velocity that all ranks know of

    def of_steps(
        self,
        times: Sequence[float],
        dt: float,
        borne: float = 0.0,
        joints: float = ALONE,
        *,
        walls: bool = True,
    ) -> tuple[Strain, int]:
        """Return the greatest strain of steps of `dt` at times, and of how many of them that is.

        Those are one where its strain is more than what is `borne`, or something goes through
        `walls`; else there is no such step among them. Either all have `joints` that are strained
        so much at most, or none has. Refuses what the first cannot bear.
        """
        with self._among_ranks(lambda: f"{len(times)} steps of {dt!r} from {times[0]!r} on"):
            self._known_until(times[0], times[-1] + dt, times[0] + _AHEAD * dt)
            begins = list(times) if self.is_timed else [0.0]
            strain, steps, wrong = self._core.of_steps(
                begins, dt, borne * (1 + ROUNDING), not walls, joints
            )
            if wrong is not None:
                self._refuse(wrong)
        return self._strain(strain), steps

    def fit(
        self, wanted: Fit, borne: float, joints: float, *, walls: bool
    ) -> tuple[Strain, _core.Fitted]:
        """Return steps that are as large as can be, and the strain of the first.

        They are one where there is something to say about it, as of `of_steps`.
        """
        begin, end, lcfl, longest, most, last_dt, least_of_time, steps, together = wanted
        with self._among_ranks(lambda: f"steps by {lcfl!r} from {begin!r} to {end!r}"):
            known_until = self._known_until(
                begin, min(end, begin + longest), min(end, begin + _AHEAD * longest)
            )
            fitted = self._core.fit(
                begin,
                end,
                lcfl,
                longest,
                most,
                last_dt,
                known_until,
                least_of_time,
                steps,
                together,
                borne * (1 + ROUNDING),
                not walls,
                joints,
            )
            if fitted.wrong is not None:
                self._refuse(fitted.wrong)
        if fitted.is_too_short:
            raise ValueError(f"lcfl must allow steps that change the time, not {lcfl}")
        return self._strain(fitted.strain), fitted

    def place_of(self, strain: Strain) -> str:
        """Say where a velocity strains that much."""
        return steepest_place(self._flow, strain.axis, strain.instant)

    def _strain(self, found: _core.Strain) -> Strain:
        rate, axis, joint, instant, cells, leak = found
        return Strain(rate, axis, joint, instant, cells, self._limit, leak and Leak(*leak))

    def _refuse(self, wrong: _core.Wrong) -> None:
        refuse_wrong(self._flow, wrong)

    def _known_until(self, begin: float, end: float, ahead: float | None = None) -> float:
        """Let steps between two times, and perhaps some more, know what they need.

        Returns until when they do.
        """
        return math.inf

    def _among_ranks(self, what: Callable[[], str]) -> AbstractContextManager[object]:
        """Have all parts of a divided grid do the same, and measure anew what has changed on one."""
        grid = self._flow.grid
        if not grid.is_cut:
            return _ALONE
        self._agree(what())
        return _ALONE if grid.ranks is None else grid.ranks.bound(DeviceError, MemoryError)

    def _agree(self, what: str) -> None:
        if self._flow._has_changed(self._agreed, what):
            self._forget()
        self._agreed = self._flow.version

    def _forget(self) -> None:
        """Measure all anew."""


class SplittingGauge(Gauge):
    """Measures how a velocity strains sweeps, and has the schedules of the steps follow it."""

    def __init__(
        self,
        flow: Flow,
        core: _core.AdvectionOp,
        splitting: _core.Splitting,
        conservative: bool,
    ) -> None:
        self._schedules = made(_core.SplittingGauge, core, splitting, not conservative)
        super().__init__(flow, self._schedules)
        self._advection = core
        self._splitting = splitting
        self._follows_back = not conservative
        self._limit = REFUSED if conservative else math.inf

    def update_schedules(self, time: float) -> None:
        """Have them follow the velocity; they stay those of the last step if the time occurs."""
        self._agree(f"the schedule at {time!r}")
        wrong = self._schedules.choose(time)
        if wrong is not None:
            self._refuse(wrong)

    def of_sweep(self, axis: int, time: float, dt: float) -> Strain:
        """Return the strain of one sweep over the whole of `dt`."""
        self._agree(f"a sweep along axis {axis} of {dt!r} from {time!r} on")
        self._known_until(time, time + dt)
        return strain_of_push(
            self._flow,
            self._advection,
            axis,
            time if self.is_timed else 0.0,
            dt,
            is_back=self._follows_back,
            limit=self._limit,
        )

    def _forget(self) -> None:
        self._schedules.forget()
        self._advection.forget()
        self._splitting.forget()

    def _known_until(self, begin: float, end: float, ahead: float | None = None) -> float:
        """Let sweeps know how far they move particles without measuring it."""
        bounds = self._flow.speed_bounds
        if bounds is None:
            return math.inf
        held = self._splitting.held_since
        first = begin if held is None else min(begin, held)
        return bounds.tell(self._advection, first, end, ahead)


class UnsplitGauge(Gauge):
    """Measures how much a velocity strains particles that move along all axes at once."""

    def __init__(self, flow: Flow, core: _core.AdvectionOp, unsplit: _core.Unsplit) -> None:
        super().__init__(flow, made(_core.UnsplitGauge, core, unsplit))
        self._unsplit = unsplit

    def _forget(self) -> None:
        self._unsplit.forget()


class TracersGauge(Gauge):
    """Measures how much a velocity strains what is anywhere in a box.

    Nothing is refused but what is not finite.
    """

    _limit = math.inf

    def __init__(self, flow: Flow, core: _core.Tracers, planes: PlanesOfFlow | None) -> None:
        super().__init__(flow, made(_core.TracersGauge, core))
        self._planes = planes

    def _known_until(self, begin: float, end: float, ahead: float | None = None) -> float:
        """Have what is measured read."""
        if self._planes is not None:
            self._planes.provide_measured(begin)
        return math.inf

    def _refuse(self, wrong: _core.Wrong) -> None:
        check_finite(self._flow, wrong[3])
        super()._refuse(wrong)
