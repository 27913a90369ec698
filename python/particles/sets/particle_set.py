# SPDX-License-Identifier: BSD-3-Clause
"""Particles anywhere in a box, with what is known of each."""

from __future__ import annotations

import keyword
import math
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.arrays.array import Array
from particles.base.checks import (
    ARRAY_DTYPES,
    KEY_DTYPES,
    MOST_POINTS,
    REAL_DTYPES,
    as_array,
    as_choice,
    as_dtype,
    as_flag,
    as_identifier,
    as_index,
    as_integer,
    as_mapping,
    as_name,
    as_real,
    as_values,
    entries,
    is_function,
    refusal,
    shown,
)
from particles.base.guards import Alone, Named
from particles.base.kinds import is_a
from particles.base.markup import bytes_text, facts
from particles.communication.ranks import Ranks, together
from particles.fields.grid import Grid
from particles.runtime.device import Device
from particles.runtime.memory import Memory
from particles.sets.columns import (
    CELLS,
    NUMBERS,
    OFFSETS,
    TURNS,
    Columns,
    Store,
    bytes_of,
    copied,
    grown,
    name_of,
    part_of,
    parts_of,
    written,
)
from particles.sets.formulas import (
    AXES,
    POSITION,
    RESERVED,
    AttributeType,
    Computation,
    Formula,
)
from particles.sets.handles import INSTEAD, Attribute, ParticlePositions
from particles.sets.homes import Homes, owners_of
from particles.sets.several import SeveralSets
from particles.sets.tables import Table, some_of

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["MOST_COMPONENTS", "ParticleSet", "Unsettled", "as_attribute"]

MOST_COMPONENTS = 4
_MOST_OPERANDS = 24  # each takes 24 of the 1024 bytes that every device has for arguments
_ORDERS = ("row", "cell")
_LEAVING = ("remove", "refuse")
_BESIDES = (POSITION, "turns")  # that are read as attributes are
_GONE = "which particles leave"
_MOST_NUMBERS = 2**62  # of which a sum of two is an int64


class _State(NamedTuple):
    """All that changes; a set has one or another, so that no interrupt leaves half of one."""

    columns: Columns
    order: str | None  # that they have been sorted by since they moved
    version: int
    left: tuple[tuple[int, int], ...]
    total: int = 0  # particles of all ranks, where there are several
    numbers: int = 0  # that have been given to these, by which their order is known
    has_starts: bool = False  # whether it is known where each row begins
    unsettled: Unsettled | None = None


class _Change(NamedTuple):
    """What a formula changes: attributes of these names, perhaps positions, by a computation.

    Of positions it is known for each axis whether a move is the difference of two places.
    """

    names: tuple[str, ...]
    are_differences: tuple[bool, ...] | None
    computation: Computation


class Unsettled(NamedTuple):
    """What has become of particles that somebody moves, and nobody has looked at.

    Attributes
    ----------
    settle : callable
        Sees to it.
    removes : bool
        Whether it may take particles out of the set.
    """

    settle: Callable[[], None]
    removes: bool


