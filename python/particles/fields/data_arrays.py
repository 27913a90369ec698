# SPDX-License-Identifier: BSD-3-Clause
"""Values with names and coordinates of their axes, as xarray has them; it is imported when needed.

Axes of a grid are ``x``, ``y``, ``z``, each with the coordinates of its points, and what else makes
the grid as attributes of these: a NetCDF file has room for them, and arithmetic keeps them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from particles.base.checks import as_real, converted, refusal, shown
from particles.base.kinds import is_a
from particles.fields.grid import Boundary, Grid

if TYPE_CHECKING:
    import xarray
    from mpi4py import MPI

    from particles.runtime.device import Device


Coordinates: TypeAlias = npt.NDArray[np.floating[Any]]

AXES = ("x", "y", "z")
COMPONENT = "component"
_OFF = 1e-3  # of the spacing: by so much coordinates of few digits may be off


class Axis(NamedTuple):
    """An axis, or a part of it, that values are meant for; places are those of its points.

    It is not kept where an index selects one point of it.
    """

    name: str
    places: Coordinates | None = None
    spacing: float = 0.0
    is_kept: bool = True

    def part(self, selected: slice | int) -> Axis:
        """Return what a slice or an index selects."""
        places = None if self.places is None else np.atleast_1d(self.places[selected])
        return self._replace(places=places, is_kept=is_a(selected, slice))


def axes_of(grid: Grid, components: int) -> list[Axis]:
    """Return the axes of a field."""
    several = [Axis(COMPONENT)] if components > 1 else []
    places = (points.ravel() for points in grid.coordinates())
    return several + [Axis(*axis) for axis in zip(AXES, places, grid.spacing)]  # noqa: B905


def import_xarray(what: str) -> Any:  # noqa: ANN401  it comes and goes
    """Return xarray, or say what needs it."""
    try:
        return import_module("xarray")
    except ImportError as error:
        raise ImportError(f"{what} needs xarray: pip install xarray ({error})") from error


def to_data_array(
    values: npt.NDArray[Any],
    grid: Grid,
    has_components: bool,
    name: str | None,
    time: float | None,
) -> xarray.DataArray:
    """Return values on a grid with names and coordinates of the axes."""
    coordinates = coordinates_of(grid)
    if time is not None:
        coordinates["time"] = as_real("time", time)
    axes = AXES[: grid.ndim]
    array: xarray.DataArray = import_xarray("to_xarray").DataArray(
        values, coordinates, (COMPONENT, *axes) if has_components else axes, name
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


def is_named(value: Any) -> bool:  # noqa: ANN401
    """Whether a value is an array of xarray whose axes have names of their own."""
    xarray = sys.modules.get("xarray")
    if xarray is None or not is_a(value, xarray.DataArray | xarray.Variable):
        return False
    return value.ndim == 0 or tuple(value.dims) != tuple(f"dim_{k}" for k in range(value.ndim))


def by_names(array: Any, axes: Sequence[Axis | None]) -> npt.NDArray[Any]:  # noqa: ANN401
    """Return values with their axes in this order, of length 1 where they lack one.

    Where they have coordinates, these are those of the axis, or the other way round. None stands
    for an axis without a name.
    """
    names = [_general(array, name) for name in array.dims]
    for axis in axes:
        if axis and axis.name not in names:
            _check_point(array, axis)
    axes = [axis for axis in axes if axis is None or axis.is_kept]
    wanted = [axis.name for axis in axes if axis]
    if not {*names} <= {*wanted} or len({*names}) < len(names):
        raise ValueError(
            f"values must have only the dimensions {', '.join(wanted) or 'of a number'}, not "
            f"{shown(array.dims)}: see their methods rename, isel and drop_vars"
        )
    values: npt.NDArray[Any] = array.values
    if not names:
        return values
    for axis in axes:
        if axis and axis.name in names and axis.places is not None:
            values = _along(values, array, axis, names.index(axis.name))
    values = values.transpose([names.index(name) for name in wanted if name in names])
    return values[tuple(slice(None) if axis and axis.name in names else None for axis in axes)]


def _along(
    values: npt.NDArray[Any],
    array: Any,  # noqa: ANN401
    axis: Axis,
    number: int,
) -> npt.NDArray[Any]:
    """Return values in the order of the points of an axis; refuse those of other places."""
    places = _coordinates(array, axis.name, "values")
    if places is None:
        return values
    assert axis.places is not None
    if len(places) == len(axis.places):
        if _is_near(places, axis.places, axis.spacing):
            return values
        if _is_near(places[::-1], axis.places, axis.spacing):
            return np.flip(values, number)
    raise ValueError(
        f"values must lie on the points along {axis.name}, {_range(axis.places)}, not "
        f"{_range(places)}: see their method interp"
    )


def _check_point(array: Any, axis: Axis) -> None:  # noqa: ANN401
    """Refuse values of one place along an axis that are meant for another one."""
    coordinates = getattr(array, "coords", {})
    if axis.places is None or len(axis.places) != 1 or axis.name not in coordinates:
        return
    given = coordinates[axis.name]
    if given.ndim or given.dtype.kind not in "iuf":
        return
    if not _is_near(np.atleast_1d(given.values), axis.places, axis.spacing):
        raise ValueError(
            f"values must be of {axis.name} = {axis.places[0]}, not of {axis.name} = "
            f"{given.values}: see their methods sel, interp and drop_vars"
        )


def _is_near(places: Coordinates, wanted: Coordinates, spacing: float) -> bool:
    return bool((abs(places - wanted) <= _OFF * spacing).all())


def _range(places: Coordinates) -> str:
    ends = f" from {places[0]} to {places[-1]}" if len(places) else ""
    return f"{len(places)}{ends}"


def _general(array: Any, name: object) -> object:  # noqa: ANN401
    """Return the name of a dimension, without the number of components in it."""
    return COMPONENT if name == f"{COMPONENT}_{array.sizes[name]}" else name


def _coordinates(array: Any, name: str, what: str) -> Coordinates | None:  # noqa: ANN401
    """Return the coordinates along a dimension, if there are any."""
    coordinates = getattr(array, "coords", {})
    if name not in coordinates or coordinates[name].dims != (name,):
        return None
    given = coordinates[name]
    expected = f"{what} must have numbers as coordinates along {name}"
    if given.dtype.kind in "mM":
        seconds = f"count seconds, (array.{name} - array.{name}[0]) / np.timedelta64(1, 's')"
        raise TypeError(f"{refusal(expected, given.values)}: {seconds}")
    if given.dtype.kind not in "iuf":
        raise TypeError(refusal(expected, given.values))
    return converted(lambda one: np.asarray(one, np.float64), given.values, expected)


def as_data_array(array: Any) -> xarray.DataArray:  # noqa: ANN401
    """Return an array of xarray that can have coordinates, without an axis of one component."""
    known = sys.modules.get("xarray")
    if known is None or not is_a(array, known.DataArray):
        of_many = known is not None and is_a(array, known.Dataset)
        advice = ": choose one of them by its name, or join some by to_dataarray" if of_many else ""
        raise TypeError(f"array must be a DataArray of xarray, not {type(array).__name__}{advice}")
    one = {
        name: 0
        for name in array.dims
        if _general(array, name) == COMPONENT and array.sizes[name] == 1
    }
    result: xarray.DataArray = array.isel(one)
    return result


def times_of(array: xarray.DataArray) -> Coordinates:
    """Return the times along a dimension of an array."""
    if "time" not in array.dims:
        raise ValueError(f"array must have the dimension time, not {shown(array.dims)} alone")
    times = _coordinates(array, "time", "array")
    if times is None:
        raise ValueError("array must have numbers as coordinates along time, not none")
    return times


def components_of(array: xarray.DataArray) -> int:
    """Return how many numbers there are on each point."""
    sizes = [array.sizes[name] for name in array.dims if _general(array, name) == COMPONENT]
    return int(math.prod(sizes))


def in_order(array: Any, what: str) -> tuple[npt.NDArray[Any], Grid | None]:  # noqa: ANN401
    """Return values with the axes of a grid in their order, and the grid if coordinates tell of it.

    Arrays of other axes stay as they are.
    """
    axes = AXES[: array.ndim]
    if {*array.dims} != {*axes}:
        return array.values, None
    if not {*axes} <= {*getattr(array, "coords", ())}:
        return array.transpose(*axes).values, None
    grid = grid_of(array, "outflow", what)  # which has no part in where points are
    return by_names(array, axes_of(grid, 1)), grid


def block_of(array: xarray.DataArray, grid: Grid, components: int) -> npt.NDArray[Any]:
    """Return what a rank has of values of the whole of a divided grid."""
    values = by_names(array, axes_of(grid.whole, components))
    own = [slice(begin, begin + n) for begin, n in zip(grid.begin, grid.shape, strict=True)]
    key: tuple[Any, ...] = (..., *own)
    block: npt.NDArray[Any] = values[key]
    return block


def grid_of(
    array: xarray.DataArray,
    boundary: Boundary | None,
    what: str = "array",
    comm: str | MPI.Intracomm | None = "self",
    devices: Sequence[Device | int | str] | None = None,
    cuts: npt.ArrayLike | None = None,
) -> Grid:
    """Return the grid on whose points an array lies, of which messages speak under a name."""
    names = [name for name in array.dims if _general(array, name) != COMPONENT]
    axes = AXES[: len(names)]
    if not names or {*names} != {*axes} or array.ndim > len(names) + 1:
        raise ValueError(
            f"{what} must have the dimensions x, or x and y, or x, y and z, and perhaps {COMPONENT}, "
            f"not {shown(array.dims)}: see its methods rename and isel"
        )
    lines = [_line(array, name, boundary is None, what) for name in axes]
    told = [line.boundary for line in lines] if boundary is None else boundary
    beyond = Grid((1,) * len(axes), boundary=told, comm="self").boundary
    return Grid(
        [array.sizes[name] for name in axes],
        origin=[line.origin_if(ends) for line, ends in zip(lines, beyond, strict=True)],
        spacing=[line.spacing for line in lines],
        boundary=beyond,
        comm=comm,
        devices=devices,
        cuts=cuts,
    )


class _Line(NamedTuple):
    """Points along an axis, and what is told of its ends."""

    first: float
    spacing: float
    origin: float | None = None
    boundary: str | tuple[str, str] = "periodic"

    def origin_if(self, ends: str | tuple[str, str]) -> float:
        """Return where an axis with these ends begins."""
        if self.origin is not None and ends == self.boundary:
            return self.origin
        return self.first if ends == "periodic" else self.first - self.spacing / 2


def _line(array: xarray.DataArray, name: str, must_tell: bool, what: str) -> _Line:
    """Return the points along an axis, exactly as attributes tell of them if they do."""
    places = _coordinates(array, name, what)
    if places is None or not len(places) or not np.isfinite(places).all():
        given = ": see its method assign_coords" if places is None else f", not {shown(places)}"
        raise ValueError(f"{what} must have finite coordinates along {name}{given}")
    attributes = array.coords[name].attrs
    told = _told(attributes)
    if len(places) > 1 and places[0] > places[-1]:
        places = places[::-1]
    if told is not None:
        points = told.first + np.arange(len(places)) * told.spacing
        length = len(places) * told.spacing
        is_whole = abs(attributes["extent"] - length) <= _OFF * told.spacing
        if is_whole and _is_near(places, points, told.spacing):
            return told
        if must_tell:
            raise ValueError(
                f"boundary must be given, because the coordinates of {what} along {name} are not those "
                f"of its attributes, but {_range(places)}"
            )
    if len(places) == 1 and told is not None:
        return _Line(float(places[0]), told.spacing)
    if len(places) == 1:
        raise ValueError(f"{what} must have two points or more along {name} to tell the spacing")
    spacing = float(places[-1] - places[0]) / (len(places) - 1)
    if spacing <= 0 or not _is_near(places, places[0] + np.arange(len(places)) * spacing, spacing):
        steps = np.diff(places)
        raise ValueError(
            f"{what} must have equally spaced coordinates along {name}, not with steps from "
            f"{steps.min()} to {steps.max()}"
        )
    return _Line(float(places[0]), spacing)


def _told(attributes: Any) -> _Line | None:  # noqa: ANN401  a mapping
    """Return what attributes tell of an axis, if they are as `coordinates_of` makes them."""
    numbers = [attributes.get(name) for name in ("origin", "extent", "spacing")]
    text = attributes.get("boundary")
    if not is_a(text, str) or not all(is_a(one, float | np.floating) for one in numbers):
        return None
    origin, _, spacing = map(float, numbers)
    ends = text.split()
    try:
        (boundary,) = Grid(1, boundary=[ends[0] if len(ends) == 1 else ends], comm="self").boundary
        grid = Grid(1, origin=origin, spacing=spacing, boundary=[boundary], comm="self")
    except ValueError:
        return None
    return _Line(grid.first[0], spacing, origin, boundary)
