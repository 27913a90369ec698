# SPDX-License-Identifier: BSD-3-Clause
"""What fields were like before they were advanced, and what the steps have been since."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from particles.base.checks import arithmetic
from particles.kernels.ripple import strain_kept
from particles.operators.limits import USUAL, Bearable, Strain

if TYPE_CHECKING:
    from particles.fields.field import Field
    from particles.operators.remesh import RemeshOp

Left = npt.NDArray[np.float64]  # of each component

# By benchmarks.gyre: of which share a sweep of masses may change a constant, and up to which strain.
RIPPLE, RECOMMENDED = 0.02, 0.2
_EDGES = 0.1  # share of what lies between two values where a field consists of these


class Extent(NamedTuple):
    """What `Field.min`, `max`, `sum` and `integral` tell of a component, and its magnitude.

    That is the sum of magnitudes where values have one sign, and a bound of it elsewhere.

    Examples
    --------
    >>> import particles as pt
    >>> grid = pt.Grid(8)
    >>> u = pt.Field(grid, name="u")
    >>> u.fill(2)
    >>> wind = pt.AdvectionOp(pt.Velocity(grid, "1"))
    >>> pt.Splitting(wind, pt.RemeshOp(u)).report().carried[0].end
    Extent(least=2.0, greatest=2.0, sum=16.0, integral=2.0, magnitude=16.0)
    """

    least: float
    greatest: float
    sum: float
    integral: float
    magnitude: float


class Opening(NamedTuple):
    """What there was before the first step.

    Attributes
    ----------
    time, steps
        Then.
    extents : tuple of Extent
        One for each component.
    left : array or None
        What had left; None where that is not counted.
    bearable : Bearable
        What strain the fields bear.
    """

    time: float
    steps: int
    extents: tuple[Extent, ...]
    left: Left | None
    bearable: Bearable


class Account:
    """Is opened by the first step; from then on it takes note of the steps.

    Attributes
    ----------
    opening : Opening or None
        None until the first step.
    dt : tuple of float or None
        Durations of the shortest and the longest step.
    lcfl, cells : float
        The greatest strain of a sweep, and the most cells that a particle crossed in a step.
    """

    def __init__(self, remesh: RemeshOp, *, is_split: bool) -> None:
        self._remesh = remesh
        self._is_split = is_split
        self.close()

    def close(self) -> None:
        """Begin anew with the next step."""
        self.opening: Opening | None = None
        self.dt: tuple[float, float] | None = None
        self.lcfl, self.cells = 0.0, 0.0

    def open(self, time: float, steps: int, left: Left | None) -> Bearable:
        """Look at the fields unless that was done before; return what strain they bear."""
        if self.opening is None:
            looks = [look_at(component) for component in components_of(self._remesh.fields)]
            extents = tuple(extent for extent, _ in looks)
            is_smooth = any(not is_colour for _, is_colour in looks)
            if not is_smooth and any(extent.least < extent.greatest for extent in extents):
                self._remesh._carries_colours = True  # also when they have been smeared
            is_smooth = is_smooth and not self._remesh._carries_colours
            self.opening = Opening(time, steps, extents, left, self._bearable(is_smooth))
        return self.opening.bearable

    def note(self, strain: Strain, dt: float, joined: bool) -> None:
        """Take note of steps."""
        shortest, longest = self.dt or (dt, dt)
        self.dt = min(shortest, dt), max(longest, dt)
        rate = max(strain.rate, strain.joint) if joined else strain.rate
        self.lcfl, self.cells = max(self.lcfl, rate * dt), max(self.cells, strain.cells * dt)

    def _bearable(self, is_smooth: bool) -> Bearable:
        """Masses that are strained no longer add up: that is lost on a field of two values.

        A field that jumps over- and undershoots by any step, and is read at a level.
        """
        remesh = self._remesh
        if not (remesh.conservative and self._is_split and is_smooth):
            return USUAL
        strain = min(USUAL.strain, strain_kept(remesh.kernel, RIPPLE))
        loss = f"masses over- and undershoot with {remesh.kernel.name}"
        return Bearable(strain, min(RECOMMENDED, strain), loss)


def components_of(fields: tuple[Field, ...]) -> Iterator[Field]:
    """Yield the components of fields one after the other."""
    for field in fields:
        for index in range(field.components):
            yield field.component(index)


def look_at(component: Field) -> tuple[Extent, bool]:
    """Return the extent of a field, and whether it has two values alone, but for its edges.

    With m and M the least and the greatest of n values, the sum of (u - m)(M - u) is none then. It
    is half of the lesser sum of these factors, times M - m, where u is a Gaussian.
    """
    extent, squares = _summary(component)
    _, exponent = math.frexp(max(abs(extent.least), abs(extent.greatest)))
    most = int(np.finfo(arithmetic(component.dtype)).maxexp)
    scaled = extent
    if abs(exponent) > most // 4:  # squares would overflow, or be none
        copied = component.copy()
        copied *= 2.0 ** -min(max(exponent, 32 - most), most - 32)
        scaled, squares = _summary(copied)
    least, greatest, total, *_ = scaled
    points, width = component.grid.size, greatest - least
    between = (least + greatest) * total - squares - points * least * greatest
    lesser = min(total - points * least, points * greatest - total)
    return extent, between <= _EDGES * width * lesser if width > 0 else greatest == 0


def _summary(component: Field) -> tuple[Extent, float]:
    """Return the extent of a field and the sum of its squares."""
    total, squares, least, greatest = component.core.summary()
    integral = total * math.prod(component.grid.spacing)
    magnitude = _magnitude(least, greatest, total, squares, component.grid.size)
    return Extent(least, greatest, total, integral, magnitude), squares


def _magnitude(least: float, greatest: float, total: float, squares: float, points: int) -> float:
    """Return a bound of the sum of magnitudes that takes no further reading.

    It exceeds the sum by twice what the negative values come to, so at most by twice the least
    value at every point; likewise for the positive ones. By Cauchy and Schwarz its square is at
    most the number of values times the sum of their squares.

    Examples
    --------
    >>> _magnitude(0.0, 2.0, 3.0, 5.0, points=4), _magnitude(-1.0, 1.0, 0.0, 4.0, points=4)
    (3.0, 4.0)
    """
    return min(
        total - 2 * points * min(least, 0.0),
        2 * points * max(greatest, 0.0) - total,
        math.sqrt(points * squares) or math.inf,  # squares of tiny values are none
    )


def extents_of(fields: tuple[Field, ...]) -> tuple[Extent, ...]:
    """Return the extent of each component; waits for the device."""
    return tuple(_summary(component)[0] for component in components_of(fields))
