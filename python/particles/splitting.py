# SPDX-License-Identifier: BSD-3-Clause
"""Time steps made of sweeps along the axes."""

from __future__ import annotations

import math
from typing import NamedTuple

from particles import _core, _tuner
from particles._check import arithmetic, as_duration, as_index, as_integer, as_real
from particles._progress import Pace, in_chunks
from particles._strain import LCFLWarning, Strain, StrainGauge
from particles.advection import AdvectionOp
from particles.field import Field
from particles.remesh import RemeshOp

__all__ = ["LCFLWarning", "Splitting", "Stage"]


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
        advection_core = advection.core_for(carried.device, arithmetic(carried.dtype))
        remesh_core = remesh.core_in(_tuner.forms_for(advection, remesh, self.time))
        self._core = _core.Splitting(advection_core, remesh_core, order)
        self._gauge = StrainGauge(advection, advection_core, self._core)
        self._pace = Pace()

    @property
    def schedule(self) -> tuple[Stage, ...]:
        """The sweeps of a step, in their order: of the last one, if the velocity varies in time."""
        self._gauge.update_schedules(self.time)
        return _stages(self._core.schedule)

    @property
    def joined_schedule(self) -> tuple[Stage, ...]:
        """The sweeps of a step that `run` joins to the next.

        The last one and the first one of the next are done as one, along the whole step. So the
        axes swept whole are the two of least strain.
        """
        self._gauge.update_schedules(self.time)
        return _stages(self._core.joined_schedule)

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

        Strang steps are joined (`joined_schedule`) where that costs no accuracy: the half sweep
        that ends a step and the one that begins the next are done as one if that strains the
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

    def sweep(self, axis: int, dt: float) -> None:
        """Do one sweep along `axis` over the duration `dt`, outside the schedule.

        For building splittings of one's own; `time` does not change, nothing is waited for.
        """
        direction = as_index("axis", axis, self.remesh.grid.ndim)
        duration = as_duration("dt", dt)
        self._gauge.of_sweep(direction, self.time, duration).judge(duration, stacklevel=2)
        self._core.sweep(direction, self.time, duration)

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

    def __repr__(self) -> str:
        name = {1: "Lie", 2: "Strang"}[self.order]
        sweeps = " ".join(f"{s.axis}[{s.begin:g},{s.begin + s.length:g}]" for s in self.schedule)
        return (
            f"Splitting({name}, sweeps {sweeps}, time={self.time:g},\n"
            f"  {self.advection!r},\n  {self.remesh!r})"
        )


def _stages(stages: list[_core.Stage]) -> tuple[Stage, ...]:
    return tuple(Stage(s.axis, s.begin, s.length) for s in stages)


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