class ParticleSet(Named):
    """Particles anywhere in the box of a grid, with attributes, in the memory of a device.

    The set stores the cell of each particle and its offset in the cell, so positions are as exact
    in a long box as in a short one. Attributes are real numbers, integers or truth values, one to
    four for each particle. The set may reorder its particles; all attributes are reordered with
    them.

    Parameters
    ----------
    grid : Grid
        The box and its cells, one for each point: between two points along a periodic axis, around
        a point along an axis with ends.
    positions : array_like
        Finite, of the shape (N, d) in d dimensions. Along a periodic axis they may be anywhere;
        along others from `origin` to `origin` + `extent`, both included.
    dtype : dtype, optional
        The dtype of offsets in cells, float32 or float64; by default float64 if any attribute
        given here is, else float32, whatever the dtype of `positions`.
    leaving : {"remove", "refuse"}
        What happens to particles that leave through an open end: they are removed, or the call
        raises an error and changes nothing.
    device : Device, int or str, optional
        By default what the grid has, or the one of `default_device`.
    name : str, optional
        For messages.
    **attributes : array_like
        One entry for each particle, (N,) or (N, 2) to (N, 4), of float16, float32, float64, bool,
        uint8, int32, uint32, int64 or uint64; that dtype is kept.

    Attributes
    ----------
    grid, dtype, leaving, device, name
        As above.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> grid = pt.Grid((8, 8))
    >>> mass = np.float32([1, 2, 4])
    >>> swarm = pt.ParticleSet(grid, [[0.1, 0.2], [0.9, 0.5], [0.4, 0.8]], mass=mass)
    >>> len(swarm), swarm["mass"].sum()
    (3, 7.0)
    >>> swarm["v"] = np.full((3, 2), 0.25)
    >>> swarm.update(lambda p, dt: {"position": p.position + dt * p.v}, dt=1.0)
    >>> swarm.positions[:, 0].round(6), swarm.turns[:, 0]
    (array([0.35, 0.15, 0.65]), array([0, 1, 0], dtype=int32))
    """

    _ways: ClassVar = {
        **dict.fromkeys(("append", "extend", "concatenate"), "add"),
        **dict.fromkeys(("delete", "drop", "filter", "discard"), "remove"),
        **dict.fromkeys(("size", "n", "count", "shape"), "len(swarm)"),
        "whole": "swarm.total or swarm.gather(name)",
        **dict.fromkeys(("x", "y", "z", "position", "coordinates"), "swarm.positions"),
        **dict.fromkeys(("names", "keys", "columns", "items"), "swarm.attributes"),
        "argsort": "swarm.sort(permutation=True)",
    }

    def __init__(
        self,
        grid: Grid,
        positions: npt.ArrayLike,
        *,
        dtype: npt.DTypeLike | None = None,
        leaving: str = "remove",
        device: Device | int | str | None = None,
        name: str | None = None,
        **attributes: npt.ArrayLike,
    ) -> None:
        grid = _as_grid(grid)
        with together(grid.ranks, f"a ParticleSet of {_names_text(attributes)}"):
            places = _as_positions(positions, grid.ndim)
            given = {
                as_attribute(label): _as_column(label, values, len(places))
                for label, values in attributes.items()
            }
            self._begin(grid, dtype, leaving, device, name, given)
            if grid._parts:
                self._divide(given, *self._split(range(len(places)), places, None))
                return
            self._make_room(len(places), given)
            self._set_positions(range(len(places)), places, self._columns)
        if self._homes is not None:
            self._meet(f"a ParticleSet of {self._kind_text()}")
            first, total = self._homes.before("particles that are given", len(places))
            self._number(self._columns, first + np.arange(len(places)))
            state = self._state._replace(total=total, numbers=total)
            self._become(self._at_home(state)._replace(version=0))

    @classmethod
    def random(
        cls,
        grid: Grid,
        n: int,
        *,
        seed: int,
        dtype: npt.DTypeLike | None = None,
        leaving: str = "remove",
        device: Device | int | str | None = None,
        name: str | None = None,
        **attributes: npt.ArrayLike,
    ) -> Self:
        """Return particles at random positions, uniformly distributed in the box.

        Parameters
        ----------
        grid : Grid
            The box.
        n : int
            How many.
        seed : int
            The same seed gives the same positions.
        dtype, leaving, device, name, **attributes
            As for `ParticleSet`.

        Returns
        -------
        ParticleSet

        Examples
        --------
        >>> import particles as pt
        >>> swarm = pt.ParticleSet.random(pt.Grid((64, 64)), 1000, seed=1)
        >>> len(swarm), swarm.positions.shape
        (1000, (1000, 2))
        """
        grid = _as_grid(grid)
        with together(
            grid.ranks, f"ParticleSet.random of {shown(n)} with {_names_text(attributes)}"
        ):
            count = as_integer("n", n, 0, MOST_POINTS)
            rng = np.random.default_rng(as_integer("seed", seed, 0))
            given = {
                as_attribute(label): _as_column(label, values, count)
                for label, values in attributes.items()
            }
            swarm = cls.__new__(cls)
            swarm._begin(grid, dtype, leaving, device, name, given)
            if not grid.is_cut:
                swarm._make_room(count, given)
            low, extent = np.array(grid.origin), np.array(grid.extent)
            nothing = range(0), np.zeros((0, grid.ndim))
            own = [swarm._own_of(*nothing)]
            for rows in parts_of(count):
                positions = low + extent * rng.random((len(rows), grid.ndim))
                np.minimum(positions, np.nextafter(low + extent, low), out=positions)
                if grid.is_cut:
                    own.append(swarm._own_of(rows, positions))
                else:
                    swarm._set_positions(rows, positions, swarm._columns)
            numbers, *places = (np.concatenate(some) for some in zip(*own, strict=True))
            if grid._parts:
                swarm._divide(given, *places)
            elif grid.is_cut:
                swarm._make_room(len(numbers), _some_of(given, numbers))
                swarm._columns.write_places(range(len(numbers)), *places)
                swarm._number(swarm._columns, numbers)
                swarm._state_now = swarm._state._replace(total=count, numbers=count)
        swarm._meet(f"ParticleSet.random({shown(seed)}) of {swarm._kind_text()}")
        swarm._is_made = True
        return swarm

    @classmethod
    def lattice(
        cls,
        grid: Grid,
        *,
        per_cell: int | tuple[int, ...] = 1,
        dtype: npt.DTypeLike | None = None,
        leaving: str = "remove",
        device: Device | int | str | None = None,
        name: str | None = None,
        **attributes: npt.ArrayLike,
    ) -> Self:
        """Return particles at equal distances, cell by cell.

        Cells come in the order of the grid's points, the last axis first, and so do the particles
        of each cell.

        Parameters
        ----------
        grid : Grid
            The box.
        per_cell : int or sequence of int
            How many along each axis of a cell; one number counts for all axes. Their distance from
            the cell's sides is half of their distance from each other.
        dtype, leaving, device, name, **attributes
            As for `ParticleSet`.

        Returns
        -------
        ParticleSet

        Examples
        --------
        >>> import particles as pt
        >>> pt.ParticleSet.lattice(pt.Grid(2), per_cell=2).positions[:, 0]
        array([0.125, 0.375, 0.625, 0.875])
        >>> pt.ParticleSet.lattice(pt.Grid((1, 2)), per_cell=(2, 1)).positions[...]
        array([[0.25, 0.25],
               [0.75, 0.25],
               [0.25, 0.75],
               [0.75, 0.75]])
        """
        grid = _as_grid(grid)
        with together(grid.ranks, f"ParticleSet.lattice with {_names_text(attributes)}"):
            swarm = cls.__new__(cls)
            swarm._be_lattice(grid, per_cell, dtype, leaving, device, name, attributes)
        swarm._meet(f"ParticleSet.lattice({shown(per_cell)}) of {swarm._kind_text()}")
        swarm._is_made = True
        return swarm

    def _be_lattice(
        self,
        grid: Grid,
        per_cell: int | tuple[int, ...],
        dtype: npt.DTypeLike | None,
        leaving: str,
        device: Device | int | str | None,
        name: str | None,
        attributes: Mapping[str, npt.ArrayLike],
    ) -> None:
        each = _as_per_cell(per_cell, grid.ndim)
        in_cell = math.prod(each)
        total = grid.whole.size * in_cell
        if total > MOST_POINTS:
            raise ValueError(f"per_cell must make at most {MOST_POINTS} particles, not {total}")
        first = grid.begin[0] * math.prod(grid.shape[1:]) * in_cell
        own = range(first, first + grid.size * in_cell)
        given = {
            as_attribute(label): _as_column(label, values, total)
            for label, values in attributes.items()
        }
        if grid.is_divided:
            given = _some_of(given, slice(own.start, own.stop))
        self._begin(grid, dtype, leaving, device, name, given)
        if grid._parts:
            known, values = (self.dtype, leaving), _some_of(given, ...)

            def part(rank: int, block: Grid, place: Device) -> ParticleSet:
                swarm = ParticleSet.__new__(ParticleSet)
                swarm._be_lattice(block, per_cell, *known, place, name, values)
                return swarm

            self._have_parts(part)
            return
        self._make_room(len(own), given)
        steps = [(np.arange(number) + 0.5) / number for number in each]
        within = np.stack(np.meshgrid(*steps, indexing="ij"), -1).reshape(in_cell, grid.ndim)
        below_one = np.nextafter(self.dtype.type(1), self.dtype.type(0))
        within = np.minimum(within.astype(self.dtype), below_one)
        columns = self._state.columns
        for rows in parts_of(len(own)):
            numbers = np.arange(own.start + rows.start, own.start + rows.stop)
            columns.write_places(
                rows,
                (numbers // in_cell).astype(columns.cells.dtype),
                within[numbers % in_cell],
                np.zeros((len(rows), grid.ndim), np.int32),
            )
        self._number(columns, np.array(own))
        self._state_now = self._state._replace(order="cell", total=total, numbers=total)

    def _begin(
        self,
        grid: Grid,
        dtype: npt.DTypeLike | None,
        leaving: str,
        device: Device | int | str | None,
        name: str | None,
        given: Mapping[str, Any],
    ) -> None:
        """Be a set of no particles yet, which will have attributes."""
        place = grid._as_device(device)
        if dtype is None:
            dtype = (
                "float64" if any(one.dtype == np.float64 for one in given.values()) else "float32"
            )
        self.grid = grid
        self.dtype = as_dtype("dtype", dtype, REAL_DTYPES)
        self.leaving = as_choice("leaving", leaving, _LEAVING)
        self.device = place
        self.name = as_name("name", name)
        if self.dtype not in place.dtypes:
            raise TypeError(f"dtype must be float32 on {place.name}, which has no {self.dtype}")
        for label, values in given.items():
            _check_device(label, values, place)
        high = [a + length for a, length in zip(grid.origin, grid.extent, strict=True)]
        self._box = _core.Cells(grid.whole.core, grid.origin, high)
        self._alone = Alone(
            "this ParticleSet is being changed already, by another thread or by the call whose "
            "function or values these are"
        )
        self._row_order = "row" if place.is_cpu else "cell"
        self._homes = None if grid.ranks is None else Homes(grid, grid.ranks)
        self._several: SeveralSets | None = None
        if grid._parts:
            return
        self._core = _core.ParticleSet(place.core, self._box)
        self._store = Store(place)
        self._row_starts: _core.Array | None = None  # overwritten, and kept

    def _have_parts(self, made: Callable[[int, Grid, Device], ParticleSet]) -> None:
        """Have a set on each device, of its part of the grid."""

        def part(rank: int) -> ParticleSet:
            swarm = made(rank, self.grid._parts[rank], self.device.devices[rank])
            swarm._row_order = self._row_order  # one for all
            swarm._is_made = True
            return swarm

        crew = self.grid.crew
        self._several = SeveralSets(crew, crew.call(part))

    def _divide(
        self,
        given: Mapping[str, Any],
        cells: npt.NDArray[Any],
        offsets: npt.NDArray[Any],
        turns: npt.NDArray[np.int32],
    ) -> None:
        """Have each device have the particles that are in the cells of its part."""
        columns = {
            label: values.reshape(len(cells), math.prod(values.shape[1:]))
            for label, values in _some_of(given, ...).items()
        }
        kinds = {label: AttributeType(one.shape[1], one.dtype) for label, one in columns.items()}
        table = {CELLS: cells, OFFSETS: offsets, TURNS: turns}
        table |= {name_of(label): values for label, values in columns.items()}
        self._divide_table(table, kinds, ((0, 0),) * self.grid.ndim)

    def _divide_table(
        self, table: Table, kinds: Mapping[str, AttributeType], left: tuple[tuple[int, int], ...]
    ) -> None:
        """Have each device have what is in its cells, by the names of columns; so many have left."""
        cells = table[CELLS][:, 0]
        owners = owners_of(cells, self.grid)

        def part(rank: int, block: Grid, place: Device) -> ParticleSet:
            own = np.flatnonzero(owners == rank)
            return ParticleSet._of_table(
                block,
                some_of(table, own),
                own,
                kinds,
                dtype=self.dtype,
                leaving=self.leaving,
                left=left,
                device=place,
                name=self.name,
                total=len(cells),
            )

        self._have_parts(part)

    def _make_room(self, count: int, given: Mapping[str, Any]) -> None:
        """Have columns for so many particles, of which these attributes are known."""
        has_turns = "periodic" in self.grid.boundary
        new, axes = self._store.array, self.grid.ndim
        columns = Columns(
            count,
            count,
            new(count, 1, self._box.cell_dtype, CELLS),
            new(count, axes, self.dtype.name, OFFSETS),
            new(count, axes, "int32", TURNS) if has_turns else None,
            new(count, 1, "int64", NUMBERS) if self._homes is not None else None,
            {label: self._column_of(label, values, count) for label, values in given.items()},
        )
        self._state_now = _State(columns, None, 0, ((0, 0),) * axes)

    @classmethod
    def _of_table(
        cls,
        grid: Grid,
        table: Table,
        numbers: npt.NDArray[np.int64],
        kinds: Mapping[str, AttributeType],
        *,
        left: tuple[tuple[int, int], ...],
        total: int,
        **options: Any,  # noqa: ANN401  as for a set
    ) -> Self:
        """Return a set with these particles, wherever they are, by the names of columns.

        Of all ranks they are `total`; of several devices they are all, in their order.
        """
        if grid._parts:
            swarm = cls.__new__(cls)
            swarm._begin_with(grid, kinds, **options)
            swarm._divide_table(table, kinds, left)
            swarm._is_made = True
            return swarm
        swarm = cls._unfilled(grid, len(numbers), kinds, left=left, total=total, **options)
        columns = swarm._columns
        for name, array in columns.by_name():
            written(array, 0, numbers if array is columns.numbers else table[name])
        return swarm

    @classmethod
    def _unfilled(
        cls,
        grid: Grid,
        count: int,
        kinds: Mapping[str, AttributeType],
        *,
        left: tuple[tuple[int, int], ...],
        total: int = 0,
        **options: Any,  # noqa: ANN401  as for a set
    ) -> Self:
        """Return a set of so many particles of which nothing is known yet; of all ranks, `total`."""
        swarm = cls.__new__(cls)
        swarm._begin_with(grid, kinds, **options)
        swarm._make_room(count, {})
        attributes = {
            label: swarm._store.array(count, kind.components, kind.dtype.name, name_of(label))
            for label, kind in kinds.items()
        }
        columns = replace(swarm._columns, attributes=attributes)
        swarm._state_now = swarm._state._replace(
            columns=columns, left=left, total=total, numbers=total
        )
        swarm._is_made = True
        return swarm

    def _begin_with(
        self,
        grid: Grid,
        kinds: Mapping[str, AttributeType],
        *,
        dtype: np.dtype[Any],
        leaving: str,
        device: Device | int | str | None,
        name: str | None,
    ) -> None:
        """Be a set of no particles yet, which will have attributes of some kinds."""
        self._begin(grid, dtype, leaving, device, name, {})
        for label, kind in kinds.items():
            _check_device(label, np.empty(0, kind.dtype), self.device)

    def _take_over(self, other: ParticleSet) -> None:
        """Have the particles of another set of the same kind, which has none any more."""
        with self._alone:
            self._of_each("_take", other)

    def _take(self, other: ParticleSet) -> None:
        old, new = self._before_change(), other._state
        self._become(new._replace(order=None, has_starts=False, version=old.version + 1))
        self._store.discard(new.columns)

    def _go_home(self) -> None:
        """Have each particle on the rank that has its cell; all ranks call it."""
        if self._homes is not None:
            self._become(self._at_home(self._state))

    def _of_each(self, name: str, *arguments: Any) -> None:  # noqa: ANN401
        """Do something, which is a method; of several devices with the set of each.

        These are given their parts of what is of several devices, sets among it.
        """
        if self._several is None:
            getattr(self, name)(*arguments)
            return
        parts = [one._several if is_a(one, ParticleSet) else one for one in arguments]
        self._several.each(name, *parts)

    def _column_of(self, label: str, values: Any, capacity: int) -> _core.Array:  # noqa: ANN401
        """Return an attribute with these values in its first rows."""
        components = values.shape[1] if values.ndim > 1 else 1
        array = self._store.array(capacity, components, values.dtype.name, name_of(label))
        if len(values):
            used = Array._of(array.rows(0, len(values)), self.device)
            used[...] = values
        return array

    @property
    def positions(self) -> ParticlePositions:
        """Where the particles are, as float64 (N, d); can be assigned to by an index."""
        return ParticlePositions(self)

    @positions.setter
    def positions(self, values: object) -> NoReturn:
        raise AttributeError(f"positions of a ParticleSet cannot be replaced: {INSTEAD}")

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """The attributes by name."""
        return MappingProxyType({name: self[name] for name in self._columns.attributes})

    @property
    def turns(self) -> npt.NDArray[np.int32]:
        """How often each particle went round along each axis, (N, d).

        Along a periodic axis, ``positions + turns * extent`` is where a particle would be if the
        box went on.
        """
        self._settle()
        columns = self._columns
        parts = [columns.turns_at(rows) for rows in parts_of(columns.count)]
        return np.concatenate([np.zeros((0, self.grid.ndim), np.int32), *parts])

    @property
    def left(self) -> npt.NDArray[np.int64]:
        """How many were removed beyond the low and the high end of each axis, (d, 2), of all ranks."""
        return np.array(self._state.left, np.int64)

    @property
    def total(self) -> int:
        """How many particles all ranks have together; ``len`` tells how many one has itself."""
        return self._columns.count if self._homes is None else self._state.total

    @property
    def version(self) -> int:
        """A number that changes when particles are added, removed or sorted."""
        return self._state.version

    def __len__(self) -> int:
        return self._columns.count

    def __contains__(self, name: object) -> bool:
        return is_a(name, str) and as_identifier(name) in self._columns.attributes

    __iter__ = None

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        raise TypeError("a ParticleSet is no array: its positions are, and each of its attributes")

    def __getitem__(self, name: str) -> Attribute:
        return Attribute(self, self._known(name, error=KeyError))

    def __setitem__(self, name: str, values: npt.ArrayLike) -> None:
        is_own = is_a(values, Attribute) and values._swarm is self and values.name == name
        if is_own and name in self:
            return  # swarm["mass"] *= 2 has changed it in place
        with self._alone:
            with self._together(f"attribute {shown(name)}"):
                label = as_attribute(name)
                column = _as_column(label, values, len(self))
                _check_device(label, column, self.device)
            if self._several is not None:
                column = self._several.shared_out(_some_of({label: column}, ...)[label])
            self._of_each("_have", label, column)

    def _have(self, label: str, column: Any) -> None:  # noqa: ANN401
        """Have an attribute with values, instead of one that there may be."""
        components = column.shape[1] if column.ndim > 1 else 1
        with self._together(f"attribute {label} of {components} of {column.dtype}"):
            old = self._before_change()
            if label in self and self[label].core.dtype != column.dtype.name:
                self._store.discard(old.columns)
            made = self._column_of(label, column, old.columns.capacity)
        attributes = {**old.columns.attributes, label: made}
        self._become(old._replace(columns=replace(old.columns, attributes=attributes)))

    def __delitem__(self, name: str) -> None:
        with self._alone:
            with self._together(f"del {shown(name)}"):
                label = self._known(name, error=KeyError)
            self._of_each("_drop", label)

    def _drop(self, label: str) -> None:
        """Have an attribute no more."""
        old = self._state
        attributes = {key: one for key, one in old.columns.attributes.items() if key != label}
        self._become(old._replace(columns=replace(old.columns, attributes=attributes)))
        self._store.discard(self._columns)

    def add(self, other: ParticleSet) -> None:
        """Add the particles of another set after the present ones.

        Parameters
        ----------
        other : ParticleSet
            In the same box, on the same device, with the same attributes; its cells may differ.

        Examples
        --------
        >>> import particles as pt
        >>> grid = pt.Grid(8)
        >>> swarm = pt.ParticleSet(grid, [[0.1]])
        >>> swarm.add(pt.ParticleSet(grid, [[0.2], [0.3]]))
        >>> len(swarm)
        3
        """
        with self._together("add"):
            self._check_can_be_added(other)
        with self._alone, nullcontext() if other is self else other._alone:
            self._of_each("_add", other)

    def _add(self, other: ParticleSet) -> None:
        for swarm in (self, other):
            if (
                swarm._homes is not None
                and self._state.numbers + other._state.numbers > _MOST_NUMBERS
            ):
                swarm._close_gaps()
        with self._together("add particles"):
            new = self._with_added(other)
        if self._homes is not None and not self._has_cells_of(other):
            new = self._at_home(new)
        self._become(new)

    def _close_gaps(self) -> None:
        """Give all particles new numbers, in the order that they have; all ranks call it."""
        assert self._homes is not None
        with self._together("to number particles"):
            old, own = self._before_change(), self._numbers()
            numbers = self._store.array(old.columns.capacity, 1, "int64", NUMBERS)
        own, total = self._homes.without_gaps(own)
        columns = replace(old.columns, numbers=numbers)
        self._number(columns, own)
        self._become(old._replace(columns=columns, numbers=total))

    def _with_added(self, other: ParticleSet) -> _State:
        """Return the state with the particles of another set behind its own, wherever they are."""
        self._check_can_be_added(other)
        old, theirs = self._before_change(), other._state.columns
        begin, count = old.columns.count, old.columns.count + theirs.count
        if count > MOST_POINTS:
            raise ValueError(f"a set must have at most {MOST_POINTS} particles, not {count}")
        columns = replace(grown(self._store, old.columns, count), count=count)
        if theirs.numbers is not None:
            every = range(theirs.count)
            self._number(columns, old.numbers + part_of(theirs.numbers, every)[:, 0], begin)
        for name, array in columns.attributes.items():
            copied(theirs.used(theirs.attributes[name]), array, begin)
        if self._has_cells_of(other) and other.dtype == self.dtype:
            copied(theirs.used(theirs.cells), columns.cells, begin)
            copied(theirs.used(theirs.offsets), columns.offsets, begin)
            if columns.turns is not None and theirs.turns is not None:
                copied(theirs.used(theirs.turns), columns.turns, begin)
        else:
            for rows in parts_of(theirs.count):
                ours = range(begin + rows.start, begin + rows.stop)
                positions = theirs.positions_at(other._box, rows)
                self._set_positions(ours, positions, columns, theirs.turns_at(rows))
        return old._replace(
            columns=columns,
            order=None,
            has_starts=False,
            version=old.version + 1,
            total=old.total + other._state.total,
            numbers=old.numbers + other._state.numbers,
        )

    def _has_cells_of(self, other: ParticleSet) -> bool:
        return self.grid == other.grid

    def remove(self, where: npt.ArrayLike | Callable[..., Any]) -> None:
        """Remove some particles; the others stay in their order.

        Parameters
        ----------
        where : array_like of bool, or callable
            Whether each is removed, in the set's order; or a function of a particle that returns a
            condition, as in `update`, which the device computes.

        Examples
        --------
        >>> import particles as pt
        >>> swarm = pt.ParticleSet(pt.Grid(8), [[0.1], [0.6], [0.7]])
        >>> swarm.remove([True, False, False])
        >>> swarm.remove(lambda p: p.x > 0.65)
        >>> swarm.positions[...]
        array([[0.6]])
        """
        with self._alone:
            with self._together("remove"):
                condition: Any = self._condition_of(where)
            if self._several is not None and is_a(condition, np.ndarray):
                condition = self._several.shared_out(condition)
            self._of_each("_remove", condition)

    def _remove(self, condition: Computation | npt.NDArray[np.bool_]) -> None:
        with self._together("to remove particles"):
            old = self._before_change()
            new = self._without(old, self._flags_of(condition))
        if self._homes is not None:
            _, total = self._homes.before("particles that remain", new.columns.count)
            new = new._replace(total=total)
        self._become(new)

    def sort(self, by: str = "row", *, permutation: bool = False) -> Array | None:
        """Sort the particles by the cells that they are in.

        Those in one row or cell keep their order, so the result is unique. A set that has been
        sorted since it last moved is left as it is.

        Parameters
        ----------
        by : {"row", "cell"}
            Rows of at most 256 cells along the last axis, one after the other, or cells, along the
            last axis first.
        permutation : bool
            Whether to return where each particle was before.

        Returns
        -------
        Array or None
            int32, or int64 for 2^31 particles or more.

        Examples
        --------
        >>> import particles as pt
        >>> swarm = pt.ParticleSet(pt.Grid((2, 2)), [[0.75, 0.125], [0.25, 0.875], [0.25, 0.5]])
        >>> swarm.sort(permutation=True).get()
        array([1, 2, 0], dtype=int32)
        >>> swarm.positions[0]
        array([0.25 , 0.875])
        """
        key = as_choice("by", by, _ORDERS)
        is_wanted = as_flag("permutation", permutation)
        with self._alone:
            return self._sorted(key, is_wanted)

    def _sorted(self, key: str, is_wanted: bool) -> Array | None:
        if self._several is not None:
            return self._on_first(self._several.sorted(key, is_wanted))
        is_sorted = self._state.order in (key, "cell")
        if is_sorted and not is_wanted:
            return None
        with self._together(f"sort(by={key!r}, permutation={is_wanted})"):
            order, new = self._with_sorted(key, is_wanted, is_sorted)
        if self._homes is not None and not is_sorted:
            numbers, total = self._homes.numbers_by_place(new.columns, key)
            self._number(new.columns, numbers)
            new = new._replace(numbers=total)
        self._become(new)
        return Array._of(order, self.device) if is_wanted else None

    def _on_first(self, order: npt.NDArray[np.int64] | None) -> Array | None:
        """Return an order of particles on the first of several devices."""
        if order is None:
            return None
        found = Array(len(order), _order_dtype(len(order)), self.device.devices[0])
        found[...] = order
        return found

    def _with_sorted(
        self, key: str, is_wanted: bool, is_sorted: bool
    ) -> tuple[_core.Array, _State]:
        """Return where particles go, and the state when they are there."""
        old = self._before_change()
        count = old.columns.count
        dtype, name = _order_dtype(count), "an order of particles"
        if is_wanted:
            order = _core.Array(self.device.core, count, 1, dtype, name)
        else:
            order = self._working(old.columns, 1, dtype, name)
        if is_sorted:
            _core.sort(_zeros_like(order, self.device), order)
        else:
            cells = old.columns.used(old.columns.cells)
            has_starts = key == "row" and not is_wanted and self._core.counts_rows(count)
            if has_starts:
                self._core.place_in_rows(cells, order, self._memory_of_starts())
                columns = self._rearranged(old.columns, order, _core.distribute)
            else:
                self._core.sort(cells, key == "row", order)
                columns = self._rearranged(old.columns, order, _core.permute)
            old = old._replace(
                columns=columns, order=key, has_starts=has_starts, version=old.version + 1
            )
        return order, old

    @property
    def _is_in_rows(self) -> bool:
        """Whether the particles are in the order of rows; on GPUs in that of cells, which is one."""
        return self._state.order in (self._row_order, "cell")

    @property
    def _is_in_cells(self) -> bool:
        return self._state.order == "cell"

    def _starts(self) -> _core.Array:
        """Return where each row begins, in the order of rows; for who is alone with the set."""
        if not self._is_in_rows:
            self._sorted(self._row_order, False)
        starts = self._memory_of_starts()
        if not self._state.has_starts:
            columns = self._columns
            self._core.find_starts(columns.used(columns.cells), starts)
            self._state_now = self._state._replace(has_starts=True)
        return starts

    def _memory_of_starts(self) -> _core.Array:
        dtype = _order_dtype(len(self))
        if self._row_starts is None or self._row_starts.dtype != dtype:
            self._state_now = self._state._replace(has_starts=False)
            self._row_starts = _core.Array(
                self.device.core, self._box.rows + 1, 1, dtype, "where rows of particles begin"
            )
        return self._row_starts

    def _fill(
        self,
        types: Mapping[str, AttributeType],
        fill: Callable[[Mapping[str, _core.Array], Mapping[str, _core.Array]], None],
    ) -> None:
        """Set attributes, also new ones, to what `fill` makes: of what there is before, by name.

        For who is alone with the set.
        """
        with self._together(lambda: f"attributes {shown(types)}"):
            new = self._filled(types, fill)
        self._become(new)

    def _filled(
        self,
        types: Mapping[str, AttributeType],
        fill: Callable[[Mapping[str, _core.Array], Mapping[str, _core.Array]], None],
    ) -> _State:
        old = self._before_change()
        columns = old.columns
        made = {
            name: self._store.array(
                columns.capacity, its_type.components, its_type.dtype.name, name_of(name)
            )
            for name, its_type in types.items()
        }
        before = {
            name: columns.used(columns.attributes[name])
            for name in made
            if name in columns.attributes
        }
        fill(before, {name: columns.used(array) for name, array in made.items()})
        attributes = {**columns.attributes, **made}
        return old._replace(columns=replace(columns, attributes=attributes))

    def get(self, name: str, *, by: str) -> npt.NDArray[Any]:
        """Copy an attribute to the host in an order of yours.

        Parameters
        ----------
        name : str
            Of an attribute, ``"position"`` or ``"turns"``.
        by : str
            An attribute of integers that are all different. The result is in ascending order of
            them.

        Returns
        -------
        numpy.ndarray

        Examples
        --------
        >>> import numpy as np
        >>> import particles as pt
        >>> swarm = pt.ParticleSet(pt.Grid((2, 2)), [[0.75, 0.25], [0.25, 0.5]], tag=np.arange(2))
        >>> swarm.sort()
        >>> swarm.get("position", by="tag")
        array([[0.75, 0.25],
               [0.25, 0.5 ]])
        """
        label = self._known(name, *_BESIDES)
        order = self._order_by(by)
        if label in self:
            return self[label].take(order).get()
        values: npt.NDArray[Any] = self._values_of(label)[order.get()]
        return values

    def _absence(self, name: str) -> str:
        first = self if self._several is None else self._several.parts[0]
        if name in first._state_now.columns.attributes:  # reading this settles nothing
            return f'a ParticleSet has no {name}: use swarm["{name}"]'
        return super()._absence(name)

    def _values_of(self, label: str) -> npt.NDArray[Any]:
        """Return an attribute, positions or turns, in the set's order."""
        if label == POSITION:
            return self.positions.get()
        return self[label].get() if label in self else self.turns

    def gather(self, name: str, *, by: str | None = None, root: int = 0) -> npt.NDArray[Any] | None:
        """Return an attribute of all particles on one rank; all ranks must call it.

        Parameters
        ----------
        name : str
            Of an attribute, ``"position"`` or ``"turns"``.
        by : str, optional
            An attribute of integers that are all different, by which the result is sorted; by default
            it is in the set's order, which is the same on any number of ranks.
        root : int
            The rank that receives them.

        Returns
        -------
        numpy.ndarray or None
            None on other ranks.

        Examples
        --------
        >>> import numpy as np
        >>> import particles as pt
        >>> swarm = pt.ParticleSet(pt.Grid(4), [[0.7], [0.2]], tag=np.arange(2))
        >>> swarm.gather("position")
        array([[0.7],
               [0.2]])
        """
        number = as_index("root", root, 1 if self._homes is None else self._homes.ranks.size)
        with self._together(f"gather of {shown(name)} by {shown(by)}"):
            label = self._known(name, *_BESIDES)
            key = None if by is None else self._key(by)
            own = self._values_of(label)
        if self._homes is None:
            return own if key is None else self.get(name, by=str(by))
        return self._homes.gathered(
            f"{label} on rank {number}",
            number,
            own,
            self._numbers() if key is None else key.get(),
            None if by is None else f"by must name an attribute that differs for each, but {by}",
        )

    def set(self, name: str, values: npt.ArrayLike, *, by: str) -> None:
        """Set an attribute to values in an order of yours.

        Parameters
        ----------
        name : str
            Of an attribute, or ``"position"``.
        values : array_like
            One for each particle, in ascending order of `by`.
        by : str
            As for `get`.

        Examples
        --------
        >>> import numpy as np
        >>> import particles as pt
        >>> swarm = pt.ParticleSet(pt.Grid(4), [[0.7], [0.2]], tag=[9, 5], mass=np.zeros(2))
        >>> swarm.set("mass", [1.0, 2.0], by="tag")
        >>> swarm["mass"].get()
        array([2., 1.])
        """
        with self._alone:
            label = self._known(name, POSITION)
            with self._together(f"set of position by {shown(by)}", label == POSITION):
                target: ParticlePositions | Attribute = (
                    self.positions if label == POSITION else self[label]
                )
                arranged = self._arranged(target, values, self._order_by(by))
            if label == POSITION:
                self._place(range(len(self)), arranged, np.ones(arranged.shape, bool))
            else:
                Array._of(target.core, self.device)[...] = arranged

    def _arranged(
        self, target: ParticlePositions | Attribute, values: npt.ArrayLike, order: Array
    ) -> npt.NDArray[Any]:
        """Return values of which the first is for the first particle of an order."""
        given = as_values(values, target.dtype)
        if given.shape != target.shape:
            raise ValueError(f"values must have the shape {target.shape}, not {given.shape}")
        arranged = np.empty_like(given)
        arranged[order.get()] = given
        return arranged

    def update(self, formula: Callable[..., Any], /, **numbers: float) -> None:
        """Set attributes and positions by a formula, for each particle.

        The device computes everything in one pass, from the values before the call. A formula that
        differs from an earlier one only in its numbers compiles nothing. If the formula returns no
        position, the call does not wait for the device.

        Parameters
        ----------
        formula : callable
            A function of a particle ``p`` and of numbers that are passed by name. ``p``
            has every attribute, ``p.x`` and so on, and ``p.position``; vectors can be indexed and
            computed with as a whole. It is called once, with symbols, and returns a dict of names
            and values, tuples for vectors. It is computed in float64, if the device has it, where
            a float64 or an integer of 32 or 64 bits is read or set, a coordinate is read, or
            positions of a set of float64 are set; else in float32. A position that is ``p.position``
            plus something reads no coordinate: what is added moves the particle within its cell.
        **numbers : float
            Further numbers in the formula.

        Notes
        -----
        Along periodic axes, positions come back into the box, and `turns` counts the turns. Walls
        reflect particles, but do not change velocities that are attributes. Particles beyond an
        open end are removed, or refused before anything changes, as `leaving` says. What integers
        are set to is truncated; beyond their range it becomes the nearest number in it, and NaN 0.
        Integers beyond 2**53, or 2**24 where it computes in float32, are refused where the formula
        reads them, as it would round them; results beyond that are rounded. To know this, the call
        waits for the device where it reads such integers.

        Examples
        --------
        >>> import numpy as np
        >>> import particles as pt
        >>> swarm = pt.ParticleSet(pt.Grid(8), [[0.25], [0.75]], mass=np.float32([1, 2]))
        >>> swarm.update(lambda p, dt: {"mass": p.mass * np.exp(-dt) + p.x}, dt=0.5)
        >>> swarm["mass"].get().round(3)
        array([0.857, 1.963], dtype=float32)
        """
        given = {as_identifier(k): _as_exact_real(k, number) for k, number in numbers.items()}
        with self._alone:
            with self._together(f"update with {given}"):
                change = self._change_by(formula, given)
            self._of_each("_update", change)

    def _update(self, change: _Change) -> None:
        with self._together(f"update of {sorted(change.names)}, moves={change.are_differences}"):
            old, columns, moved = self._computed(change)
        new = old._replace(columns=columns)
        if moved is not None and change.are_differences is not None:
            new = self._moved(old, columns, moved, change.are_differences)
        self._become(new)

    def _change_by(self, formula: object, given: Mapping[str, float]) -> _Change:
        """Return what a formula changes."""
        types = self._types()
        traced = Formula("formula", formula, types, self.grid.ndim, given)
        results = as_mapping(traced.result, 'formula must return a dict, as {"mass": 2 * p.mass}')
        roots, targets = [], []
        names = [self._changed_by(name) for name in results]
        for label, result in zip(names, results.values(), strict=True):
            if label != POSITION:
                roots += traced.roots(result, label, types[label].components)
                targets.append(types[label].dtype)
        moves = traced.moves(results[POSITION]) if POSITION in results else []
        roots += [move.change for move in moves]
        targets += [self.dtype] * len(moves)
        computation = traced.compiled(roots, targets, self.device.dtypes)
        if len(computation.operands) + len(results) > _MOST_OPERANDS:
            raise ValueError(f"formula must read and set at most {_MOST_OPERANDS} attributes")
        are_differences = tuple(move.is_difference for move in moves) or None
        changed = tuple(name for name in names if name != POSITION)
        return _Change(changed, are_differences, computation)

    def _changed_by(self, name: object) -> str:
        """Return the name of what a formula returns; say how to make an attribute that is missing."""
        try:
            return self._known(name, POSITION, argument="formula")
        except ValueError as error:
            try:
                label = as_attribute(name)
            except ValueError:  # which cannot be made
                raise error from None
            raise ValueError(f'{error}: make it first, by swarm["{label}"] = ...') from None

    def _computed(self, change: _Change) -> tuple[_State, Columns, _core.Array | None]:
        """Return the state, columns with new attributes, and by how much particles move."""
        old = self._before_change()
        attributes, computation = old.columns.attributes, change.computation
        made = {
            name: self._store.array_like(attributes[name], old.columns.capacity, name_of(name))
            for name in change.names
        }
        targets = [old.columns.used(array) for array in made.values()]
        columns = replace(old.columns, attributes={**attributes, **made})
        if change.are_differences is None:
            self._compute(computation, old.columns, targets)
            return old, columns, None
        moved = self._working(
            old.columns, self.grid.ndim, computation.real.name, "moves of particles"
        )
        self._compute(computation, old.columns, [*targets, moved])
        return old, columns, moved

    def memory(self) -> Memory:
        """Return the device memory that the set has, by purpose.

        Returns
        -------
        Memory
            Bytes, with room for particles that may be added; ``"to sort into"`` is the memory in
            which the next sort, removal or update works and puts its results.

        Examples
        --------
        >>> import particles as pt
        >>> memory = pt.ParticleSet.random(pt.Grid((64, 64)), 1000, seed=1).memory()
        >>> memory["positions"], memory.total
        (20000, 20000)
        """
        if self._several is not None:
            every = Counter[str]()
            for part in self._several.parts:
                every.update(part.memory())
            return Memory(every, self.device.memory)
        columns = self._columns
        turns = 0 if columns.turns is None else bytes_of(columns.turns)
        rows = {
            "positions": bytes_of(columns.cells) + bytes_of(columns.offsets) + turns,
            **{f"attribute {name}": bytes_of(one) for name, one in columns.attributes.items()},
            "numbers": 0 if columns.numbers is None else bytes_of(columns.numbers),
            "to sort into": self._store.nbytes_besides(columns),
            "keys": self._core.bytes_to_sort,
            "starts of rows": 0 if self._row_starts is None else bytes_of(self._row_starts),
        }
        return Memory({name: size for name, size in rows.items() if size}, self.device.memory)

    @property
    def _state(self) -> _State:
        """What it is, without particles that have left."""
        if self._several is not None:
            return self._state_of(self._several)
        unsettled = self._state_now.unsettled
        if unsettled is not None and unsettled.removes:
            self._settle()
        return self._state_now

    @staticmethod
    def _state_of(several: SeveralSets) -> _State:
        """Return what the sets of several devices are together."""
        # In the threads: they may be at what an interrupt has left to them.
        states: list[_State] = several.crew.call(lambda rank: several.parts[rank]._state)
        return states[0]._replace(
            columns=several.columns_of([state.columns for state in states]),
            version=sum(state.version for state in states),
        )

    @property
    def _columns(self) -> Columns:
        return self._state.columns

    @property
    def _columns_now(self) -> Columns:
        """As they are while somebody moves the particles."""
        return self._columns if self._several is not None else self._state_now.columns

    def _settle(self) -> None:
        """Have those who have moved the particles say what has become of them."""
        unsettled = None if self._several is not None else self._state_now.unsettled
        if unsettled is not None:
            with self._alone.or_called():
                unsettled.settle()

    def _take_out(self, gone: _core.Array, left: list[list[int]], leaving: int) -> None:
        """Remove particles that have left through ends of the axes, which are so many."""
        old = self._state_now._replace(unsettled=None)
        self._store.settle(old.columns)
        self._become(self._without(_counted(old, left), gone, leaving))

    @property
    def _ranks(self) -> Ranks | None:
        return self.grid.ranks

    def _together(
        self, what: str | Callable[[], str], is_common: bool = True
    ) -> AbstractContextManager[None]:
        """Have all ranks do this; raise alike what one of them raises within.

        A text that takes time to make is made only where there are ranks.
        """
        ranks = self._ranks if is_common else None
        if ranks is None:
            return nullcontext()
        return ranks.together(f"{what if is_a(what, str) else what()}, {self._told()}")

    def _meet(self, what: str) -> None:
        """Wait for all ranks, who must be at the same."""
        if self._ranks is not None:
            self._ranks.meet(f"{what}, {self._told()}")

    def _told(self) -> str:
        whose = "" if self.name is None else f" {self.name!r}"
        return f"ParticleSet{whose} in {self.grid.whole.shape}"

    def _at_home(self, state: _State) -> _State:
        """Return the state when each particle is on the rank that has its cell; all must call it."""
        if self._homes is None:
            return state
        columns = self._homes.brought_home(self._store, state.columns)
        if columns is state.columns:
            return state
        return state._replace(
            columns=columns, order=None, has_starts=False, version=state.version + 1
        )

    def _number(self, columns: Columns, numbers: npt.NDArray[np.int64], first: int = 0) -> None:
        """Say which numbers particles have, from one row on."""
        if columns.numbers is not None:
            written(columns.numbers, first, numbers.astype(np.int64, copy=False))

    def _numbers(self) -> npt.NDArray[np.int64]:
        """Return the numbers of one's own particles, which ascend."""
        columns = self._columns
        assert columns.numbers is not None
        return part_of(columns.numbers, range(columns.count))[:, 0]

    def _own_of(
        self, rows: range, positions: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[Any], ...]:
        """Return numbers, cells, offsets and turns of those particles that are in own cells."""
        cells, offsets, turns = self._split(rows, positions, None)
        own = np.arange(len(rows))
        if self._homes is not None:
            own = own[owners_of(cells[:, 0], self.grid) == self._homes.ranks.rank]
        return rows.start + own, cells[own], offsets[own], turns[own]

    def _kind_text(self) -> str:
        known = [f"{self.dtype}", f"leaving={self.leaving!r}", *self._attributes_text()]
        return f"{', '.join(known)} by {self.device.name}, {self.device.driver}"

    def _be_unsorted(self) -> None:
        """Know that particles are going to be in other cells."""
        self._state_now = self._state_now._replace(order=None, has_starts=False)

    def _take_home(self, gone: _core.Array | None, left: list[list[int]], leaving: int) -> None:
        """Remove particles that have left, so many here, and have each on the rank that has its cell.

        All ranks call it; `left` is of all.
        """
        with self._together("to remove what has left"):
            old = self._state_now._replace(unsettled=None)
            self._store.settle(old.columns)
            new = _counted(old, left)
            if gone is not None:
                new = self._without(new, gone, leaving)
        self._become(self._at_home(new._replace(total=new.total - sum(map(sum, left)))))

    def _become(self, new: _State) -> None:
        """Be in another state, in one step; keep memory that is no longer needed."""
        self._state_now = new
        self._store.settle(new.columns)

    def _before_change(self) -> _State:
        """Return the state that is going to change; what an earlier change left half-done is free."""
        self._store.settle(self._columns)
        return self._state

    def _working(self, columns: Columns, components: int, dtype: str, name: str) -> _core.Array:
        """Return memory for a row of each particle, until the set has changed."""
        return columns.used(self._store.array(columns.capacity, components, dtype, name))

    def _types(self) -> dict[str, AttributeType]:
        attributes = self._columns.attributes
        return {
            name: AttributeType(one.components, np.dtype(one.dtype))
            for name, one in attributes.items()
        }

    def _known(
        self,
        name: object,
        *besides: str,
        argument: str = "name",
        error: type[Exception] = ValueError,
    ) -> str:
        """Return the name of an attribute that there is, or another name."""
        known = [*self._columns.attributes, *besides]
        if not is_a(name, str):
            raise TypeError(f"{argument} must be the name of an attribute, not {shown(name)}")
        text = as_identifier(name)
        if text not in known:
            has = ", ".join(known) if known else "none"
            raise error(
                f"{argument} must name an attribute that the set has ({has}), not {shown(name)}"
            )
        return text

    def _compute(
        self, computation: Computation, columns: Columns, targets: list[_core.Array]
    ) -> None:
        operands = [columns.used(columns.attributes[name]) for name in computation.operands]
        for name, operand in zip(computation.operands, operands, strict=True):
            self._check_exact(name, operand, computation.real)
        self._core.compute(
            columns.places,
            operands,
            targets,
            computation.text,
            computation.numbers,
            computation.real.name,
            computation.reads_places,
        )

    def _check_exact(self, name: str, operand: _core.Array, real: np.dtype[Any]) -> None:
        """Refuse integers that a formula would round."""
        dtype, most = np.dtype(operand.dtype), 2 ** (np.finfo(real).nmant + 1)
        if dtype.kind not in "iu" or np.iinfo(dtype).max <= most or not operand.count:
            return
        integers = Array._of(operand, self.device)
        farthest = max(integers.min(), integers.max(), key=abs)
        if abs(farthest) > most:
            raise ValueError(
                f"a formula computes in {real} and reads integers up to {most} exactly, but {name} "
                f"has {farthest}"
            )

    def _moved(
        self,
        old: _State,
        columns: Columns,
        moved: _core.Array,
        are_differences: tuple[bool, ...],
    ) -> _State:
        """Return what becomes of a set whose particles move; refuse what must not be."""
        with self._together("to move particles"):
            end = self._store.with_new_places(columns)
            gone = self._working(columns, 1, "int32", _GONE)
            left, wrong = self._core.move(columns.places, moved, are_differences, end.places, gone)
        new = old._replace(columns=end, order=None, has_starts=False)
        leaving, is_wrong = sum(map(sum, left)), wrong >= 0
        if self._homes is not None:
            counts = np.array([*left, [is_wrong, 0]])
            *left, (is_wrong, _) = self._homes.ranks.total("particles that leave", counts).tolist()
        if is_wrong:
            number, where = self._first_of_all(wrong)
            raise ValueError(
                f"formula must give finite positions, within 10^9 cells, but particle {number} "
                f"at {where} goes elsewhere, or has gone round 2^31 times"
            )
        of_all = sum(map(sum, left))
        if of_all and self.leaving == "refuse":
            raise ValueError(
                f"formula must keep particles within the box, but {of_all} would leave it, where "
                'leaving="refuse"'
            )
        with self._together("to remove what has left"):
            new = self._without(new, gone, leaving)
        new = _counted(new, left)
        return self._at_home(new._replace(total=new.total - of_all))

    def _first_of_all(self, row: int) -> tuple[int, tuple[float, ...]]:
        """Return which is the first of some particles, of which each rank has one or -1, and where."""
        own = None
        if row >= 0:
            where = tuple(map(float, self._positions_at(range(row, row + 1))[0]))
            if self._homes is None:
                return row, where
            own = int(self._numbers()[row]), where
        assert self._homes is not None
        every = self._homes.ranks.every("which particles are wrong", own)
        number, where = min(one for one in every if one is not None)
        return self._place_of(number), where

    def _place_of(self, number: int) -> int:
        """Return which of all particles has a number; all ranks call it."""
        assert self._homes is not None
        below = np.array([np.searchsorted(self._numbers(), number)])
        return int(self._homes.ranks.total("which particle it is", below)[0])

    def _without(self, old: _State, gone: _core.Array, count: int | None = None) -> _State:
        """Return the state without particles of which `gone` is 1, which are so many."""
        leaving = int(gone.sum()) if count is None else count
        if not leaving:
            return old
        stay = old.columns.count - leaving
        dtype = _order_dtype(old.columns.count)
        order = self._working(old.columns, 1, dtype, "an order of particles")
        _core.sort(gone, order)  # stable: those that stay come first, in their order
        columns = self._rearranged(old.columns, order.rows(0, stay), _core.permute)
        return old._replace(columns=columns, has_starts=False, version=old.version + 1)

    def _rearranged(
        self,
        columns: Columns,
        order: _core.Array,
        move: Callable[[_core.Array, _core.Array, _core.Array], None],
    ) -> Columns:
        """Return columns with their rows in an order, or in places, in other memory."""
        arrays = []
        for name, array in columns.by_name():
            arrays.append(self._store.array_like(array, columns.capacity, name))
            move(columns.used(array), order, arrays[-1].rows(0, order.count))
        return columns.replaced(iter(arrays), order.count, columns.capacity)

    def _condition_of(self, where: object) -> Computation | npt.NDArray[np.bool_]:
        """Return what computes where a condition holds, or where it does."""
        if is_function(where):
            traced = Formula("where", where, self._types(), self.grid.ndim, {})
            condition = traced.roots(traced.condition(), "the condition", 1)
            return traced.compiled(condition, [], self.device.dtypes)
        values = as_array(where, "where")
        if values.dtype != np.bool_ or values.shape != (len(self),):
            error = TypeError if values.dtype != np.bool_ else ValueError
            raise error(
                f"where must be one truth value for each of {len(self)} particles, or a "
                f"condition as lambda p: p.x > 0, not "
                f"{values.dtype} of the shape {values.shape}"
            )
        return values

    def _flags_of(self, condition: Computation | npt.NDArray[np.bool_]) -> _core.Array:
        """Return 1 where a condition holds, else 0."""
        columns = self._columns
        flags = self._working(columns, 1, "int32", _GONE)
        if is_a(condition, Computation):
            self._compute(condition, columns, [flags])
        elif columns.count:
            Array._of(flags, self.device)[...] = condition
        return flags

    def _key(self, by: str) -> Attribute:
        key = self[self._known(by, argument="by")]
        if key.dtype not in KEY_DTYPES or key.components > 1:
            raise TypeError(
                "by must name an attribute of one component of int32, uint32, int64 or uint64, "
                f"not {by}, which is {key.dtype} of the shape {key.shape}"
            )
        return key

    def _order_by(self, by: str) -> Array:
        """Return where the particles are from the least to the greatest of an attribute."""
        key = self._key(by)
        order = key.argsort()
        numbers = key.take(order).get()
        same = np.flatnonzero(numbers[1:] == numbers[:-1])
        if same.size:
            raise ValueError(
                f"by must name an attribute that differs for each particle, but {by} is "
                f"{numbers[same[0]]} for several"
            )
        return order

    def _positions_at(
        self, rows: range, out: npt.NDArray[np.float64] | None = None
    ) -> npt.NDArray[np.float64]:
        self._settle()
        return self._columns.positions_at(self._box, rows, out)

    def _put(
        self,
        rows: range,
        positions: npt.NDArray[np.float64],
        is_assigned: npt.NDArray[np.bool_],
    ) -> None:
        """Move some particles along some axes, in one step."""
        with self._alone:
            self._place(rows, positions, is_assigned)

    def _place(
        self,
        rows: range,
        positions: npt.NDArray[np.float64],
        is_assigned: npt.NDArray[np.bool_],
    ) -> None:
        """Move particles where they are: what is not assigned keeps its bits."""
        with self._together("positions that are assigned"):
            places = self._places_of(rows, positions, is_assigned)
        if self._several is not None:
            self._several.put(rows, positions, is_assigned)
            return
        self._state_now = self._state._replace(
            order=None, has_starts=False
        )  # an interrupt may come after that
        self._columns.write_places(rows, *places)
        if self._homes is not None:
            self._become(self._at_home(self._before_change()))

    def _places_of(
        self,
        rows: range,
        positions: npt.NDArray[np.float64],
        is_assigned: npt.NDArray[np.bool_],
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.int32]]:
        """Return cells, offsets and turns of particles when some coordinates are assigned."""
        columns, shape = self._columns, self.grid.whole.shape
        if is_assigned.all():
            return self._split(rows, positions, columns.turns_at(rows))
        cells, offsets = columns.places_at(rows)
        before = np.empty_like(positions)
        self._box.join(cells, offsets, before)
        given = np.where(is_assigned, positions, before)
        turns = columns.turns_at(rows)
        new_cells, new_offsets, new_turns = self._split(rows, given, turns)
        along = np.stack(np.unravel_index(cells[:, 0], shape), axis=-1)
        new_along = np.stack(np.unravel_index(new_cells[:, 0], shape), axis=-1)
        numbers = np.ravel_multi_index(tuple(np.where(is_assigned, new_along, along).T), shape)
        return (
            numbers.astype(cells.dtype),
            np.where(is_assigned, new_offsets, offsets),
            np.where(is_assigned, new_turns, turns),
        )

    def _set_positions(
        self,
        rows: range,
        positions: npt.NDArray[np.float64],
        columns: Columns,
        before: npt.NDArray[np.int32] | None = None,
    ) -> None:
        """Write where particles are, which went round so often before."""
        for part in parts_of(len(rows)):
            some = slice(part.start, part.stop)
            turns = None if before is None else before[some]
            columns.write_places(rows[some], *self._split(rows[some], positions[some], turns))

    def _split(
        self,
        rows: range,
        positions: npt.NDArray[np.float64],
        before: npt.NDArray[np.int32] | None,
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.int32]]:
        """Return cells, offsets and turns of particles, which went round so often before."""
        count, axes = positions.shape
        cells = np.empty((count, 1), self._box.cell_dtype)
        offsets = np.empty((count, axes), self.dtype)
        turns = np.empty((count, axes), np.int32)
        given = np.require(positions, np.float64, ("C", "A"))
        wrong = self._box.split(given, cells, offsets, turns)
        if wrong >= 0:
            self._refuse(rows[wrong], given[wrong])
        if before is None:
            return cells, offsets, turns
        if not turns.any():
            return cells, offsets, before
        total = before + turns  # beyond 2^31 it has another sign than both
        too_many = ((before ^ total) & (turns ^ total)) < 0
        if too_many.any():
            wrong = int(np.argmax(too_many.any(axis=1)))
            raise ValueError(
                f"positions must be within 2^31 boxes, but particle {rows[wrong]} at "
                f"{tuple(map(float, given[wrong]))} would have gone round more often"
            )
        return cells, offsets, total

    def _refuse(self, number: int, position: npt.NDArray[np.float64]) -> None:
        place = tuple(map(float, position))
        if not np.isfinite(position).all():
            raise ValueError(f"positions must be finite, not {place} of particle {number}")
        ends, far = [], []
        box = zip(AXES, place, self.grid.origin, self.grid.extent, self.grid.boundary, strict=False)
        for axis, x, start, length, beyond in box:
            if beyond != "periodic":
                ends.append(f"{axis} from {start} to {start + length}")
            elif abs(x - start) > (2**31 - 2) * length:
                far.append(axis)
        within = f"within the box, {', '.join(ends)}"
        if far:
            within = f"at most 2^31 boxes away along {' and '.join(far)}"
        raise ValueError(f"positions must be {within}, not {place} of particle {number}")

    def _check_can_be_added(self, other: object) -> None:
        if not is_a(other, ParticleSet):
            raise TypeError(f"other must be a ParticleSet, not {shown(other)}")
        types, theirs = self._types(), other._types()
        if types != theirs:
            name = next(name for name in {**types, **theirs} if types.get(name) != theirs.get(name))
            if name not in theirs:
                differs = f"has no {name}"
            elif name not in types:
                differs = f"also has {name}"
            else:
                differs = f"{name} is {theirs[name]} and not {types[name]}"
            raise ValueError(f"other must have the same attributes, but {differs}")
        for what, ours, its in (
            ("device", self.device, other.device),
            ("box", self._box_of(), other._box_of()),
            ("ranks", self._ranks, other._ranks),
        ):
            if ours != its:
                raise ValueError(
                    f"other must have the same {what}, not {its!r} instead of {ours!r}"
                )

    def _box_of(self) -> tuple[object, ...]:
        return self.grid.origin, self.grid.extent, self.grid.boundary

    def _attributes_text(self) -> list[str]:
        return [f"{name}: {its_type}" for name, its_type in self._types().items()]

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a ParticleSet is on a device and can be neither copied nor pickled: make another one "
            "from its positions and attributes"
        )

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        order = f", sorted by {self._state.order}" if self._state.order else ""
        cells = " x ".join(map(str, self.grid.whole.shape))
        count = str(len(self)) if self._homes is None else f"{len(self)} of {self.total}"
        known = "".join(f", {text}" for text in self._attributes_text())
        return (
            f"ParticleSet({name}{count} particles in {cells} cells{known}{order}, "
            f"{self.device.name})"
        )

    def _repr_html_(self) -> str:
        return facts(
            f"ParticleSet {self.name or ''}",
            {
                "particles": len(self),
                "cells": " x ".join(map(str, self.grid.whole.shape)),
                "positions": f"{self.dtype.name} in a cell",
                "attributes": ", ".join(self._attributes_text()) or "none",
                "sorted": f"by {self._state.order}" if self._state.order else "no",
                "memory": bytes_text(self.memory().total),
                "device": self.device.name,
            },
        )


