# SPDX-License-Identifier: BSD-3-Clause
"""Files that the first rank writes and reads for all: it asks the others for each slab."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from particles.communication.ranks import Ranks, ranks_of
from particles.fields.field import Field
from particles.fields.grid import Grid
from particles.fields.parts_of_whole import gathered, scattered, whole_shape
from particles.io.sets import (
    CELLS,
    OFFSETS,
    Column,
    Reading,
    SetRecord,
    SetSource,
    check_part,
    filled,
    joined,
    of_table,
    record_of,
    rows_in_order,
)
from particles.runtime import environment
from particles.runtime.device import Device
from particles.sets.columns import NUMBERS, parts_of
from particles.sets.homes import owners_of
from particles.sets.particle_set import ParticleSet
from particles.sets.tables import Table, as_bytes, from_bytes

T = TypeVar("T")


class Whole:
    """A field of all ranks, as the first one sees it while it leads: what it asks for, all do.

    Attributes
    ----------
    grid, shape, size, components, dtype, nbytes, name
        As those of a field that is not divided.
    """

    def __init__(self, field: Field, lead: _Lead, number: int) -> None:
        self.grid, self.shape = field.grid.whole, whole_shape(field)
        self.components, self.dtype, self.name = field.components, field.dtype, field.name
        self.size = math.prod(self.shape)
        self.nbytes = self.size * self.dtype.itemsize
        self._lead, self._number = lead, number

    def __getitem__(self, key: object) -> npt.NDArray[Any]:
        values: npt.NDArray[Any] = self._lead.ask("read", self._number, key)
        return values

    def __setitem__(self, key: object, values: npt.NDArray[Any]) -> None:
        self._lead.ask("assign", self._number, key, values=np.asarray(values, self.dtype))


Source: TypeAlias = Field | Whole
"""What is written and filled: a field, or one of all ranks."""


class WholeParticles:
    """A set of all ranks, as the first one sees it while it leads.

    Attributes
    ----------
    record : SetRecord
        What it is made of.
    """

    def __init__(self, swarm: ParticleSet, lead: _Lead, number: int) -> None:
        self.record = record_of(swarm)
        self._lead, self._number = lead, number

    def column(self, label: str, rows: range) -> npt.NDArray[Any]:
        """Return what some particles have, in the set's order."""
        found: Table = self._lead.ask("particles", self._number, (label,), rows)
        shape = self.record.columns()[label].shape_of(len(rows))
        return found[label].reshape(shape)

    def positions_at(self, rows: range) -> npt.NDArray[np.float64]:
        """Return where some particles are."""
        found: Table = self._lead.ask("particles", self._number, (CELLS, OFFSETS), rows)
        return joined(self.record, found)


class Making(Protocol):
    """Makes what a file is read into."""

    def field(self, name: str, grid: Grid, components: int, dtype: npt.DTypeLike) -> Source:
        """Return a field on a grid like this one."""
        ...

    def particles(self, name: str, record: SetRecord, read: Reading) -> None:
        """Make a set with what is read."""
        ...


class Maker:
    """Makes the fields and sets that a file is read into, on one rank or on all of them.

    Attributes
    ----------
    fields, sets : dict
        What has been made, by name.
    """

    def __init__(
        self,
        device: Device,
        ranks: Ranks | None,
        comm: Any,  # noqa: ANN401
        cuts: npt.ArrayLike | None,
        *,
        own: bool,
    ) -> None:
        self._device, self._cuts = device, cuts
        self._comm = "self" if ranks is None and cuts is None else comm
        self._devices = device.devices if own else None
        self._grids: dict[Grid, Grid] = {}
        self.fields: dict[str, Field] = {}
        self.sets: dict[str, ParticleSet] = {}

    def field(self, name: str, grid: Grid, components: int, dtype: npt.DTypeLike) -> Field:
        """Return a field on a grid like this one, divided if it is to be."""
        made = Field(self.grid_like(grid), components, dtype, self._device, name)
        self.fields[name] = made
        return made

    def particles(self, name: str, record: SetRecord, read: Reading) -> None:
        """Make a set with what is read."""
        self.sets[name] = filled(record, self.grid_like(record.grid), self._device, name, read)

    def divided(self, name: str, record: SetRecord, table: Table) -> None:
        """Make one of own particles, whose numbers are known."""
        grid, numbers = self.grid_like(record.grid), table[NUMBERS]
        self.sets[name] = of_table(record, grid, table, numbers, self._device, name)

    def grid_like(self, grid: Grid) -> Grid:
        """Return a grid like this one, divided if it is to be."""
        if grid not in self._grids:
            self._grids[grid] = Grid(
                grid.shape,
                origin=grid.origin,
                spacing=grid.spacing,
                boundary=grid.boundary,
                comm=self._comm,
                devices=self._devices,
                cuts=self._cuts,
            )
        return self._grids[grid]


