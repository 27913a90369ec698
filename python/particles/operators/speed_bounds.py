# SPDX-License-Identifier: BSD-3-Clause
"""How fast a formula that depends on time can be, by interval arithmetic."""

from __future__ import annotations

import math

from particles import _core
from particles.formulas.bounds import bounds
from particles.formulas.tracing import COORDINATES
from particles.operators.velocity import Velocity

# What float32 makes of a time.
_ROUNDED = 1e-6


class SpeedBounds:
    """Tells operators how fast a formula can be anywhere, so that no sweep need wait for that.

    Parameters
    ----------
    velocity : Velocity
        One that depends on time.
    """

    def __init__(self, velocity: Velocity) -> None:
        self._components = velocity.components
        self._parameters = velocity.parameters
        grid = velocity.grid
        sides = zip(COORDINATES, grid.origin, grid.extent, grid.spacing, strict=False)
        self._box = {x: (low - step, low + length + step) for x, low, length, step in sides}
        self._told: tuple[_core.AdvectionOp | None, int, tuple[float, float]]
        self._told = None, 0, (math.inf, -math.inf)

    def tell(
        self, core: _core.AdvectionOp, begin: float, end: float, ahead: float | None = None
    ) -> float:
        """Tell a compiled operator how fast the components can be from one time to another.

        Or until a time `ahead`, if as much is known until then: so that it need not be told soon.
        Returns until when it has been told.
        """
        version = self._parameters.version
        low, high = _rounded(begin, end)
        told_core, told_version, (least, greatest) = self._told
        if told_core is core and told_version == version and least <= low and high <= greatest:
            return greatest
        times = (low, high) if ahead is None else _rounded(begin, ahead)
        speeds = self._bounds(times)
        if ahead is not None and not all(map(math.isfinite, speeds)):
            nearer = self._bounds((low, high))
            if list(map(math.isfinite, nearer)) != list(map(math.isfinite, speeds)):
                times, speeds = (low, high), nearer
        core.bound_speeds(*times, speeds)
        self._told = core, version, times
        return times[1]

    def _bounds(self, times: tuple[float, float]) -> list[float]:
        """Return how fast each component can be between two times."""
        numbers = {name: (value, value) for name, value in self._parameters.items()}
        ranges = {**self._box, **numbers, "t": times}
        return [bounds(component, ranges).size for component in self._components]


def _rounded(begin: float, end: float) -> tuple[float, float]:
    """Return the times between which those of a device are."""
    rounding = _ROUNDED * max(abs(begin), abs(end))
    return min(begin, end) - rounding, max(begin, end) + rounding
