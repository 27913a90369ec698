# SPDX-License-Identifier: BSD-3-Clause
"""Where a velocity is not as it must be: looked for on the host, once a device has found it so."""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from particles.base.errors import NotFiniteError
from particles.base.kinds import is_a
from particles.fields.field import Field
from particles.fields.spots import first_not_finite, largest, steepest
from particles.operators.schemes import SCHEMES
from particles.operators.velocity_series import VelocitySeries

if TYPE_CHECKING:
    from particles.fields.grid import Grid
    from particles.operators.flow import Flow

Sample = tuple["npt.NDArray[Any]", "Grid"]

# Bits of the cells that a stage may look at: they are counted in 32.
_BITS_OF_CELLS = 30

# Every length of a line that particles come from beyond its ends costs as much as the line.
_MOST_LENGTHS = 1000


def is_slow(flow: Flow, axis: int, speed: float, duration: float) -> bool:
    """Whether moves are far within all limits."""
    cells = speed * abs(duration) / flow.grid.spacing[axis]
    return cells <= min(flow.grid.shape[axis], 2**20)


def check_speed(flow: Flow, axis: int, speed: float, time: float, duration: float) -> None:
    """Refuse what is not finite, and moves, or stages of them, that no integer cell can hold."""
    spacing, dtype = flow.grid.spacing[axis], flow.used[1]
    if not abs(duration) <= (most := float(np.finfo(dtype).max) * spacing):
        raise ValueError(
            f"dt must be at most {most:.3g}, not {duration:g}, because moves in cells of {spacing:g} "
            f"along axis {axis} must be within the range of {dtype}"
        )
    if not math.isfinite(speed):
        raise _not_finite(flow, axis, time)
    cells = speed * abs(duration) / spacing
    most = _BITS_OF_CELLS - (SCHEMES[flow.scheme].reach - 1).bit_length()
    if not cells < 2**most:
        raise ValueError(
            f"dt must move particles by less than 2**{most} cells, not {cells:.3g} "
            f"along axis {axis}, where the velocity is {_fastest(flow, axis, time)}"
        )
    points = flow.grid.shape[axis]
    if flow.grid.boundary[axis] != "periodic" and cells > _MOST_LENGTHS * points:
        raise ValueError(
            f"dt must move particles by at most {_MOST_LENGTHS} times the length of lines with "
            f"ends, {points} cells, not by {cells:.3g} along axis {axis}, where the velocity is "
            f"{_fastest(flow, axis, time)}"
        )


def check_differences(flow: Flow, axis: int | None, strain: float, time: float) -> None:
    """Refuse difference quotients that are not finite, though the velocity is."""
    if not math.isfinite(strain):
        raise ValueError(
            f"the velocity must have finite differences, but {steepest_place(flow, axis, time)}"
        )


def _not_finite(flow: Flow, axis: int, time: float) -> NotFiniteError:
    """Return an error that says where a component of a velocity is NaN or infinite."""
    words = f"velocity must be finite, but its component {axis} is not"
    is_timed = not is_a(flow.velocity, Field) and flow.velocity.depends_on_time
    when = f", at time {time:g}" if is_timed else ""
    for values, grid in samples(flow, axis, time):
        spot = first_not_finite(values, grid)
        if spot is not None:
            error = NotFiniteError(f"{words}: it is {spot}{when}")
            error.index, error.place, error.value = spot.index, spot.place, spot.value
            break
    else:
        error = NotFiniteError(f"{words} between or beyond the points of its grid{when}")
        error.index, error.place, error.value = (), (), np.nan
    error.field, error.component, error.step, error.time = "velocity", axis, 0, time
    return error


def _fastest(flow: Flow, axis: int, time: float) -> str:
    """Say where a component of a velocity is greatest."""
    spots = [largest(values, grid) for values, grid in samples(flow, axis, time)]
    return str(max(spots, key=lambda spot: abs(spot.value)))


def steepest_place(flow: Flow, axis: int | None, time: float) -> str:
    """Say where a velocity strains most: along an axis, or one component along all of them."""
    ndim = flow.grid.ndim
    axes = range(ndim) if axis is None else (axis,)
    component, spot = max(
        (
            (component, steepest(values, grid, tuple(axes)))
            for component in axes
            for values, grid in samples(flow, component, time)
        ),
        key=lambda found: found[1].value,
    )
    return f"component {component} of the velocity has the difference quotient {spot}"


def samples(flow: Flow, axis: int, time: float) -> list[Sample]:
    """Return what a component is at the points of its grid: at a time, or at both around it."""
    velocity = flow.velocity
    if is_a(velocity, VelocitySeries):
        level = min(max(bisect_right(velocity.times, time), 1), len(velocity.times) - 1)
        fields = velocity.fields[level - 1 : level + 1]
    else:
        fields = flow.fields
    if fields:
        return [(field.component(axis).get(), field.grid) for field in fields]
    return [(flow.on_points(axis, time), flow.grid)]
