# SPDX-License-Identifier: BSD-3-Clause
"""Flows after which everything must be where it was, and the bodies that they carry."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from particles.levelset.problem import Numbers, Reals, ball, flow

SWIRL_PERIOD, DEFORMATION_PERIOD = 8.0, 3.0
ROTATION_SPEEDS = (math.pi, math.pi)  # at the edges of the box, in box lengths a revolution


@dataclass(frozen=True)
class Problem:
    """A body in the unit box, 1 inside and 0 outside, and the velocity that brings it back.

    Attributes
    ----------
    velocity : callable
        Of the coordinates, and of the time where it depends on that.
    speeds : tuple of float
        The greatest along each axis.
    """

    name: str
    body: str
    inside: Callable[..., npt.NDArray[np.bool_]]
    velocity: Callable[..., Sequence[Any]]
    speeds: tuple[float, ...]
    duration: float

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.speeds)


def disk(x: Reals, y: Reals) -> npt.NDArray[np.bool_]:
    """Return whether points are inside the disk.

    Examples
    --------
    >>> bool(disk(0.5, 0.7)), bool(disk(0.5, 0.5))
    (True, False)
    """
    return np.asarray((x - 0.5) ** 2 + (y - 0.75) ** 2 < 0.15**2)


def slotted_disk(x: Reals, y: Reals) -> npt.NDArray[np.bool_]:
    """Return whether points are inside the disk but not in its slot.

    Examples
    --------
    >>> bool(slotted_disk(0.5, 0.87)), bool(slotted_disk(0.5, 0.7))
    (True, False)
    """
    return disk(x, y) & ~((np.abs(x - 0.5) < 0.025) & (y < 0.85))


def shears(steps: int) -> Callable[[Numbers, Numbers], list[Numbers]]:
    """Return the velocity whose Strang steps of 1 / steps turn by a part of a revolution each.

    Three shears make a rotation by an angle a: x by -tan(a/2) y, y by sin(a) x, and x again.
    """
    angle = 2 * math.pi / steps

    def velocity(x: Numbers, y: Numbers) -> list[Numbers]:
        along_x = -2 * math.tan(angle / 2) * steps * (y - 0.5)
        return [along_x, math.sin(angle) * steps * (x - 0.5)]

    return velocity


def swirl(x: Numbers, y: Numbers, t: Numbers) -> list[Numbers]:
    """Return the velocity of a vortex that fills the box and turns round at T/2.

    Examples
    --------
    >>> [round(float(component), 3) for component in swirl(0.5, 0.25, 0.0)]
    [1.0, -0.0]
    """
    turning = np.cos(np.pi / SWIRL_PERIOD * t)
    return [
        turning * np.sin(np.pi * x) ** 2 * np.sin(2 * np.pi * y),
        -turning * np.sin(2 * np.pi * x) * np.sin(np.pi * y) ** 2,
    ]


def deformation(x: Numbers, y: Numbers, z: Numbers, t: Numbers) -> list[Numbers]:
    """Return the velocity of the level-set test, turning round at T/2.

    Examples
    --------
    >>> [round(float(component), 3) for component in deformation(0.5, 0.25, 0.25, 0.0)]
    [2.0, -0.0, -0.0]
    """
    turning = np.cos(np.pi / DEFORMATION_PERIOD * t)
    return [turning * component for component in flow(x, y, z)]


def turned_disk(steps: int) -> Problem:
    """Return Zalesak's disk, turned once by so many steps."""
    return Problem("Zalesak's disk", "disk", slotted_disk, shears(steps), ROTATION_SPEEDS, 1.0)


VORTEX_BOX = {
    2: Problem("Vortex in a box", "disk", disk, swirl, (1.0, 1.0), SWIRL_PERIOD),
    3: Problem(
        "Deformation of a ball", "ball", ball, deformation, (2.0, 1.0, 1.0), DEFORMATION_PERIOD
    ),
}
