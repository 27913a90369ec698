# SPDX-License-Identifier: BSD-3-Clause
"""Fields in files of NumPy."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from particles.base.checks import MOST_COMPONENTS, as_dtype, as_path, shown
from particles.base.disk import StrPath, open_to_read, replacing
from particles.fields.field import Field
from particles.fields.grid import Grid
from particles.io.contents import (
    RESERVED,
    Contents,
    as_named,
    as_time,
    describe_grid,
    read_slabs,
    write_slabs,
)
from particles.runtime.device import Device
from particles.runtime.devices import as_device


def save(path: StrPath, fields: Field | Mapping[str, Field], time: float | None = None) -> None:
    """Write fields of one grid to a NumPy file, ``.npz``.

    Parameters
    ----------
    path : str or path-like
        The file. An existing one is replaced when the new one is complete.
    fields : Field or dict of str to Field
        One field, under its name or ``"values"``, or several by name.
    time : float, optional
        Time of the fields.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> u = pt.Field(pt.Grid(4), name="u")
    >>> u[2] = 1
    >>> pt.io.save("u.npz", u, time=0.5)
    >>> np.load("u.npz")["u"]
    array([0., 0., 1., 0.], dtype=float32)
    """
    named, instant = as_named(fields), as_time(time)
    path = as_path("path", path)
    if path.suffix != ".npz":
        raise ValueError(f"path must end in .npz, not {shown(str(path))}")
    grid = next(iter(named.values())).grid
    small: dict[str, Any] = dict(describe_grid(grid))
    if instant is not None:
        small["time"] = instant
    small["contents"] = ["contents", *small, *named]
    with replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, values in small.items():
            with archive.open(f"{name}.npy", "w") as entry:
                np.lib.format.write_array(entry, np.asarray(values), allow_pickle=False)
        for name, field in named.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                header = {"descr": field.dtype.str, "fortran_order": False, "shape": field.shape}
                np.lib.format.write_array_header_1_0(entry, header)
                write_slabs(entry, field)


def load(path: StrPath, device: Device | int | str | None = None) -> Contents:
    """Read a file of `save` into new fields.

    The file is read twice: the whole file is checked before any field is made.

    Parameters
    ----------
    path : str or path-like
        The file.
    device : Device, int or str, optional
        Device of the new fields, by default the one of `default_device`.

    Returns
    -------
    Contents
        ``fields``, a dict by name, and ``time``, which may be None.

    Examples
    --------
    >>> import particles as pt
    >>> u = pt.Field(pt.Grid(4, boundary="wall"), name="u")
    >>> pt.io.save("u.npz", u, time=0.5)
    >>> fields, time = pt.io.load("u.npz")
    >>> fields["u"].grid == u.grid, time
    (True, 0.5)
    """
    path, place = as_path("path", path), as_device(device)
    with open_to_read(path) as file:
        try:
            archive = zipfile.ZipFile(file)
            stored = _stored(archive)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  those of zipfile, numpy, tokenize, ast
            raise ValueError(
                f"{path} is damaged, or not a file of fields: {shown(error)}"
            ) from None
        fields = {}
        for name, (shape, dtype) in stored.kinds.items():
            components = shape[0] if len(shape) > stored.grid.ndim else 1
            fields[name] = Field(stored.grid, components, dtype, place, name)
            with archive.open(f"{name}.npy") as entry:
                _read_header(entry)
                read_slabs(entry, fields[name])
        return Contents(fields, stored.time)


class _Stored(NamedTuple):
    """What is in an archive but for values: of each field the shape and dtype."""

    grid: Grid
    time: float | None
    kinds: dict[str, tuple[tuple[int, ...], np.dtype[Any]]]


def _stored(archive: zipfile.ZipFile) -> _Stored:
    """Check all of an archive, before memory is asked for."""
    names = _checked(archive)
    small = {name: _small(archive, name) for name in RESERVED if name in names}
    kinds = {name: _header(archive, name) for name in names if name not in RESERVED}
    boundary = [(str(low), str(high)) for low, high in small["boundary"]]
    shape = min((shape for shape, _ in kinds.values()), key=len)
    origin, spacing = small["origin"].tolist(), small["spacing"].tolist()
    grid = Grid(
        shape[-len(boundary) :], origin=origin, spacing=spacing, boundary=boundary, comm="self"
    )
    for name, (shape, dtype) in kinds.items():
        as_dtype(name, dtype)
        is_known = len(shape) <= 1 + grid.ndim and all(
            2 <= n <= MOST_COMPONENTS for n in shape[: -grid.ndim]
        )
        if not is_known or shape[-grid.ndim :] != grid.shape:
            raise ValueError(f"{name} is of the shape {shape} on {grid}")
    return _Stored(grid, as_time(small["time"].item()) if "time" in small else None, kinds)


def _checked(archive: zipfile.ZipFile) -> list[str]:
    """Read all entries of an archive, against their sums, and return the names of arrays."""
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
        raise zipfile.BadZipFile("it is compressed")
    if sum(entry.file_size for entry in archive.infolist()) > archive.start_dir:
        raise zipfile.BadZipFile("its entries overlap")
    damaged = archive.testzip()
    if damaged is not None:
        raise zipfile.BadZipFile(f"the checksum of {damaged} does not match")
    names = [name.removesuffix(".npy") for name in archive.namelist()]
    if sorted(names) != sorted(_small(archive, "contents").tolist()):
        raise zipfile.BadZipFile("some of its contents are missing")
    return names


def _small(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    shape, dtype = _header(archive, name)
    with archive.open(f"{name}.npy") as entry:
        _read_header(entry)
        return np.frombuffer(entry.read(), dtype).reshape(shape)


def _header(archive: zipfile.ZipFile, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and dtype of an array that is as large as these say."""
    with archive.open(f"{name}.npy") as entry:
        shape, dtype = _read_header(entry)
        size = archive.getinfo(entry.name).file_size - entry.tell()
    if size != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"{name} has {size} bytes for the shape {shape} of {dtype}")
    return shape, dtype


def _read_header(entry: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:  # noqa: ANN401
    if np.lib.format.read_magic(entry) != (1, 0):
        raise ValueError("its arrays have an unknown format")
    shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(entry)
    if fortran_order:
        raise ValueError("its arrays are in Fortran order")
    return shape, dtype