_RESERVED = {*dir(ParticleSet), *RESERVED, "dtype", "grid", "leaving", "device", "n", "seed"}
_RESERVED |= {"per_cell", "p", "name", "by", "self", "cls"}


def _counted(state: _State, left: list[list[int]]) -> _State:
    """Return the state when more have left through the ends of its axes."""
    counts = tuple(
        (low + its_low, high + its_high)
        for (low, high), (its_low, its_high) in zip(state.left, left, strict=False)
    )
    return state._replace(left=counts)


def _as_grid(grid: object) -> Grid:
    """Return the grid whose parts have the particles of a set: slabs of planes."""
    if not is_a(grid, Grid):
        raise TypeError(f"grid must be a Grid, not {shown(grid)}")
    return grid.slabs


def _as_positions(value: object, ndim: int) -> npt.NDArray[np.float64]:
    array = as_values(value, name="positions")
    if array.ndim != 2 or array.shape[1] != ndim:
        raise ValueError(
            f"positions must have the shape (N, {ndim}), one row for each particle, not {array.shape}"
        )
    return array


def _as_exact_real(name: str, number: object) -> float:
    """Return a finite number, of integers those that float64 holds."""
    value = as_real(name, number)
    if is_a(number, int | np.integer) and int(number) != value:
        raise ValueError(f"{name} must be an integer that float64 holds, not {shown(number)}")
    return value


