# SPDX-License-Identifier: BSD-3-Clause
"""How fast a formula that depends on time is at one time, known from what it was at another."""

from __future__ import annotations

import math

import numpy as np

from particles import _core
from particles.formulas.evaluation import evaluate
from particles.formulas.expressions import Expression, apply, expression, nodes_of
from particles.formulas.intervals import bounds
from particles.formulas.tracing import COORDINATES
from particles.operators.velocity import Velocity

_ONE = expression(1.0)

# What float32 makes of a time.
_ROUNDED = 1e-6

# Times of which is kept what was measured: those of a step, and more.
_KEPT = 64

Extremes = tuple[float, float, float]  # speed, strain, speed on a wall


class Amplitudes:
    """A formula's greatest speed and strain in time.

    A component that is a function of the place times one of the time, its amplitude, is measured
    once on a device. Others are measured whenever that is asked for. How fast any of them can be
    anywhere is bounded by interval arithmetic, where it can, so that no sweep need wait for that.

    Parameters
    ----------
    velocity : Velocity
        One that depends on time.
    """

    def __init__(self, velocity: Velocity) -> None:
        self._components = velocity.components
        self._parameters = velocity.parameters
        self._amplitudes = [amplitude_of(component) for component in self._components]
        grid = velocity.grid
        sides = zip(COORDINATES, grid.origin, grid.extent, grid.spacing, strict=False)
        self._box = {x: (low - step, low + length + step) for x, low, length, step in sides}
        self._measured: dict[tuple[_core.AdvectionOp, int], tuple[int, float, Extremes]] = {}
        self._lately: dict[tuple[_core.AdvectionOp, int, float, int], Extremes] = {}
        self._told = 0, (math.inf, -math.inf), [math.inf] * grid.ndim

    def extremes(self, core: _core.AdvectionOp, axis: int, time: float) -> Extremes:
        """Return the greatest speed and strain along an axis, and speed on a wall, at a time."""
        now = self._amplitude(axis, time)
        if not (math.isfinite(now) and now > 0):
            return self._extremes_at(core, axis, time)
        version = self._parameters.version
        known = self._measured.get((core, axis))
        # Twice as large an amplitude tells more exactly.
        if known is None or known[0] != version or now > 2 * known[1]:
            extremes = self._extremes_at(core, axis, time)
            if not all(map(math.isfinite, extremes)):
                return extremes
            self._measured[core, axis] = known = version, now, extremes
        _, then, (speed, strain, on_wall) = known
        return speed * (now / then), strain * (now / then), on_wall * (now / then)

    def _extremes_at(self, core: _core.AdvectionOp, axis: int, time: float) -> Extremes:
        """Measure once what ends one sweep and begins the next."""
        key = core, axis, time, self._parameters.version
        known = self._lately.get(key)  # other threads may clear it
        if known is None:
            known = core.extremes(axis, time)
            if len(self._lately) >= _KEPT:
                self._lately.clear()
            self._lately[key] = known
        return known

    def tell_bounds(self, core: _core.AdvectionOp, begin: float, end: float) -> None:
        """Tell a compiled operator how fast the components can be from one time to another."""
        rounding = _ROUNDED * max(abs(begin), abs(end))
        times = min(begin, end) - rounding, max(begin, end) + rounding
        version = self._parameters.version
        numbers = {name: (value, value) for name, value in self._parameters.items()}
        ranges = {**self._box, **numbers, "t": times}
        speeds = [bounds(component, ranges).size for component in self._components]
        core.bound_speeds(*times, speeds)
        self._told = version, times, speeds

    def greatest_speed(self, axis: int, time: float) -> float:
        """Return how fast a component can be at a time, infinity where that was not told."""
        version, (low, high), speeds = self._told
        is_known = version == self._parameters.version and low <= time <= high
        return speeds[axis] if is_known else math.inf

    def _amplitude(self, axis: int, time: float) -> float:
        amplitude = self._amplitudes[axis]
        if amplitude is None:
            return math.nan
        numbers = {name: np.asarray(value) for name, value in self._parameters.items()}
        return abs(float(evaluate([amplitude], {**numbers, "t": np.asarray(time)})[0]))


def amplitude_of(component: Expression) -> Expression | None:
    """Return a function of the time that leaves none in the component when divided by it."""
    known: dict[Expression, Expression | None] = {}
    for node in nodes_of([component]):
        known[node] = _amplitude_of(node, [known[operand] for operand in node.operands])
    return known[component]


def _amplitude_of(node: Expression, operands: list[Expression | None]) -> Expression | None:
    """Return that of an operation, given those of its operands."""
    if all(operand is _ONE for operand in operands):
        return node if node.value == "t" else _ONE
    if not (node.varies or node.is_mask):
        return node
    first, last = operands[0], operands[-1]
    if first is None or last is None:
        return None
    if node.operation in ("*", "/"):
        return apply(node.operation, first, last)
    if node.operation == "negative":
        return first
    if node.operation == "select" and first is _ONE:  # a mask without the time
        first = operands[1]
    return first if node.operation in ("+", "-", "select") and first is last else None
