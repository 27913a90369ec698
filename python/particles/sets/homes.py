# SPDX-License-Identifier: BSD-3-Clause
"""Which rank has which particles of a set on a divided grid, and how these get there.

A rank has the particles that are in the cells of its block. What would be their order without ranks
is kept as a number of each, and each rank has its own in ascending order of these. So whatever goes
by the order has the same result on any number of ranks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.communication.ranks import Ranks
from particles.fields.grid import Grid
from particles.sets.columns import NUMBERS, Columns, Store, grown, part_of, written
from particles.sets.tables import Known, Table, as_bytes, from_bytes, table_of

CELLS_OF_ROW = 256  # as sets/cells.hpp has it


class Homes:
    """Which rank has which cells.

    Attributes
    ----------
    ranks : Ranks
        All of them.
    begins : tuple of int
        The planes of cells at which their blocks begin, and where the last one ends.
    """

    def __init__(self, grid: Grid, ranks: Ranks) -> None:
        self.ranks = ranks
        self.begins = grid.begins
        self._grid = grid
        self._has_parts_of_rows = grid.ndim == 1

    def before(self, what: str, count: int) -> tuple[int, int]:
        """Return how many of something lower ranks have, and how many all have."""
        counts = self.ranks.every(what, count)
        return sum(counts[: self.ranks.rank]), sum(counts)

    def numbers_by_place(self, columns: Columns, key: str) -> tuple[npt.NDArray[np.int64], int]:
        """Return numbers for particles that have been sorted by row or cell, and how many there are.

        Those of lower ranks are in lower cells. Of one axis a row may be cut: then those of a row are
        counted in the order that they had.
        """
        count = columns.count
        first, total = self.before(f"the order of particles by {key}", count)
        numbers = first + np.arange(count)
        if not self._has_parts_of_rows or key != "row":
            return numbers, total
        assert columns.numbers is not None
        rows = part_of(columns.cells, range(count))[:, 0] // CELLS_OF_ROW
        old = part_of(columns.numbers, range(count))[:, 0]
        begin, end = self.begins[self.ranks.rank : self.ranks.rank + 2]
        cut = {begin // CELLS_OF_ROW, (end - 1) // CELLS_OF_ROW}
        own = {row: old[rows == row] for row in cut}
        for rank, theirs in enumerate(self.ranks.every("particles of rows that are cut", own)):
            for row in own.keys() & theirs.keys() if rank != self.ranks.rank else ():
                lower = np.searchsorted(theirs[row], own[row])
                numbers[rows == row] += lower - (rank < self.ranks.rank) * len(theirs[row])
        return numbers, total

    def without_gaps(self, own: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], int]:
        """Return how many numbers of all ranks are below each of one's own, and how many there are.

        All ranks call it; each has those of one other at a time.
        """
        below, total = np.zeros(len(own), np.int64), 0
        for rank in range(self.ranks.size):
            theirs = self.ranks.told("the order of particles", own, rank)
            below += np.searchsorted(theirs, own)
            total += len(theirs)
        return below, total

    def gathered(
        self,
        what: str,
        root: int,
        own: npt.NDArray[Any],
        keys: npt.NDArray[np.integer[Any]],
        refusal: str | None,
    ) -> npt.NDArray[Any] | None:
        """Return what all particles have on one rank, by keys, None elsewhere.

        What is refused where two keys are the same begins with a text, if that may be.
        """
        counts = self.ranks.every(f"the particles of {what}", len(own))
        across = own.shape[1:]
        values = self.ranks.gather(what, root, own, [(count, *across) for count in counts])
        every = self.ranks.gather(f"{what}, the order", root, keys, [(count,) for count in counts])
        with self.ranks.together(f"to order {what}"):
            if values is None or every is None:
                return None
            numbers = np.concatenate(every)
            order = np.argsort(numbers, kind="stable")
            same = np.flatnonzero(numbers[order][1:] == numbers[order][:-1])
            if refusal is not None and same.size:
                raise ValueError(f"{refusal} is {numbers[order][same[0]]} for several")
            found: npt.NDArray[Any] = np.concatenate(values)[order]
            return found

    def in_order(
        self,
        what: str,
        known: Known,
        numbers: npt.NDArray[np.int64],
        given: int,
        ends: Sequence[int],
    ) -> Table:
        """Return on each rank some rows of what all particles have, in the order of their numbers.

        Rank r gets those from ``ends[r]`` to ``ends[r + 1]``; `given` numbers have been given. All
        ranks call it, with as many columns, that of numbers among them.
        """
        own = self._rows_before(what, numbers, given, ends)
        with self.ranks.together(f"{what} in order"):
            parts = [range(*some) for some in pairwise(own)]
            rows = as_bytes(known, *(table_of(known, some) for some in parts))
        come = self.ranks.deliver(what, rows, np.array([len(part) for part in parts]))
        with self.ranks.together(f"{what} in order, from all"):
            found = from_bytes(known, come)
            order = np.argsort(found.pop(NUMBERS)[:, 0])
            return {name: values[order] for name, values in found.items()}

    def _rows_before(
        self, what: str, numbers: npt.NDArray[np.int64], given: int, ends: Sequence[int]
    ) -> list[int]:
        """Return how many of one's own are among the first so many particles of all."""
        wanted = np.array(ends)
        low, high = np.zeros(len(ends), np.int64), np.full(len(ends), given, np.int64)
        while (low < high).any():  # for the least number below which there are as many
            middle = (low + high) // 2
            below = self.ranks.total(f"{what}, the order", np.searchsorted(numbers, middle))
            low = np.where(below < wanted, middle + 1, low)
            high = np.where(below < wanted, high, middle)
        rows: list[int] = np.searchsorted(numbers, low).tolist()
        return rows

    def brought_home(self, store: Store, columns: Columns) -> Columns:
        """Return columns of particles that are all in own cells, in the order of their numbers.

        All ranks call it. What goes is sent to the rank that has its cell, with all that is known of
        it; what comes is put where its number belongs.
        """
        rank = self.ranks.rank
        with self.ranks.together("to bring particles to their ranks"):
            every = range(columns.count)
            owners = owners_of(part_of(columns.cells, every)[:, 0], self._grid)
            away = np.flatnonzero(owners != rank)
            away = away[np.argsort(owners[away], kind="stable")]
            rows = _packed(columns, store, away)
            counts = np.bincount(owners[away], minlength=self.ranks.size)
        come = self.ranks.deliver("particles to their ranks", rows, counts)
        with self.ranks.together("to take up particles of other ranks"):
            if not len(away) and not len(come):
                return columns
            stay = np.flatnonzero(owners == rank)
            return _joined(columns, store, stay, come)


