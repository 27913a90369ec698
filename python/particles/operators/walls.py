# SPDX-License-Identifier: BSD-3-Clause
"""Velocities that go through walls, where what is carried would pile up: found, and warned of."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from particles.base.frames import frames_of_package
from particles.fields.spots import next_to_walls
from particles.operators.velocity_limits import samples

if TYPE_CHECKING:
    from particles.operators.flow import Flow

# What share of what the flow carries across the box may come to lie at a wall meanwhile.
BORNE = 1 / 50


class WallWarning(UserWarning):
    """A velocity goes through a wall, where what is carried piles up or runs out.

    On a wall the velocity across it should vanish. The message says where it does not.

    Examples
    --------
    >>> import warnings
    >>> import particles as pt
    >>> warnings.simplefilter("error", pt.WallWarning)
    >>> grid = pt.Grid(16, boundary="wall")
    >>> transport = pt.Splitting.from_preset("default", pt.Velocity(grid, "1"), pt.Field(grid))
    >>> transport.run(until=0.1, lcfl=0.2)
    Traceback (most recent call last):
    ...
    particles.WallWarning: the velocity goes through a wall: its component 0 is 1 ...
    """

    __module__ = "particles"


class Leak(NamedTuple):
    """What goes through walls across an axis, as a share of what the flow carries across the box."""

    share: float
    axis: int
    moment: float


def leak_of(
    flow: Flow,
    axis: int,
    moment: float,
    on_wall: float,
    speed_along: Callable[[int], float],
) -> Leak | None:
    """Return what goes through walls if it is more than is borne.

    While the fastest particles cross the box along some axis, the part of it that comes to a wall
    is the speed there times this time, by the length of the box across the wall. So it depends on
    neither steps nor spacing.
    """
    extent = flow.grid.extent
    if on_wall <= BORNE * speed_along(axis):
        return None
    most = max(speed_along(other) / length for other, length in enumerate(extent))
    share = on_wall / extent[axis] / most if most > 0 else math.inf
    return Leak(share, axis, moment) if share > BORNE else None


def warn_of_leak(flow: Flow | None, leak: Leak | None) -> bool:
    """Warn of a velocity that goes through a wall; return whether it does."""
    if leak is None or flow is None:
        return False
    spots = [
        next_to_walls(values, grid, leak.axis)
        for values, grid in samples(flow, leak.axis, leak.moment)
    ]
    spot = max(spots, key=lambda spot: abs(spot.value))
    warnings.warn(
        f"the velocity goes through a wall: its component {leak.axis} is {spot}, and must vanish "
        f"on the wall; what is carried piles up at such walls, or runs out",
        WallWarning,
        stacklevel=frames_of_package(),
    )
    return True
