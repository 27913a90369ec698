# SPDX-License-Identifier: BSD-3-Clause
"""Values with the coordinates of their points, for xarray."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray

    from particles.field import Field


def to_data_array(field: Field) -> xarray.DataArray:
    """Return a copy of the values on the host, with names and coordinates of the axes."""
    try:
        import xarray
    except ImportError as error:
        raise ImportError(
            f"to_xarray needs xarray: pip install 'particles-opencl[xarray]' ({error})"
        ) from error
    axes = "xyz"[: field.grid.ndim]
    coordinates = [points.ravel() for points in field.grid.coordinates()]
    return xarray.DataArray(
        field.get(),
        dict(zip(axes, coordinates, strict=True)),
        ("component", *axes) if field.components > 1 else tuple(axes),
        field.name,
    )
