# SPDX-License-Identifier: BSD-3-Clause
"""What advances fields in time: steps, their limits and reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

import numpy as np

from particles import _core
from particles._core import Fitted
from particles.base.checks import arithmetic, as_duration
from particles.base.markup import facts
from particles.base.progress import chunks
from particles.fields.field import Field
from particles.operators.advection import AdvectionOp
from particles.operators.diffusion import Diffusion
from particles.operators.finiteness import Watch
from particles.operators.flow import Flow
from particles.operators.limits import (
    REFUSED,
    ROUNDING,
    USUAL,
    Bearable,
    Given,
    Strain,
    warn_of_growth,
    warn_of_leak,
    warn_of_shear,
    warn_of_undershoot,
)
from particles.operators.remesh import RemeshOp
from particles.operators.source import SourceOp
from particles.operators.time_resolution import TimeResolution
from particles.runtime.memory import Memory
from particles.stepping.forecast import Forecast
from particles.stepping.operands import given_alone
from particles.stepping.report import Account, Left, Report, report_of
from particles.stepping.runs import Run
from particles.stepping.stepper import TOGETHER, Stepper

_TOLD = 3  # fields beside the progress bar


class Transport(Stepper):
    """Advances carried fields in time."""

    _core: _core.Splitting | _core.Unsplit
    _forecast: Forecast

    def __init__(
        self,
        advection: AdvectionOp | None,
        remesh: RemeshOp,
        time: float,
        source: SourceOp | None = None,
        diffusions: Sequence[Diffusion] = (),
        *,
        is_split: bool = False,
    ) -> None:
        self.advection = advection
        self.remesh = remesh
        is_read = (
            (advection is not None and advection.speed_bounds is not None)
            or any(d.inflows is not None and d.inflows.depends_on_time for d in diffusions)
            or remesh.inflows.depends_on_time
            or (source is not None and source.depends_on_time)
        )
        dtype = arithmetic(remesh.fields[0].dtype)
        moving = None if advection is None else advection.velocity
        super().__init__(
            remesh.grid,
            remesh.fields[0].device,
            time,
            TimeResolution(dtype, is_read=is_read),
            (moving, source),
        )
        self._watch = Watch(remesh.fields, source)
        self._given_watch = Watch(given_alone(advection, remesh, source), what="given field")
        self._account = Account(remesh, is_split=is_split)
        self._has_source = source is not None
        self._leaks = False  # through a wall, in the last run

    @property
    def fields(self) -> tuple[Field, ...]:
        """What is carried: those of `remesh`.

        Examples
        --------
        >>> import particles as pt
        >>> wind, u = pt.Velocity(pt.Grid(4), "1"), pt.Field(pt.Grid(4), name="u")
        >>> pt.Splitting.from_preset("default", wind, u).fields[0] is u
        True
        """
        return self.remesh.fields

    def lcfl(self, dt: float) -> float:
        """Strain of the most strained sweep of a step of `dt`.

        Up to 0.73, particles keep their order for any scheme and velocity.

        Parameters
        ----------
        dt : float
            Duration of the step.

        Returns
        -------
        float

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
        duration = as_duration("dt", dt)
        return self._strain(duration).rate * duration

    def step(self, dt: float) -> None:
        """Advance all fields by `dt`; does not wait for the device.

        Each step is whole, so that any field can be read after it. `run` joins sweeps of steps that
        follow each other, in three dimensions four a step instead of five.

        Warns with `LCFLWarning` if the strain of a sweep (`lcfl`) is too large for accuracy:
        above 0.22 for masses with the kernel ``M'6`` (others: :doc:`/accuracy`), 0.5 for values
        and for fields that begin with two values, such as colours. Above 0.9 it raises ValueError
        if particles carry masses. If a field is then not finite, the next read gives a
        `NotFiniteWarning`.

        Parameters
        ----------
        dt : float
            Duration of the step.

        Examples
        --------
        >>> import particles as pt
        >>> wind = pt.Velocity(pt.Grid(4), lambda x: 1.0)
        >>> u = pt.Field(wind.grid)
        >>> u[0] = 1
        >>> transport = pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(u))
        >>> transport.step(0.5)
        >>> u.get(), transport.time
        (array([0., 0., 1., 0.], dtype=float32), 0.5)
        """
        duration = as_duration("dt", dt)
        with self._alone:
            self._check_times(self.time + duration)
            self._resolution.check(self.time, duration)
            with self._builds_told(self._numbers):
                strain = self._strain(duration)
                warn_of_leak(self.advection, strain.leak)
                strain.warn(duration, self._bearable(strain, duration))
                self._account.note(strain, duration, joined=False)
                self._watch.look_when_read(self.steps + 1, self.time + duration, duration)
                self._enqueue([self._set_out(duration)], duration, 1, joined=False)

    def run(
        self,
        until: float,
        dt: float | None = None,
        *,
        lcfl: float | None = None,
        progress: bool | None = None,
        callback: Callable[[Any], object] | None = None,
        every: int | None = None,
        at: Iterable[float] | None = None,
        check: Literal["step", "end"] | None = "end",
    ) -> None:
        """Advance all fields to the time `until`, by steps of `dt` or as large as `lcfl` allows.

        Given both, steps are as large as both allow.

        Strang steps are joined (`Splitting.joined_schedule`) where that costs little accuracy: the
        half sweep that ends a step and the one that begins the next are done as one if that
        strains the particles by 0.25 at most, and by `lcfl` at most. Every run ends with a whole
        step, also after an interrupt or an exception in `callback`, and `time` is the end of that
        step.

        Parameters
        ----------
        until : float
            Final time. If it is before the present only by rounding, it is the present.
        dt : float, optional
            Duration of a step; the last one before `until`, or before a time of `at`, is shorter if
            need be. With `lcfl`, the longest step. A source needs it: `lcfl` knows only the flow.
        lcfl : float, optional
            Strain that no sweep exceeds, at most 0.9; 0.2 suits most. A steady velocity gives the
            smallest number of equal steps, or up to half as many more where these can be joined and
            take fewer sweeps. If the velocity depends on time, each step is fitted to it and at
            most twice as long as the one before, the first at most an eighth of the run. Only the
            strain limits the step: a steady velocity that is uniform along each axis gives a
            single step, even if it shears. In these cases give `dt` as well.
        progress : bool, optional
            Whether to show a progress bar; by default in a terminal or notebook.
        callback : callable, optional
            Called with this object, its fields at the end of a whole step; it may read and write
            fields, the velocity too. Steps are not joined across a call.
        every : int, optional
            Number of steps from one call to the next, counted from the start of the run.
        at : iterable of float, optional
            Or the times of calls, ascending, from now to `until`; they may miss these by a
            rounding. Steps end exactly there.
        check : {"step", "end", None}
            When to check the carried fields for numbers that are not finite, which raise
            `NotFiniteError`: after every step, which waits for the device each time, or at the
            end of the run. Either checks them before the first step, too, and the fields that are
            given to a source. A velocity is always checked before it moves anything.

        Examples
        --------
        >>> import particles as pt
        >>> grid = pt.Grid(16)
        >>> wind = pt.AdvectionOp(pt.Velocity(grid, "1"))
        >>> transport = pt.Splitting(wind, pt.RemeshOp(pt.Field(grid)))
        >>> transport.run(1.0, 0.3, callback=lambda run: print(run.time), at=[0.5, 1.0])
        0.5
        1.0
        """
        before, begin, velocity = self.steps, self.time, self._known_velocity()
        watched = self._watched(callback) if callable(callback) else callback
        self._account.cells_of_run = 0.0
        self._run(until, dt, lcfl, progress, watched, every, at, check)
        flow = self.advection
        if self.steps > before and flow is not None and self._may_shear(flow):
            step, cells = (self.time - begin) / (self.steps - before), self._account.cells_of_run
            warn_of_shear(flow, begin, self.time, step, cells, is_given=dt is not None)
        if not check or self.steps == before or not self._has_masses_alone() or self._strained():
            return
        changes = self._watch.changes()
        if not self.remesh._carries_colours:  # which undershoot where they jump
            negative = [one for one in changes if warn_of_undershoot(one, self.remesh)]
            for one in negative:
                self._watch.forget_start(one)
            changes = [one for one in changes if one not in negative]
        is_small = self._account.is_within_limits_of_masses()
        is_same = velocity is not None and velocity == self._known_velocity()
        if flow is not None and is_same and is_small and not self._leaks:
            warn_of_growth(changes, self.remesh, flow, self.time - begin)

    def _may_shear(self, flow: Flow) -> bool:
        """Whether axes are swept one after the other, by steps that may take points too far apart."""
        return False

    def _known_velocity(self) -> int | None:
        """Return what is another one once a steady velocity has changed; None if nobody knows."""
        flow = self.advection
        if flow is None or self._gauge.is_timed:
            return None
        return None if any(field.core.is_shared for field in flow.fields) else flow.version

    def _has_masses_alone(self) -> bool:
        """Whether the fields have what they had, carried somewhere, but for errors."""
        remesh = self.remesh
        return remesh.conservative and not (self._has_source or remesh.inflows.formulas)

    def _strained(self) -> bool:
        """Whether steps have been larger than what is carried bears, of which they have warned."""
        return self._account.lcfl > self._open_account().strain * (1 + ROUNDING)

    def _watched(self, callback: Callable[[Any], object]) -> Callable[[Any], object]:
        """Return a callback of whose changes the watch knows."""

        def watched(transport: object) -> None:
            with self._watch.expecting_changes():
                callback(transport)

        return watched

    def memory(self) -> Memory:
        """Return the device memory that this takes, with its fields, by purpose.

        Examples
        --------
        >>> import particles as pt
        >>> grid = pt.Grid((64, 64))
        >>> u = pt.Field(grid, name="u")
        >>> transport = pt.Splitting(pt.AdvectionOp(pt.Velocity(grid, ["1", "0"])), pt.RemeshOp(u))
        >>> transport.memory()["carried field u"]
        20480
        """
        return self._forecast.memory()

    def _facts(self, kind: str) -> str:
        """Return a table of what is carried and how."""
        named = {
            "time": f"{self._known_time()} after {self.steps} steps",
            "carried": ", ".join(map(repr, self.remesh.fields)),
        }
        if self.advection is not None:
            named |= {
                "velocity": repr(self.advection.velocity),
                "scheme": self.advection.scheme,
                "kernel": self.remesh.kernel.name,
                "limiter": self.remesh.limiter or "none",
            }
        return facts(kind, named)

    def report(self) -> Report:
        """Return a report of all steps so far: extrema, sum, integral, steps, strain.

        Extrema, integral (`Field.integral`) and sum (`Field.sum`) are those before the first step
        and those now; what has left and the relative change are of the sum. Setting `time` and `io.restore` start a new report. Waits for the device.

        Returns
        -------
        Report

        Examples
        --------
        >>> import particles as pt
        >>> grid = pt.Grid(16)
        >>> u = pt.Field(grid, name="u")
        >>> u[:8] = 1
        >>> wind = pt.AdvectionOp(pt.Velocity(grid, "1"))
        >>> transport = pt.Splitting(wind, pt.RemeshOp(u, limiter="monotone"))
        >>> transport.run(until=0.5, dt=0.25)
        >>> print(transport.report())
        splitting        Strang, order 2
        kernel           M'6
        ...
        time             0 to 0.5, 2 steps of 0.25
        step, at most    LCFL 0, CFL 4
                        least     greatest     integral          sum         left       change
        u  begin            0            1          0.5            8
           end              0            1          0.5            8            0     +0.0e+00
        """
        return report_of(self, self._account, self._left())

    def _begin_anew(self) -> None:
        """Have the next step begin a new report."""
        self._account.close()

    def _check_limits(self, dt: float | None, lcfl: float | None) -> None:
        """Refuse limits of steps that are none, or not enough."""
        if lcfl is not None and self.advection is None:
            raise ValueError("lcfl must be None without a velocity: give dt")
        if dt is None and self._has_source:
            raise ValueError(
                "dt must be given with lcfl where there is a source, not None: it is the longest "
                "step, as lcfl limits steps by the flow alone"
            )

    def _check_times(self, end: float) -> None:
        """Refuse to go where the velocity is not known."""
        if self.advection is not None:
            self.advection.check_times(self.time, end)

    def _look_before(self) -> None:
        """Refuse what is not finite before the first step of a run."""
        self._leaks = False
        for watch in self._watch, self._given_watch:
            watch.look_before(self.steps, self.time)

    def _look_after(self, dt: float) -> None:
        """Refuse what is not finite after the last step of a run, which was of `dt`."""
        self._watch.look(self.steps, self.time, dt)

    def _check_strain(self, dt: float, given: Given) -> None:
        """Refuse a step that strains too much."""
        self._bearable(self._strain(dt), dt, given)

    def _bearable(self, strain: Strain, dt: float, given: Given | None = None) -> Bearable:
        """Refuse what strains too much; return what strain may be."""
        strain.refuse(dt, self._gauge.place_of, given)
        return self._open_account()

    def _open_account(self) -> Bearable:
        """Look at the fields before the first step; return what strain they bear."""
        is_open = self._account.opening is not None
        return self._account.open(self.time, self.steps, None if is_open else self._left())

    def _tell(self) -> str:
        """Return the least and greatest value of each of the first fields."""
        fields = self.remesh.fields[:_TOLD]
        names = [f"{field.name} " if field.name else "" for field in fields]
        found = [field.summary()[2:] for field in fields]
        return ", ".join(
            f"{n}{low:.3g} to {high:.3g}" for n, (low, high) in zip(names, found, strict=True)
        )

    def _left(self) -> Left | None:
        """Return how much of each component has left; None where that is not counted."""
        components = sum(field.components for field in self.remesh.fields)
        return np.zeros(components) if self.remesh.conservative else None

    @property
    def _numbers(self) -> int:
        """How many a step changes."""
        return sum(field.components for field in self.remesh.fields) * self.remesh.grid.size

    def _advance(self, run: Run[Stepper], dt: float, steps: int, joints: float) -> None:
        """Do steps; joints of them may be so strained."""
        # The clocks of ranks differ, and all must agree on the same steps.
        usual = TOGETHER if self._grid.is_divided else self._pace
        pace = 1 if run.check == "step" else usual
        told = nullcontext() if run.show is None else self._builds_told(self._numbers)
        start = self._set_out(dt)
        if run.check:
            self._watch.look_when_read(self.steps, start, dt)
        for done, count in chunks(steps, pace, run.show, self._device.finish):
            if self._gauge.is_timed:
                for first in range(done, done + count, TOGETHER):
                    last = min(first + TOGETHER, done + count)
                    times = [start + step * dt for step in range(first, last)]
                    told = self._advance_by(run, told, times, dt, 1, joints)
            else:
                told = self._advance_by(run, told, [start], dt, count, joints, done)
            if run.check == "step":
                self._watch.look(self.steps, self.time, dt)

    def _advance_by(
        self,
        run: Run[Stepper],
        told: AbstractContextManager[None],
        times: list[float],
        dt: float,
        each: int,
        joints: float,
        first: int = 0,
    ) -> AbstractContextManager[None]:
        """Do so many steps from each of some times on, the first of them some steps later.

        As many are judged at once as can be.
        The first are done within `told`. Returns what the next are to be done within.
        """
        while times:
            strain, count = self._gauge.of_steps(
                times, dt, self._borne(run), joints, walls=run.warns_of_walls
            )
            self._say(run, strain, dt)
            joined = strain.bears_joints(dt, joints)
            self._account.note(strain, dt, joined)
            with told:
                self._enqueue(times[:count], dt, each, first, joined=joined)
            told = nullcontext()
            times = times[count:]
        return told

    def _advance_fitted(
        self, run: Run[Stepper], strain: Strain, fitted: Fitted, durations: list[float]
    ) -> None:
        """Do steps with a duration each, the first of which has a strain."""
        told = nullcontext() if run.show is None else self._builds_told(self._numbers)
        start = self.time
        self._set_out_fitted(fitted)
        if run.check:
            self._watch.look_when_read(self.steps, start, durations[0])
        self._say(run, strain, durations[0])
        self._account.note_fitted(durations, fitted.lcfl, fitted.cells)
        with told:
            self._enqueue_fitted(fitted)

    def _say(self, run: Run[Stepper], strain: Strain, dt: float) -> None:
        """Refuse or warn of a step of a run, the latter once."""
        if run.warns_of_walls:
            self._leaks = warn_of_leak(self.advection, strain.leak)
            run.warns_of_walls = not self._leaks
        bearable = self._bearable(strain, dt, run.given)
        if run.warns and not (run.is_fitted and bearable is USUAL):
            run.warns = not strain.warn(dt, bearable)

    def _borne(self, run: Run[Stepper]) -> float:
        """Return the strain of steps about which there is nothing to say."""
        if self._account.opening is None:
            return 0.0
        bearable = self._account.opening.bearable
        is_silent = not run.warns or (run.is_fitted and bearable is USUAL)
        return REFUSED if is_silent else bearable.strain

    def _enqueue(
        self, times: list[float], dt: float, each: int, first: int = 0, *, joined: bool
    ) -> None:
        """Have the core do so many steps from each of some times on, the first some steps later.

        Joined ones leave an end.
        """
        raise NotImplementedError

    def _enqueue_fitted(self, fitted: Fitted) -> None:
        """Have the core do steps with a duration each."""
        raise NotImplementedError
