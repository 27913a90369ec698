# SPDX-License-Identifier: BSD-3-Clause
"""What a push asks of a velocity: when its stages look at it, and what it then must be like."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from particles import _core
from particles.base.kinds import is_a
from particles.operators.amplitudes import Extremes
from particles.operators.velocity_limits import check_differences, check_speed, is_slow
from particles.operators.velocity_series import VelocitySeries
from particles.operators.walls import Leak, leak_of

if TYPE_CHECKING:
    from particles.operators.advection import AdvectionOp

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


class Move(NamedTuple):
    """What a push does to particles in unit time.

    Attributes
    ----------
    strain, moment : float
        The greatest strain, and when it is.
    cells : float
        That particles cross at most.
    leak : Leak or None
        What goes through walls, if it is too much.
    """

    strain: float
    moment: float
    cells: float
    leak: Leak | None


def push_of(begin: float, duration: float, is_back: bool) -> tuple[float, float]:
    """Return the beginning and the duration of a push over an interval, perhaps from its end."""
    return (begin + duration, -duration) if is_back else (begin, duration)


def looks(scheme: str, begin: float, duration: float) -> list[Look]:
    """Return when the stages of a push look at the velocity."""
    return [Look(begin + share * duration, weight) for share, weight in _STAGES[scheme]]


def check_move(
    advection: AdvectionOp, core: _core.AdvectionOp, axis: int, begin: float, duration: float
) -> Move:
    """Refuse a push along an axis by what it cannot bear; return what it does in unit time.

    A series counts with all that it is from the beginning to the end, a formula with what its
    stages see, weighted. Where one only finds the place for the next, as the first of the midpoint
    rule does, a known bound on the speed will do.
    """
    amplitudes = advection.amplitudes
    if is_a(advection.velocity, VelocitySeries):
        return _checked(advection, core, axis, begin + duration / 2, duration)
    if amplitudes is None:
        return _checked(advection, core, axis, begin, duration)
    found, weights = [], []
    for moment, weight in looks(advection.scheme, begin, duration):
        bound = amplitudes.greatest_speed(axis, moment)
        if weight > 0 or not is_slow(advection, axis, bound, duration):
            found.append(_checked(advection, core, axis, moment, duration))
            weights.append(weight)
    strains = [weight * move.strain for weight, move in zip(weights, found, strict=True)]
    _, moment = max((strain, move.moment) for strain, move in zip(strains, found, strict=True))
    leak = max((move.leak for move in found if move.leak), default=None)
    return Move(sum(strains), moment, max(move.cells for move in found), leak)


def _checked(
    advection: AdvectionOp, core: _core.AdvectionOp, axis: int, moment: float, duration: float
) -> Move:
    """Return strain and speed where neither is beyond what can be borne."""
    speed, strain, on_wall = _extremes(advection, core, axis, moment, duration)
    check_speed(advection, axis, speed, moment, duration)
    check_differences(advection, axis, strain, moment)
    leak = leak_of(
        advection,
        axis,
        moment,
        on_wall,
        lambda along: _extremes(advection, core, along, moment, duration)[0],
    )
    return Move(strain, moment, speed / advection.grid.spacing[axis], leak)


def _extremes(
    advection: AdvectionOp, core: _core.AdvectionOp, axis: int, moment: float, duration: float
) -> Extremes:
    """Return what a velocity is at a time at most, a series around it."""
    if is_a(advection.velocity, VelocitySeries):
        return core.extremes(axis, *advection.velocity.around(moment, abs(duration)))
    if advection.amplitudes is None:
        return core.extremes(axis, moment)
    return advection.amplitudes.extremes(core, axis, moment)
