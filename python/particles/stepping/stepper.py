# SPDX-License-Identifier: BSD-3-Clause
"""What advances something in time: runs of steps, to a time or within a limit."""

from __future__ import annotations

import itertools
import math
import sys
import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from time import perf_counter
from typing import Any, NamedTuple

from particles import _core
from particles._core import Fitted
from particles.base.checks import as_duration, as_real
from particles.base.frames import frames_of_package
from particles.base.guards import Alone, OnDevice
from particles.base.kinds import is_a
from particles.base.progress import BUILDING, Pace, said_if_long, share_bar, step_bar
from particles.fields.grid import Grid
from particles.operators.finiteness import as_check
from particles.operators.limits import ALONE, JOINED, Given, Strain, joints_within
from particles.operators.source import SourceOp
from particles.operators.time_resolution import TimeResolution
from particles.operators.velocity import Velocity
from particles.runtime.device import Device
from particles.stepping.gauges import Fit, Gauge, Stillness
from particles.stepping.runs import Calls, Run, as_limit, fewest_steps, steps_between, within

TOGETHER = 64  # steps that are looked at at once
_ROUNDED = 1e-9  # a share of the number of steps
_LONGEST_STEP = 3e-8  # seconds for a number; what takes longer on a CPU is building


class _Clock(NamedTuple):
    """Time and steps done before the last ones, duration of these, and of the one before them.

    Fitted ones are of different durations.
    """

    time: float
    steps: int
    dt: float
    last_dt: float | None
    fitted: Fitted | None = None


