# SPDX-License-Identifier: BSD-3-Clause
"""Time steps made of sweeps along the axes."""

from __future__ import annotations

from typing import NamedTuple

from particles import _core, _tuner
from particles._check import as_duration, as_index, as_integer
from particles._stepper import Stepper
from particles._strain import LCFLWarning, StrainGauge
from particles.advection import AdvectionOp
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


class Splitting(Stepper):
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

    _core: _core.Splitting
    _gauge: StrainGauge

    def __init__(
        self, advection: AdvectionOp, remesh: RemeshOp, order: int = 2, *, time: float = 0.0
    ) -> None:
        super().__init__(advection, remesh, time)
        if as_integer("order", order) not in (1, 2):
            raise ValueError(f"order must be 1 (Lie) or 2 (Strang), not {order}")
        self.order = order
        carried = remesh.fields[0]
        advection_core = advection.core_for(carried.device, carried.dtype)
        remesh_core = remesh.core_in(_tuner.forms_for(advection, remesh, self.time))
        self._core = _core.Splitting(advection_core, remesh_core, order)
        self._gauge = StrainGauge(advection, advection_core, self._core)

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

    def sweep(self, axis: int, dt: float) -> None:
        """Do one sweep along `axis` over the duration `dt`, outside the schedule.

        For building splittings of one's own; `time` does not change, nothing is waited for.
        """
        direction = as_index("axis", axis, self.remesh.grid.ndim)
        duration = as_duration("dt", dt)
        self.advection.check_times(self.time, self.time + duration)
        self._gauge.of_sweep(direction, self.time, duration).judge(duration, stacklevel=2)
        self._core.sweep(direction, self.time, duration)

    def __repr__(self) -> str:
        name = {1: "Lie", 2: "Strang"}[self.order]
        sweeps = " ".join(f"{s.axis}[{s.begin:g},{s.begin + s.length:g}]" for s in self.schedule)
        return (
            f"Splitting({name}, sweeps {sweeps}, time={self.time:g},\n"
            f"  {self.advection!r},\n  {self.remesh!r})"
        )


def _stages(stages: list[_core.Stage]) -> tuple[Stage, ...]:
    return tuple(Stage(s.axis, s.begin, s.length) for s in stages)
