# SPDX-License-Identifier: BSD-3-Clause
"""Particles of a set that a velocity takes along."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple, NoReturn, cast

import numpy as np

from particles import _core, kernels
from particles._core import Fitted
from particles.base.checks import as_duration, shown
from particles.base.errors import NotFiniteError, NotFiniteWarning
from particles.base.frames import frames_of_package
from particles.base.kinds import is_a
from particles.base.markup import facts
from particles.base.progress import Pace, chunks
from particles.fields.field import Field
from particles.fields.grid import box_text, have_same_box
from particles.operators.flow import Flow
from particles.operators.limits import Strain
from particles.operators.time_resolution import TimeResolution
from particles.operators.velocity import Velocity
from particles.operators.velocity_series import VelocitySeries
from particles.runtime.crew import Several, made, of_each, parts_of
from particles.runtime.memory import Memory
from particles.sets.particle_set import ParticleSet, Unsettled
from particles.stepping.gauges import TracersGauge
from particles.stepping.part_of_tracers import Found, Outcome, PartOfTracers
from particles.stepping.planes_of_flow import PlanesOfFlow
from particles.stepping.runs import Run
from particles.stepping.stepper import Stepper

__all__ = ["Tracers"]

_MOST_CELLS = 2**30  # along an axis, which kernels count in 32 bits
_NEEDED = (
    "velocity must be finite where particles are, and move them by at most 10^9 cells in a step, "
    "and by fewer than 2^31 turns in all"
)


class Tracers(Stepper):
    """Move the particles of a set with a velocity, by a Runge-Kutta scheme.

    Solves ``dx/dt = a(x, t)`` for each particle. Attributes stay as they are. A step is one pass over
    the particles on the device.

    Parameters
    ----------
    swarm : ParticleSet
        The particles. You may change, sort, add and remove them between two steps.
    velocity : Field or Velocity or VelocitySeries
        A field with one component per axis, a formula, or fields at several times; in the box of the
        set's grid, with any number of points.
    scheme : str
        ``"euler"``, ``"rk2"`` (the midpoint rule), ``"heun"``, ``"rk3"`` (Kutta's) or ``"rk4"``
        (the classical one): of first, second, second, third and fourth order in time.
    kernel : str or RemeshingKernel
        The kernel that interpolates a velocity on a grid: ``"L1"``, which is linear, ``"M'6"``, ...: see
        `kernels.get`. A formula is evaluated where the particles are.
    time : float
        Time at the start.

    Attributes
    ----------
    swarm, velocity, scheme, kernel
        As above.
    time : float
        Where the particles are in time.

    Notes
    -----
    Along periodic axes positions come back into the box, and ``swarm.turns`` counts the turns. Beyond
    a wall the velocity is the mirror image, in which the component across the wall has the other sign:
    particles never cross a wall, and paths keep their order there. Beyond an open end the velocity is
    that at the end. Particles that cross the end are removed, and ``swarm.left`` counts them; or they
    are refused, as the set's ``leaving`` says. As in a `Splitting`, steps are divided at the times of a
    `VelocitySeries`, and each stage of a scheme uses the velocity at its own time.

    Positions are as exact in a long box as in a short one: a displacement is added to the offset in
    the cell. A formula takes coordinates in the set's `dtype`. The bits of results do not depend on
    threads, nor on how a run is divided into calls.

    A step does not wait for the device. Particles that have left are taken out of the set when it is
    read, at the end of a run, and about five times a second during a run.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> grid = pt.Grid((64, 64), origin=(-1, -1), extent=2)
    >>> turning = pt.Velocity(grid, lambda x, y: (-2 * np.pi * y, 2 * np.pi * x))
    >>> swarm = pt.ParticleSet(grid, [[0.5, 0.0], [0.0, 0.25]])
    >>> tracers = pt.Tracers(swarm, turning)
    >>> tracers.run(until=0.25, dt=0.01)
    >>> float(np.abs(swarm.positions.get() - [[0.0, 0.5], [-0.25, 0.0]]).max()) < 1e-6
    True
    """

    _core: _core.Tracers
    _gauge: TracersGauge
    _what = "the particles belong"

    def __init__(
        self,
        swarm: ParticleSet,
        velocity: Field | Velocity | VelocitySeries,
        scheme: str = "rk4",
        kernel: str | kernels.RemeshingKernel = "L1",
        time: float = 0.0,
    ) -> None:
        if not is_a(swarm, ParticleSet):
            raise TypeError(f"swarm must be a ParticleSet, not {shown(swarm)}")
        flow = Flow(velocity, scheme)
        self.swarm = swarm
        self.velocity = flow.velocity
        self.scheme = flow.scheme
        self.kernel = kernels.get(kernel)
        _check_place(flow, swarm)
        flow.used = swarm.device, swarm.dtype
        is_read = flow.speed_bounds is not None
        super().__init__(
            swarm.grid, swarm.device, time, TimeResolution(swarm.dtype, is_read=is_read), [velocity]
        )
        self._flow = flow
        self._core = _core_for(flow, self.kernel, swarm)
        self._planes: PlanesOfFlow | None = None
        self._part: PartOfTracers | None = None
        if swarm.grid.is_cut:
            own: Any = swarm if swarm._several is None else swarm._several
            self._planes = made(
                PlanesOfFlow, _flow_of_each(flow, swarm), self._core, self.kernel, own
            )
            self._part = made(PartOfTracers, self._core, self._planes, own)
        self._gauge = TracersGauge(flow, self._core, self._planes)
        self._refuses = self._core.has_open_ends and swarm.leaving == "refuse"
        self._began: _Began | None = None

    def lcfl(self, dt: float) -> float:
        """Strain of a step of `dt`: how far neighbours move apart, in shares of their distance.

        The greatest sum, over the axes, of the difference quotients of one component of the velocity
        on its grid, times `dt`.

        Parameters
        ----------
        dt : float
            Duration of the step.

        Returns
        -------
        float

        Examples
        --------
        >>> import particles as pt
        >>> shear = pt.Velocity(pt.Grid((8, 8), boundary="outflow"), lambda x, y: (2 * y, 0))
        >>> swarm = pt.ParticleSet.random(shear.grid, 10, seed=1)
        >>> round(pt.Tracers(swarm, shear).lcfl(0.1), 3)
        0.2
        """
        duration = as_duration("dt", dt)
        return self._strain(duration).rate * duration

    def step(self, dt: float) -> None:
        """Move the particles for the duration `dt`; does not wait for the device.

        With ``leaving="refuse"`` and an open end it does wait, to see that no particle leaves. A
        particle stays where it is if the velocity is not finite there, or too large for its cells
        or turns to be counted, and the next read of positions gives a `NotFiniteWarning`.

        Parameters
        ----------
        dt : float
            Duration of the step.

        Examples
        --------
        >>> import particles as pt
        >>> grid = pt.Grid(4, boundary="outflow")
        >>> swarm = pt.ParticleSet(grid, [[0.25], [0.875]])
        >>> tracers = pt.Tracers(swarm, pt.Velocity(grid, "1"))
        >>> tracers.step(0.25)
        >>> swarm.positions[...], swarm.left, tracers.time
        (array([[0.5]]), array([[0, 1]]), 0.25)
        """
        duration = as_duration("dt", dt)
        with self._alone:
            self._check_times(self.time + duration)
            self._resolution.check(self.time, duration)
            with self.swarm._alone, self._builds_told(self._numbers):
                if self._part is not None:
                    start = self._set_out(duration)
                    stuck, first = self._trace_together(self._part, start, duration, 1)
                    if stuck and not self._refuses:
                        self._warn_of_stuck(stuck, first)
                    return
                if self._refuses:
                    self._trace_and_look(self._set_out(duration), duration, 1, 0, checks=False)
                    return
                if self._goes_on():
                    self.swarm._be_unsorted()
                else:
                    self._begin(keeps=False)
                start = self._set_out(duration)
                self._core.advance(self.swarm._columns_now.places, start, duration, 1)

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
        """Move the particles to the time `until`, by steps of `dt` or as large as `lcfl` allows.

        Given both, steps are as large as both allow. Every run ends with a whole step, also after an
        interrupt or an exception in `callback`, and `time` is the end of that step.

        Parameters
        ----------
        until : float
            Final time. If it is before the present only by rounding, it is the present.
        dt : float, optional
            Duration of a step; the last one before `until`, or before a time of `at`, is shorter if
            need be. With `lcfl`, the longest step.
        lcfl : float, optional
            Strain that no step exceeds (`lcfl`), at most 0.9. Larger steps do no harm, but smaller ones
            give more exact paths. As in a `Splitting`, a steady velocity gives the smallest number of
            equal steps. If the velocity depends on time, each step is fitted to it.
        progress : bool, optional
            Whether to show a progress bar; by default in a terminal or notebook.
        callback : callable, optional
            Called with this object, its particles at the end of a whole step; it may read and change
            the set, and the velocity.
        every : int, optional
            Number of steps from one call to the next, counted from the start of the run.
        at : iterable of float, optional
            Or the times of calls, ascending, from now to `until`; they may miss these by a
            rounding. Steps end exactly there.
        check : {"step", "end", None}
            When to check that the velocity is finite at each particle. If it is not,
            `NotFiniteError` names the particle, and all stay where they were before that step.
            ``"step"`` checks after each step, ``"end"`` a few times a second and at the end of the
            run. With None, such particles stay where they are, for example over land without a
            velocity.

        Examples
        --------
        >>> import particles as pt
        >>> grid = pt.Grid(16)
        >>> tracers = pt.Tracers(pt.ParticleSet(grid, [[0.25]]), pt.Velocity(grid, "1"))
        >>> tracers.run(1.0, 0.3, callback=lambda run: print(run.time), at=[0.5, 1.0])
        0.5
        1.0
        >>> tracers.swarm.positions[0].round(6)
        array([0.25])
        """
        self._run(until, dt, lcfl, progress, callback, every, at, check)

    def memory(self) -> Memory:
        """Return the device memory that this takes, with the set and the velocity, by purpose.

        Examples
        --------
        >>> import particles as pt
        >>> grid = pt.Grid((64, 64))
        >>> swarm = pt.ParticleSet.random(grid, 1000, seed=1)
        >>> pt.Tracers(swarm, pt.Field(grid, 2)).memory()["velocity"]
        32768
        """
        rows = {
            **self.swarm.memory(),
            "velocity": sum(field.nbytes for field in self._flow.fields),
            "planes of other ranks": sum(one.nbytes for one in parts_of(self._planes) if one),
            "tracers": sum(one.bytes for one in parts_of(self._core)),
        }
        return Memory({name: size for name, size in rows.items() if size}, self._device.memory)

    @property
    def _numbers(self) -> int:
        """How many a step changes."""
        return self.swarm._columns_now.count * self.swarm.grid.ndim

    def _check_times(self, end: float) -> None:
        """Refuse to go where the velocity is not known."""
        self._flow.check_times(self.time, end)

    def _tell(self) -> str:
        """Return how many particles there are."""
        return f"{self.swarm._columns_now.count} particles"

    def _advance(self, run: Run[Stepper], dt: float, steps: int, joints: float) -> None:
        """Do steps, and look what has come of them where anything may."""
        checks = run.check is not None
        pace: Pace | int = 1 if run.check == "step" else self._pace
        if self._grid.is_divided:  # all ranks do as many
            pace = 1 if run.check == "step" else steps
        start = self._set_out(dt)
        for done, count in chunks(steps, pace, run.show, self._device.finish):
            with self.swarm._alone:
                self._trace_and_look(start, dt, count, done, checks=checks)

    def _advance_fitted(
        self, run: Run[Stepper], strain: Strain, fitted: Fitted, durations: list[float]
    ) -> None:
        """Do steps with a duration each, and look what has come of each."""
        for begin, dt in zip(fitted.begins, durations, strict=True):
            with self.swarm._alone:
                self._trace_and_look(self._set_out(dt), dt, 1, 0, checks=run.check is not None)
            self._go_to(begin + dt)

    def _trace_and_look(
        self, start: float, dt: float, steps: int, first: int, *, checks: bool
    ) -> None:
        """Do steps, the first of them some after `start`; take out what has left.

        Where something must not be, all are put where they were before that step.
        """
        if self._part is not None:
            self._trace_together(self._part, start, dt, steps, first, checks=checks)
            return
        can_fail = checks or self._refuses
        self._begin(keeps=can_fail)
        places = self.swarm._columns_now.places
        self._core.advance(places, start, dt, steps, first)
        if not can_fail and not self._core.has_open_ends:
            self._note(None)
            return
        found = Found(*self._core.look())
        wrong = found.first_stuck if checks else _NONE
        if self._refuses and 0 < found.first_left[0] <= (wrong[0] or math.inf):
            wrong = found.first_left
        step, particle = wrong
        if step:
            self._core.go_back(places)
            self._core.advance(places, start, dt, step - 1, first)
            left = Found(*self._core.look()).left
            where = self.swarm._columns_now.positions_at(
                self.swarm._box, range(particle, particle + 1)
            )[0]
            self._take_out(left)
            time = start + (first + step - 1) * dt
            self._refuse(particle, tuple(map(float, where)), time, wrong is found.first_left)
        self._take_out(found.left)

    def _trace_together(
        self,
        part: PartOfTracers,
        start: float,
        dt: float,
        steps: int,
        first: int = 0,
        *,
        checks: bool = False,
    ) -> tuple[int, int]:
        """Do steps, as `_trace_and_look`, with all ranks or on all devices.

        Returns how often particles have stayed where they were, and in which step first.
        """
        outcomes: list[Outcome] = of_each(
            part, "advance", start, dt, steps, first, checks, self._refuses
        )
        wrong = outcomes[0].wrong
        if wrong is not None:
            particle, whose = wrong.number, ""
            if self.swarm.grid.is_divided:
                particle, whose = wrong.particle, f" of rank {wrong.rank}"
            self._refuse(particle, wrong.place, start + wrong.step * dt, wrong.leaves, whose)
        first_stuck = min((one.first_stuck for one in outcomes if one.stuck), default=0)
        return sum(one.stuck for one in outcomes), first_stuck

    def _refuse(
        self,
        particle: int,
        place: tuple[float, ...],
        time: float,
        leaves: bool,
        whose: str = "",
    ) -> NoReturn:
        """Say what a particle must not do, in the step that begins at a time."""
        if leaves:
            raise ValueError(
                f"particles must stay within the box, but particle {particle}{whose} at {place} would "
                f'leave it in the step from time {time:g} on, where leaving="refuse"'
            )
        error = NotFiniteError(
            f"{_NEEDED}, but not so that of particle {particle}{whose} at {place}, in the step from "
            f"time {time:g} on"
        )
        error.field, error.component, error.index, error.place = "velocity", 0, (particle,), place
        error.value, error.step, error.time = np.nan, self.steps, time
        raise error

    def _goes_on(self) -> bool:
        """Whether these particles were moved last by this, and nobody has changed them since."""
        unsettled, began = self.swarm._state_now.unsettled, self._began
        count = self.swarm._columns_now.count
        return unsettled is not None and began is not None and began == (unsettled, count)

    def _begin(self, *, keeps: bool) -> None:
        """Begin to take note of what comes of steps."""
        swarm = self.swarm
        swarm._settle()
        swarm._be_unsorted()
        self._core.begin(self.swarm._columns_now.places, keeps)
        unsettled = Unsettled(self._settle, self._core.has_open_ends)
        self._began = _Began(unsettled, swarm._columns_now.count)
        self._note(unsettled)

    def _note(self, unsettled: Unsettled | None) -> None:
        """Have the set know what is to be settled."""
        self.swarm._state_now = self.swarm._state_now._replace(unsettled=unsettled)

    def _settle(self) -> None:
        """Take out what has left, for who looks at the set; warn of what has not moved."""
        found = Found(*self._core.look())
        self._take_out(found.left)
        if found.stuck:
            self._warn_of_stuck(found.stuck, self._core.steps_before + found.first_stuck[0])

    def _warn_of_stuck(self, times: int, first: int) -> None:
        warnings.warn(
            f"{_NEEDED}: {times} times a particle stayed where it was, first in step {first}",
            NotFiniteWarning,
            stacklevel=frames_of_package(),
        )

    def _take_out(self, left: list[list[int]]) -> None:
        """Have the set without what has left; nothing is unsettled then."""
        swarm = self.swarm
        if leaving := sum(map(sum, left)):
            swarm._take_out(self._core.gone(swarm._columns_now.count), left, leaving)
        else:
            self._note(None)

    def __repr__(self) -> str:
        kernel = "" if is_a(self.velocity, Velocity) else f", kernel={self.kernel.name!r}"
        return (
            f"Tracers(time={self._known_time()}, scheme={self.scheme!r}{kernel},\n"
            f"  {self.swarm!r},\n  {self.velocity!r})"
        )

    def _repr_html_(self) -> str:
        return facts(
            "Tracers",
            {
                "time": f"{self._known_time()} after {self.steps} steps",
                "particles": repr(self.swarm),
                "velocity": repr(self.velocity),
                "scheme": self.scheme,
                "kernel": "none" if is_a(self.velocity, Velocity) else self.kernel.name,
            },
        )


class _Began(NamedTuple):
    """Of how many particles note is taken, and what the set knows of it."""

    unsettled: Unsettled
    particles: int


_NONE = (0, 0)


def _core_for(flow: Flow, kernel: kernels.RemeshingKernel, swarm: ParticleSet) -> _core.Tracers:
    velocity, offset = flow.velocity, swarm.dtype.name
    weights = kernels.opencl_source(kernel), kernel.stencil
    if is_a(velocity, Velocity):
        return made(
            _core.Tracers,
            swarm.device.core,
            velocity.grid.slabs.core,
            flow._sources(swarm.dtype),
            velocity.depends_on_time,
            flow.scheme,
            velocity.parameters.core,
            *weights,
            swarm._box,
            offset,
        )
    times = velocity.times if is_a(velocity, VelocitySeries) else ()
    fields = [field.core for field in flow.slabs]
    return made(_core.Tracers, fields, times, flow.scheme, *weights, swarm._box, offset)


def _flow_of_each(flow: Flow, swarm: ParticleSet) -> Flow:
    """Return the flow; of several devices what each has of it, as one."""
    several, velocity = swarm._several, flow.velocity
    if several is None or is_a(velocity, Velocity):
        return flow
    fields = [field._parts() for field in flow.fields]

    def part(rank: int) -> Flow:
        own = [parts[rank] for parts in fields]
        if is_a(velocity, VelocitySeries):
            return Flow(VelocitySeries(own, velocity.times), flow.scheme)
        return Flow(own[0], flow.scheme)

    found: Any = Several(several.crew, several.crew.call(part))
    return cast("Flow", found)


def _check_place(flow: Flow, swarm: ParticleSet) -> None:
    """Refuse a velocity of another box or device than a set's, and too long ones."""
    if flow.fields and flow.device is not swarm.device:
        raise ValueError(
            f"velocity must be on the set's device, {swarm.device!r}, not {flow.device!r}"
        )
    if not have_same_box(flow.velocity.grid, swarm.grid):
        raise ValueError(
            f"velocity must be of the set's box, {box_text(swarm.grid)}, "
            f"not {box_text(flow.velocity.grid)}"
        )
    given = flow.velocity.grid
    if given.devices and given.is_cut and given.devices != swarm.grid.devices:
        raise ValueError(
            f"velocity must be divided among the set's devices, or be whole, not of {given!r} for a set "
            f"in {swarm.grid!r}"
        )
    if given.is_divided and given.ranks is not swarm.grid.ranks:
        raise ValueError(
            f"velocity must be divided among the set's ranks, or be whole, not of {given!r} for a set "
            f"in {swarm.grid!r}"
        )
    for grid in (swarm.grid.whole, flow.velocity.grid.whole):
        if max(grid.shape) > _MOST_CELLS:
            raise ValueError(
                f"velocity and swarm must have at most 2^30 points along an axis, not {grid.shape}"
            )
