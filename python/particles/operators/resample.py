# SPDX-License-Identifier: BSD-3-Clause
"""Fields on finer and coarser grids."""

from __future__ import annotations

from itertools import pairwise

from particles import _core, kernels
from particles.arrays.overlap import overlap
from particles.base.checks import shown
from particles.base.kinds import is_a
from particles.communication.cuts import Window, pair_of, window_of
from particles.fields.field import Field
from particles.fields.grid import (
    Grid,
    are_as_long,
    check_grid,
)
from particles.interpolation.parts import PlanesRead, field_on

__all__ = ["resample"]


def resample(
    field: Field,
    grid: Grid,
    kernel: str | kernels.RemeshingKernel = "M'6",
    *,
    out: Field | None = None,
) -> Field:
    """Return a field on a finer or coarser grid of the same box.

    Along each axis, ``out(x_i) = (h / H) sum over j of u_j W((x_i - x_j) / H)``, with W a `kernels`
    kernel, h the field's spacing and H the larger of both. On a finer grid this interpolates with
    order p + 1 for a kernel ``Lp_q``. On a coarser grid it remeshes the particles and conserves
    their moments 0 to p. Both keep the sum times the volume of a cell, except along axes with open
    ends. Beyond a wall are the images of the points, beyond other ends the value of the last one.
    Where the field has a slope across an end, the continuation has a kink, and interpolation is of
    first order. Axes with the same number of points do not change.

    Parameters
    ----------
    field : Field
        The field to resample.
    grid : Grid
        Of the same box, with a whole multiple or fraction of the points along each axis.
    kernel : str or RemeshingKernel
        ``"M'4"``, ``"M'6"``, ``"L6_4"``, ...: see `kernels.get`.
    out : Field, optional
        The field to fill, instead of a new one; on `grid`, with the same components, dtype and
        device as `field`.

    Returns
    -------
    Field
        `out`, or a new field. The call does not wait for the device. Of divided grids all ranks call
        it; both must be divided among the same ranks.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> grid = pt.Grid(16)
    >>> wave = pt.Field(grid, dtype="float64")
    >>> wave[...] = np.cos(2 * np.pi * grid.coordinates()[0])
    >>> fine = pt.resample(wave, pt.Grid(48))
    >>> bool(abs(fine[8] - 0.5) < 1e-3), abs(fine.sum()) < 1e-12
    (True, True)
    """
    if not is_a(field, Field):
        raise TypeError(f"field must be a Field, not {shown(field)}")
    check_grid(grid)
    _check_grid(field.grid, grid)
    chosen = kernels.get(kernel)
    if out is None:
        out = Field(grid, field.components, field.dtype, field.device, field.name)
    else:
        _check_out(out, field, grid)
    field._be_seen()
    weights = kernels.opencl_source(chosen), chosen.stencil
    if grid.is_divided:
        slabs = out._like_slabs()
        _resample_part(field, slabs, *weights)
        out._take_slabs(slabs)
    elif grid.is_cut:
        source, target = field._parts(), out._parts()
        grid.crew.call(lambda rank: _resample_part(source[rank], target[rank], *weights))
    else:
        _core.resample(field.core, out.core, *weights)
    return out


def _resample_part(field: Field, out: Field, weights: str, stencil: int) -> None:
    """Fill one's own points from the planes around them, as if these were all.

    What is beyond them is wrong, and left out. All ranks call it.
    """
    ranks = out.grid.ranks
    assert ranks is not None
    source, target = field.grid.whole, out.grid.whole
    few = min(source.shape[0], target.shape[0])  # planes of the coarser grid, in which windows are
    of_source, of_target = source.shape[0] // few, target.shape[0] // few
    ranks.meet(field._told(f"resample to {target}"))
    windows = []
    for begin, end in pairwise(out.grid.begins):
        low, high = begin // of_target - stencil, -(-end // of_target) + stencil
        windows.append(window_of(low, high, few, source.boundary[0]))
    own = windows[ranks.rank]
    planes = [Window(one.first * of_source, one.rows * of_source) for one in windows]
    with ranks.together("to resample what other ranks have"):
        read = PlanesRead(field, planes, _part_of(source, own, of_source))
    local, *_ = read.fetched()
    with ranks.together("to resample one's own part"):
        result = field_on(_part_of(target, own, of_target), out.core, out.device.core)
        _core.resample(local, result, weights, stencil)
        place = (out.grid.begin[0] - own.first * of_target) % target.shape[0]
        out.core.copy_rows(0, result, place, out.grid.shape[0])


def _part_of(grid: Grid, window: Window, planes: int) -> _core.Grid:
    """Return some planes of a grid, so many for each of a window, as if there were no others."""
    first, rows = window.first * planes, window.rows * planes
    ends = [pair_of(one) for one in grid.boundary]
    if rows < grid.shape[0]:
        low, high = ends[0] if ends[0][0] != "periodic" else ("outflow", "outflow")
        is_high = first + rows == grid.shape[0]
        ends[0] = low if first == 0 else "outflow", high if is_high else "outflow"
    at = grid.first[0] + first * grid.spacing[0], *grid.first[1:]
    return _core.Grid((rows, *grid.shape[1:]), at, grid.spacing, ends)


def _check_grid(given: Grid, wanted: Grid) -> None:
    if wanted.ndim != given.ndim:
        raise ValueError(f"grid must have {given.ndim} axes, like the field, not {wanted.ndim}")
    if wanted.boundary != given.boundary:
        raise ValueError(f"grid must have the boundary {given.boundary}, not {wanted.boundary}")
    if wanted.ranks is not given.ranks:
        raise ValueError(
            f"grid must be divided among the field's ranks as that is, {given}, not {wanted}"
        )
    if wanted._device is not given._device and (wanted.is_cut or given.is_cut):
        raise ValueError(
            f"grid must be divided among the field's devices as that is, {given}, not {wanted}"
        )
    for axis in range(given.ndim):
        if not are_as_long(wanted, given, axis):
            raise ValueError(
                f"grid must be of the field's box, from {given.origin[axis]} over "
                f"{given.extent[axis]} along axis {axis}, "
                f"not from {wanted.origin[axis]} over {wanted.extent[axis]}"
            )
        few, many = sorted((given.whole.shape[axis], wanted.whole.shape[axis]))
        if many % few:
            raise ValueError(
                f"grid must have a whole multiple or fraction of {given.whole.shape[axis]} points "
                f"along axis {axis}, not {wanted.whole.shape[axis]}"
            )


def _check_out(out: Field, field: Field, grid: Grid) -> None:
    if not is_a(out, Field):
        raise TypeError(f"out must be a Field, not {shown(out)}")
    for what, given, expected in (
        ("have the grid", out.grid, grid),
        ("have the number of components", out.components, field.components),
        ("have the dtype", out.dtype, field.dtype),
        ("have the device", out.device, field.device),
    ):
        if given != expected:
            raise ValueError(f"out must {what} {expected}, not {given}")
    if overlap(out.core, field.core):
        raise ValueError("out must have memory of its own, not that of the field")
