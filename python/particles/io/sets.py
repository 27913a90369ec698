# SPDX-License-Identifier: BSD-3-Clause
"""What is in files of sets, written and read a part at a time.

Places are kept as the set knows them, as cells and offsets in these, so that a set comes back with
the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.arrays.array import Array
from particles.base.checks import ARRAY_DTYPES, shown
from particles.base.kinds import is_a
from particles.fields.grid import Grid
from particles.runtime.device import Device
from particles.sets import columns
from particles.sets.columns import NUMBERS, name_of, parts_of, written
from particles.sets.formulas import AttributeType
from particles.sets.particle_set import MOST_COMPONENTS, ParticleSet, as_attribute
from particles.sets.tables import Table

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
            CELLS: Column(1, np.dtype(box_of(self.grid).cell_dtype)),
            OFFSETS: Column(ndim, self.dtype),
        }
        if "periodic" in self.grid.boundary:
            known[TURNS] = Column(ndim, np.dtype(np.int32))
        return known | {name: Column(*one) for name, one in self.attributes.items()}


Reading: TypeAlias = Callable[[str, Column, range], npt.NDArray[Any]]
"""Returns some rows of a column that has a name."""


class WholeSet(Protocol):
    """A set of all ranks, as the first one sees it while it leads."""

    record: SetRecord

    def column(self, label: str, rows: range) -> npt.NDArray[Any]:
        """Return what some particles have, in the set's order."""
        ...

    def positions_at(self, rows: range) -> npt.NDArray[np.float64]:
        """Return where some particles are."""
        ...


SetSource: TypeAlias = ParticleSet | WholeSet
"""What is written: a set, or one of all ranks."""


def record_of(swarm: SetSource) -> SetRecord:
    """Return what a set is made of; for who is alone with it."""
    if not is_a(swarm, ParticleSet):
        return swarm.record
    left = tuple((low, high) for low, high in swarm.left.tolist())
    whole = swarm.grid.whole
    return SetRecord(whole, swarm.dtype, swarm.leaving, left, swarm.total, swarm._types())


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


def parts_written(swarm: SetSource, label: str) -> Iterator[npt.NDArray[Any]]:
    """Yield the values of a column, some rows at a time."""
    for rows in parts_of(record_of(swarm).particles):
        yield column_written(swarm, label, rows)


def column_written(swarm: SetSource, label: str, rows: range) -> npt.NDArray[Any]:
    """Return the values of some rows of a column."""
    if not is_a(swarm, ParticleSet):
        return swarm.column(label, rows)
    values: npt.NDArray[Any] = Array._of(core_of(swarm, label), swarm.device)[
        rows.start : rows.stop
    ]
    return values


def positions_written(swarm: SetSource, rows: range) -> npt.NDArray[np.float64]:
    """Return where some particles are."""
    return swarm._positions_at(rows) if is_a(swarm, ParticleSet) else swarm.positions_at(rows)


def joined(record: SetRecord, table: Table) -> npt.NDArray[np.float64]:
    """Return positions of cells and offsets."""
    positions = np.empty((len(table[CELLS]), record.grid.ndim))
    if len(positions):
        box_of(record.grid).join(table[CELLS], table[OFFSETS], positions)
    return positions


def rows_in_order(swarm: ParticleSet, labels: tuple[str, ...], ends: Sequence[int]) -> Table:
    """Return on each rank some rows of columns of all, in the set's order: see `Homes.in_order`."""
    columns = swarm._columns
    assert swarm._homes is not None
    assert columns.numbers is not None
    known = {label: core_of(swarm, label) for label in labels}
    known[NUMBERS] = columns.used(columns.numbers)
    given = swarm._state.numbers
    return swarm._homes.in_order("columns", known, swarm._numbers(), given, ends)


def filled(
    record: SetRecord,
    grid: Grid,
    device: Device | int | str | None,
    name: str | None,
    read: Reading,
) -> ParticleSet:
    """Return a set with the values that `read` finds of some rows of each column.

    Its grid may be divided among devices, which get theirs when all is read.
    """
    if grid.is_cut:
        table = {}
        for label, column in record.columns().items():
            parts = [
                _part_read(record, label, column, rows, read) for rows in parts_of(record.particles)
            ]
            nothing = np.empty(column.shape_of(0), column.dtype)
            whole = np.concatenate([nothing, *parts])
            table[label] = whole.reshape(-1, column.components)
        return of_table(record, grid, table, np.arange(record.particles), device, name)
    swarm = ParticleSet._unfilled(
        grid, record.particles, record.attributes, **_options(record, device, name)
    )
    for label, column in record.columns().items():
        for rows in parts_of(record.particles):
            part = _part_read(record, label, column, rows, read)
            written(core_of(swarm, label), rows.start, part)
    return swarm


def _part_read(
    record: SetRecord, label: str, column: Column, rows: range, read: Reading
) -> npt.NDArray[Any]:
    part = read(label, column, rows)
    check_part(record, label, part)
    return part


def _options(
    record: SetRecord, device: Device | int | str | None, name: str | None
) -> dict[str, Any]:
    """Return what else a set is made with."""
    return {
        "dtype": record.dtype,
        "leaving": record.leaving,
        "left": record.left,
        "device": device,
        "name": name,
    }


def of_table(
    record: SetRecord,
    grid: Grid,
    table: Table,
    numbers: npt.NDArray[np.int64],
    device: Device | int | str | None,
    name: str | None,
) -> ParticleSet:
    """Return a set on a grid that is cut with these particles, wherever they are."""
    named = {_name_in_set(label): table[label] for label in record.columns()}
    options = _options(record, device, name)
    return ParticleSet._of_table(
        grid, named, numbers.ravel(), record.attributes, total=record.particles, **options
    )


def _name_in_set(label: str) -> str:
    """Return the name of a column of a set, which has another one in files."""
    places = {CELLS: columns.CELLS, OFFSETS: columns.OFFSETS, TURNS: columns.TURNS}
    return places.get(label) or name_of(label)


def check_part(record: SetRecord, label: str, part: npt.NDArray[Any]) -> None:
    """Refuse places that are none, to which kernels would go."""
    least, most = int(part.min()) if label == CELLS else 0, record.grid.size - 1
    if label == CELLS and (least < 0 or int(part.max()) > most):
        raise ValueError(f"cells are from {least} to {part.max()} of {record.grid.size}")
    if label == OFFSETS and not ((part >= 0) & (part <= 1)).all():
        raise ValueError("offsets are not from 0 to 1")


def core_of(swarm: ParticleSet, label: str) -> _core.Array:
    """Return a column, as it is named in files."""
    columns = swarm._columns
    known: dict[str, _core.Array | None] = {
        CELLS: columns.cells,
        OFFSETS: columns.offsets,
        TURNS: columns.turns,
    }
    array = known.get(label) or columns.attributes[label]
    return columns.used(array)


def box_of(grid: Grid) -> _core.Cells:
    """Return the cells of a grid that is not divided."""
    high = [a + length for a, length in zip(grid.origin, grid.extent, strict=True)]
    return _core.Cells(grid.core, grid.origin, high)
