# SPDX-License-Identifier: BSD-3-Clause
"""Fields of several devices, as the core has one of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.base.kinds import is_a
from particles.fields.neighbours import Neighbours
from particles.runtime.crew import Crew, Several, part_of

Integers = Sequence[int]
_Reals: TypeAlias = npt.NDArray[np.float64]
_Part: TypeAlias = Callable[[_Reals], _Reals]


class SeveralGrids(Several):
    """The parts of a grid, each with the neighbours that know the others.

    Attributes
    ----------
    begins : tuple of int
        Where the parts begin along the first axis, and where the last one ends.
    neighbours : tuple of Neighbours
        Those of each part.
    """

    __slots__ = ("begins", "neighbours")

    begins: tuple[int, ...]
    neighbours: tuple[Neighbours, ...]

    def __init__(
        self,
        crew: Crew,
        parts: Sequence[_core.Grid],
        begins: tuple[int, ...],
        neighbours: Sequence[Neighbours],
    ) -> None:
        super().__init__(crew, parts)
        object.__setattr__(self, "begins", begins)
        object.__setattr__(self, "neighbours", tuple(neighbours))


def made_field(
    context: _core.Context, grid: _core.Grid, components: int, dtype: str, name: str
) -> _core.Field:
    """Have the core make a field: on a grid of several devices one for each of them."""
    several: Any = grid
    if not is_a(several, SeveralGrids):
        return _core.Field(context, grid, components, dtype, name)
    parts = several.crew.call(
        lambda rank: _core.Field(
            part_of(context, rank), several.parts[rank], components, dtype, name
        )
    )
    found: Any = SeveralFields(several, context, parts)
    return cast("_core.Field", found)


def of_rows(
    field: _core.Field,
    context: _core.Context,
    values: npt.NDArray[Any],
    make: Callable[[_core.Context, npt.NDArray[Any]], _core.Field],
) -> _core.Field:
    """Have something made of an array that can be broadcast to a field: of each device's rows."""
    several: Any = field
    if not is_a(several, SeveralFields):
        return make(context, values)

    def of_own(rank: int) -> _core.Field:
        begin, end = several.grid.begins[rank : rank + 2]
        own = values if values.shape[1] == 1 else values[:, begin:end]
        return make(part_of(context, rank), own)

    found: Any = Several(several.crew, several.crew.call(of_own))
    return cast("_core.Field", found)


