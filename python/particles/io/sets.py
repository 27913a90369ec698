# SPDX-License-Identifier: BSD-3-Clause
"""What is in files of sets, written and read a part at a time.

Places are kept as the set knows them, as cells and offsets in these, so that a set comes back with
the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.arrays.array import Array
from particles.base.checks import ARRAY_DTYPES, shown
from particles.fields.grid import Grid
from particles.runtime.device import Device
from particles.sets.columns import parts_of
from particles.sets.formulas import AttributeType
from particles.sets.particle_set import MOST_COMPONENTS, ParticleSet, as_attribute

PLACES = "places/"  # before the names of all that is no attribute
CELLS, OFFSETS, TURNS = (f"{PLACES}{name}" for name in ("cells", "offsets", "turns"))


class Column(NamedTuple):
    """What is known of each particle."""

    components: int
    dtype: np.dtype[Any]

    def shape_of(self, count: int) -> tuple[int, ...]:
        """Return the shape of an array of it."""
        return (count, self.components) if self.components > 1 else (count,)


class SetRecord(NamedTuple):
    """What a set is made of but for its values."""

    grid: Grid
    dtype: np.dtype[Any]
    leaving: str
    left: tuple[tuple[int, int], ...]
    particles: int
    attributes: dict[str, AttributeType]

    @property
    def nbytes(self) -> int:
        """The bytes of all columns."""
        return self.particles * sum(
            column.components * column.dtype.itemsize for column in self.columns().values()
        )

    def columns(self) -> dict[str, Column]:
        """Return what is kept of each particle, by names."""
        ndim = self.grid.ndim
        known = {
            CELLS: Column(1, np.dtype(_box_of(self.grid).cell_dtype)),
            OFFSETS: Column(ndim, self.dtype),
        }
        if "periodic" in self.grid.boundary:
            known[TURNS] = Column(ndim, np.dtype(np.int32))
        return known | {name: Column(*one) for name, one in self.attributes.items()}


def record_of(swarm: ParticleSet) -> SetRecord:
    """Return what a set is made of; for who is alone with it."""
    left = tuple((low, high) for low, high in swarm.left.tolist())
    return SetRecord(swarm.grid, swarm.dtype, swarm.leaving, left, len(swarm), swarm._types())


def check_record(record: SetRecord) -> None:
    """Refuse what no set is made of."""
    ndim = record.grid.ndim
    if record.leaving not in ("remove", "refuse"):
        raise ValueError(f"leaving is {shown(record.leaving)}")
    if record.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"offsets are of {record.dtype}")
    counts = [count for pair in record.left for count in pair]
    if len(record.left) != ndim or len(counts) != 2 * ndim or min(counts) < 0:
        raise ValueError(f"left is {shown(record.left)}")
    for name, one in record.attributes.items():
        as_attribute(name)
        if one.dtype not in ARRAY_DTYPES or not 1 <= one.components <= MOST_COMPONENTS:
            raise ValueError(f"{name} is of {one.components} components of {one.dtype}")


def parts_written(swarm: ParticleSet, name: str) -> Iterator[npt.NDArray[Any]]:
    """Yield the values of a column, some rows at a time."""
    array = _array_of(swarm, name)
    for rows in parts_of(len(swarm)):
        yield array[rows.start : rows.stop]


def filled(
    record: SetRecord,
    device: Device | int | str | None,
    name: str | None,
    read: Callable[[str, Column, range], npt.NDArray[Any]],
) -> ParticleSet:
    """Return a set with the values that `read` finds of some rows of each column."""
    swarm = ParticleSet._unfilled(
        record.grid,
        record.particles,
        record.attributes,
        dtype=record.dtype,
        leaving=record.leaving,
        left=record.left,
        device=device,
        name=name,
    )
    for label, column in record.columns().items():
        array = _array_of(swarm, label)
        for rows in parts_of(record.particles):
            part = read(label, column, rows)
            _check_part(record, label, part)
            array[rows.start : rows.stop] = part
    return swarm


def _check_part(record: SetRecord, label: str, part: npt.NDArray[Any]) -> None:
    """Refuse places that are none, to which kernels would go."""
    least, most = int(part.min()) if label == CELLS else 0, record.grid.size - 1
    if label == CELLS and (least < 0 or int(part.max()) > most):
        raise ValueError(f"cells are from {least} to {part.max()} of {record.grid.size}")
    if label == OFFSETS and not ((part >= 0) & (part <= 1)).all():
        raise ValueError("offsets are not from 0 to 1")


def _array_of(swarm: ParticleSet, label: str) -> Array:
    columns = swarm._columns
    known: dict[str, _core.Array | None] = {
        CELLS: columns.cells,
        OFFSETS: columns.offsets,
        TURNS: columns.turns,
    }
    array = known.get(label) or columns.attributes[label]
    return Array._of(columns.used(array), swarm.device)


def _box_of(grid: Grid) -> _core.Cells:
    high = [a + length for a, length in zip(grid.origin, grid.extent, strict=True)]
    return _core.Cells(grid.core, grid.origin, high)
