# SPDX-License-Identifier: BSD-3-Clause
"""The other ranks of a divided grid, as its core asks them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.communication.cuts import Ends, Transfer, rows_around
from particles.communication.ranks import Ranks


class Neighbours:
    """Who has the rows of the first axis that are not one's own.

    Attributes
    ----------
    most_rows : int
        Those of the largest block.
    """

    def __init__(self, ranks: Ranks, begins: tuple[int, ...], ends: Ends) -> None:
        self.most_rows = max(end - begin for begin, end in pairwise(begins))
        self._ranks = ranks
        self._begins = begins
        self._ends = ends
        self._plan = cache(self._made_plan)

    def fetch(self, own: _core.Field, extended: _core.Field, before: int, behind: int) -> None:
        """Put into an extended field what belongs before and behind one's own rows."""
        sent, received = self._plan(before, behind)
        begin = self._begins[self._ranks.rank]
        across = tuple(own.shape[1:])

        def read(row: int, buffer: npt.NDArray[Any]) -> None:
            start = (0, row - begin, *(0,) * len(across))
            own.read(start, (1, *buffer.shape), (1,) * len(start), buffer)

        self._ranks.exchange(sent, received, across, own.dtype, read, extended.write_rows)

    def greatest(self, numbers: Sequence[float]) -> list[float]:
        """Return the greatest of all ranks, of each of some numbers."""
        found: list[float] = self._ranks.greatest("a measurement", np.array(numbers)).tolist()
        return found

    def _made_plan(self, before: int, behind: int) -> tuple[list[Transfer], list[Transfer]]:
        """Return what is sent, and what is received, in an order that both sides know."""
        rank, needs = self._ranks.rank, range(self._ranks.size)
        rows = {r: rows_around(self._begins, r, before, behind, self._ends) for r in needs}
        sent = [one for r in needs for one in rows[r] if one.owner == rank and r != rank]
        return sent, rows[rank]
