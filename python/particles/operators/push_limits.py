# SPDX-License-Identifier: BSD-3-Clause
"""What a push asks of a velocity: when its stages look at it, and what it then must be like."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from particles import _core
from particles.base.kinds import is_a
from particles.operators.amplitudes import Extremes
from particles.operators.schemes import looks
from particles.operators.velocity_limits import check_differences, check_speed, is_slow
from particles.operators.velocity_series import VelocitySeries
from particles.operators.walls import Leak, leak_of

if TYPE_CHECKING:
    from particles.operators.flow import Flow


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


def check_move(
    flow: Flow, core: _core.AdvectionOp, axis: int, begin: float, duration: float
) -> Move:
    """Refuse a push along an axis by what it cannot bear; return what it does in unit time.

    A series counts with all that it is from the beginning to the end, a formula with what its
    stages see, weighted. Where one only finds the place for the next, as the first of the midpoint
    rule does, a known bound on the speed will do.
    """
    amplitudes = flow.amplitudes
    if is_a(flow.velocity, VelocitySeries):
        return _checked(flow, core, axis, begin + duration / 2, duration)
    if amplitudes is None:
        return _checked(flow, core, axis, begin, duration)
    found, weights = [], []
    for moment, weight in looks(flow.scheme, begin, duration):
        bound = amplitudes.greatest_speed(axis, moment)
        if weight > 0 or not is_slow(flow, axis, bound, duration):
            found.append(_checked(flow, core, axis, moment, duration))
            weights.append(weight)
    strains = [weight * move.strain for weight, move in zip(weights, found, strict=True)]
    _, moment = max((strain, move.moment) for strain, move in zip(strains, found, strict=True))
    leak = max((move.leak for move in found if move.leak), default=None)
    return Move(sum(strains), moment, max(move.cells for move in found), leak)


def _checked(
    flow: Flow, core: _core.AdvectionOp, axis: int, moment: float, duration: float
) -> Move:
    """Return strain and speed where neither is beyond what can be borne."""
    speed, strain, on_wall = _extremes(flow, core, axis, moment, duration)
    check_speed(flow, axis, speed, moment, duration)
    check_differences(flow, axis, strain, moment)
    leak = leak_of(
        flow,
        axis,
        moment,
        on_wall,
        lambda along: _extremes(flow, core, along, moment, duration)[0],
    )
    return Move(strain, moment, speed / flow.grid.spacing[axis], leak)


def _extremes(
    flow: Flow, core: _core.AdvectionOp, axis: int, moment: float, duration: float
) -> Extremes:
    """Return what a velocity is at a time at most, a series around it."""
    if is_a(flow.velocity, VelocitySeries):
        return core.extremes(axis, *flow.velocity.around(moment, abs(duration)))
    if flow.amplitudes is None:
        return core.extremes(axis, moment)
    return flow.amplitudes.extremes(core, axis, moment)
