# SPDX-License-Identifier: BSD-3-Clause
"""Runge-Kutta schemes: when their stages look at a velocity, and with what weight."""

from __future__ import annotations

from typing import NamedTuple

# Shares of a push, and with what weight the velocity that is found then moves particles.
_STAGES = {
    "euler": ((0.0, 1.0),),
    "rk2": ((0.0, 0.0), (0.5, 1.0)),
    "heun": ((0.0, 0.5), (1.0, 0.5)),
    "rk3": ((0.0, 1 / 6), (0.5, 2 / 3), (1.0, 1 / 6)),
    "rk4": ((0.0, 1 / 6), (0.5, 2 / 3), (1.0, 1 / 6)),
}

SCHEMES = tuple(_STAGES)


class Look(NamedTuple):
    """When a velocity that depends on time is looked at, and its weight in the move."""

    moment: float
    weight: float


def looks(scheme: str, begin: float, duration: float) -> list[Look]:
    """Return when the stages of a push look at the velocity."""
    return [Look(begin + share * duration, weight) for share, weight in _STAGES[scheme]]
