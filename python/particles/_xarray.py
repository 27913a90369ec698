# SPDX-License-Identifier: BSD-3-Clause
"""Values with names and coordinates of their axes, as xarray has them; it is imported when needed.

Axes of a grid are ``x``, ``y``, ``z``, each with the coordinates of its points, and what else makes
the grid as attributes of these: a NetCDF file has room for them, and arithmetic keeps them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from particles._check import as_real
from particles._kinds import is_a
from particles.grid import Grid

if TYPE_CHECKING:
    import xarray

    from particles.field import Field

AXES = ("x", "y", "z")
COMPONENT = "component"


def import_xarray(what: str) -> Any:  # noqa: ANN401  it comes and goes
    """Return xarray, or say what needs it."""
    try:
        return import_module("xarray")
    except ImportError as error:
        raise ImportError(
            f"{what} needs xarray: pip install 'particles-opencl[xarray]' ({error})"
        ) from error


def to_data_array(field: Field, time: float | None) -> xarray.DataArray:
    """Return a copy of the values on the host, with names and coordinates of the axes."""
    coordinates = coordinates_of(field.grid)
    if time is not None:
        coordinates["time"] = as_real("time", time)
    axes = AXES[: field.grid.ndim]
    array: xarray.DataArray = import_xarray("to_xarray").DataArray(
        field.get(),
        coordinates,
        (COMPONENT, *axes) if field.components > 1 else axes,
        field.name,
    )
    return array


def coordinates_of(grid: Grid) -> dict[str, Any]:
    """Return the coordinates along each axis; their attributes are what makes the grid."""
    result: dict[str, Any] = {}
    for axis, points in enumerate(grid.coordinates()):
        ends = grid.boundary[axis]
        attributes = {
            "origin": grid.origin[axis],
            "extent": grid.extent[axis],
            "spacing": grid.spacing[axis],
            "boundary": ends if is_a(ends, str) else " ".join(ends),
        }
        result[AXES[axis]] = (AXES[axis], points.ravel(), attributes)
    return result
