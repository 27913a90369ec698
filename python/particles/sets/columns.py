# SPDX-License-Identifier: BSD-3-Clause
"""What is known of many particles, in arrays of a row for each, and memory for more of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.runtime.device import Device

CELLS, OFFSETS = "cells of particles", "places of particles in cells"
TURNS = "turns of particles"
NUMBERS = "numbers of particles"
_ROWS_AT_ONCE = 2**20  # that are on the host on their way


@dataclass(frozen=True)
class Columns:
    """Arrays of as many rows as there is memory for; rows of all of them belong together.

    Attributes
    ----------
    count, capacity : int
        How many rows are in use, from the first one on, and how many there are.
    cells, offsets, turns
        Where particles are; there are no turns where no axis is periodic.
    numbers
        Their order among those of all ranks, ascending; None where there are no others.
    attributes
        By name.
    """

    count: int
    capacity: int
    cells: _core.Array
    offsets: _core.Array
    turns: _core.Array | None
    numbers: _core.Array | None
    attributes: dict[str, _core.Array]

    def places_by_name(self) -> Iterator[tuple[str, _core.Array]]:
        """Yield what says where particles are, each with the name of its memory."""
        yield CELLS, self.cells
        yield OFFSETS, self.offsets
        if self.turns is not None:
            yield TURNS, self.turns

    def by_name(self) -> Iterator[tuple[str, _core.Array]]:
        """Yield each array with the name of its memory."""
        yield from self.places_by_name()
        if self.numbers is not None:
            yield NUMBERS, self.numbers
        for label, array in self.attributes.items():
            yield name_of(label), array

    def all(self) -> Iterator[_core.Array]:
        """Yield each array."""
        for _, array in self.by_name():
            yield array

    def ids(self) -> set[int]:
        """Return which arrays these are."""
        return {id(array) for array in self.all()}

    def used(self, array: _core.Array) -> _core.Array:
        """Return the rows of an array that are in use."""
        return array.rows(0, self.count)

    @property
    def places(self) -> _core.Places:
        """Where the particles are."""
        turns = None if self.turns is None else self.used(self.turns)
        return _core.Places(self.used(self.cells), self.used(self.offsets), turns)

    def replaced(self, arrays: Iterator[_core.Array], count: int, capacity: int) -> Columns:
        """Return other arrays in the order of `all`."""
        cells, offsets = next(arrays), next(arrays)
        turns = None if self.turns is None else next(arrays)
        numbers = None if self.numbers is None else next(arrays)
        attributes = dict(zip(self.attributes, arrays, strict=True))
        return Columns(count, capacity, cells, offsets, turns, numbers, attributes)

    def positions_at(
        self, box: _core.Cells, rows: range, out: npt.NDArray[np.float64] | None = None
    ) -> npt.NDArray[np.float64]:
        """Return positions of some particles, in `out` or in a new array."""
        positions = np.empty((len(rows), self.offsets.components)) if out is None else out
        if len(rows):
            box.join(*self.places_at(rows), positions)
        return positions

    def places_at(self, rows: range) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return cells and offsets of some particles."""
        return part_of(self.cells, rows), part_of(self.offsets, rows)

    def turns_at(self, rows: range) -> npt.NDArray[np.int32]:
        """Return how often some particles went round."""
        if self.turns is None or not len(rows):
            return np.zeros((len(rows), self.offsets.components), np.int32)
        return part_of(self.turns, rows)

    def write_places(
        self,
        rows: range,
        cells: npt.NDArray[np.signedinteger],
        offsets: npt.NDArray[np.floating],
        turns: npt.NDArray[np.int32],
    ) -> None:
        """Say where some particles are, in one step."""
        if len(rows):
            places = _core.Places(self.cells, self.offsets, self.turns)
            places.write(rows.start, rows.step, cells, offsets, turns)