class Stepper(OnDevice):
    """Advances something in time; what a step is made of is up to the core."""

    _core: _core.Splitting | _core.Unsplit | _core.Tracers
    _gauge: Gauge | Stillness
    _what = "the fields belong"
    _clock: _Clock | None  # replaced as a whole; None where what is advanced belongs to no time

    def __init__(
        self,
        grid: Grid,
        device: Device,
        time: float,
        resolution: TimeResolution,
        formulas: Iterable[object],
    ) -> None:
        self._arrive(as_real("time", time), None)
        self._resolution = resolution
        self._grid, self._device = grid, device
        self._pace = Pace()
        self._alone = Alone(
            f"this {type(self).__name__} is being advanced already, by another thread or by the run "
            "whose callback this is"
        )
        self._has_begun = False  # to change anything
        for formula in formulas:
            if is_a(formula, Velocity | SourceOp):
                formula.parameters.guard(self._alone)

    @property
    def time(self) -> float:
        """The time of what is advanced, at the end of the last whole step."""
        clock = self._known_clock()
        if not (clock.dt or clock.fitted):  # perhaps there is no core yet
            return clock.time
        done = self.steps - clock.steps
        if clock.fitted is not None and done > 0:
            return clock.fitted.ends[done - 1]
        return clock.time + done * clock.dt

    @time.setter
    def time(self, time: float) -> None:
        instant = as_real("time", time)
        with self._alone:
            self._begin_anew()
            self._go_to(instant)

    @property
    def last_dt(self) -> float | None:
        """Duration of the last step, or None before the first."""
        clock = self._known_clock()
        if not (clock.dt or clock.fitted):
            return clock.last_dt
        done = self.steps - clock.steps
        if clock.fitted is not None and done > 0:
            return clock.fitted.durations[done - 1]
        return clock.dt if done > 0 else clock.last_dt

    def _known_clock(self) -> _Clock:
        if self._clock is None:
            raise RuntimeError(
                f"a restore was cut short, so {self._what} to no time: restore again, or fill them "
                "and set time"
            )
        return self._clock

    def _go_to(self, time: float) -> None:
        self._arrive(time, None if self._clock is None else self.last_dt)

    def _arrive(self, time: float, last_dt: float | None) -> None:
        self._clock = _Clock(time, 0, 0.0, last_dt)

    def _leave(self) -> None:
        """Belong to no time, until all is of another."""
        self._begin_anew()
        self._clock = None

    def _set_out(self, dt: float) -> float:
        """Let the time follow from the steps of `dt` that the core will have done; return it."""
        start = self.time
        self._clock = _Clock(start, self.steps, dt, self.last_dt)
        self._has_begun = True
        return start

    def _set_out_fitted(self, fitted: Fitted) -> None:
        """Let the time follow from how many of some steps the core will have done."""
        self._clock = _Clock(self.time, self.steps, 0.0, self.last_dt, fitted)
        self._has_begun = True

    @property
    def steps(self) -> int:
        """Number of steps done."""
        return self._core.steps_done

    def _run(
        self,
        until: float,
        dt: float | None,
        lcfl: float | None,
        progress: bool | None,
        callback: Callable[[Any], object] | None,
        every: int | None,
        at: Iterable[float] | None,
        check: str | None,
    ) -> None:
        """Advance to a time; :meth:`run` of those that are advanced says what is asked for."""
        if dt is None and lcfl is None:
            raise TypeError("run needs dt, lcfl or both, not dt=None and lcfl=None")
        duration = math.inf if dt is None else as_duration("dt", dt)
        limit = 0.0 if lcfl is None else as_limit(lcfl)
        self._check_limits(dt, lcfl)
        start = self.time
        end = within(as_real("until", until), start, math.inf)
        if end < start:
            raise ValueError(f"until must not be before the present time {start}, not {end}")
        if dt is not None and end + duration == end:
            raise ValueError(f"dt must be large enough to change the time {start}, not {dt}")
        self._check_times(end)
        if lcfl is None and end > start:
            self._resolution.check(max(start, end - duration, key=abs), duration)
        run = Run(Calls(callback, every, at, start, end), as_check(check))
        run.given = Given("dt", duration) if lcfl is None else None
        with self._alone:
            before = self.steps
            run.calls.after(self, 0, self.time)
            advice = None
            if run.check and end > self.time:
                self._look_before()
                advice = self._advice(min(duration, end - self.time))
            ranks = self._grid.ranks
            if ranks is not None and ranks.rank != 0:
                progress = False
            if lcfl is None:
                self._run_by(duration, run, progress)
            else:
                self._run_within(limit, duration, run, progress)
            self._go_to(end)
            self._device.finish()
            if run.check and self.steps > before:
                self._look_after(self.last_dt or 0.0)
        if advice is not None:  # which a refusal or an error would give better
            warnings.warn(advice, stacklevel=frames_of_package())

    def _advice(self, longest: float) -> Warning | None:
        """Return what to say after a run with steps of that duration."""
        return None

    def _known_time(self) -> str:
        """Return the time in few digits, or that the fields belong to none."""
        with suppress(RuntimeError):
            return f"{self.time:g}"
        return "none"

    def _run_by(self, dt: float, run: Run[Stepper], progress: bool | None) -> None:
        times = (self.time, *run.calls.stops)
        legs = [steps_between(*leg, dt) for leg in itertools.pairwise(times)]
        self._prepare(sum(steps for steps, _ in legs))
        total = sum(steps + bool(rest) for steps, rest in legs)
        with step_bar(progress, total, tell=self._beside()) as run.show:
            for stop, (steps, rest) in zip(run.calls.stops, legs, strict=True):
                self._leg(run, dt, steps, self.time + steps * dt if rest else stop)
                if rest:
                    self._leg(run, rest, 1, stop)
                elif not steps and stop > self.time:  # by a rounding
                    self._go_to(stop)
                    run.calls.after(self, 0, stop)

    def _run_within(
        self, lcfl: float, most: float, run: Run[Stepper], progress: bool | None
    ) -> None:
        start, span = self.time, run.calls.stops[-1] - self.time
        run.is_fitted = True
        if not self._gauge.is_timed and span > 0:
            self._prepare(self._fewest_steps(lcfl, start, start + span, most, run))
        longest = min(most, span / 8)
        with share_bar(progress, self._beside()) as show:
            run.show = show and (lambda _: show((self.time - start) / span))
            for stop in run.calls.stops:
                while (time := self.time) < stop:
                    if is_a(self._gauge, Gauge) and self._gauge.is_timed:
                        longest, steps = self._fit(self._gauge, run, lcfl, (longest, most), stop)
                        run.calls.after(self, steps, self.time)
                        continue
                    steps = self._fewest_steps(lcfl, time, stop, most, run)
                    dt = (stop - time) / steps
                    self._resolution.check(time, max(dt, self.last_dt or 0.0))
                    count = run.calls.most(steps)
                    end = stop if count == steps else time + count * dt
                    self._leg(run, dt, count, end, joints_within(lcfl))

    def _fewest_steps(
        self, lcfl: float, time: float, end: float, longest: float, run: Run[Stepper]
    ) -> int:
        """Return in how many equal steps a steady velocity allows to come from one time to another.

        They are the fewest, or so many more that they can be joined.
        """
        span = end - time
        strain = self._strain_at(time, 0.0)
        alone = max(fewest_steps(span / longest), fewest_steps(span * strain.rate / lcfl))
        joints = span * strain.joint / joints_within(lcfl)
        if not 1 < joints < math.inf:
            return alone
        joined = max(alone, math.ceil(joints * (1 + _ROUNDED)))
        return joined if self._take_fewer_parts(joined, run.calls.most(joined), alone) else alone

    def _take_fewer_parts(self, joined: int, together: int, alone: int) -> bool:
        """Whether some joined steps, so many together, take fewer parts than others alone."""
        return False

    def _fit(
        self,
        gauge: Gauge,
        run: Run[Stepper],
        lcfl: float,
        longest: tuple[float, float],
        end: float,
    ) -> tuple[float, int]:
        """Do steps up to the next call; return how long the next may be, and how many there were.

        They lead towards a time. The first is at most as long as the first of `longest`, and each
        as the second.
        """
        first, most = longest
        done, due = 0, run.calls.most(sys.maxsize)
        joints = joints_within(lcfl) if due > 1 else ALONE
        while done < due and self.time < end:
            first, count = self._fit_some(
                gauge, run, lcfl, joints, (first, most), end, due - done, due
            )
            done += count
        return first, done

    def _fit_some(
        self,
        gauge: Gauge,
        run: Run[Stepper],
        lcfl: float,
        joints: float,
        longest: tuple[float, float],
        end: float,
        steps: int,
        together: int,
    ) -> tuple[float, int]:
        """Do so many of these steps at most, as many as go well together; so many may be joined."""
        is_paced = run.check != "step" and not self._grid.is_divided
        most = self._pace.steps if is_paced else 1 if run.check == "step" else TOGETHER
        count, before, begin = min(most, TOGETHER, steps), self.last_dt or 0.0, perf_counter()
        least = self._resolution.least
        wanted = Fit(self.time, end, lcfl, *longest, before, least, count, together)
        strain, fitted = gauge.fit(wanted, self._borne(run), joints, walls=run.warns_of_walls)
        durations, ends = fitted.durations, fitted.ends
        self._resolution.check(wanted.begin, max(durations[0], before))
        self._advance_fitted(run, strain, fitted, durations)
        if is_paced:
            self._device.finish()
            self._pace.note(len(ends), perf_counter() - begin)
        if run.show is not None:
            self._device.finish()
            run.show(len(ends))
        if run.check == "step":
            self._look_after(durations[-1])
        self._go_to(ends[-1])
        return fitted.longest, len(ends)

    def _begin_anew(self) -> None:
        """Forget what is told of steps."""

    def _check_limits(self, dt: float | None, lcfl: float | None) -> None:
        """Refuse limits of steps that are none, or not enough."""

    def _check_times(self, end: float) -> None:
        """Refuse to go where the velocity is not known."""

    def _look_before(self) -> None:
        """Refuse what is not finite before the first step of a run."""

    def _look_after(self, dt: float) -> None:
        """Refuse what is not finite after the last step of a run, which was of `dt`."""

    def _tell(self) -> str:
        """Return what is said beside the progress bar."""
        return ""

    def _beside(self) -> Callable[[], str] | None:
        """Return what is asked for what is said beside the bar: nothing that all ranks must ask."""
        return None if self._grid.is_divided else self._tell

    def _prepare(self, steps: float) -> None:
        """Make ready for a run of about so many steps."""

    def _strain(self, dt: float) -> Strain:
        """Return the strain of the next step."""
        return self._strain_at(self.time, dt)

    def _strain_at(self, time: float, dt: float) -> Strain:
        return self._gauge.of_steps([time], dt)[0]

    def _leg(
        self, run: Run[Stepper], dt: float, steps: int, end: float, joints: float = JOINED
    ) -> None:
        """Do equal steps that lead to a time, and the calls on the way."""
        start, done = self.time, 0
        while done < steps:
            count = run.calls.most(steps - done)
            self._advance(run, dt, count, joints if count > 1 else ALONE)
            done += count
            self._go_to(end if done == steps else start + done * dt)
            run.calls.after(self, count, self.time)

    def _builds_told(self, numbers: int) -> AbstractContextManager[None]:
        """Say that kernels are built where the first step takes longer than steps do.

        That is of so many numbers.
        """
        if self._has_begun:
            return nullcontext()
        return said_if_long(BUILDING, self._device.finish, _LONGEST_STEP * numbers)

    def _borne(self, run: Run[Stepper]) -> float:
        """Return the strain of steps about which there is nothing to say."""
        return math.inf

    def _advance(self, run: Run[Stepper], dt: float, steps: int, joints: float) -> None:
        """Do steps; joints of them may be so strained."""
        raise NotImplementedError

    def _advance_fitted(
        self, run: Run[Stepper], strain: Strain, fitted: Fitted, durations: list[float]
    ) -> None:
        """Do steps with a duration each, the first of which has a strain."""
        raise NotImplementedError
