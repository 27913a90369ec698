# SPDX-License-Identifier: BSD-3-Clause
"""When pushes look at a velocity, and how fast and how strained it is then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.base.kinds import is_a
from particles.operators.maxima import maxima
from particles.operators.schemes import TIMES, Reals
from particles.operators.velocity_series import VelocitySeries

if TYPE_CHECKING:
    from particles.operators.flow import Flow

_ONCE = np.ones(1)


class Looks(NamedTuple):
    """Of the pushes in some steps.

    Attributes
    ----------
    axes : array
        By push.
    instants, durations : array
        By step, push and look; the durations are those of the pushes.
    weights : array
        In the push, by look.
    axes_of_all : array
        By step, push and look.
    """

    axes: npt.NDArray[np.int64]
    instants: Reals
    durations: Reals
    weights: Reals
    axes_of_all: npt.NDArray[np.int64]


def looks_of(
    flow: Flow, axes: npt.NDArray[np.int64], begins: Reals, durations: Reals, *, is_back: bool
) -> Looks:
    """Return the looks of pushes over intervals, by step and push, perhaps from their ends."""
    if is_back:
        begins, durations = begins + durations, -durations
    times, weights = np.zeros(1), _ONCE
    if is_a(flow.velocity, VelocitySeries):  # all that it is from the beginning to the end
        times = np.full(1, 0.5)
    elif flow.amplitudes is not None:
        times, weights = TIMES[flow.scheme]
    lengths = durations[..., None]
    instants = begins[..., None] + times * lengths
    of_all, axes_of_all = np.empty(instants.shape), np.empty(instants.shape, np.int64)
    of_all[...], axes_of_all[...] = lengths, axes[:, None]
    return Looks(axes, instants, of_all, weights, axes_of_all)


class Extremes(NamedTuple):
    """What a velocity is at most, by step, push and look.

    Attributes
    ----------
    speed, strain, on_wall : array
        As `_core.AdvectionOp.measure` tells them.
    is_known : array
        False where nobody needs to know.
    """

    speed: Reals
    strain: Reals
    on_wall: Reals
    is_known: npt.NDArray[np.bool_]


def measure(flow: Flow, core: _core.AdvectionOp, looks: Looks) -> Extremes:
    """Measure the velocity in one call, which waits once.

    Where a stage only finds the place for the next, as the first of the midpoint rule does, a known
    bound on the speed will do.
    """
    is_known = np.empty(looks.instants.shape, bool)
    is_known.fill(True)
    if flow.amplitudes is not None:
        bound = flow.amplitudes.greatest_speeds(looks.axes_of_all, looks.instants)
        is_known = (looks.weights > 0) | ~_are_slow(flow, looks, bound)
    found = np.zeros((*looks.instants.shape, 3))
    found[is_known] = extremes_at(
        flow,
        core,
        looks.axes_of_all[is_known],
        looks.instants[is_known],
        looks.durations[is_known],
    )
    return Extremes(found[..., 0], found[..., 1], found[..., 2], is_known)


def extremes_at(
    flow: Flow,
    core: _core.AdvectionOp,
    axes: npt.NDArray[np.int64],
    instants: Reals,
    durations: Reals,
) -> Reals:
    """Return speed, strain and speed on a wall at times, a series around them."""
    if is_a(flow.velocity, VelocitySeries):
        begins, lengths = flow.velocity.around(instants, np.abs(durations))
        return maxima(core, axes, begins, lengths)
    if flow.amplitudes is None:
        return maxima(core, axes, instants)
    return flow.amplitudes.extremes(core, axes, instants)


def _are_slow(flow: Flow, looks: Looks, speeds: Reals) -> npt.NDArray[np.bool_]:
    """Whether moves are far within all limits."""
    axes: Any = looks.axes_of_all
    cells = speeds * np.abs(looks.durations) / np.array(flow.grid.spacing)[axes]
    few: npt.NDArray[np.bool_] = cells <= np.minimum(np.array(flow.grid.whole_shape)[axes], 2**20)
    return few
