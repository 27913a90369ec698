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
            values = self._read(own, *own.shape).reshape(own.components, *own.shape)
            sent = [np.ascontiguousarray(values[:, begin:end]) for begin, end in self._planes()]
            del values
        rank = self.cuts[1].ranks.rank
        shapes = [
            (own.components, sent[rank].shape[1], end - begin, own.shape[2])
            for begin, end in pairwise(self.cuts[1].begins)
        ]
        return np.concatenate(self.cuts[1].ranks.swap(sent, shapes), axis=2)

    def take_slab(self, what: str, slab: _core.Field | npt.NDArray[Any], own: _core.Field) -> None:
        """Take slabs apart to blocks again."""
        with self.ranks.together(what):
            values = slab if is_a(slab, np.ndarray) else self._read(slab, *slab.shape)
            values = values.reshape(own.components, -1, self.cuts[1].begins[-1], own.shape[2])
            sent = [
                np.ascontiguousarray(values[:, :, begin:end])
                for begin, end in pairwise(self.cuts[1].begins)
            ]
        shapes = [(own.components, end - begin, *own.shape[1:]) for begin, end in self._planes()]
        self._write(own, np.concatenate(self.cuts[1].ranks.swap(sent, shapes), axis=1))

    def _planes(self) -> list[tuple[int, int]]:
        """Return which of one's own planes are in the slab of each rank along the second axis."""
        size = self.cuts[1].ranks.size
        first = self.ranks.rank // size * size
        own = self.begins[first]
        return [
            (begin - own, end - own)
            for begin, end in pairwise(self.begins[first : first + size + 1])
        ]

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
        self._gather(own, whole, across or (1,), axis)
        return whole, slice(begin, begin + count)

    def gather_lines(self, own: _core.Field, axis: int, whole: _core.Field | None) -> None:
        """Put blocks of a field together to whole lines along an axis.

        They lie side by side along the first axis.
        """
        cut = self.cuts[axis]
        blocks = self._read(own, *own.shape).reshape(own.components, *own.shape)
        lines = np.moveaxis(blocks, axis + 1, 1).reshape(own.components, own.shape[axis], -1)
        begins = _shares(lines.shape[2], cut.ranks.size)
        sent = [np.ascontiguousarray(lines[:, :, a:b]) for a, b in pairwise(begins)]
        count = sent[cut.ranks.rank].shape[2]
        shapes = [(own.components, b - a, count) for a, b in pairwise(cut.begins)]
        found = cut.ranks.swap(sent, shapes)
        if whole is not None:
            self._write(whole, np.concatenate(found, axis=1))

    def _gather(
        self, own: _core.Field, whole: _core.Field | None, across: tuple[int, ...], axis: int
    ) -> None:
        blocks = self._read(own, *own.shape).reshape(own.components, -1, *across)
        begins = _shares(across[axis - 1], self.ranks.size)
        sent = [
            np.ascontiguousarray(np.moveaxis(np.moveaxis(blocks, axis + 1, 0)[a:b], 0, axis + 1))
            for a, b in pairwise(begins)
        ]
        some = list(sent[self.ranks.rank].shape)
        shapes = [(some[0], end - begin, *some[2:]) for begin, end in pairwise(self.begins)]
        found = self.ranks.swap(sent, shapes)
        if whole is not None:
            self._write(whole, np.concatenate(found, axis=1))

    def scatter_lines(self, whole: _core.Field | None, own: _core.Field, axis: int) -> None:
        """Take whole lines along an axis apart, to the blocks of a field."""
        cut, rows = self.cuts[axis], own.shape[axis]
        across = shape_of_rows(own.shape, axis, 1)
        begins = _shares(math.prod(across), cut.ranks.size)
        if whole is None:
            some = np.empty((own.components, cut.begins[-1], 0), own.dtype)
        else:
            some = self._read(whole, *whole.shape)
        sent = [np.ascontiguousarray(some[:, a:b]) for a, b in pairwise(cut.begins)]
        shapes = [(own.components, rows, b - a) for a, b in pairwise(begins)]
        lines = np.concatenate(cut.ranks.swap(sent, shapes), axis=2)
        first = (own.components, rows, *(n for k, n in enumerate(own.shape) if k != axis))
        self._write(own, np.ascontiguousarray(np.moveaxis(lines.reshape(first), 1, axis + 1)))

    def _read(self, field: _core.Field, rows: int, *across: int) -> npt.NDArray[Any]:
        """Return all values by component, row and line."""
        count = (field.components, rows, *across)
        values = np.empty(count, field.dtype)
        field.read((0,) * len(count), count, (1,) * len(count), values)
        return values.reshape(field.components, rows, -1)

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