def as_attribute(name: object) -> str:
    """Return a name that an attribute can have."""
    if not is_a(name, str):
        raise TypeError(f"name must be the name of an attribute, not {shown(name)}")
    text = as_identifier(name)
    if not text.isidentifier() or keyword.iskeyword(text) or text.startswith("_"):
        raise ValueError(
            f"name must be a valid Python name that does not begin with _, not {text!r}"
        )
    if text in _RESERVED:
        raise ValueError(f"name must not be {text!r}, which a set uses itself")
    return text


def _as_column(name: str, values: object, count: int) -> Any:  # noqa: ANN401
    """Return an attribute's values, on the device or on the host, of a dtype that arrays have."""
    given = values if is_a(values, Array) else as_array(values, name)
    if given.dtype.newbyteorder("=") not in ARRAY_DTYPES:
        *others, last = (dtype.name for dtype in ARRAY_DTYPES)
        raise TypeError(refusal(f"{name} must be of {', '.join(others)} or {last}", given.dtype))
    is_row = given.ndim == 1 or (given.ndim == 2 and 2 <= given.shape[1] <= MOST_COMPONENTS)
    if not is_row or given.shape[0] != count:
        raise ValueError(
            f"{name} must be one number, or a row of 2 to {MOST_COMPONENTS}, for each of {count} "
            f"particles, not of the shape {given.shape}"
        )
    return given if is_a(given, Array) else given.astype(given.dtype.newbyteorder("="), copy=False)


