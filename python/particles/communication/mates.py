# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a grid on several devices of one process: they copy what ranks send."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from particles.communication.cuts import Transfer, shape_of_rows, spread
from particles.runtime.crew import Crew

_making = threading.Lock()


def mates_of(crew: Crew) -> tuple[Mate, ...]:
    """Return the parts that the threads of a crew work on, the same ones for every grid."""
    with _making:
        if not crew.mates:
            crew.mates = tuple(Mate(crew, rank) for rank in range(crew.size))
        found: tuple[Mate, ...] = crew.mates
        return found


class Mate:
    """One of several devices, seen from its thread, in place of a rank.

    Whatever is asked of all is asked by one script, so nothing has to be compared.

    Attributes
    ----------
    rank, size : int
        Which one this is, of how many.
    """

    def __init__(self, crew: Crew, rank: int) -> None:
        self.rank, self.size = rank, crew.size
        self._crew = crew
        self._buffers: dict[tuple[int, int], npt.NDArray[Any]] = {}
        self._turn = 0

    def lines(self, cuts: tuple[int, ...]) -> dict[int, Mate]:
        """Return who has the other parts of the first axis, the only one that is cut."""
        return {0: self}

    def meet(self, what: str) -> None:
        """Have all begin the same, which one script has asked for."""

    def every(self, what: str, own: object) -> list[Any]:
        """Return what each has, in their order."""
        return self._crew.every(self.rank, own)

    @contextmanager
    def together(self, what: str) -> Iterator[None]:
        """Have nobody go on before all have done what is within; all must come here."""
        yield  # who fails ends the others, where they wait for it
        self.every(what, None)

    @contextmanager
    def bound(self, *kinds: type[BaseException]) -> Iterator[None]:
        """Do nothing besides: who fails ends the others anyway."""
        yield

    def told(self, what: str, value: object, root: int = 0) -> Any:  # noqa: ANN401
        """Return what one of them has."""
        return self.every(what, value)[root]

    def greatest(self, what: str, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the greatest of all of each of some numbers; NaN where one has NaN."""
        found = np.max(self.every(what, values), axis=0)
        return np.where(np.isnan(found), np.nan, found)

    def total(self, what: str, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the sums of integers of all."""
        found: npt.NDArray[np.int64] = np.sum(self.every(what, numbers), axis=0)
        return found

    def exchange(
        self,
        sent: Sequence[Transfer],
        received: Sequence[Transfer],
        shape: Sequence[int],
        axis: int,
        dtype: npt.DTypeLike,
        read: Callable[[int, npt.NDArray[Any]], None],
        write: Callable[[int, npt.NDArray[Any]], None],
    ) -> None:
        """Fetch rows of others, and let them have what they need, as `Ranks.exchange` does."""
        self._turn += 1
        there: list[npt.NDArray[Any]] = []
        for number, one in enumerate(sent):
            there.append(self._buffer(number, shape_of_rows(shape, axis, one.rows), dtype))
            read(one.begin, there[-1])
        every = self.every("rows", list(zip(sent, there, strict=True)))
        arrived: list[Iterator[npt.NDArray[Any]]] = [
            iter([buffer for one, buffer in some if one.receiver == self.rank]) for some in every
        ]
        for one in received:
            if one.owner == self.rank:
                buffer = np.empty(shape_of_rows(shape, axis, one.rows), dtype)
                read(one.begin, buffer)
            else:
                buffer = next(arrived[one.owner])
            write(one.place, spread(one, buffer, axis))

    def swap(
        self, sent: Sequence[npt.NDArray[Any]], shapes: Sequence[tuple[int, ...]]
    ) -> list[npt.NDArray[Any]]:
        """Give each an array, and return what comes from each, of known shapes."""
        return [some[self.rank] for some in self.every("lines", sent)]

    def deliver(
        self, what: str, rows: npt.NDArray[np.uint8], counts: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.uint8]:
        """Give rows of bytes to all, so many to each in their order; return what has come."""
        return np.concatenate(self.swap(np.split(rows, np.cumsum(counts)[:-1]), []))

    def _buffer(
        self, number: int, shape: tuple[int, ...], dtype: npt.DTypeLike
    ) -> npt.NDArray[Any]:
        """Return memory that others read until all have come to the next exchange but one."""
        key = (self._turn % 2, number)
        bytes_needed = int(np.prod(shape)) * np.dtype(dtype).itemsize
        kept = self._buffers.get(key)
        if kept is None or kept.nbytes < bytes_needed:
            kept = self._buffers[key] = np.empty(bytes_needed, np.uint8)
        return kept[:bytes_needed].view(dtype).reshape(shape)