class _Lead:
    """One rank among those of which the first leads."""

    def __init__(
        self,
        ranks: Ranks,
        fields: list[Field],
        sets: list[ParticleSet],
        maker: Maker | None,
    ) -> None:
        self._ranks, self._fields, self._sets, self._maker = ranks, fields, sets, maker
        self._come: list[Table] = []

    def ask(self, what: str, *arguments: object, values: npt.NDArray[Any] | None = None) -> Any:  # noqa: ANN401
        """Have all do something; only the first rank asks."""
        self._ranks.told("what is next", (what, arguments))
        return self._do(what, arguments, values)

    def field(self, name: str, grid: Grid, components: int, dtype: npt.DTypeLike) -> Whole:
        """Have all make a field."""
        self.ask("make", name, grid, components, dtype)
        return Whole(self._fields[-1], self, len(self._fields) - 1)

    def particles(self, name: str, record: SetRecord, read: Reading) -> None:
        """Have all make a set, each of those particles that are in its cells."""
        self.ask("begin", record)
        columns = record.columns()
        for rows in parts_of(record.particles):
            table = {label: read(label, column, rows) for label, column in columns.items()}
            for label, part in table.items():
                check_part(record, label, part)
            table = {label: part.reshape(len(rows), -1) for label, part in table.items()}
            table[NUMBERS] = np.array(rows)[:, None]
            self.ask("take", record, values=as_bytes(_columns_of(record), table))
        self.ask("end of particles", name, record)

    def follow(self) -> Any:  # noqa: ANN401
        """Do what the first rank asks for until it ends; return with what."""
        while True:
            what, arguments = self._ranks.told("what is next", None)
            if what == "end":
                return arguments
            try:
                self._do(what, arguments, None)
            except BaseException:  # noqa: BLE001, S112  the first rank has raised it, too, and tells
                continue

    def _do(self, what: str, arguments: Any, values: npt.NDArray[Any] | None) -> Any:  # noqa: ANN401
        if what == "make":
            assert self._maker is not None
            with self._ranks.together("to make a field"):
                self._fields.append(self._maker.field(*arguments))
            return None
        if what == "begin":
            self._come = []
            with self._ranks.together("to make a set"):
                assert self._maker is not None
                self._maker.grid_like(arguments[0].grid)
            return None
        if what == "take":
            self._take(arguments[0], values)
            return None
        if what == "end of particles":
            name, record = arguments
            with self._ranks.together("to make a set"):
                assert self._maker is not None
                columns = _columns_of(record)
                every = [from_bytes(columns, as_bytes(columns)), *self._come]
                table = {label: np.concatenate([one[label] for one in every]) for label in every[0]}
                self._maker.divided(name, record, {**table, NUMBERS: table[NUMBERS][:, 0]})
            self._come = []
            return None
        if what == "particles":
            number, labels, rows = arguments
            ends = [rows.start, *[rows.stop] * self._ranks.size]
            return rows_in_order(self._sets[number], labels, ends)
        number, key = arguments
        if what == "read":
            return gathered(self._fields[number], key)
        return scattered(self._fields[number], key, values)

    def _take(self, record: SetRecord, values: npt.NDArray[Any] | None) -> None:
        """Send rows of particles, which the first rank has, to those that have their cells."""
        assert self._maker is not None
        columns = _columns_of(record)
        with self._ranks.together("to send particles"):
            rows = as_bytes(columns) if values is None else values
            cells = from_bytes(columns, rows)[CELLS][:, 0]
            owners = owners_of(cells, self._maker.grid_like(record.grid))
            order = np.argsort(owners, kind="stable")
            counts = np.bincount(owners, minlength=self._ranks.size)
        come = self._ranks.deliver("particles of a file", rows[order], counts)
        self._come.append(from_bytes(columns, come))


def _columns_of(record: SetRecord) -> dict[str, Column]:
    return record.columns() | {NUMBERS: Column(1, np.dtype(np.int64))}


class _NothingMade:
    """Where nothing is read."""

    def field(self, name: str, grid: Grid, components: int, dtype: npt.DTypeLike) -> NoReturn:
        raise AssertionError((name, grid, components, dtype))

    def particles(self, name: str, record: SetRecord, read: Reading) -> NoReturn:
        raise AssertionError((name, record, read))


def led(
    ranks: Ranks | None,
    what: str,
    work: Callable[[Mapping[str, Source], Mapping[str, SetSource], Making], T],
    fields: Mapping[str, Field],
    sets: Mapping[str, ParticleSet],
    maker: Maker | None = None,
) -> T:
    """Have the first rank do something for all, with what is of all; raise what it raises alike.

    All return what it returns.
    """
    if ranks is None:
        return work(fields, sets, _NothingMade() if maker is None else maker)
    ranks.meet(what)
    lead = _Lead(ranks, [*fields.values()], [*sets.values()], maker)
    if ranks.rank == 0:
        found: T | None = None
        failure: BaseException | None = None
        try:
            wholes = {
                name: Whole(field, lead, number)
                for number, (name, field) in enumerate(fields.items())
            }
            swarms: dict[str, SetSource] = {
                name: WholeParticles(swarm, lead, number) if swarm.grid.is_divided else swarm
                for number, (name, swarm) in enumerate(sets.items())
            }
            found = work(wholes, swarms, lead)
        except BaseException as error:  # noqa: BLE001  it is raised below
            failure = error
        ranks.told("what is next", ("end", found))
    else:
        failure, found = None, lead.follow()
    with ranks.together(what):
        if failure is not None:
            raise failure
    return found  # type: ignore[return-value]


def ranks_for(comm: object) -> Ranks | None:
    """Return the ranks that share the fields of a file; None where this one is alone."""
    ranks = ranks_of(environment.wanted_comm() if comm is None else comm)
    return None if ranks is None or ranks.size == 1 else ranks
