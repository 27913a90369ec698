# SPDX-License-Identifier: BSD-3-Clause
"""How fast a formula that depends on time is at one time, known from what it was at another."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.formulas.bounds import bounds
from particles.formulas.evaluation import evaluate
from particles.formulas.expressions import Expression, apply, expression, nodes_of
from particles.formulas.tracing import COORDINATES
from particles.operators.maxima import maxima
from particles.operators.schemes import Reals
from particles.operators.velocity import Velocity

_ONE = expression(1.0)

# What float32 makes of a time.
_ROUNDED = 1e-6


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
        self._has_amplitudes = any(amplitude is not None for amplitude in self._amplitudes)
        grid = velocity.grid
        sides = zip(COORDINATES, grid.origin, grid.extent, grid.spacing, strict=False)
        self._box = {x: (low - step, low + length + step) for x, low, length, step in sides}
        self._measured: dict[tuple[_core.AdvectionOp, int], tuple[int, float, Reals]] = {}
        self._told: tuple[_core.AdvectionOp | None, int, tuple[float, float], list[float]]
        self._told = None, 0, (math.inf, -math.inf), [math.inf] * grid.ndim

    def extremes(self, core: _core.AdvectionOp, axes: npt.NDArray[np.int64], times: Reals) -> Reals:
        """Return the greatest speed and strain along axes, and speed on a wall, at times."""
        if not self._has_amplitudes:
            return maxima(core, axes, times)
        now = self._amplitudes_at(axes, times)
        is_known = np.isfinite(now) & (now > 0)
        found = np.zeros((len(times), 3))
        for axis in range(len(self._components)):
            if not (own := (is_known & (axes == axis)).nonzero()[0]).size:
                continue
            most = own[now[own].argmax()]
            unit = self._unit(core, axis, float(now[most]), float(times[most]))
            if unit is None:
                is_known[own] = False
            else:
                found[own] = unit[1] * (now[own] / unit[0])[:, None]
        unknown = (~is_known).nonzero()[0]
        if unknown.size:
            found[unknown] = maxima(core, axes[unknown], times[unknown])
        return found

    def tell_bounds(
        self, core: _core.AdvectionOp, begin: float, end: float, ahead: float | None = None
    ) -> None:
        """Tell a compiled operator how fast the components can be from one time to another.

        Or until a time `ahead`, if something is known until then: so that it need not be told soon.
        """
        version = self._parameters.version
        low, high = _rounded(begin, end)
        told_core, told_version, (least, greatest), speeds = self._told
        if told_core is core and told_version == version and least <= low and high <= greatest:
            return
        times = (low, high) if ahead is None else _rounded(begin, ahead)
        speeds = self._bounds(times)
        if ahead is not None and not all(map(math.isfinite, speeds)):
            times, speeds = (low, high), self._bounds((low, high))
        core.bound_speeds(*times, speeds)
        self._told = core, version, times, speeds

    def _bounds(self, times: tuple[float, float]) -> list[float]:
        """Return how fast each component can be between two times."""
        numbers = {name: (value, value) for name, value in self._parameters.items()}
        ranges = {**self._box, **numbers, "t": times}
        return [bounds(component, ranges).size for component in self._components]

    def greatest_speeds(self, axes: npt.NDArray[np.int64], times: Reals) -> Reals:
        """Return how fast components can be at times, infinity where that was not told."""
        _, version, (low, high), speeds = self._told
        is_known = (version == self._parameters.version) & (low <= times) & (times <= high)
        return np.where(is_known, np.array(speeds)[axes], math.inf)

    def _unit(
        self, core: _core.AdvectionOp, axis: int, amplitude: float, time: float
    ) -> tuple[float, Reals] | None:
        """Return what a component is at a time, with its amplitude; None where that is not finite.

        It is measured anew where the amplitude is twice what it was: larger ones tell more exactly.
        """
        version = self._parameters.version
        known = self._measured.get((core, axis))
        if known is None or known[0] != version or amplitude > 2 * known[1]:
            extremes = maxima(core, np.array([axis]), np.array([time]))[0]
            if not np.isfinite(extremes).all():
                return None
            self._measured[core, axis] = known = version, amplitude, extremes
        return known[1:]

    def _amplitudes_at(self, axes: npt.NDArray[np.int64], times: Reals) -> Reals:
        """Return the sizes of the amplitudes, NaN where there is none."""
        found = np.full(len(times), math.nan)
        numbers = {name: np.asarray(value) for name, value in self._parameters.items()}
        known = {amplitude: None for amplitude in self._amplitudes if amplitude is not None}
        values = evaluate(known, {**numbers, "t": times})
        for amplitude, value in zip(known, values, strict=True):
            own = np.array([amplitude is one for one in self._amplitudes])[axes]
            found = np.where(own, np.abs(value), found)
        return found


def _rounded(begin: float, end: float) -> tuple[float, float]:
    """Return the times between which those of a device are."""
    rounding = _ROUNDED * max(abs(begin), abs(end))
    return min(begin, end) - rounding, max(begin, end) + rounding


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
