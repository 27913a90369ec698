# SPDX-License-Identifier: BSD-3-Clause
"""The device memory that a transport needs."""

from __future__ import annotations

import numpy.typing as npt

from particles import kernels
from particles.base.checks import arithmetic, as_dtype, shown
from particles.base.kinds import is_a
from particles.fields.field import Field
from particles.fields.grid import Grid, check_grid
from particles.operators.advection import AdvectionOp
from particles.operators.remesh import RemeshOp
from particles.operators.velocity import Velocity
from particles.runtime.device import Device
from particles.runtime.device_group import dry
from particles.runtime.memory import Memory
from particles.stepping.splitting import Splitting
from particles.stepping.unsplit import Unsplit

__all__ = ["memory"]


def memory(
    grid: Grid,
    components: int = 1,
    dtype: npt.DTypeLike = "float32",
    *,
    velocity: Velocity | Grid | None = None,
    kernel: str | kernels.RemeshingKernel = "M'6",
    limiter: str | None = None,
    conservative: bool = True,
    order: int | None = 2,
    device: Device | int | str | None = None,
) -> Memory:
    """Return the device memory that a transport would need, without allocating anything.

    On a grid that is divided among ranks, it is the memory of the rank's own block, and all ranks must
    call this. Rows of other ranks, which the first steps add, are not counted (:doc:`/howto/ranks`). On
    a grid of several devices it is that of all of them together.

    Parameters
    ----------
    grid, components, dtype
        Those of the carried field.
    velocity : Velocity or Grid, optional
        A formula, or the grid of a velocity field; by default the grid of the carried field.
    kernel, limiter, conservative
        As for `RemeshOp`.
    order : int or None
        As for `Splitting`; None for `Unsplit`.
    device : Device, int or str, optional
        By default that of the grid, or the one of `default_device`.

    Returns
    -------
    Memory
        Bytes by purpose, and their `total`; `fits` says whether the device has enough memory.

    Examples
    --------
    >>> import particles as pt
    >>> needed = pt.memory(pt.Grid((256, 256, 256)))
    >>> 256 < needed.total / 2**20 < 512, needed.fits  # MiB, the more on GPUs
    (True, True)
    """
    if not is_a(velocity, Velocity | Grid | None):
        raise TypeError(f"velocity must be a Velocity or a Grid, not {shown(velocity)}")
    check_grid(grid)
    place = dry(grid._as_device(device))
    real = as_dtype("dtype", dtype)
    carried = RemeshOp(
        Field._on(place, grid, components, real, "u"),
        kernel,
        limiter=limiter,
        conservative=conservative,
        inflow=0.0 if _has_inflow(grid) else None,
    )
    if is_a(velocity, Velocity):
        advection = AdvectionOp(velocity)
    else:
        own = grid if velocity is None else velocity
        advection = AdvectionOp(Field._on(place, own, grid.ndim, arithmetic(real), "a"), grid=grid)
    if order is None:
        return Unsplit(advection, carried).memory()
    return Splitting(advection, carried, order).memory()


def _has_inflow(grid: Grid) -> bool:
    return any("inflow" in ends for ends in grid.boundary)