def _some_of(given: Mapping[str, Any], which: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return some rows of columns."""
    return {
        label: (values.get() if is_a(values, Array) else values)[which]
        for label, values in given.items()
    }


def _names_text(attributes: Mapping[str, object]) -> str:
    return ", ".join(attributes) or "no attributes"


def _check_device(name: str, values: Any, device: Device) -> None:  # noqa: ANN401
    if is_a(values, Array) and values.device != device:
        raise ValueError(f"{name} must be on {device!r}, not on {values.device!r}")
    if values.dtype.kind == "f" and values.dtype not in (*device.dtypes, np.dtype(np.float16)):
        raise TypeError(f"{name} must be float32 on {device.name}, which has no {values.dtype}")


def _as_per_cell(value: object, ndim: int) -> tuple[int, ...]:
    several = entries(value)
    given = [value] * ndim if several is None else several
    if len(given) != ndim:
        raise ValueError(
            f"per_cell must have one number for each of {ndim} axes, not {shown(value)}"
        )
    return tuple(as_integer("per_cell", one, 1, MOST_POINTS) for one in given)


def _order_dtype(count: int) -> str:
    return "int32" if count < 2**31 else "int64"


def _zeros_like(order: _core.Array, device: Device) -> _core.Array:
    return _core.Array(device.core, order.count, 1, order.dtype, "keys that are all the same")