def owners_of(cells: npt.NDArray[np.signedinteger], grid: Grid) -> npt.NDArray[np.int64]:
    """Return which rank or device has each cell of a grid that is cut."""
    cells_of_plane = math.prod(grid.whole.shape[1:])
    return np.searchsorted(grid.begins, cells // cells_of_plane, side="right") - 1


def _packed(columns: Columns, store: Store, which: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """Return all that is known of some particles, as a row of bytes for each."""
    order = store.passing(len(which), 1, "int64", "an order of particles")
    written(order, 0, which)
    some = {}
    for name, array in columns.by_name():
        some[name] = store.passing(len(which), array.components, array.dtype, "particles that go")
        _core.permute(columns.used(array), order, some[name])
    return as_bytes(some, table_of(some, range(len(which))))


def _joined(
    columns: Columns, store: Store, stay: npt.NDArray[np.int64], come: npt.NDArray[np.uint8]
) -> Columns:
    """Return columns of those that stay and those that have come, by number."""
    assert columns.numbers is not None
    known = from_bytes(dict(columns.by_name()), come)
    by_number = np.argsort(known[NUMBERS][:, 0])
    old = part_of(columns.numbers, range(columns.count))[stay, 0]
    behind = columns.count + np.arange(len(come))
    order = np.insert(stay, np.searchsorted(old, known[NUMBERS][by_number, 0]), behind)
    count = len(order)
    columns = grown(store, columns, columns.count + len(come))
    for name, array in columns.by_name():
        written(array, columns.count, known[name][by_number])
    all_of_them = replace(columns, count=columns.count + len(come))
    device_order = store.passing(count, 1, "int64", "an order of particles")
    written(device_order, 0, order)
    arrays = []
    for name, array in columns.by_name():
        arrays.append(store.array_like(array, columns.capacity, name))
        _core.permute(all_of_them.used(array), device_order, arrays[-1].rows(0, count))
    return columns.replaced(iter(arrays), count, columns.capacity)