class SeveralFields(Several):
    """A field of the core for each part of a grid; all have the same bits as one of the whole."""

    __slots__ = ("context", "grid")

    grid: SeveralGrids
    context: _core.Context

    def __init__(
        self, grid: SeveralGrids, context: _core.Context, parts: Sequence[_core.Field]
    ) -> None:
        super().__init__(grid.crew, parts)
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "context", context)

    @property
    def shape(self) -> list[int]:
        """The number of points of the whole grid."""
        return [self.grid.begins[-1], *self.parts[0].shape[1:]]

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

    def component(self, index: int) -> SeveralFields:
        """Return one component, in the same memory."""
        parts = [part.component(index) for part in self.parts]
        return SeveralFields(self.grid, self.context, parts)

    def read(
        self, start: Integers, count: Integers, step: Integers, host: npt.NDArray[Any]
    ) -> None:
        """Copy what is selected to an array of the host."""
        values = host.reshape(count)

        def read(rank: int) -> None:
            rows, own, length = self._share(rank, start, count, step)
            for place, one in _blocks(values, rows):
                where = (start[0] + place * step[0], own, *start[2:])
                self.parts[rank].read(where, (len(one), length, *count[2:]), step, one)

        self.crew.call(read)

    def write(
        self, start: Integers, count: Integers, step: Integers, host: npt.NDArray[Any]
    ) -> None:
        """Copy an array of the host to what is selected."""
        values = host.reshape(count)

        def write(rank: int) -> None:
            rows, own, length = self._share(rank, start, count, step)
            for place, one in _blocks(values, rows):
                where = (start[0] + place * step[0], own, *start[2:])
                self.parts[rank].write(where, (len(one), length, *count[2:]), step, one)

        self.crew.call(write)

    def fill(self, start: Integers, count: Integers, step: Integers, value: float) -> None:
        """Set what is selected to a number."""
        self._in_shares("fill", start, count, step, value)

    def assign(
        self,
        start: Integers,
        count: Integers,
        step: Integers,
        operands: Sequence[_core.Field],
        *formula: Any,  # noqa: ANN401  as of the core
        by_component: bool,
    ) -> None:
        """Set what is selected to what a formula makes of operands."""
        self._in_shares("assign", start, count, step, operands, *formula, by_component=by_component)

    def _in_shares(
        self,
        name: str,
        start: Integers,
        count: Integers,
        step: Integers,
        *args: Any,  # noqa: ANN401
        **options: Any,  # noqa: ANN401
    ) -> None:
        """Call a method of all parts in which something is selected."""

        def act(rank: int) -> None:
            _, own, length = self._share(rank, start, count, step)
            if length:
                places = (start[0], own, *start[2:]), (count[0], length, *count[2:]), step
                getattr(self.parts[rank], name)(*places, *part_of(args, rank), **options)

        self.crew.call(act)

    def _share(
        self, rank: int, start: Integers, count: Integers, step: Integers
    ) -> tuple[slice, int, int]:
        """Return which of the selected rows a part has, its first one of them, and how many."""
        begin, end = self.grid.begins[rank : rank + 2]
        low, high = (min(max(-(-(at - start[1]) // step[1]), 0), count[1]) for at in (begin, end))
        return slice(low, high), max(start[1] + low * step[1] - begin, 0), high - low

    def sum(self) -> float:
        """Return the sum, rounded once."""
        return self._value("digits_of_sum")

    def sum_abs(self) -> float:
        """Return the sum of sizes, rounded once."""
        return self._value("digits_of_sum_abs")

    def sum_squares(self) -> float:
        """Return the sum of squares."""
        return self._value("digits_of_sum_squares")

    def sum_squared_deviations(self, centre: float) -> float:
        """Return the sum of squares of what is left when a number is taken."""
        return self._value("digits_of_squared_deviations", centre)

    def _value(self, name: str, *args: float) -> float:
        """Return a sum of which each part has the digits."""

        def digits(rank: int) -> npt.NDArray[np.int64] | int:
            core = self.parts[rank]
            if len(core.shape) == 1:  # whose parts are not added up alike wherever it is cut
                core, _ = self._whole_lines(rank)
            return 0 if core is None else getattr(core, name)(*args)

        found: Any = sum(self.crew.call(digits))
        return _core.value_of_digits(found)

    def max_abs(self) -> float:
        """Return the greatest size; NaN where there is one."""
        return float(np.max(self.each("max_abs")))

    def max(self) -> float:
        """Return the greatest value; NaN where there is one."""
        return float(np.max(self.each("max")))

    def min(self) -> float:
        """Return the least value; NaN where there is one."""
        return float(np.min(self.each("min")))

    def count_between(self, lower: float, upper: float) -> int:
        """Return how many values lie between two numbers."""
        return sum(self.each("count_between", lower, upper))

    def summary(self) -> tuple[float, float, float, float]:
        """Return the sum, the sum of squares, the least and the greatest value."""
        return self.sum(), self.sum_squares(), self.min(), self.max()

    def sum_along(self, axes: Sequence[bool]) -> _Reals:
        """Return sums along axes."""
        return self._along(axes, lambda core, flags, _: core.sum_along(flags))

    def min_along(self, axes: Sequence[bool]) -> _Reals:
        """Return the least values along axes."""
        return self._along(axes, lambda core, flags, _: core.min_along(flags))

    def max_along(self, axes: Sequence[bool]) -> _Reals:
        """Return the greatest values along axes."""
        return self._along(axes, lambda core, flags, _: core.max_along(flags))

    def sum_squared_deviations_along(self, axes: Sequence[bool], centres: _Reals) -> _Reals:
        """Return sums of squares along axes of what is left when a number is taken, one for each."""
        shape = [1 if gone else n for gone, n in zip(axes, self._whole_shape, strict=True)]

        def squares(core: _core.Field, flags: Sequence[bool], part: _Part) -> _Reals:
            own = np.ascontiguousarray(part(centres.reshape(shape))).ravel()
            return core.sum_squared_deviations_along(flags, own)

        return self._along(axes, squares)

    @property
    def _whole_shape(self) -> tuple[int, ...]:
        return (self.components, *self.shape)

    def _along(
        self,
        axes: Sequence[bool],
        reduce: Callable[[_core.Field, Sequence[bool], _Part], _Reals],
    ) -> _Reals:
        """Return what becomes of parts along axes, put together in the order of the whole.

        `reduce` is given a function that takes from an array of all results, or of length 1 along
        axes that are reduced, what belongs to a part.
        """
        of_components, of_rows, *others = axes
        left = [n for gone, n in zip(axes, self._whole_shape, strict=True) if not gone]
        before = 1 - of_components

        def of_own_rows(rank: int) -> _Reals:
            begin, end = self.grid.begins[rank : rank + 2]
            shape = [*left[:before], end - begin, *left[before + 1 :]]
            found = reduce(self.parts[rank], axes, lambda every: every[:, begin:end])
            return found.reshape(shape)

        kept = [axis for axis, gone in enumerate(others, 1) if not gone]

        def of_whole_lines(rank: int) -> _Reals:
            if len(kept) == len(others):
                core, place = self._whole_lines(rank)
                flags = [*axes[:2], False]
            else:  # one axis is left
                mine = self.parts[rank], part_of(self.context, rank)
                core, place = self.grid.neighbours[rank].whole_planes_of(*mine, kept[0])
                flags = [*axes]
            if core is None:
                return np.empty((left[0] if before else 1, 0))
            found = reduce(core, flags, lambda every: every.reshape(len(every), -1)[:, place])
            return found.reshape(-1, place.stop - place.start)

        if of_rows:
            return np.concatenate(self.crew.call(of_whole_lines), axis=1).ravel()
        return np.concatenate(self.crew.call(of_own_rows), axis=before).ravel()

    def _whole_lines(self, rank: int) -> tuple[_core.Field | None, slice]:
        """Return whole lines along the first axis on a device, and which; None where it has none."""
        return self.grid.neighbours[rank].whole_lines_of(
            self.parts[rank], part_of(self.context, rank)
        )


def _blocks(values: npt.NDArray[Any], rows: slice) -> Sequence[tuple[int, npt.NDArray[Any]]]:
    """Return some rows of values, in as few pieces without gaps as there are, by first component."""
    own = values[:, rows]
    if not own.size:
        return []
    if own.flags.c_contiguous:
        return [(0, own)]
    return [(k, own[k : k + 1]) for k in range(len(own))]
