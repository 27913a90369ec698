# SPDX-License-Identifier: BSD-3-Clause
"""How sets of particles are laid out in the file of a series.

A set is a group. All times follow each other in its datasets; ``counts`` says how many particles each
has. Where places are is kept as the set knows it, and for others as ``positions``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from particles.fields.grid import Grid
from particles.io.contents import describe_grid
from particles.io.leading import Making
from particles.io.series_stored import attribute, check_dataset
from particles.io.sets import (
    Column,
    SetRecord,
    SetSource,
    check_record,
    parts_written,
    positions_written,
    record_of,
)
from particles.sets.columns import parts_of
from particles.sets.formulas import AttributeType

POSITIONS = "positions"
_COUNTS, _LEFT = "places.counts", "places.left"
_FEWEST, _MOST = 2**6, 2**14  # rows of a chunk
_MOST_NAMES = 4096  # bytes of a description
_STORED = {"float16": "float32", "bool": "uint8"}  # of what XDMF does not have


def names(file: Any) -> list[str]:  # noqa: ANN401  h5py has no types
    """Return the names of the sets in an open file."""
    return [name for name in file if name != "moments" and "counts" in file[name].attrs]


def begin(file: Any, name: str, swarm: SetSource) -> None:  # noqa: ANN401
    """Make a group of empty datasets."""
    record = record_of(swarm)
    group = file.create_group(name)
    group.attrs["counts"] = np.bytes_(_COUNTS)
    for what, values in describe_grid(record.grid).items():
        group.attrs[what] = np.array(values, "S" if what == "boundary" else np.float64)
    group.attrs["shape"] = np.array(record.grid.shape, np.int64)
    group.attrs["leaving"] = np.bytes_(record.leaving)
    rows = min(max(_FEWEST, 1 << record.particles.bit_length()), _MOST)
    for label, shape, dtype in _datasets(record):
        stored = np.dtype(_STORED.get(dtype.name, dtype))
        chunks = (_FEWEST if label in (_COUNTS, _LEFT) else rows, *shape)
        dataset = group.create_dataset(
            label, (0, *shape), stored, maxshape=(None, *shape), chunks=chunks
        )
        dataset.attrs["dtype"] = np.bytes_(dtype.name)


def _datasets(record: SetRecord) -> list[tuple[str, tuple[int, ...], np.dtype[Any]]]:
    """Return of each dataset the name, the shape of a row, and of what it is."""
    known: list[tuple[str, tuple[int, ...], np.dtype[Any]]] = [
        (_COUNTS, (), np.dtype(np.int64)),
        (_LEFT, (record.grid.ndim, 2), np.dtype(np.int64)),
        (POSITIONS, (3,), np.dtype(np.float64)),
    ]
    for label, column in record.columns().items():
        known.append((_label(label), column.shape_of(0)[1:], column.dtype))
    return known


def _label(name: str) -> str:
    return name.replace("/", ".")


def record_in(file: Any, name: str, number: int) -> SetRecord:  # noqa: ANN401
    """Return what a set is made of at a time."""
    group = file[name]
    ends = attribute(group, "boundary", "S")
    boundary = [(low.decode(), high.decode()) for low, high in ends]
    grid = Grid(
        tuple(attribute(group, "shape", "i").tolist()),
        origin=attribute(group, "origin", "f").tolist(),
        spacing=attribute(group, "spacing", "f").tolist(),
        boundary=boundary,
        comm="self",
    )
    attributes = {
        label: AttributeType(
            dataset.shape[1] if dataset.ndim > 1 else 1,
            np.dtype(attribute(dataset, "dtype", "S").decode()),
        )
        for label, dataset in group.items()
        if "." not in label and label != POSITIONS
    }
    left = tuple((int(low), int(high)) for low, high in group[_LEFT][number])
    dtype = np.dtype(attribute(group["places.offsets"], "dtype", "S").decode())
    leaving = attribute(group, "leaving", "S").decode()
    record = SetRecord(grid, dtype, leaving, left, int(group[_COUNTS][number]), attributes)
    check_record(record)
    return record


def check_layout(file: Any, name: str, times: int, size: int) -> None:  # noqa: ANN401
    """Refuse a group that is not laid out as it was begun, or takes more than there are bytes."""
    group = file[name]
    if sum(len(one) for one in group) > _MOST_NAMES or len(group.attrs) > 16:
        raise ValueError(f"{name} must have few attributes")
    counts = group[_COUNTS]
    check_dataset(f"{name}/{_COUNTS}", counts, np.dtype(np.int64), (), size, times)
    each = counts[()]
    total = int(each.sum()) if not (each < 0).any() else -1
    shape_of_left = group[_LEFT].shape[1:]
    check_dataset(f"{name}/{_LEFT}", group[_LEFT], np.dtype(np.int64), shape_of_left, size, times)
    record = record_in(file, name, times - 1)
    expected = {label: (shape, dtype) for label, shape, dtype in _datasets(record)}
    if {*group} != {*expected}:
        raise ValueError(f"{name} must have {', '.join(expected)}, not {', '.join(group)}")
    for label, (shape, dtype) in expected.items():
        rows = times if label in (_COUNTS, _LEFT) else total
        stored = np.dtype(_STORED.get(dtype.name, dtype))
        check_dataset(f"{name}/{label}", group[label], stored, shape, size, rows)


def check_next(file: Any, name: str, swarm: SetSource) -> None:  # noqa: ANN401
    """Refuse a set that is not as it was before, but for its particles."""
    there, given = record_in(file, name, 0), record_of(swarm)
    for what in ("grid", "dtype", "leaving", "attributes"):
        one, other = getattr(there, what), getattr(given, what)
        if one != other:
            if what == "attributes":
                one, other = _text_of(one), _text_of(other)
            raise ValueError(f"set {name!r} must have the {what} {one} as before, not {other}")


def _text_of(attributes: Mapping[str, AttributeType]) -> str:
    return ", ".join(f"{label}: {its_type}" for label, its_type in attributes.items()) or "none"


def rows_of(file: Any, name: str, number: int) -> range:  # noqa: ANN401
    """Return which rows of the datasets are those of a time."""
    counts = file[name][_COUNTS][: number + 1]
    end = int(counts.sum())
    return range(end - int(counts[-1]), end)


def write(
    file: Any,  # noqa: ANN401
    name: str,
    number: int,
    swarm: SetSource,
    between: Callable[[], None],
) -> None:
    """Write the particles of a time, some at a time, with a call after each."""
    group, record = file[name], record_of(swarm)
    for label, value in (_COUNTS, record.particles), (_LEFT, np.array(record.left)):
        group[label].resize(number + 1, axis=0)
        group[label][number] = value
    rows = rows_of(file, name, number)

    def put(label: str, parts: Any) -> None:  # noqa: ANN401
        dataset = group[label]
        dataset.resize(rows.stop, axis=0)
        at = rows.start
        for part in parts:
            dataset[at : at + len(part)] = part.astype(dataset.dtype)
            at += len(part)
            between()

    put(POSITIONS, (_on_three_axes(swarm, some) for some in parts_of(record.particles)))
    for label in record.columns():
        put(_label(label), parts_written(swarm, label))


def _on_three_axes(swarm: SetSource, rows: range) -> npt.NDArray[np.float64]:
    places = np.zeros((len(rows), 3))
    places[:, : record_of(swarm).grid.ndim] = positions_written(swarm, rows)
    return places


def read(
    file: Any,  # noqa: ANN401
    name: str,
    number: int,
    make: Making,
    between: Callable[[], None],
) -> None:
    """Make a set of the particles of a time."""
    all_rows = rows_of(file, name, number)

    def part(label: str, column: Column, rows: range) -> npt.NDArray[Any]:
        between()
        some = slice(all_rows.start + rows.start, all_rows.start + rows.stop)
        stored: npt.NDArray[Any] = file[name][_label(label)][some]
        return stored.astype(column.dtype)

    make.particles(name, record_in(file, name, number), part)
