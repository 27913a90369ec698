# SPDX-License-Identifier: BSD-3-Clause
"""Files that the first rank writes and reads for all: it asks the others for each slab."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from particles.communication.ranks import Ranks, ranks_of
from particles.fields.field import Field
from particles.fields.grid import Grid
from particles.fields.parts_of_whole import gathered, scattered, whole_shape
from particles.runtime import environment
from particles.runtime.device import Device

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


class Maker:
    """Makes the fields that a file is read into, on one rank or on all of them."""

    def __init__(self, device: Device, ranks: Ranks | None, comm: Any) -> None:  # noqa: ANN401
        self._device, self._comm = device, "self" if ranks is None else comm
        self._grids: dict[Grid, Grid] = {}
        self.fields: dict[str, Field] = {}

    def make(self, name: str, grid: Grid, components: int, dtype: npt.DTypeLike) -> Field:
        """Return a field on a grid like this one, divided if it is to be."""
        if grid not in self._grids:
            self._grids[grid] = Grid(
                grid.shape,
                origin=grid.origin,
                spacing=grid.spacing,
                boundary=grid.boundary,
                comm=self._comm,
            )
        made = Field(self._grids[grid], components, dtype, self._device, name)
        self.fields[name] = made
        return made


Making: TypeAlias = Callable[[str, Grid, int, npt.DTypeLike], Source]


class _Lead:
    """One rank among those of which the first leads."""

    def __init__(self, ranks: Ranks, fields: list[Field], maker: Maker | None) -> None:
        self._ranks, self._fields, self._maker = ranks, fields, maker

    def ask(self, what: str, *arguments: object, values: npt.NDArray[Any] | None = None) -> Any:  # noqa: ANN401
        """Have all do something; only the first rank asks."""
        self._ranks.told("what is next", (what, arguments))
        return self._do(what, arguments, values)

    def make(self, name: str, grid: Grid, components: int, dtype: npt.DTypeLike) -> Whole:
        """Have all make a field."""
        self.ask("make", name, grid, components, dtype)
        return Whole(self._fields[-1], self, len(self._fields) - 1)

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
                self._fields.append(self._maker.make(*arguments))
            return None
        number, key = arguments
        if what == "read":
            return gathered(self._fields[number], key)
        return scattered(self._fields[number], key, values)


def led(
    ranks: Ranks | None,
    what: str,
    work: Callable[[Mapping[str, Source], Making], T],
    fields: Mapping[str, Field],
    maker: Maker | None = None,
) -> T:
    """Have the first rank do something for all, with fields of all; raise what it raises alike.

    All return what it returns.
    """
    if ranks is None:
        return work(fields, _no_maker if maker is None else maker.make)
    ranks.meet(what)
    lead = _Lead(ranks, [*fields.values()], maker)
    if ranks.rank == 0:
        found: T | None = None
        failure: BaseException | None = None
        try:
            wholes = {
                name: Whole(field, lead, number)
                for number, (name, field) in enumerate(fields.items())
            }
            found = work(wholes, lead.make)
        except BaseException as error:  # noqa: BLE001  it is raised below
            failure = error
        ranks.told("what is next", ("end", found))
    else:
        failure, found = None, lead.follow()
    with ranks.together(what):
        if failure is not None:
            raise failure
    return found  # type: ignore[return-value]


def _no_maker(name: str, grid: Grid, components: int, dtype: npt.DTypeLike) -> NoReturn:
    raise AssertionError((name, grid, components, dtype))


def ranks_for(comm: object) -> Ranks | None:
    """Return the ranks that share the fields of a file; None where this one is alone."""
    ranks = ranks_of(environment.wanted_comm() if comm is None else comm)
    return None if ranks is None or ranks.size == 1 else ranks
