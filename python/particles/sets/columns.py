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
    attributes
        By name.
    """

    count: int
    capacity: int
    cells: _core.Array
    offsets: _core.Array
    turns: _core.Array | None
    attributes: dict[str, _core.Array]

    def all(self) -> Iterator[_core.Array]:
        """Yield each array."""
        yield self.cells
        yield self.offsets
        if self.turns is not None:
            yield self.turns
        yield from self.attributes.values()

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
        attributes = dict(zip(self.attributes, arrays, strict=True))
        return Columns(count, capacity, cells, offsets, turns, attributes)

    def positions_at(self, box: _core.Cells, rows: range) -> npt.NDArray[np.float64]:
        """Return positions of some particles."""
        positions = np.empty((len(rows), self.offsets.components))
        if len(rows):
            box.join(*self.places_at(rows), positions)
        return positions

    def places_at(self, rows: range) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return cells and offsets of some particles."""
        return _part_of(self.cells, rows), _part_of(self.offsets, rows)

    def turns_at(self, rows: range) -> npt.NDArray[np.int32]:
        """Return how often some particles went round."""
        if self.turns is None or not len(rows):
            return np.zeros((len(rows), self.offsets.components), np.int32)
        return _part_of(self.turns, rows)

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
    """Makes arrays for columns, of memory that columns have left where there is such.

    It is one more set of columns at most: what they are sorted into.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._spare: list[_core.Array] = []

    @property
    def nbytes(self) -> int:
        """Bytes that wait for a use."""
        return sum(bytes_of(array) for array in self._spare)

    def array(self, count: int, components: int, dtype: str, name: str) -> _core.Array:
        """Return an array, of any values."""
        for k, spare in enumerate(self._spare):
            if (spare.count, spare.components, spare.dtype) == (count, components, dtype):
                return self._spare.pop(k)
        return _core.Array(self._device.core, count, components, dtype, name)

    def array_like(self, array: _core.Array, count: int) -> _core.Array:
        """Return an array of the same kind."""
        return self.array(count, array.components, array.dtype, "an attribute of particles")

    def with_new_places(self, columns: Columns) -> Columns:
        """Return columns of which no place is known yet."""
        cells, offsets = (
            self.array_like(array, columns.capacity) for array in (columns.cells, columns.offsets)
        )
        turns = None
        if columns.turns is not None:
            turns = self.array_like(columns.turns, columns.capacity)
        return replace(columns, cells=cells, offsets=offsets, turns=turns)

    def retire(self, old: Columns, new: Columns) -> None:
        """Keep what columns had and others that follow them have not.

        Memory that somebody else may look at is left to him.
        """
        kept = {id(array) for array in new.all()}
        spare = [] if old.capacity != new.capacity else self._spare
        self._spare = [
            *spare,
            *(
                array
                for array in old.all()
                if id(array) not in kept and not array.is_shared and array.count == new.capacity
            ),
        ]

    def discard(self) -> None:
        """Keep nothing."""
        self._spare = []


def parts_of(count: int) -> Iterator[range]:
    """Yield the rows that there are, as many at once as the host has room for."""
    for first in range(0, count, _ROWS_AT_ONCE):
        yield range(first, min(count, first + _ROWS_AT_ONCE))


def bytes_of(array: _core.Array) -> int:
    """Return the bytes of an array."""
    return array.count * array.components * np.dtype(array.dtype).itemsize


def copied(source: _core.Array, target: _core.Array, first: int = 0) -> None:
    """Copy an array to the rows of another one, beginning with one of these."""
    if source.count:
        target.rows(first, source.count).copy_from(source)


def _part_of(array: _core.Array, rows: range) -> npt.NDArray[Any]:
    host = np.empty((len(rows), array.components), array.dtype)
    array.read((rows.start, 0), (len(rows), array.components), (rows.step, 1), host)
    return host
