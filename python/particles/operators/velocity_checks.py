# SPDX-License-Identifier: BSD-3-Clause
"""What may push particles: velocities, their interpolation, and grids that they fit."""

from __future__ import annotations

import numpy as np

from particles.base.checks import REAL_DTYPES, as_choice, shown
from particles.base.kinds import is_a
from particles.fields.field import Field
from particles.fields.grid import Grid, check_grid
from particles.operators.velocity import Velocity
from particles.operators.velocity_series import VelocitySeries

INTERPOLATIONS = ("linear", "cubic")


def fields_of(velocity: Field | Velocity | VelocitySeries) -> tuple[Field, ...]:
    """Return the fields that make a velocity; none make a formula."""
    if is_a(velocity, Velocity):
        return ()
    return (velocity,) if is_a(velocity, Field) else velocity.fields


def as_interpolation(name: str | None, is_on_grid: bool) -> str | None:
    """Return how a velocity on a grid is interpolated, None for a formula."""
    if name is None:
        return INTERPOLATIONS[0] if is_on_grid else None
    if not is_on_grid:
        raise ValueError(
            f"interpolation must not be given with a formula, which is exact everywhere, "
            f"but it is {shown(name)}"
        )
    return as_choice("interpolation", name, INTERPOLATIONS)


def as_grid(grid: Grid | None, own: Grid, is_on_grid: bool) -> Grid:
    """Return the particles' grid, whose cells divide the velocity's."""
    if grid is None:
        return own
    check_grid(grid)
    if not is_on_grid:
        raise ValueError("grid must not be given with a formula, which brings its own")
    divides = grid.ndim == own.ndim and all(
        fine % coarse == 0 for fine, coarse in zip(grid.shape, own.shape, strict=True)
    )
    is_same_box = (
        grid.boundary == own.boundary
        and all(
            (np.abs(np.subtract(ours, theirs)) <= 1e-9 * np.array(own.extent)).all()
            for ours, theirs in ((grid.origin, own.origin), (grid.extent, own.extent))
        )
        if divides
        else False
    )
    if not is_same_box:
        raise ValueError(
            "grid must be of the velocity's box, with a whole multiple of its points along every "
            f"axis, not {grid} for a velocity on {own}"
        )
    return grid


def check_velocity(velocity: Field) -> None:
    """Refuse a field that cannot be a velocity."""
    ndim = velocity.grid.ndim
    if velocity.components != ndim:
        raise ValueError(
            f"velocity must have one component per axis of its grid, {ndim}, "
            f"not {velocity.components}"
        )
    if velocity.dtype not in REAL_DTYPES:
        raise TypeError(f"velocity must be of float32 or float64, not of {velocity.dtype}")
