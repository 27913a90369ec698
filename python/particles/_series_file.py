# SPDX-License-Identifier: BSD-3-Clause
"""Fields at several times in one file of HDF5."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from particles import _xdmf
from particles._check import (
    MOST_COMPONENTS,
    arithmetic,
    as_dtype,
    as_index,
    as_path,
    as_real,
    shown,
)
from particles._files import Contents, Place, as_named, describe_grid, layers, replacing
from particles.device import Device, as_device
from particles.field import Field
from particles.grid import Grid

_FORMAT = "particles series 1"


class Series:
    """Fields of one grid at several times, in a file of HDF5; the extra ``particles-opencl[io]``.

    Beside it lies a file of XDMF, which ParaView opens. A file that is there is continued. One
    process at a time may append.

    Parameters
    ----------
    path : str or path-like
        The file; it is made when the first fields are appended. The one beside it has the suffix
        ``.xdmf``.

    Notes
    -----
    In the file there is a dataset for each field, of the axes (time, z, y, x) and, when there are
    several components, these, as XDMF wants it; the dataset ``time``; and as attributes of the file
    ``origin``, ``spacing`` and ``boundary`` of the grid. float16 is written as float32, which XDMF
    has, and read back as float16. The group ``moments`` shows the values of each time as virtual
    datasets, the only ones that all readers of XDMF take; nothing is stored twice.

    Only what has its time in ``time`` counts, and that is written last: what could not be appended,
    as the disk is full, is written over by the next. The file is not replaced as a whole, so that a
    process that is killed within `append` may damage it: for what must not be lost there is
    `checkpoint`.

    Examples
    --------
    >>> import particles as pt
    >>> grid = pt.Grid(32)
    >>> u = pt.Field(grid, name="u")
    >>> u[3] = 1
    >>> transport = pt.Splitting(pt.AdvectionOp(pt.Velocity(grid, lambda x: 1.0)), pt.RemeshOp(u))
    >>> series = pt.io.Series("run.h5")
    >>> for k in range(3):
    ...     transport.run(until=k * 0.25, dt=0.125)
    ...     series.append(transport.time, u)
    >>> series.times
    (0.0, 0.25, 0.5)
    >>> fields, time = series.load(-1)
    >>> bool((fields["u"].get() == u.get()).all())
    True
    """

    def __init__(self, path: Place) -> None:
        self.path = as_path("path", path)
        self._h5py = _import_h5py()
        if self.path.exists():
            with self._open("r"):
                pass

    @property
    def times(self) -> tuple[float, ...]:
        """When the fields are those that have been appended."""
        if not self.path.exists():
            return ()
        with self._open("r") as file:
            return tuple(file["time"][()].tolist()) if "time" in file else ()

    def __reduce__(self) -> tuple[type[Series], tuple[Place]]:
        return Series, (self.path,)

    def __len__(self) -> int:
        return len(self.times)

    def append(self, time: float, fields: Field | Mapping[str, Field]) -> None:
        """Add fields at a time later than the ones before.

        Parameters
        ----------
        time : float
            Of the fields.
        fields : Field or dict of str to Field
            One field, under its name or ``"values"``, or several by name: each time the same, on
            the same grid.

        Examples
        --------
        >>> import particles as pt
        >>> grid = pt.Grid(4)
        >>> series = pt.io.Series("appended.h5")
        >>> series.append(0.0, {"salt": pt.Field(grid), "heat": pt.Field(grid)})
        >>> len(series), series.times
        (1, (0.0,))
        """
        moment, named = as_real("time", time), as_named(fields)
        with self._open("a") as file:
            if "time" not in file:
                _begin(file, named)
            times = file["time"]
            _check_alike(file, named)
            if len(times) and moment <= times[-1]:
                raise ValueError(f"time must be after the last one, {times[-1]}, not {moment}")
            for name, field in named.items():
                _write(file[name], len(times), field)
            grid = next(iter(named.values())).grid
            self._show(file, len(times), grid)
            file.flush()
            times.resize(len(times) + 1, axis=0)
            times[-1] = moment
            description = _xdmf.describe(self.path.name, file, grid)
        with replacing(self.path.with_suffix(".xdmf")) as beside:
            beside.write(description)

    def load(self, index: int, device: Device | int | str | None = None) -> Contents:
        """Read the fields of one time into new ones.

        Parameters
        ----------
        index : int
            Which of the `times`; negative ones count from the end.
        device : Device, int or str, optional
            Where the fields shall be, by default the one of `default_device`.

        Returns
        -------
        Contents
            ``fields``, a dict by name, and ``time``.

        Examples
        --------
        >>> import particles as pt
        >>> series = pt.io.Series("loaded.h5")
        >>> series.append(0.5, pt.Field(pt.Grid(4), name="u"))
        >>> fields, time = series.load(-1)
        >>> fields["u"].shape, time
        ((4,), 0.5)
        """
        place, times = as_device(device), self.times
        if not times:
            raise IndexError(f"index must be of a time, but {self.path} has none")
        number = as_index("index", index, len(times))
        with self._open("r") as file:
            fields = {name: _read(file, name, number, place) for name in _xdmf.names(file)}
        return Contents(fields, times[number])

    def _show(self, file: Any, number: int, grid: Grid) -> None:  # noqa: ANN401
        """Show the values of one time as virtual datasets, each an attribute in XDMF."""
        moments = file.require_group("moments")
        moments.pop(str(number), None)
        for attribute in _xdmf.attributes(file, grid):
            dataset = file[attribute.field]
            source = self._h5py.VirtualSource(".", dataset.name, dataset.shape, dataset.dtype)
            layout = self._h5py.VirtualLayout(attribute.shape, dataset.dtype)
            place = number, *attribute.part
            layout[...] = source[place]
            moments.create_virtual_dataset(f"{number}/{attribute.name}", layout)

    @contextmanager
    def _open(self, mode: str) -> Iterator[Any]:
        """Open the file; refuse one that is something else."""
        is_new = not self.path.exists()
        try:
            file = self._h5py.File(self.path, mode)
        except OSError as error:
            raise type(error)(f"{self.path} cannot be opened as a file of HDF5: {error}") from None
        with file:
            if is_new:
                file.attrs["format"] = _FORMAT
            elif str(file.attrs.get("format")) != _FORMAT:
                raise ValueError(f"{self.path} is a file of HDF5, but not a series of fields")
            try:
                _check_layout(file)
            except Exception as error:  # noqa: BLE001  whatever else h5py finds there
                raise ValueError(f"{self.path} is damaged: {shown(error)}") from None
            yield file

    def __repr__(self) -> str:
        return f"Series({str(self.path)!r}, {len(self)} times)"


def _import_h5py() -> Any:  # noqa: ANN401  it has no types
    try:
        return import_module("h5py")
    except ImportError as error:
        raise ImportError(
            f"Series needs h5py: pip install 'particles-opencl[io]' ({error})"
        ) from error


def _begin(file: Any, named: Mapping[str, Field]) -> None:  # noqa: ANN401
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


def _check_layout(file: Any) -> None:  # noqa: ANN401
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


def _check_alike(file: Any, named: Mapping[str, Field]) -> None:  # noqa: ANN401
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


def _write(dataset: Any, number: int, field: Field) -> None:  # noqa: ANN401
    dataset.resize(number + 1, axis=0)
    for part in layers(field):
        dataset[number, part] = field[..., part].T


def _read(file: Any, name: str, number: int, device: Device) -> Field:  # noqa: ANN401
    shape, dtype = _kind(file[name])
    grid = _grid(file, shape)
    field = Field(grid, shape[0] if len(shape) > grid.ndim else 1, dtype, device, name)
    for part in layers(field):
        field[..., part] = file[name][number, part].T
    return field
