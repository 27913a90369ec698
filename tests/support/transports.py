# SPDX-License-Identifier: BSD-3-Clause
"""Transport by a swirl, or by a velocity that strains the axes as wished."""

import numpy as np
import particles as pt

from tests.reference import reference
from tests.support.problems import swirl_velocity
from tests.support.sweeps import error_of_moves, error_of_sweep, field, spread, strength_in_reach


def transport_of(u, velocity, order=2, kernel="M'6", **options):
    return pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, kernel), order, **options)


def swirl(n, dtype, device, scale=1.0):
    grid = pt.Grid((n, n))
    a = [scale * component for component in swirl_velocity(*grid.coordinates())]
    return field(a, grid, dtype, device)


def strained(strains, grid, dtype, device, velocity=None):
    """A velocity whose components strain their own axes that much."""
    if velocity is None:
        velocity = pt.Field(grid, grid.ndim, dtype, device)
    for axis, strain in enumerate(strains):
        across = [1] * grid.ndim
        across[axis] = -1
        saw = (np.arange(grid.shape[axis]) % 2) * strain * grid.spacing[axis]
        velocity.component(axis)[...] = np.broadcast_to(saw.reshape(across), grid.shape)
    return velocity


def joined(schedule, steps, dt):
    """Sweeps (axis, duration) of steps, successive ones along one axis done as one."""
    sweeps = []
    for axis, _, length in [*schedule] * steps:
        before = sweeps.pop()[1] if sweeps and sweeps[-1][0] == axis else 0.0
        sweeps.append((axis, before + length * dt))
    return sweeps


def joined_steps(steps):
    """Sweeps (axis, begin, duration) of steps (schedule, begin, dt, whether it is joined)."""
    sweeps, held = [], False
    for schedule, start, dt, is_joined in steps:
        for number, (axis, begin, length) in enumerate(schedule):
            sweep = (axis, start + begin * dt, length * dt)
            if number == 0 and held and is_joined and sweeps[-1][0] == axis:
                _, begun, before = sweeps.pop()
                sweep = (axis, begun, before + length * dt)
            sweeps.append(sweep)
        held = is_joined
    return sweeps


def swept_one_by_one(transport, sweeps):
    for axis, begin, duration in sweeps:
        transport.time = begin
        transport.sweep(axis, duration)


def followed(u, velocity, stages, grid, dtype, gradient=0.0):
    """What the reference makes of sweeps (axis, begin, duration), and how wrong ours may be.

    An error that is there already grows by at most the sum of |W|, 1.4 for M'6, times the crowd.
    """
    limit, width = 0.0, reference.half_width("M'6")
    for axis, begin, duration in stages:
        moves = reference.displacement(velocity, axis, duration, grid, begin)
        wrong_by = error_of_moves(dtype, np.abs(moves).max(), spread(moves, axis), gradient)
        crowd = strength_in_reach(np.ones(u.shape), moves, axis, width) / (2 * width)
        limit = 1.4 * crowd * limit + error_of_sweep(dtype, u, moves, axis, "M'6", wrong_by)
        u = reference.remesh(u, moves, axis, "M'6")
    return u, limit


def epsilon(dtype):
    return float(np.finfo(dtype).eps)
