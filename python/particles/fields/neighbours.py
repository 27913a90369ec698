# SPDX-License-Identifier: BSD-3-Clause
"""The other ranks, or devices, of a divided grid, as its core asks them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.communication.cuts import Ends, Transfer, rows_around
from particles.communication.mates import Mate
from particles.communication.ranks import Ranks


class Neighbours:
    """Who has the rows of the first axis that are not one's own.

    Attributes
    ----------
    ranks : Ranks or Mate
        All of them.
    begins : tuple of int
        Where the blocks begin along the first axis, and where the last one ends.
    most_rows : int
        Those of the largest block.
    """

    def __init__(self, ranks: Ranks | Mate, begins: tuple[int, ...], ends: Ends) -> None:
        self.most_rows = max(end - begin for begin, end in pairwise(begins))
        self.ranks = ranks
        self.begins = begins
        self._ends = ends
        self._plan = cache(self._made_plan)

    def fetch(self, own: _core.Field, extended: _core.Field, before: int, behind: int) -> None:
        """Put into an extended field what belongs before and behind one's own rows."""
        sent, received = self._plan(before, behind)
        begin = self.begins[self.ranks.rank]
        across = tuple(own.shape[1:])

        def read(row: int, buffer: npt.NDArray[Any]) -> None:
            start = (0, row - begin, *(0,) * len(across))
            own.read(start, (1, *buffer.shape), (1,) * len(start), buffer)

        self.ranks.exchange(sent, received, across, own.dtype, read, extended.write_rows)

    def whole_lines(self, lines: int) -> tuple[int, int]:
        """Return which lines along the first axis are gathered here: the first, and how many."""
        begins = self._begins_of_lines(lines)
        begin, end = begins[self.ranks.rank : self.ranks.rank + 2]
        return begin, end - begin

    def whole_lines_of(
        self, own: _core.Field, context: _core.Context
    ) -> tuple[_core.Field | None, slice]:
        """Return the lines of a field that are gathered here, side by side, and which; or None."""
        lines = (math.prod(own.shape[1:]),)[: len(own.shape) - 1]
        return self._whole_of(own, context, lines, 1)

    def whole_planes_of(
        self, own: _core.Field, context: _core.Context, axis: int
    ) -> tuple[_core.Field | None, slice]:
        """Return the planes across an axis that are gathered here, and which; or None."""
        return self._whole_of(own, context, tuple(own.shape[1:]), axis)

    def _whole_of(
        self, own: _core.Field, context: _core.Context, across: tuple[int, ...], axis: int
    ) -> tuple[_core.Field | None, slice]:
        """Return what is gathered here of lines of any shape, shared out along an axis."""
        begin, count = self.whole_lines(across[axis - 1] if across else 1)
        whole = None
        if count:
            shape = [self.begins[-1], *across]
            if across:
                shape[axis] = count
            each = (0.0,) * len(shape), (1.0,) * len(shape)
            box = _core.Grid(shape, *each, [("wall", "wall")] * len(shape))
            whole = _core.Field(context, box, own.components, own.dtype, "whole lines of a field")
        self._gather(own, whole, across or (1,), axis)
        return whole, slice(begin, begin + count)

    def gather_lines(self, own: _core.Field, whole: _core.Field | None) -> None:
        """Put all blocks of a field together to whole lines, which lie side by side."""
        self._gather(own, whole, (math.prod(own.shape[1:]),), 1)

    def _gather(
        self, own: _core.Field, whole: _core.Field | None, across: tuple[int, ...], axis: int
    ) -> None:
        blocks = self._read(own, *own.shape).reshape(own.components, -1, *across)
        begins = self._begins_of_lines(across[axis - 1])
        sent = [
            np.ascontiguousarray(np.moveaxis(np.moveaxis(blocks, axis + 1, 0)[a:b], 0, axis + 1))
            for a, b in pairwise(begins)
        ]
        some = list(sent[self.ranks.rank].shape)
        shapes = [(some[0], end - begin, *some[2:]) for begin, end in pairwise(self.begins)]
        found = self.ranks.swap(sent, shapes)
        if whole is not None:
            self._write(whole, np.concatenate(found, axis=1))

    def scatter_lines(self, whole: _core.Field | None, own: _core.Field) -> None:
        """Take whole lines apart, to the blocks of a field."""
        rows, *across = own.shape
        begins = self._begins_of_lines(math.prod(across))
        if whole is None:
            some = np.empty((own.components, self.begins[-1], 0), own.dtype)
        else:
            some = self._read(whole, *whole.shape)
        sent = [np.ascontiguousarray(some[:, a:b]) for a, b in pairwise(self.begins)]
        shapes = [(own.components, rows, b - a) for a, b in pairwise(begins)]
        self._write(own, np.concatenate(self.ranks.swap(sent, shapes), axis=2))

    def _begins_of_lines(self, lines: int) -> tuple[int, ...]:
        size = self.ranks.size
        return tuple(lines * rank // size for rank in range(size + 1))

    def _read(self, field: _core.Field, rows: int, *across: int) -> npt.NDArray[Any]:
        """Return all values by component, row and line."""
        count = (field.components, rows, *across)
        values = np.empty(count, field.dtype)
        field.read((0,) * len(count), count, (1,) * len(count), values)
        return values.reshape(field.components, rows, -1)

    def _write(self, field: _core.Field, values: npt.NDArray[Any]) -> None:
        count = (field.components, *field.shape)
        field.write((0,) * len(count), count, (1,) * len(count), values.reshape(count))

    def told_at_end(self, numbers: list[float], end: int) -> list[float]:
        """Return what the first rank has, for end 0, or the last one."""
        found: list[float] = self.ranks.told("what comes in", numbers, end * (self.ranks.size - 1))
        return found

    def greatest(self, numbers: Sequence[float]) -> list[float]:
        """Return the greatest of all ranks, of each of some numbers."""
        found: list[float] = self.ranks.greatest("a measurement", np.array(numbers)).tolist()
        return found

    def _made_plan(self, before: int, behind: int) -> tuple[list[Transfer], list[Transfer]]:
        """Return what is sent, and what is received, in an order that both sides know."""
        rank, needs = self.ranks.rank, range(self.ranks.size)
        rows = {r: rows_around(self.begins, r, before, behind, self._ends) for r in needs}
        sent = [one for r in needs for one in rows[r] if one.owner == rank and r != rank]
        return sent, rows[rank]
