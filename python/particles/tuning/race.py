# SPDX-License-Identifier: BSD-3-Clause
"""Times forms of a sweep against the one that suits the device, on fields of its own."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.base.checks import arithmetic
from particles.base.errors import DeviceError
from particles.fields.field import Field
from particles.fields.grid import Grid
from particles.operators.advection import AdvectionOp
from particles.operators.form import Form
from particles.operators.remesh import RemeshOp
from particles.tuning.candidates import Task, candidates

ROUNDS = 5
NEARLY_EQUAL = 0.97  # of the time of the default: it is not worth a change
CELLS = 2.0  # moved by the fastest particle
LEAST_UPDATES = 2**20  # of a measurement, so that waiting for its end does not count
MOST_BYTES = 2**29  # of the fields of a race that has an end
NOISE = 65_537  # numbers that are repeated: a prime, so that no two lines are alike

clock = time.perf_counter


class Timing(NamedTuple):
    """Least time of a form, and its share of the default's time.

    Attributes
    ----------
    form : Form
        As above.
    nanoseconds : float
        Per particle, component and sweep.
    share : float
        Of the least times, or the middle one of all rounds: whichever says less for the form.
    """

    form: Form
    nanoseconds: float
    share: float


class Sweeps(Protocol):
    """Sweeps in one form."""

    def result(self) -> npt.NDArray[Any]:
        """Sweep once from what all forms start with; return what comes of it."""

    def seconds(self) -> float:
        """Time sweeps; return the time per particle."""


def race(
    task: Task, axes: Sequence[int], thorough: bool, seconds: float
) -> dict[int, list[Timing]]:
    """Return the times of forms along each axis that can be raced, the default's first.

    Parameters
    ----------
    task, axes
        What is swept.
    thorough : bool
        Whether everything takes part, or only what may be worth it.
    seconds : float
        When no other form begins.
    """
    results = {}
    begin = clock()
    memory = task.device.memory // 8
    most = min(MOST_BYTES, memory) if math.isfinite(seconds) else memory
    for done, axis in enumerate(axes, start=1):
        grid = grid_of_race(task, axis, most)
        if grid is not None:
            course = _Course(task, axis, grid)  # opens the device: it knows its vectors then
            end = begin + seconds * done / len(axes)
            results[axis] = race_along(course, candidates(task, axis, thorough), end)
    return results


def race_along(course: Course, forms: Iterable[Form], end: float) -> list[Timing]:
    """Time forms of a sweep that give the same bits as the default, which is first.

    What is not done in time does not count.

    Raises
    ------
    ValueError
        The default moves particles nowhere: nothing can be compared with it.
    """
    default = course.sweeps(Form())
    expected = default.result()
    if not np.isfinite(expected).all():
        raise ValueError("the default form gave numbers that are not finite")
    duels: dict[Form, list[tuple[float, float]]] = {}
    own, longest = default.seconds(), 0.0
    for form in forms:
        begin = clock()
        if begin + longest > end:
            break
        try:
            rival = course.sweeps(form)
            if np.array_equal(rival.result(), expected):
                duels[form] = _duel(default, rival, end)
        except (DeviceError, ValueError):  # not on this device
            continue
        longest = max(longest, clock() - begin)
    own = min([own, *(before for rounds in duels.values() for before, _ in rounds)])
    timings = [_judge(form, rounds, own) for form, rounds in duels.items() if rounds]
    return [Timing(Form(), own * 1e9, 1.0), *timings]


def _duel(default: Sweeps, rival: Sweeps, end: float) -> list[tuple[float, float]]:
    """Time two in turns, so that what else the machine does counts for both.

    It is over when the rival has lost most rounds. Nothing is returned if there is no time for it.
    """
    rounds: list[tuple[float, float]] = []
    while clock() <= end:
        rounds.append((default.seconds(), rival.seconds()))
        lost = sum(other >= NEARLY_EQUAL * own for own, other in rounds)
        if len(rounds) == ROUNDS or lost > ROUNDS / 2:
            return rounds
    return []


def _judge(form: Form, rounds: list[tuple[float, float]], own: float) -> Timing:
    """Compare with the least time of the default."""
    least = min(after for _, after in rounds)
    usual = float(np.median([after / before for before, after in rounds]))
    return Timing(form, least * 1e9, max(usual, least / own))


def winner(timings: list[Timing]) -> Form:
    """Return the form that was faster than the default, and by the most."""
    best = min(timings, key=lambda timing: timing.share)
    return best.form if best.share < NEARLY_EQUAL else timings[0].form


def grid_of_race(task: Task, axis: int, most: int) -> Grid | None:
    """Return the task's grid, or a part of it that takes at most so many bytes.

    Its lines are as long and as far apart as the task's, which decides how fast they are read;
    None where that is too much.
    """
    grid = task.grid
    shape = list(grid.shape)
    fields = 2 * task.components + (grid.ndim if task.velocity is None else 0)
    while math.prod(shape) * fields * task.dtype.itemsize > most:
        if shape[0] == 1 or (axis == 0 and grid.ndim > 1):
            return None
        shape[0] = -(-shape[0] // 2)
    beyond = [_without_inflow(entry) for entry in grid.boundary]
    return Grid(shape, origin=grid.origin, extent=grid.extent, boundary=beyond, comm="self")


def _without_inflow(entry: str | tuple[str, str]) -> str | tuple[str, ...]:
    """Return the ends of an axis for a race, which has nothing to bring in."""
    if isinstance(entry, str):
        return entry
    return tuple("outflow" if end == "inflow" else end for end in entry)


class Course(Protocol):
    """Where forms race."""

    def sweeps(self, form: Form) -> Sweeps:
        """Make a sweep in a form."""


class _Course:
    """Fields of noise, and a velocity that is the task's formula or a smooth one."""

    def __init__(self, task: Task, axis: int, grid: Grid) -> None:
        self._axis = axis
        self._grid = grid
        device, dtype = task.device, task.dtype
        self._start = Field(self._grid, task.components, dtype, device)
        noise = np.random.default_rng(0).random(NOISE).astype(dtype)
        self._start[...] = np.resize(noise, self._start.shape)
        self._carried = Field(self._grid, task.components, dtype, device)
        limiter, conservative = task.limiter, task.conservative
        self._remesh = RemeshOp(
            self._carried, task.kernel, limiter=limiter, conservative=conservative
        )
        self._push = self._push_of(task)
        speed = self._push.measure([axis], [task.time])[0][0]
        self._time = task.time
        self._dt = CELLS * self._grid.spacing[axis] / speed if speed > 0 else 1.0

    def _push_of(self, task: Task) -> _core.AdvectionOp:
        device, velocity = task.device, task.velocity
        dtype = arithmetic(task.dtype)
        if velocity is None:
            return AdvectionOp(self._smooth_velocity()).core_for(device, dtype)
        sources = [velocity.source(axis) for axis in range(self._grid.ndim)]
        form, varies = Form().core, velocity.depends_on_time
        return _core.AdvectionOp(
            device.core,
            self._grid.core,
            sources,
            varies,
            dtype.name,
            form,
            parameters=velocity.parameters.core,
        )

    def _smooth_velocity(self) -> Field:
        """Return a velocity, of which only the component along the axis matters.

        It varies along lines and from line to line.
        """
        grid, dtype = self._grid, arithmetic(self._start.dtype)
        velocity = Field(grid, grid.ndim, dtype, self._start.device)
        waves = np.ix_(*(np.sin(np.linspace(0, 2 * np.pi, n, dtype=dtype)) for n in grid.shape))
        velocity.component(self._axis)[...] = sum(waves)
        return velocity

    def sweeps(self, form: Form) -> _Sweeps:
        """Make a sweep in a form."""
        forms = [Form()] * self._grid.ndim
        forms[self._axis] = form
        transport = _core.Splitting(self._push, self._remesh.core_in(forms), 1)
        return _Sweeps(transport, self._axis, (self._time, self._dt), self._start, self._carried)


class _Sweeps:
    """Sweeps in one form."""

    def __init__(
        self,
        transport: _core.Splitting,
        axis: int,
        interval: tuple[float, float],
        start: Field,
        carried: Field,
    ) -> None:
        self._transport = transport
        self._axis = axis
        self._interval = interval
        self._start = start
        self._carried = carried

    def result(self) -> npt.NDArray[Any]:
        """Sweep once from what all forms start with; return what comes of it."""
        self._carried.core.copy_from(self._start.core)
        self._transport.sweep(self._axis, *self._interval)
        return np.asarray(self._carried)

    def seconds(self) -> float:
        """Time sweeps; return the time per particle and component.

        On CPUs it is what the processors spend on them, all at once, whatever else they do: every
        form that races has work for all of them.
        """
        device = self._carried.device
        meter, parallel = (time.process_time, device.compute_units) if device.is_cpu else (clock, 1)
        count = -(-LEAST_UPDATES // self._carried.size)
        begin = meter()
        for _ in range(count):
            self._transport.sweep(self._axis, *self._interval)
        device.finish()
        return (meter() - begin) / (parallel * count * self._carried.size)
