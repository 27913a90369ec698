# SPDX-License-Identifier: BSD-3-Clause
"""Steps along all axes at once, and how exact one can be."""

import numpy as np
import particles as pt
from particles import _core

from tests.reference import reference, reference_unsplit
from tests.support.sweeps import components, error_of_moves, field, lipschitz_constant, wave

ROUNDINGS = 4.0


def unsplit(u, velocity, kernel="M'6", **options):
    return pt.Unsplit(pt.AdvectionOp(velocity, **options), pt.RemeshOp(u, kernel))


def advance(u, velocity, dt, time=0.0, kernel="M'6", **options):
    """One step, whatever it strains."""
    advection = pt.AdvectionOp(velocity, **options)
    core = advection.core_for(u.device, u.dtype)
    _core.Unsplit(core, pt.RemeshOp(u, kernel).core).advance(time, dt, 1)
    return components(u)


def waves(grid, dtype, device):
    return field([wave(grid, axis) for axis in range(grid.ndim)], grid, dtype, device)


def crowd(u, moved, kernel):
    """Largest sum of |u| of the particles that a node is within reach of."""
    width = reference.half_width(kernel)
    places = np.indices(u.shape) + np.floor(moved).astype(np.int64)
    at = np.ravel_multi_index([i % n for i, n in zip(places, u.shape, strict=True)], u.shape)
    cells = np.bincount(at.ravel(), np.abs(u).ravel(), u.size).reshape(u.shape)
    for axis in range(u.ndim):
        cells = sum(np.roll(cells, shift, axis) for shift in range(-width, width))
    return float(cells.max())


def check_step(u, start, velocity, a, dt, kernel="M'6", gradient=0.0, **options):
    """Compare one step from the time 0.3 with the reference, within what rounding explains.

    Every stage passes on the error of the place before it as many times as the velocity strains. A
    product of weights is wrong by the error of each times the others, which are 1 at most.
    """
    grid = u.grid
    u[...] = start
    (found,) = advance(u, velocity, dt, 0.3, kernel, **options)
    options.pop("grid", None)
    moved = reference_unsplit.displacements(a, dt, grid, 0.3, **options)
    strain = dt * reference_unsplit.strain(a, grid, 0.3)
    stages = len(reference_unsplit.SCHEMES[options.get("scheme", "rk2")][1])
    wrong = error_of_moves(u.dtype, np.abs(moved).max(), (1 + strain) ** stages, gradient)
    weight = ROUNDINGS * np.finfo(u.dtype).eps + lipschitz_constant(kernel) * wrong
    limit = grid.ndim * weight * crowd(start, moved, kernel)
    expected = reference_unsplit.remesh(start, moved, kernel)
    assert np.abs(found - expected).max() <= limit
