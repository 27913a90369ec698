# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from particles.base.checks import as_index, as_real, as_values, shown
from particles.base.kinds import is_a
from particles.fields.data_arrays import AXES, in_order, is_named
from particles.fields.field import Field
from particles.fields.grid import Grid
from particles.fields.parts_of_whole import gathered
from particles.operators.velocity import Velocity
from particles.plot.drawing import (
    PLAIN,
    add_color_bar,
    axes_for,
    draw_plane,
    show_box,
    surface,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from mpl_toolkits.mplot3d.axes3d import Axes3D  # type: ignore[import-untyped]

Drawn: TypeAlias = "Axes | Any"
"""Axes; on ranks that do not draw, what was given as such, which may be None."""


def isosurface(
    field: Field | npt.ArrayLike,
    level: float = 0.5,
    ax: Axes3D | None = None,
    *,
    color: str | tuple[float, float, float] = "goldenrod",
) -> Axes3D:
    """Draw the surface where a three-dimensional field has a value.

    Parameters
    ----------
    field : Field or array
        An array is drawn in the unit box, as periodic. A field of several ranks, which all must
        call this, is gathered and drawn by the first one.
    level : float
        The value.
    ax : Axes3D, optional
        Where to draw; the light comes from their present point of view.
    color : color
        Colour of the surface, before shading.

    Returns
    -------
    Axes3D
        On other ranks than the first, `ax` as it was given.

    Examples
    --------
    >>> import particles as pt
    >>> x, y, z = pt.Grid((32, 32, 32)).coordinates()
    >>> squares = (x - 0.5) ** 2 + (y - 0.5) ** 2 + (z - 0.5) ** 2
    >>> pt.plot.isosurface(squares, level=0.1).get_xlim() == (0, 1)
    True
    """
    values, grid = checked(field, (3,))
    level = as_real("level", level)
    array = taken(values)
    if array is None:
        return ax
    axes: Axes3D = axes_for(ax, projection="3d")
    if not hasattr(axes, "set_zlim"):
        raise TypeError(f'ax must be three-dimensional Axes, projection="3d", not {shown(ax)}')
    if _reaches(array, level):
        shaded = surface(array, level, grid, color, (axes.elev, axes.azim))
        if len(shaded.faces):
            axes.add_collection(shaded, autolim=False)
    else:
        finite = array[np.isfinite(array)]
        told = (
            f"values go from {finite.min():.4g} to {finite.max():.4g}"
            if finite.size
            else "no value is finite"
        )
        told = f"no surface at {level:g}: {told}"
        axes.text2D(0.5, 0.95, told, ha="center", transform=axes.transAxes)
    show_box(axes, grid)
    return axes


def slice(
    field: Field | npt.ArrayLike,
    axis: int = -1,
    index: int | None = None,
    ax: Axes | None = None,
    **options: object,
) -> Drawn:
    """Draw a field: 1-D as a curve, 2-D as an image, 3-D as the image of a plane.

    Parameters
    ----------
    field : Field or array
        An array is drawn in the unit box, an xarray array on its coordinates. What is seen of a field
        of several ranks, which all must call this, is gathered and drawn by the first one.
    axis : int
        The axis perpendicular to the plane, in three dimensions.
    index : int, optional
        Index of the plane along `axis`; by default the middle.
    ax : Axes, optional
        Where to draw.
    **options
        For Matplotlib's ``imshow``, such as ``cmap`` or ``vmin``; or ``plot``, for a curve.

    Returns
    -------
    Axes
        New ones have a colour bar, and a title that says what is drawn. On other ranks than the
        first, `ax` as it was given.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> axes = pt.plot.slice(np.eye(8), cmap="gray")
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('x', 'y')
    """
    values, grid = checked(field, (1, 2, 3))
    name = getattr(field, "name", None) or ""
    drawn: tuple[int, ...] = (0, 1)
    title = name
    key: Any = ...
    if grid.ndim == 3:
        across = as_index("axis", axis, 3)
        points = grid.shape[across]
        place = as_index("index", points // 2 if index is None else index, points)
        drawn = tuple(other for other in range(3) if other != across)
        key = tuple(place if other == across else np.s_[:] for other in range(3))
        title += (
            f"{', ' if name else ''}{'xyz'[across]} = {grid.coordinates()[across].flat[place]:.4g}"
        )
    plane = taken(values, key)
    if plane is None:
        return ax
    axes: Axes = axes_for(ax)
    if grid.ndim == 1:
        axes.plot(grid.coordinates()[0], plane, **options)  # type: ignore[arg-type]
        axes.set_xlabel("x")
        axes.set_ylabel(name, **PLAIN)
        return axes
    draw_plane(axes, plane, grid, drawn, **options)
    if ax is None:
        axes.set_title(title, **PLAIN)
        add_color_bar(axes, axes.images[0], plane)
    return axes


def taken(values: Field | npt.NDArray[Any], key: Any = ...) -> npt.NDArray[Any] | None:  # noqa: ANN401
    """Return what an index selects; None where another rank draws it."""
    return gathered(values, key) if is_a(values, Field) else np.asarray(values[key])


def _reaches(array: npt.NDArray[Any], level: float) -> bool:
    """Whether finite values lie on either side of a level."""
    low, high = array.min(), array.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        finite = array[np.isfinite(array)]
        return finite.size > 0 and bool(finite.min() < level < finite.max())
    return bool(low < level < high)


def checked(
    field: Field | npt.ArrayLike, dimensions: tuple[int, ...]
) -> tuple[Field | npt.NDArray[Any], Grid]:
    """Return the values and their grid when they can be drawn."""
    grid = field.grid.whole if is_a(field, Field) else None
    if is_named(field):
        named = {*field.dims} & {*AXES}  # type: ignore[union-attr]
        if field.ndim > 2 and named and len(named) < field.ndim:  # type: ignore[union-attr]
            raise ValueError(
                f"field must have the dimensions {', '.join(sorted(named))} alone, not "
                f"{shown(field.dims)}: see its method isel"  # type: ignore[union-attr]
            )
        field, grid = in_order(field, "field")
    if is_a(field, Velocity):
        raise TypeError(
            "field must be a Field or an array, not a Velocity: draw one component as a field, "
            "field[...] = lambda x, y: ..."
        )
    if isinstance(field, Sequence) and any(is_a(one, Field) for one in field):
        raise TypeError(f"field must be one Field, not {len(field)} of them: draw each by itself")
    values = field if is_a(field, Field) else as_values(field, name="field")
    if not values.size:
        raise ValueError(f"field must have values, not the shape {values.shape}")
    components = values.components if is_a(values, Field) else 1
    if components > 1:
        raise ValueError(
            f"field must have one component, not {components}: take one with field.component(0)"
        )
    if values.ndim not in dimensions:
        allowed = f"{dimensions[0]} to {dimensions[-1]}" if dimensions[1:] else str(dimensions[0])
        way = (
            "pt.plot.slice draws it"
            if values.ndim in (1, 2)
            else "take a part of it, such as array[0]"
            if values.ndim > 3
            else "one number is no field"
        )
        raise ValueError(f"field must have {allowed} dimensions, not {values.ndim}: {way}")
    return values, grid or Grid(values.shape, comm="self")
