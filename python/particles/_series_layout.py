# SPDX-License-Identifier: BSD-3-Clause
"""How a series of fields is laid out in a file of HDF5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from particles import _xdmf
from particles._check import MOST_COMPONENTS, arithmetic, as_dtype
from particles._files import describe_grid, layers
from particles._staged import Staged
from particles.device import Device
from particles.field import Field
from particles.grid import Grid


def begin(file: Any, named: Mapping[str, Field]) -> None:  # noqa: ANN401
    """Make empty datasets, chunks of which are the slabs that are written at once."""
    file.clear()
    grid = next(iter(named.values())).grid
    for name, values in describe_grid(grid).items():
        file.attrs[name] = values
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
        dataset.attrs["dtype"] = field.dtype.name
    file.create_dataset("time", (0,), np.float64, maxshape=(None,), chunks=(1024,))


def check_layout(file: Any) -> None:  # noqa: ANN401
    """Refuse what is not laid out as it was begun; without times, nothing has been appended."""
    if "time" not in file:
        return
    times = file["time"][()]
    if times.shape != file["time"].shape[:1] or not (np.diff(times, prepend=-np.inf) > 0).all():
        raise ValueError("time must ascend")
    if not np.isfinite(times).all():
        raise ValueError("time must be finite")
    if "moments" in file:
        file["moments"].keys()
    shapes = set()
    for name in _xdmf.names(file):
        shape, dtype = _kind(file[name])
        grid = _grid(file, shape)
        stored = arithmetic(as_dtype(f"dtype of {name}", dtype))
        components = shape[: -grid.ndim]
        if len(components) > 1 or not all(2 <= n <= MOST_COMPONENTS for n in components):
            raise ValueError(f"{name} must have one number or several on each point, not {shape}")
        if file[name].dtype != stored or len(file[name]) < len(times):
            raise ValueError(f"{name} must have {stored} for each time, not {file[name]}")
        if file[name].maxshape[0] is not None or file["time"].maxshape != (None,):
            raise ValueError("fields must be open to more times")
        shapes.add(grid.shape)
    if len(shapes) != 1:
        raise ValueError(f"fields must be on one grid, not on {shapes}")


def _kind(dataset: Any) -> tuple[tuple[int, ...], str]:  # noqa: ANN401
    """Return shape and dtype of the fields in a dataset."""
    return dataset.shape[:0:-1], str(dataset.attrs["dtype"])


def _grid(file: Any, shape: tuple[int, ...]) -> Grid:  # noqa: ANN401
    """Return the grid of fields of a shape."""
    boundary = [tuple(map(_text, ends)) for ends in file.attrs["boundary"]]
    origin, spacing = (file.attrs[name].tolist() for name in ("origin", "spacing"))
    return Grid(shape[-len(boundary) :], origin=origin, spacing=spacing, boundary=boundary)


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def check_alike(file: Any, named: Mapping[str, Field]) -> None:  # noqa: ANN401
    there = sorted(_xdmf.names(file))
    if there != sorted(named):
        raise ValueError(f"fields must be {', '.join(there)} as before, not {', '.join(named)}")
    for name, field in named.items():
        shape, dtype = _kind(file[name])
        if (shape, dtype) != (field.shape, field.dtype.name):
            raise ValueError(
                f"field {name!r} must be of the shape {shape} and of {dtype} as before, "
                f"not {field.shape} and {field.dtype}"
            )
        if (grid := _grid(file, shape)) != field.grid:
            raise ValueError(f"field {name!r} must be on {grid} as before, not on {field.grid}")


def write(dataset: Any, number: int, field: Field, disk: Staged) -> None:  # noqa: ANN401
    dataset.resize(number + 1, axis=0)
    for part in layers(field):
        dataset[number, part] = field[..., part].T
        disk.check()


def read(file: Any, name: str, number: int, device: Device) -> Field:  # noqa: ANN401
    shape, dtype = _kind(file[name])
    grid = _grid(file, shape)
    field = Field(grid, shape[0] if len(shape) > grid.ndim else 1, dtype, device, name)
    for part in layers(field):
        field[..., part] = file[name][number, part].T
    return field
