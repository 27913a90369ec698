# SPDX-License-Identifier: BSD-3-Clause
"""Fields and sets in files of NumPy."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from particles.base.checks import MOST_COMPONENTS, as_dtype, as_path, shown
from particles.base.disk import StrPath, open_to_read, replacing
from particles.fields.field import Field
from particles.fields.grid import Grid
from particles.io.atomic.label import MAGIC
from particles.io.contents import (
    RESERVED,
    Contents,
    alone_with,
    as_bytes,
    as_named,
    as_time,
    describe_grid,
    read_slabs,
    write_slabs,
)
from particles.io.leading import Maker, Making, Source, led, ranks_for
from particles.io.sets import (
    OFFSETS,
    PLACES,
    Column,
    SetRecord,
    SetSource,
    check_record,
    parts_written,
    positions_written,
    record_of,
)
from particles.runtime.device import Device
from particles.runtime.device_group import place_of
from particles.sets.columns import parts_of
from particles.sets.formulas import AttributeType
from particles.sets.particle_set import ParticleSet

if TYPE_CHECKING:
    from mpi4py import MPI

_POSITIONS = "positions"  # of a set, for others


def save(
    path: StrPath,
    fields: Field | ParticleSet | Mapping[str, Field | ParticleSet],
    time: float | None = None,
) -> None:
    """Write fields of one grid, and sets of particles, to a NumPy file, ``.npz``.

    Parameters
    ----------
    path : str or path-like
        The file. An existing one is replaced when the new one is complete.
    fields : Field or ParticleSet or dict of str to Field or ParticleSet
        One field, under its name or ``"values"``, a set, under its name or ``"particles"``, or several
        by name.
    time : float, optional
        Time of all.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> u = pt.Field(pt.Grid(4), name="u")
    >>> u[2] = 1
    >>> pt.io.save("u.npz", u, time=0.5)
    >>> np.load("u.npz")["u"]
    array([0., 0., 1., 0.], dtype=float32)
    >>> swarm = pt.ParticleSet(u.grid, [[0.25], [0.5]], mass=np.float32([1, 2]))
    >>> pt.io.save("swarm.npz", {"swarm": swarm, "u": u})
    >>> np.load("swarm.npz")["swarm/positions"][:, 0], np.load("swarm.npz")["swarm/mass"]
    (array([0.25, 0.5 ]), array([1., 2.], dtype=float32))
    """
    given, instant = as_named(fields), as_time(time)
    path = as_path("path", path, ".npz")

    def write(sources: Mapping[str, Source], sets: Mapping[str, SetSource], _: object) -> None:
        _save(path, sources, sets, instant)

    what = f"save({shown(str(path))}) of {given.told} at {time}"
    alone_with(given.sets.values(), lambda: led(given.ranks, what, write, *given))


def _save(
    path: StrPath,
    named: Mapping[str, Source],
    sets: Mapping[str, SetSource],
    instant: float | None,
) -> None:
    small: dict[str, Any] = {}
    if named:
        small |= describe_grid(next(iter(named.values())).grid)
    if instant is not None:
        small["time"] = instant
    records = {name: record_of(swarm) for name, swarm in sets.items()}
    for name, record in records.items():
        small |= {f"{name}/{PLACES}{what}": one for what, one in _small_of(record).items()}
    columns = [
        f"{name}/{label}"
        for name, record in records.items()
        for label in (_POSITIONS, *record.columns())
    ]
    small["contents"] = ["contents", *small, *named, *columns]
    with replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, values in small.items():
            with archive.open(f"{name}.npy", "w") as entry:
                np.lib.format.write_array(entry, np.asarray(values), allow_pickle=False)
        for name, field in named.items():
            with _array_in(archive, name, field.shape, field.dtype) as entry:
                write_slabs(entry, field)
        for name, swarm in sets.items():
            _write_set(archive, name, swarm, records[name])


def _small_of(record: SetRecord) -> dict[str, Any]:
    """Return what a set is made of besides columns."""
    return {
        "shape": record.grid.shape,
        **describe_grid(record.grid),
        "leaving": record.leaving,
        "left": np.array(record.left, np.int64),
    }


def _write_set(archive: zipfile.ZipFile, name: str, swarm: SetSource, record: SetRecord) -> None:
    count, positions = record.particles, (record.particles, record.grid.ndim)
    with _array_in(archive, f"{name}/{_POSITIONS}", positions, np.dtype(np.float64)) as entry:
        for rows in parts_of(count):
            entry.write(as_bytes(positions_written(swarm, rows)))
    for label, column in record.columns().items():
        shape = column.shape_of(count)
        with _array_in(archive, f"{name}/{label}", shape, column.dtype) as entry:
            for part in parts_written(swarm, label):
                entry.write(as_bytes(part))


@contextmanager
def _array_in(
    archive: zipfile.ZipFile, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Iterator[Any]:
    """Begin an array, whose values are to follow."""
    with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
        header = {"descr": dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(entry, header)
        yield entry


def load(
    path: StrPath,
    device: Device | int | str | None = None,
    *,
    comm: str | MPI.Intracomm | None = None,
    devices: Sequence[Device | int | str] | None = None,
    cuts: npt.ArrayLike | None = None,
) -> Contents:
    """Read a file of `save` into new fields and sets.

    The file is read twice: the whole file is checked before any field is made. Sets come back with
    the same bits, with `turns` and `left`.

    Parameters
    ----------
    path : str or path-like
        The file.
    device : Device, int or str, optional
        Device of what is new, by default the one of `default_device`.
    comm : "world", "self" or mpi4py.MPI.Intracomm, optional
        As for `Grid`: divides the fields among ranks, which all must call this; the first one reads.
    devices : sequence of Device, int or str, optional
        As for `Grid`: divides what is new among devices of this process.
    cuts : array_like of int, optional
        As for `Grid`: into how many parts each axis is cut.

    Returns
    -------
    Contents
        ``fields``, a dict of fields and sets by name, and ``time``, which may be None.

    Examples
    --------
    >>> import particles as pt
    >>> u = pt.Field(pt.Grid(4, boundary="wall"), name="u")
    >>> pt.io.save("u.npz", u, time=0.5)
    >>> fields, time = pt.io.load("u.npz")
    >>> fields["u"].grid == u.grid, time
    (True, 0.5)
    """
    path, place, ranks = as_path("path", path), place_of(device, devices), ranks_for(comm)
    maker = Maker(place, ranks, comm, cuts, own=devices is not None)

    def read(_fields: object, _sets: object, make: Making) -> float | None:
        return _load(path, make)

    time = led(ranks, f"load({shown(str(path))})", read, {}, {}, maker)
    return Contents({**maker.sets, **maker.fields}, time)


def _load(path: Path, make: Making) -> float | None:
    """Fill what is made; return the time."""
    with open_to_read(path) as file:
        if file.read(len(MAGIC)) == MAGIC:
            raise ValueError(f"{path} is a series: use io.Series(path), and its load(index)")
        try:
            archive = zipfile.ZipFile(file)
            stored = _stored(archive)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  those of zipfile, numpy, tokenize, ast
            raise ValueError(
                f"{path} is damaged, or not a file of fields: {shown(error)}"
            ) from None
        for name, record in stored.sets.items():
            try:
                _read_set(archive, name, record, make)
            except ValueError as error:
                raise ValueError(
                    f"{path} is damaged, or not a file of fields: {shown(error)}"
                ) from None
        for name, (shape, dtype) in stored.kinds.items():
            grid = stored.grid_of_fields
            components = shape[0] if len(shape) > grid.ndim else 1
            field = make.field(name, grid, components, dtype)
            with archive.open(f"{name}.npy") as entry:
                _read_header(entry)
                read_slabs(entry, field)
        return stored.time


class _Stored(NamedTuple):
    """What is in an archive but for values: of each field the shape and dtype."""

    grid: Grid | None  # of the fields
    time: float | None
    kinds: dict[str, tuple[tuple[int, ...], np.dtype[Any]]]
    sets: dict[str, SetRecord]

    @property
    def grid_of_fields(self) -> Grid:
        assert self.grid is not None  # where there are fields
        return self.grid


def _stored(archive: zipfile.ZipFile) -> _Stored:
    """Check all of an archive, before memory is asked for."""
    names = _checked(archive)
    small = {name: _small(archive, name) for name in RESERVED if name in names}
    kinds = {
        name: _header(archive, name) for name in names if name not in RESERVED and "/" not in name
    }
    sets = {
        name: _set_in(archive, name, names)
        for name in dict.fromkeys(name.partition("/")[0] for name in names if "/" in name)
    }
    time = as_time(small["time"].item()) if "time" in small else None
    if not kinds and sets:
        return _Stored(None, time, kinds, sets)
    shape = min((shape for shape, _ in kinds.values()), key=len)
    grid = _grid_of(shape[-len(small["boundary"]) :], small)
    for name, (shape, dtype) in kinds.items():
        as_dtype(name, dtype)
        is_known = len(shape) <= 1 + grid.ndim and all(
            2 <= n <= MOST_COMPONENTS for n in shape[: -grid.ndim]
        )
        if not is_known or shape[-grid.ndim :] != grid.shape:
            raise ValueError(f"{name} is of the shape {shape} on {grid}")
    return _Stored(grid, time, kinds, sets)


def _grid_of(shape: tuple[int, ...], small: Mapping[str, npt.NDArray[Any]]) -> Grid:
    boundary = [(str(low), str(high)) for low, high in small["boundary"]]
    origin, spacing = small["origin"].tolist(), small["spacing"].tolist()
    return Grid(shape, origin=origin, spacing=spacing, boundary=boundary, comm="self")


def _set_in(archive: zipfile.ZipFile, name: str, names: list[str]) -> SetRecord:
    """Check what an archive has of a set, but for the values of columns."""
    own = [one.partition("/")[2] for one in names if one.startswith(f"{name}/")]
    small = {
        what: _small(archive, f"{name}/{PLACES}{what}")
        for what in ("shape", "origin", "spacing", "boundary", "leaving", "left")
    }
    (count, _), _ = _header(archive, f"{name}/{_POSITIONS}")
    _, dtype = _header(archive, f"{name}/{OFFSETS}")
    labels = [label for label in own if "/" not in label and label != _POSITIONS]
    headers = {label: _header(archive, f"{name}/{label}") for label in labels}
    attributes = {
        label: AttributeType(shape[1] if len(shape) > 1 else 1, its_dtype)
        for label, (shape, its_dtype) in headers.items()
    }
    left = tuple((int(low), int(high)) for low, high in small["left"])
    grid = _grid_of(tuple(small["shape"].tolist()), small)
    record = SetRecord(grid, dtype, str(small["leaving"]), left, count, attributes)
    check_record(record)
    for label, column in record.columns().items():
        found = _header(archive, f"{name}/{label}")
        if found != (column.shape_of(count), column.dtype):
            raise ValueError(f"{label} of {name} is of the shape {found[0]} of {found[1]}")
    return record


def _read_set(archive: zipfile.ZipFile, name: str, record: SetRecord, make: Making) -> None:
    with ExitStack() as opened:
        entries: dict[str, Any] = {}

        def read(label: str, column: Column, rows: range) -> npt.NDArray[Any]:
            if label not in entries:
                entries[label] = opened.enter_context(archive.open(f"{name}/{label}.npy"))
                _read_header(entries[label])
            shape = column.shape_of(len(rows))
            content = entries[label].read(math.prod(shape) * column.dtype.itemsize)
            return np.frombuffer(content, column.dtype).reshape(shape)

        make.particles(name, record, read)


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
