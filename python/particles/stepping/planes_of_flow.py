# SPDX-License-Identifier: BSD-3-Clause
"""The planes of a divided velocity that tracers of a rank look at."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right

import numpy as np

from particles import _core, kernels
from particles.base.kinds import is_a
from particles.interpolation.parts import PlanesRead, windows_around
from particles.operators.flow import Flow
from particles.operators.velocity_series import VelocitySeries
from particles.sets.particle_set import ParticleSet

_MOST_STEPS = 64  # from one time that particles go to their ranks to the next
_SHARE = 1 / 8  # of a block, through which particles may go meanwhile
_OFFSETS = np.linspace(0, 1, 1025)
_ROUNDING = 1.01


class PlanesOfFlow:
    """Provides what tracers of a rank read of a velocity on other ranks.

    How far they look is found from the greatest speed on all ranks. All methods are called by all
    ranks, with the same arguments.

    Attributes
    ----------
    ranks : Ranks
        All of them.
    """

    def __init__(
        self,
        flow: Flow,
        core: _core.Tracers,
        kernel: kernels.RemeshingKernel,
        swarm: ParticleSet,
    ) -> None:
        self._flow, self._core, self._swarm = flow, core, swarm
        grid, ranks = flow.velocity.grid.slabs, swarm.grid.ranks
        assert ranks is not None
        self.ranks, self._spacing = ranks, grid.spacing[0]
        self._is_read = bool(flow.fields) and grid.is_divided
        self._most_planes = 0 if grid.neighbours is None else grid.neighbours.most_rows(0)
        # What is between points may be more than what is on them.
        weights = np.abs(kernel.weights(_OFFSETS)).sum(axis=0).max()
        self._overshoot = _ROUNDING * float(weights) ** grid.ndim
        self._around = kernel.stencil  # planes beyond a particle's own
        self._times = flow.velocity.times if is_a(flow.velocity, VelocitySeries) else ()
        self._known: int | None = None
        self._speeds: dict[int, float] = {}
        self._read: dict[int, _core.Field] = {}
        self._reach = 0
        self._first = 0

    def provide(self, begin: float, dt: float, steps: int) -> int:
        """Have some steps know the velocity; return how many."""
        self._agree(f"{steps} steps of {dt!r} of tracers from {begin!r} on")
        count = min(steps, _MOST_STEPS)
        if not self._is_read:
            return count
        levels = self._levels(begin, begin + count * dt)
        cells = max(map(self._speed, levels)) * dt / self._spacing * self._overshoot
        if not cells < self._flow.velocity.grid.whole.shape[0]:  # perhaps NaN
            self._fetch(levels, self._flow.velocity.grid.whole.shape[0])
            return count
        if cells > 0:
            count = min(count, max(1, math.floor(_SHARE * self._most_planes / cells)))
        self._fetch(levels, math.ceil((count - 1 + self._core.reach) * cells) + self._around)
        return count

    def provide_measured(self, begin: float) -> None:
        """Have measurements from a time on know the velocity on one's own points and beside them."""
        self._agree(f"a measurement for tracers from {begin!r} on")
        if self._is_read:
            last = len(self._flow.fields)
            self._fetch(range(self._levels(begin, begin).start, last), self._around)

    @property
    def nbytes(self) -> int:
        """Bytes of planes that are kept."""
        fields = self._read.values()
        values = [
            math.prod(one.shape) * one.components * np.dtype(one.dtype).itemsize for one in fields
        ]
        return sum(values)

    def _agree(self, what: str) -> None:
        self.ranks.meet(what)
        if self._is_read and self._flow._has_changed(self._known, what):
            self._speeds.clear()
            self._read.clear()
        self._known = self._flow.version

    def _levels(self, begin: float, end: float) -> range:
        """Return which fields of a series are looked at between two times."""
        if not self._times:
            return range(1)
        last = len(self._times) - 1
        first = min(max(bisect_right(self._times, begin) - 1, 0), last - 1)
        return range(first, max(first + 1, min(bisect_left(self._times, end), last)) + 1)

    def _speed(self, level: int) -> float:
        """Return the greatest speed along the first axis."""
        if level not in self._speeds:
            own = self._flow.fields[level].core.component(0).max_abs()
            found = self.ranks.greatest(f"the speed at time {level}", np.array([own]))
            self._speeds[level] = float(found[0])
        return self._speeds[level]

    def _fetch(self, levels: range, reach: int) -> None:
        """Have the core read planes as far beyond the own ones."""
        if reach > self._reach:
            self._reach = reach + reach // 4
            self._read.clear()
        self._read = {level: one for level, one in self._read.items() if level >= levels.start}
        for level in levels:
            if level not in self._read:
                field = self._flow.fields[level]
                windows = windows_around(self._swarm.grid, field.grid, self._reach)
                planes = PlanesRead(field, windows, slabs=self._flow.slabs[level])
                self._read[level], self._first, _ = planes.fetched()
        every = range(len(self._flow.fields))
        self._core.read_from([self._read.get(level) for level in every], self._first)