class Store:
    """Makes arrays for columns, and hands out again those that columns have left.

    Each has a name, for what it is: only that is put there again.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._made: list[tuple[str, _core.Array]] = []
        self._free: list[tuple[str, _core.Array]] = []

    def nbytes_besides(self, columns: Columns) -> int:
        """Return the bytes that wait for a use while these columns are in use."""
        used = columns.ids()
        return sum(bytes_of(array) for _, array in self._made if id(array) not in used)

    def settle(self, columns: Columns) -> None:
        """Take back all that these columns have not, whatever became of it.

        Memory that somebody else may look at is left to him; so is that of another length.
        """
        used = columns.ids()
        self._made = [
            (name, array)
            for name, array in self._made
            if id(array) in used or (array.count == columns.capacity and not array.is_shared)
        ]
        self._free = [(name, array) for name, array in self._made if id(array) not in used]

    def discard(self, columns: Columns) -> None:
        """Keep nothing besides these columns."""
        used = columns.ids()
        self._made = [(name, array) for name, array in self._made if id(array) in used]
        self._free = []

    def array(self, count: int, components: int, dtype: str, name: str) -> _core.Array:
        """Return an array, of any values."""
        for k, (of, free) in enumerate(self._free):
            if (of, free.count, free.components, free.dtype) == (name, count, components, dtype):
                return self._free.pop(k)[1]
        array = _core.Array(self._device.core, count, components, dtype, name)
        self._made.append((name, array))
        return array

    def passing(self, count: int, components: int, dtype: str, name: str) -> _core.Array:
        """Return an array that is not handed out again."""
        return _core.Array(self._device.core, count, components, dtype, name)

    def array_like(self, array: _core.Array, count: int, name: str) -> _core.Array:
        """Return an array of the same kind."""
        return self.array(count, array.components, array.dtype, name)

    def with_new_places(self, columns: Columns) -> Columns:
        """Return columns of which no place is known yet."""
        new = {
            name: self.array_like(array, columns.capacity, name)
            for name, array in columns.places_by_name()
        }
        return replace(columns, cells=new[CELLS], offsets=new[OFFSETS], turns=new.get(TURNS))


def parts_of(count: int) -> Iterator[range]:
    """Yield the rows that there are, as many at once as the host has room for."""
    for first in range(0, count, _ROWS_AT_ONCE):
        yield range(first, min(count, first + _ROWS_AT_ONCE))


def name_of(label: str) -> str:
    """Return the name of an attribute's memory."""
    return f"attribute {label} of particles"


def bytes_of(array: _core.Array) -> int:
    """Return the bytes of an array."""
    return array.count * array.components * np.dtype(array.dtype).itemsize


def written(array: _core.Array, first: int, values: npt.NDArray[Any]) -> None:
    """Write rows of an array from one of them on."""
    count = (len(values), array.components)
    if len(values):
        host = np.ascontiguousarray(values).reshape(count)
        array.write((first, 0), count, (1, 1), host)


def grown(store: Store, columns: Columns, count: int) -> Columns:
    """Return columns with memory for so many rows; other ones where these have not as many."""
    if count <= columns.capacity:
        return columns
    capacity = max(count, columns.capacity + columns.capacity // 2)
    store.discard(columns)
    larger = []
    for name, array in columns.by_name():
        larger.append(store.array_like(array, capacity, name))
        copied(columns.used(array), larger[-1])
    return columns.replaced(iter(larger), columns.count, capacity)


def copied(source: _core.Array, target: _core.Array, first: int = 0) -> None:
    """Copy an array to the rows of another one, beginning with one of these."""
    if source.count:
        target.rows(first, source.count).copy_from(source)


def part_of(array: _core.Array, rows: range) -> npt.NDArray[Any]:
    """Return some rows of an array."""
    host = np.empty((len(rows), array.components), array.dtype)
    array.read((rows.start, 0), (len(rows), array.components), (rows.step, 1), host)
    return host
