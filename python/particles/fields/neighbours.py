# SPDX-License-Identifier: BSD-3-Clause
"""The other ranks, or devices, of a divided grid, as its core asks them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.base.kinds import is_a
from particles.communication.cuts import Ends, Transfer, rows_around, shape_of_rows
from particles.communication.mates import Mate
from particles.communication.ranks import Ranks


class Cut:
    """An axis that is cut, and who has its parts, where one's own place along the others is.

    Attributes
    ----------
    ranks : Ranks or Mate
        In the order of their parts.
    begins : tuple of int
        Where the parts begin, and where the last one ends.
    most_rows : int
        Those of the largest part.
    """

    def __init__(self, ranks: Ranks | Mate, begins: tuple[int, ...], ends: Ends) -> None:
        self.ranks, self.begins = ranks, begins
        self.most_rows = max(end - begin for begin, end in pairwise(begins))
        self._ends = ends
        self.plan = cache(self._made_plan)

    def _made_plan(self, before: int, behind: int) -> tuple[list[Transfer], list[Transfer]]:
        """Return what is sent, and what is received, in an order that both sides know."""
        rank, needs = self.ranks.rank, range(self.ranks.size)
        rows = {r: rows_around(self.begins, r, before, behind, self._ends) for r in needs}
        sent = [one for r in needs for one in rows[r] if one.owner == rank and r != rank]
        return sent, rows[rank]


class Neighbours:
    """Who has the rows of axes that are not one's own.

    Attributes
    ----------
    ranks : Ranks or Mate
        All of them.
    cuts : dict
        The `Cut` of each axis that is cut.
    begins : tuple of int
        Where the parts of all begin, if the first axis alone is cut, and where the last one ends.
        Else, where the slabs begin that blocks are put together to.
    """

    def __init__(self, ranks: Ranks | Mate, cuts: dict[int, Cut], begins: tuple[int, ...]) -> None:
        self.ranks, self.cuts, self.begins = ranks, cuts, begins

    def fetch(
        self, own: _core.Field, extended: _core.Field, axis: int, before: int, behind: int
    ) -> None:
        """Put into an extended field what belongs before and behind one's own rows along an axis."""
        cut = self.cuts[axis]
        sent, received = cut.plan(before, behind)
        begin, ndim = cut.begins[cut.ranks.rank], len(own.shape)

        def read(row: int, buffer: npt.NDArray[Any]) -> None:
            start = (0, *(row - begin if k == axis else 0 for k in range(ndim)))
            own.read(start, (1, *buffer.shape), (1,) * len(start), buffer)

        write = partial(extended.write_rows, axis)
        cut.ranks.exchange(sent, received, own.shape, axis, own.dtype, read, write)

    def most_rows(self, axis: int) -> int:
        """Return how many rows the largest part of an axis has."""
        return self.cuts[axis].most_rows

    def slab_of(self, what: str, own: _core.Field) -> npt.NDArray[Any]:
        """Return the values of a slab by component: of whole planes across the first axis.

        Ranks whose blocks are neighbours along the second axis share out their planes.
        """
        with self.ranks.together(what):
            sent = _dealt(self._read(own), 1, self._begins_of_planes())
        return _joined(self.cuts[1], sent, 2, self.cuts[1].begins)

    def take_slab(self, what: str, slab: _core.Field | npt.NDArray[Any], own: _core.Field) -> None:
        """Take slabs apart to blocks again."""
        with self.ranks.together(what):
            values = slab if is_a(slab, np.ndarray) else self._read(slab)
            sent = _dealt(values, 2, self.cuts[1].begins)
        self._write(own, _joined(self.cuts[1], sent, 1, self._begins_of_planes()))

    def _begins_of_planes(self) -> list[int]:
        """Return where the slab of each rank along the second axis begins among one's own planes."""
        size = self.cuts[1].ranks.size
        first = self.ranks.rank // size * size
        return [begin - self.begins[first] for begin in self.begins[first : first + size + 1]]

    def whole_lines(self, axis: int, lines: int) -> tuple[int, int]:
        """Return which of some lines along an axis are gathered here: the first, and how many."""
        ranks = self.cuts[axis].ranks
        begin, end = _shares(lines, ranks.size)[ranks.rank : ranks.rank + 2]
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
        begin, count = self.whole_lines(0, across[axis - 1] if across else 1)
        whole = None
        if count:
            shape = [self.begins[-1], *across]
            if across:
                shape[axis] = count
            each = (0.0,) * len(shape), (1.0,) * len(shape)
            box = _core.Grid(shape, *each, [("wall", "wall")] * len(shape))
            whole = _core.Field(context, box, own.components, own.dtype, "whole lines of a field")
        values = self._read(own).reshape(own.components, -1, *(across or (1,)))
        self._gather(self.cuts[0], values, axis + 1, whole)
        return whole, slice(begin, begin + count)

    def gather_lines(self, own: _core.Field, axis: int, whole: _core.Field | None) -> None:
        """Put blocks of a field together to whole lines along an axis.

        They lie side by side along the first axis.
        """
        lines = np.moveaxis(self._read(own), axis + 1, 1)
        lines = lines.reshape(own.components, own.shape[axis], -1)
        self._gather(self.cuts[axis], lines, 2, whole)

    def _gather(
        self, cut: Cut, values: npt.NDArray[Any], axis: int, whole: _core.Field | None
    ) -> None:
        """Share values out along an axis; put the rows of one's share together."""
        sent = _dealt(values, axis, _shares(values.shape[axis], cut.ranks.size))
        found = _joined(cut, sent, 1, cut.begins)
        if whole is not None:
            self._write(whole, found)

    def scatter_lines(self, whole: _core.Field | None, own: _core.Field, axis: int) -> None:
        """Take whole lines along an axis apart, to the blocks of a field."""
        cut = self.cuts[axis]
        nothing = (own.components, cut.begins[-1], 0)
        some = np.empty(nothing, own.dtype) if whole is None else self._read(whole)
        across = tuple(n for k, n in enumerate(own.shape) if k != axis)
        begins = _shares(math.prod(across), cut.ranks.size)
        lines = _joined(cut, _dealt(some, 1, cut.begins), 2, begins)
        rows_first = lines.reshape(own.components, own.shape[axis], *across)
        self._write(own, np.ascontiguousarray(np.moveaxis(rows_first, 1, axis + 1)))

    def _read(self, field: _core.Field) -> npt.NDArray[Any]:
        """Return all values by component."""
        count = (field.components, *field.shape)
        values = np.empty(count, field.dtype)
        field.read((0,) * len(count), count, (1,) * len(count), values)
        return values

    def _write(self, field: _core.Field, values: npt.NDArray[Any]) -> None:
        count = (field.components, *field.shape)
        field.write((0,) * len(count), count, (1,) * len(count), values.reshape(count))

    def told_at_end(self, numbers: list[float], axis: int, end: int) -> list[float]:
        """Return what the first rank along an axis has, for end 0, or the last one."""
        ranks = self.cuts[axis].ranks
        found: list[float] = ranks.told("what comes in", numbers, end * (ranks.size - 1))
        return found

    def greatest(self, numbers: Sequence[float]) -> list[float]:
        """Return the greatest of all ranks, of each of some numbers."""
        found: list[float] = self.ranks.greatest("a measurement", np.array(numbers)).tolist()
        return found


def _shares(lines: int, size: int) -> tuple[int, ...]:
    """Return where each of nearly equal shares begins, some of them empty, and where the last ends."""
    return tuple(lines * rank // size for rank in range(size + 1))


def _dealt(values: npt.NDArray[Any], axis: int, begins: Sequence[int]) -> list[npt.NDArray[Any]]:
    """Return the shares of values along an axis."""
    shares = (slice(begin, end) for begin, end in pairwise(begins))
    return [np.ascontiguousarray(values[(slice(None),) * axis + (share,)]) for share in shares]


def _joined(
    cut: Cut, sent: list[npt.NDArray[Any]], axis: int, begins: Sequence[int]
) -> npt.NDArray[Any]:
    """Send each rank its share; return one's own from all, put together along an axis."""
    own = sent[cut.ranks.rank].shape
    shapes = [shape_of_rows(own, axis, b - a) for a, b in pairwise(begins)]
    return np.concatenate(cut.ranks.swap(sent, shapes), axis=axis)
