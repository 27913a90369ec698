# SPDX-License-Identifier: BSD-3-Clause
"""Sets of several devices of a process, as one.

Each device has the particles in the cells of its part of a grid, as a rank has them, and they go from
one to another alike. What is here puts together what they have, in the order of their numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.base.checks import numeric
from particles.base.kinds import is_a
from particles.communication.ranks import sum_once
from particles.runtime.crew import Crew, Several
from particles.sets.columns import Columns, part_of

_Integers = Sequence[int]


class SeveralSets(Several):
    """The sets of several devices; all that is done with a set is done with each."""

    __slots__ = ("_known_places",)

    _known_places: tuple[tuple[int, ...], tuple[npt.NDArray[np.int64], ...]] | None  # by versions

    def __init__(self, crew: Crew, parts: Sequence[object]) -> None:
        super().__init__(crew, parts)
        object.__setattr__(self, "_known_places", None)

    @property
    def places(self) -> tuple[npt.NDArray[np.int64], ...]:
        """Where the particles of each device are in the order of all; those of each ascend."""
        versions = tuple(part.version for part in self.parts)
        if self._known_places is None or self._known_places[0] != versions:
            numbers = self.each("_numbers")
            order = np.argsort(np.concatenate(numbers), kind="stable")  # runs that ascend
            places = np.empty(len(order), np.int64)
            places[order] = np.arange(len(order))
            ends = np.cumsum([len(one) for one in numbers])[:-1]
            object.__setattr__(self, "_known_places", (versions, tuple(np.split(places, ends))))
        assert self._known_places is not None
        return self._known_places[1]

    def columns_of(self, each: Sequence[Columns]) -> Columns:
        """Return what is known of all particles, in their order, as it is of those of each device."""
        first = each[0]
        attributes: Any = {
            name: SeveralArrays(self, [one.used(one.attributes[name]) for one in each])
            for name in first.attributes
        }
        places: dict[str, Any] = {
            name: SeveralArrays(self, [one.used(dict(one.places_by_name())[name]) for one in each])
            for name, _ in first.places_by_name()
        }
        count = sum(one.count for one in each)
        cells, offsets, *turns = places.values()
        return Columns(count, count, cells, offsets, turns[0] if turns else None, None, attributes)

    def shared_out(self, values: npt.NDArray[Any]) -> Several:
        """Return what each device has of something that is known of all particles."""
        return Several(self.crew, [values[places] for places in self.places])

    def own_rows(self, rows: range) -> Iterator[tuple[range, npt.NDArray[np.int64]]]:
        """Yield of each device the run of its rows among which are those of some particles.

        With it comes which of the particles each row of the run is, or -1 where it is none of them.
        """
        for places in self.places:
            low, high = np.searchsorted(places, (rows.start, rows.stop))
            behind = places[low:high] - rows.start
            which = np.where(behind % rows.step == 0, behind // rows.step, -1)
            yield range(low, high), which

    def put(
        self, rows: range, positions: npt.NDArray[np.float64], is_assigned: npt.NDArray[np.bool_]
    ) -> None:
        """Move some particles along some axes."""
        own, given, along = [], [], []
        for run, which in self.own_rows(rows):
            own.append(run)
            given.append(positions[which])
            along.append(is_assigned[which] & (which >= 0)[:, None])
        shares = (Several(self.crew, one) for one in (own, given, along))
        self.each("_place", *shares)

    def sorted(self, key: str, is_wanted: bool) -> npt.NDArray[np.int64] | None:
        """Sort all; return where each one was before, if that is wanted."""
        before = self.places if is_wanted else ()
        orders = self.each("_sorted", key, is_wanted)
        if not is_wanted:
            return None
        order = np.empty(sum(map(len, orders)), np.int64)
        for places, was, own in zip(self.places, before, orders, strict=True):
            order[places] = was[own.get()]
        return order


class SeveralArrays(Several):
    """What is known of the particles of several devices, in the order of all.

    It is of the time at which it was asked for: who changes the set asks again.
    """

    __slots__ = ("sets",)

    parts: tuple[_core.Array, ...]
    sets: SeveralSets

    def __init__(self, sets: SeveralSets, parts: Sequence[_core.Array]) -> None:
        super().__init__(sets.crew, parts)
        object.__setattr__(self, "sets", sets)

    @property
    def count(self) -> int:
        """The number of all rows."""
        return sum(part.count for part in self.parts)

    @property
    def shape(self) -> tuple[int]:
        """The number of all rows."""
        return (self.count,)

    @property
    def version(self) -> int:
        """Another one where any part has changed."""
        return sum(part.version for part in self.parts)

    @property
    def bytes_moved(self) -> int:
        """Those of all parts."""
        return sum(part.bytes_moved for part in self.parts)

    @property
    def is_shared(self) -> bool:
        """Whether anybody else may write to a part."""
        return any(part.is_shared for part in self.parts)

    def host_values(self) -> None:
        """There is no one array of all."""

    def rows(self, first: int, count: int) -> SeveralArrays:
        """Return all rows, which are in use."""
        assert (first, count) == (0, self.count)
        return self

    def component(self, index: int) -> SeveralArrays:
        """Return one component, in the same memory."""
        return SeveralArrays(self.sets, [part.component(index) for part in self.parts])

    def read(
        self, start: _Integers, count: _Integers, step: _Integers, host: npt.NDArray[Any]
    ) -> None:
        """Copy what is selected to an array of the host."""
        values = host.reshape(count)

        def read(rank: int, run: range, which: npt.NDArray[np.int64]) -> None:
            own = self._read(rank, run, start, count, step)
            values[which[which >= 0]] = own[which >= 0]

        self._with_rows(start, count, step, read)

    def write(
        self, start: _Integers, count: _Integers, step: _Integers, host: npt.NDArray[Any]
    ) -> None:
        """Copy an array of the host to what is selected."""
        values = host.reshape(count)

        def write(rank: int, run: range, which: npt.NDArray[np.int64]) -> None:
            own = values[which]
            if (which < 0).any():  # between them are others, which stay as they are
                before = self._read(rank, run, start, count, step)
                with np.errstate(over="ignore"):
                    before[which >= 0] = own[which >= 0]
                own = before
            place, length = (run.start, start[1]), (len(run), count[1])
            self.parts[rank].write(place, length, (1, step[1]), own)

        self._with_rows(start, count, step, write)

    def fill(self, start: _Integers, count: _Integers, step: _Integers, value: float) -> None:
        """Set what is selected to a number."""
        self.write(start, count, step, np.full(count, value, self.parts[0].dtype))

    def copy_from(self, other: _core.Array | SeveralArrays) -> None:
        """Copy as many rows of an array."""
        if is_a(other, SeveralArrays) and other.sets is self.sets:
            self.each("copy_from", other)
            return
        values = part_of(cast("_core.Array", other), range(self.count))
        with np.errstate(over="ignore"):
            values = values.astype(self.parts[0].dtype)
        self.write((0, 0), values.shape, (1, 1), values)

    def sum(self) -> float:
        """Return the sum, of reals rounded once more than those of the parts."""
        return sum_of_parts(self.each("sum"), self.parts[0].dtype)

    def min(self) -> float:
        """Return the least number; NaN where there is one."""
        return self._extreme("min", np.min)

    def max(self) -> float:
        """Return the greatest number; NaN where there is one."""
        return self._extreme("max", np.max)

    def max_abs(self) -> float:
        """Return the greatest size; NaN where there is one."""
        return self._extreme("max_abs", np.max)

    def sum_abs(self) -> float:
        """Return the sum of sizes."""
        return sum_once(self.each("sum_abs"))

    def sum_squared_deviations(self, centre: float) -> float:
        """Return the sum of squares of what remains when a number is subtracted."""
        return sum_once(self.each("sum_squared_deviations", centre))

    def count_between(self, lower: float, upper: float) -> int:
        """Return how many numbers lie between two bounds."""
        return sum(self.each("count_between", lower, upper))

    def _extreme(self, name: str, of: Callable[[npt.NDArray[Any]], Any]) -> float:
        found = [getattr(part, name)() for part in self.parts if part.count]
        extreme: float = of(np.array(found, numeric(self.parts[0].dtype))).item()
        return extreme

    def _with_rows(
        self,
        start: _Integers,
        count: _Integers,
        step: _Integers,
        act: Callable[[int, range, npt.NDArray[np.int64]], None],
    ) -> None:
        """Have each device do something with its rows among those that are selected."""
        rows = range(start[0], start[0] + count[0] * step[0], step[0])
        own = list(self.sets.own_rows(rows))
        self.crew.call(lambda rank: act(rank, *own[rank]) if len(own[rank][0]) else None)

    def _read(
        self, rank: int, run: range, start: _Integers, count: _Integers, step: _Integers
    ) -> npt.NDArray[Any]:
        """Return a run of rows of a device, of the components that are selected."""
        own = np.empty((len(run), count[1]), self.parts[rank].dtype)
        self.parts[rank].read((run.start, start[1]), own.shape, (1, step[1]), own)
        return own


def sum_of_parts(sums: Sequence[float], dtype: npt.DTypeLike) -> float:
    """Return the sum of those of parts: of reals rounded once, of integers modulo 2^64."""
    kind = np.dtype(dtype).kind
    if kind == "f":
        return sum_once(sums)
    wide = np.int64 if kind == "i" else np.uint64
    return int(np.sum(np.array(sums, wide), dtype=wide))
