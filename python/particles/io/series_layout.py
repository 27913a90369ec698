# SPDX-License-Identifier: BSD-3-Clause
"""How a series of fields is laid out in a file of HDF5."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from particles.base.checks import MOST_COMPONENTS, arithmetic, as_dtype
from particles.fields.grid import Grid
from particles.io import series_sets, xdmf
from particles.io.contents import describe_grid, layers
from particles.io.leading import Making, Source
from particles.io.series_stored import attribute, check_dataset
from particles.io.sets import SetSource

_ROWS = 32


def begin(file: Any, named: Mapping[str, Source]) -> None:  # noqa: ANN401
    """Make empty datasets, chunks of which are the slabs that are written at once."""
    file.create_dataset("time", (0,), np.float64, maxshape=(None,), chunks=(1024,))
    if not named:
        return
    grid = next(iter(named.values())).grid
    for name, values in describe_grid(grid).items():
        file.attrs[name] = np.array(values, "S" if name == "boundary" else np.float64)
    for name, field in named.items():
        shape = field.shape[::-1]
        first = next(layers(field))
        dataset = file.create_dataset(
            name,
            (0, *shape),
            arithmetic(field.dtype),
            maxshape=(None, *shape),
            chunks=(1, first.stop, *shape[1:]),
        )
        dataset.attrs["dtype"] = np.bytes_(field.dtype.name)
    shown = [attribute.name for attribute in xdmf.attributes(file, grid.ndim)]
    if len({*shown}) < len(shown):
        raise ValueError(
            f"fields must not have the names of components of others, as do {', '.join(named)}"
        )


def check_layout(file: Any, size: int) -> None:  # noqa: ANN401
    """Refuse what is not laid out as it was begun, or takes more than there are bytes in the file.

    Nothing is read of a dataset before that; nothing in other files is looked for.
    """
    _check_own(file)
    check_dataset("time", file["time"], np.dtype("<f8"), (), size)
    times = file["time"][()]
    if not len(times) or not (np.diff(times, prepend=-np.inf) > 0).all():
        raise ValueError("time must ascend from the first one on")
    if not np.isfinite(times).all():
        raise ValueError("time must be finite")
    file["moments"].keys()
    shapes = set()
    for name in xdmf.names(file):
        shape, dtype = kind(file[name])
        grid = _grid(file, shape)
        stored = arithmetic(as_dtype(f"dtype of {name}", dtype))
        components = shape[: -grid.ndim]
        if len(components) > 1 or not all(2 <= n <= MOST_COMPONENTS for n in components):
            raise ValueError(f"{name} must have one number or several on each point, not {shape}")
        check_dataset(name, file[name], stored, shape[::-1], size, len(times))
        shapes.add(grid.shape)
    sets = series_sets.names(file)
    for name in sets:
        series_sets.check_layout(file, name, len(times), size)
    if len(shapes) != (1 if shapes or not sets else 0):
        raise ValueError(f"fields must be on one grid, not on {shapes}")


def _check_own(file: Any) -> None:  # noqa: ANN401
    """Refuse what is not in the file itself, as it is: links, filters, virtual datasets."""
    h5py = import_module("h5py")
    for name in file:
        if file.get(name, getclass=True, getlink=True) is not h5py.HardLink:
            raise ValueError(f"{name} must be in the file itself")
        if name == "moments":
            continue
        if file.get(name, getclass=True) is h5py.Group:
            owned = [f"{name}/{one}" for one in file[name]]
            if any(
                file.get(one, getclass=True, getlink=True) is not h5py.HardLink for one in owned
            ):
                raise ValueError(f"{name} must be in the file itself")
        else:
            owned = [name]
        for one in owned:
            stored = file[one].id.get_create_plist()
            if stored.get_layout() != h5py.h5d.CHUNKED or stored.get_nfilters() > 0:
                raise ValueError(f"{name} must be stored as it is, in chunks")


def kind(dataset: Any) -> tuple[tuple[int, ...], str]:  # noqa: ANN401
    """Return shape and dtype of the fields in a dataset."""
    return dataset.shape[:0:-1], attribute(dataset, "dtype", "S").decode()


def grid_of(file: Any) -> Grid | None:  # noqa: ANN401
    """Return the grid of the fields in a file; None where there are none."""
    there = xdmf.names(file)
    return _grid(file, kind(file[there[0]])[0]) if there else None


def _grid(file: Any, shape: tuple[int, ...]) -> Grid:  # noqa: ANN401
    """Return the grid of fields of a shape."""
    ends = attribute(file, "boundary", "S")
    origin, spacing = (attribute(file, name, "f").tolist() for name in ("origin", "spacing"))
    boundary = [(low.decode(), high.decode()) for low, high in ends]
    return Grid(
        shape[-len(boundary) :], origin=origin, spacing=spacing, boundary=boundary, comm="self"
    )


def check_next(
    file: Any,  # noqa: ANN401
    time: float,
    named: Mapping[str, Source],
    sets: Mapping[str, SetSource],
) -> None:
    """Refuse a time that is not after the last one, and fields that are not as they were then."""
    there, times = sorted([*xdmf.names(file), *series_sets.names(file)]), file["time"]
    if there != sorted([*named, *sets]):
        given = ", ".join([*named, *sets])
        raise ValueError(f"fields must be {', '.join(there)} as before, not {given}")
    for name, swarm in sets.items():
        if name not in series_sets.names(file):
            raise ValueError(f"{name!r} must be a field as before, not a set")
        series_sets.check_next(file, name, swarm)
    for name, field in named.items():
        if name not in xdmf.names(file):
            raise ValueError(f"{name!r} must be a set as before, not a field")
        shape, dtype = kind(file[name])
        if (shape, dtype) != (field.shape, field.dtype.name):
            raise ValueError(
                f"field {name!r} must be of the shape {shape} and of {dtype} as before, "
                f"not {field.shape} and {field.dtype}"
            )
        if (grid := _grid(file, shape)) != field.grid.whole:
            raise ValueError(
                f"field {name!r} must be on {grid} as before, not on {field.grid.whole}"
            )
    if len(times) and time <= times[-1]:
        raise ValueError(f"time must be after the last one, {times[-1]}, not {time}")


def write(dataset: Any, number: int, field: Source, between: Callable[[], None]) -> None:  # noqa: ANN401
    """Write the values of a time, slab by slab, with a call after each."""
    dataset.resize(number + 1, axis=0)
    for part in layers(field):
        values = field[..., part]
        turned = np.empty(values.shape[::-1], values.dtype)
        _copy(values, turned.T, field.grid.ndim)
        dataset[number, part] = turned
        between()


def read(
    file: Any,  # noqa: ANN401
    name: str,
    number: int,
    make: Making,
    between: Callable[[], None],
) -> None:
    """Make a field of the values of a time, read slab by slab, with a call after each."""
    shape, dtype = kind(file[name])
    grid = _grid(file, shape)
    field = make.field(name, grid, shape[0] if len(shape) > grid.ndim else 1, dtype)
    for part in layers(field):
        stored = file[name][number, part].T
        values = np.empty(stored.shape, stored.dtype)
        _copy(stored, values, grid.ndim)
        field[..., part] = values
        between()


def _copy(source: npt.NDArray[Any], target: npt.NDArray[Any], ndim: int) -> None:
    """Copy values to where the axes lie the other way round, by what fits into a cache.

    NumPy goes through all of one of the two in strides, which takes several times as long.
    """
    for component in np.ndindex(source.shape[:-ndim]):
        one, other = source[component], target[component]
        planes = range(one.shape[1]) if ndim == 3 else range(0, one.shape[0], _ROWS)
        for k in planes:
            part = np.s_[:, k] if ndim == 3 else np.s_[k : k + _ROWS]
            other[part] = one[part]
