# SPDX-License-Identifier: BSD-3-Clause
"""Where something is found on a grid, and what it is there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from particles.communication.cuts import pair_of

if TYPE_CHECKING:
    from particles.fields.grid import Grid


@dataclass(frozen=True)
class Spot:
    """A point of a grid and the value there."""

    index: tuple[int, ...]
    place: tuple[float, ...]
    value: float
    note: str = ""

    def __str__(self) -> str:
        place = ", ".join(f"{x:.6g}" for x in self.place)
        return f"{self.value:.6g} at index {self.index}, place ({place}){self.note}"


def first_not_finite(values: npt.NDArray[Any], grid: Grid) -> Spot | None:
    """Return the first point where a value is not finite, if there is one."""
    wrong = ~np.isfinite(values)
    return _spot(values, grid, int(np.argmax(wrong))) if wrong.any() else None


def largest(values: npt.NDArray[Any], grid: Grid) -> Spot:
    """Return where the size of a value is the greatest."""
    return _spot(values, grid, int(np.argmax(np.abs(values))))


def steepest(values: npt.NDArray[Any], grid: Grid, axes: tuple[int, ...]) -> Spot:
    """Return where the difference quotients along some axes add up to most, with their sum.

    Across a wall they are those to its mirror image.
    """
    strain, across = np.zeros(values.shape), np.zeros(values.shape, bool)
    for axis in axes:
        last = values.take([0 if _ends_of(grid, axis)[1] == "periodic" else -1], axis)
        difference = np.diff(values.astype(np.float64), axis=axis, append=last)
        quotient = np.abs(difference) / grid.spacing[axis]
        for side, place in enumerate((0, -1)):
            if _ends_of(grid, axis)[side] == "wall":
                key = (slice(None),) * axis + (place,)
                jump = 2 * np.abs(values[key].astype(np.float64)) / grid.spacing[axis]
                across[key] |= jump > quotient[key]
                quotient[key] = np.maximum(jump, quotient[key])
        strain += quotient
    number = int(np.argmax(strain))
    note = ", beside a wall, where it must vanish" if across.flat[number] else ""
    return replace(_spot(strain, grid, number), note=note)


def next_to_walls(values: npt.NDArray[Any], grid: Grid, axis: int) -> Spot:
    """Return the point next to a wall across an axis where the velocity on the wall is greatest.

    That is by the line through the last two points or the parabola through three, if that is less.
    """
    across = np.moveaxis(values.astype(np.float64), axis, 0)
    sizes, ends = np.full(across.shape, -1.0), np.full(across.shape, "none")
    for last, inwards, end in (0, 1, "low"), (-1, -1, "high"):
        if _ends_of(grid, axis)[last] == "wall":
            points = [across[(last + k * inwards) % len(across)] for k in range(3)]
            one, two, three = (point * np.sign(points[0]) for point in points)
            line = 1.5 * one - 0.5 * two
            bent = line + 0.375 * (one - 2 * two + three)
            sizes[last] = np.clip(np.minimum(line, bent), 0, one)
            ends[last] = end
    number = int(np.argmax(np.moveaxis(sizes, 0, axis)))
    end = np.moveaxis(ends, 0, axis).flat[number]
    return replace(_spot(values, grid, number), note=f", next to the {end} end of axis {axis}")


def _ends_of(grid: Grid, axis: int) -> tuple[str, str]:
    """Return what is at the low and at the high end of an axis: nothing where a block is cut off."""
    low, high = pair_of(grid.boundary[axis])
    if grid.ranks is None or grid.cuts[axis] == 1:
        return low, high
    is_first = low != "periodic" and grid.begin[axis] == 0
    is_last = low != "periodic" and grid.begin[axis] + grid.shape[axis] == grid.whole.shape[axis]
    return low if is_first else "cut", high if is_last else "cut"


def _spot(values: npt.NDArray[Any], grid: Grid, number: int) -> Spot:
    index = tuple(int(i) for i in np.unravel_index(number, grid.shape))
    place = tuple(
        first + i * spacing
        for i, first, spacing in zip(index, grid.first, grid.spacing, strict=True)
    )
    index = tuple(i + begin for i, begin in zip(index, grid.begin, strict=True))
    return Spot(index, place, float(values.flat[number]))
