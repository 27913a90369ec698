# SPDX-License-Identifier: BSD-3-Clause
"""What interpolation on a part of a grid needs of other ranks: planes of points, or particles.

A part of the planes across the first axis is told by a `Window`. Of one axis there are no planes:
each rank has all there.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.communication.cuts import Transfer, Window, pair_of, rows_of_window, window_of
from particles.fields.field import Field
from particles.fields.grid import Grid
from particles.sets.columns import CELLS, NUMBERS, OFFSETS, Columns, copied, part_of, written
from particles.sets.homes import CELLS_OF_ROW
from particles.sets.particle_set import ParticleSet
from particles.sets.tables import Table, as_bytes, from_bytes, some_of, table_of


def windows_around(grid: Grid, other: Grid, reach: int) -> list[Window]:
    """Return of each rank the planes of another grid that its own may have to do with.

    Particles reach so many planes on either side, of either grid; where these have not as many, some
    more are for rounding.
    """
    assert grid.ranks is not None
    own, planes = grid.whole.shape, other.whole.shape[0]
    windows = []
    for begin, end in pairwise(grid.begins):
        far = reach + 4
        low, high = begin - reach, end + reach
        if own[0] != planes:
            low = (begin - far) * planes // own[0] - far
            high = -(-(end + far) * planes // own[0]) + far
        is_short = planes < 2 * far or own[0] < 2 * far or grid.ndim == 1
        if is_short:  # images reach everything
            low, high = 0, planes
        windows.append(window_of(low, high, planes, other.boundary[0]))
    return windows


def reach_of(stencil: int) -> int:
    """Return how many planes particles of a plane of cells reach on either side of it.

    Half of the points that a kernel reaches are on one side of a particle, or one more.
    """
    return stencil // 2 + 1


def _plan(grid: Grid, windows: list[Window]) -> tuple[list[Transfer], list[Transfer]]:
    """Return what is sent to others, and what is received, in an order that both sides know."""
    assert grid.ranks is not None
    rank, begins = grid.ranks.rank, grid.begins
    every = [rows_of_window(begins, r, window) for r, window in enumerate(windows)]
    sent = [one for plan in every for one in plan if one.owner == rank and one.receiver != rank]
    return sent, every[rank]


def field_of_rows(field: _core.Field, grid: Grid, rows: int, context: _core.Context) -> _core.Field:
    """Return a field of the same kind with so many rows, of any values."""
    shape = (rows, *grid.shape[1:])
    box = _core.Grid(shape, grid.first, grid.spacing, [pair_of(ends) for ends in grid.boundary])
    return field_on(box, field, context)


def field_on(box: _core.Grid, field: _core.Field, context: _core.Context) -> _core.Field:
    """Return a field of the same kind on a box, of any values."""
    return _core.Field(context, box, field.components, field.dtype, "planes of other ranks")


class PlanesRead:
    """Planes of a field that each rank reads, in a window of its own; on a box, if one is given.

    Blocks of a grid that is cut along two axes are put together to slabs first; a field on these may
    be given.
    """

    def __init__(
        self,
        field: Field,
        windows: list[Window],
        box: _core.Grid | None = None,
        slabs: Field | None = None,
    ) -> None:
        self._field = field
        self._sent, self._received = _plan(field.grid.slabs, windows)
        assert field.grid.ranks is not None
        self._ranks = field.grid.ranks
        self._window = windows[self._ranks.rank]
        self._kept: _core.Field | None = None
        self._slabs = field._like_slabs() if slabs is None else slabs
        if box is not None:
            self._kept = field_on(box, field.core, field.device.core)

    def fetched(self) -> tuple[_core.Field, int, int]:
        """Return them, which is the first, and how many the axis has; all ranks call it."""
        field, grid = self._field, self._field.grid.slabs
        own = field._in_slabs("planes", self._slabs).core
        if self._kept is None:
            self._kept = field_of_rows(own, grid, self._window.rows, field.device.core)
        kept, rank = self._kept, self._ranks.rank
        for one in self._received:
            if one.owner == rank:
                kept.copy_rows(one.place, own, one.begin - grid.begin[0], one.rows)
        theirs = [one for one in self._received if one.owner != rank]
        for k in range(own.components):
            component = own.component(k)

            def read(row: int, host: npt.NDArray[Any], of: _core.Field = component) -> None:
                start = (0, row - grid.begin[0], *(0,) * (grid.ndim - 1))
                of.read(start, (1, *host.shape), (1,) * len(start), host)

            write = partial(kept.component(k).write_rows, 0)
            self._ranks.exchange(self._sent, theirs, own.shape, 0, own.dtype, read, write)
        return (kept, self._window.first, grid.whole.shape[0]) if grid.ndim > 1 else (kept, 0, 0)


class Union(NamedTuple):
    """Particles that reach a part of a grid, one's own and others', in cells of that part."""

    cells: _core.Array
    places: _core.Places
    values: dict[str, _core.Array]


class ParticlesAround:
    """The particles that reach the points of each rank.

    Attributes
    ----------
    box : Cells
        The cells that these are in.
    core : ParticleSet
        What is done with particles in these.
    """

    def __init__(self, swarm: ParticleSet, grid: Grid, stencil: int) -> None:
        self._swarm = swarm
        whole, ranks = swarm.grid.whole, swarm.grid.ranks
        assert ranks is not None
        self._ranks, self._planes = ranks, whole.shape[0]
        self._cells_of_plane = math.prod(whole.shape[1:])
        self._points = grid.whole.shape
        self._windows = windows_around(grid, swarm.grid, reach_of(stencil))
        self._sent, self._received = _plan(swarm.grid, self._windows)
        self._is_part = whole.ndim > 1
        part = self._windows[ranks.rank] if self._is_part else Window(0, 0)
        high = [a + length for a, length in zip(whole.origin, whole.extent, strict=True)]
        self.box = _core.Cells(whole.core, whole.origin, high, part.first, part.rows)
        self.core = _core.ParticleSet(swarm.device.core, self.box)
        self._first_cell = part.first * self._cells_of_plane
        self._kept: dict[str, _core.Array] = {}

    def gathered(self, names: tuple[str, ...], *, in_rows: bool) -> Union:
        """Return them, in the order of rows if the set's own are; all ranks call it."""
        swarm, rank = self._swarm, self._ranks.rank
        by_planes = in_rows and self._is_part
        told = f"particles that reach points of {self._points}, {', '.join(names)}"
        with swarm._together(told):
            columns = swarm._columns
            known = _known(columns, names, with_numbers=not by_planes)
            own: Table = {}
            if by_planes:
                tables = [
                    (one.receiver, table_of(known, self._rows(columns, one))) for one in self._sent
                ]
            else:
                every = table_of(known, range(columns.count))
                reaching = [self._reach(window, every[CELLS]) for window in self._windows]
                tables = [
                    (r, some_of(every, which)) for r, which in enumerate(reaching) if r != rank
                ]
                own = some_of(every, reaching[rank])
            counts = np.zeros(self._ranks.size, np.int64)
            for receiver, table in tables:
                counts[receiver] += len(table[CELLS])
            packed = as_bytes(known, *(table for _, table in tables))
        rows = self._ranks.deliver(told, packed, counts)
        with swarm._together(f"to take up {told}"):
            come = from_bytes(known, rows)
            if by_planes:
                laid = self._by_planes(columns, known, come)
            else:
                laid = self._by_rows(known, {k: np.concatenate([own[k], come[k]]) for k in known})
            places = _core.Places(laid[CELLS], laid[OFFSETS], None)
            return Union(laid[CELLS], places, {name: laid[name] for name in names})

    def _by_planes(
        self, columns: Columns, known: dict[str, _core.Array], come: Table
    ) -> dict[str, _core.Array]:
        """Return own particles and others, which are sorted by row, plane by plane."""
        cells = self._local(come[CELLS])
        planes = cells[:, 0] // self._cells_of_plane
        order = np.argsort(planes, kind="stable")  # those of a plane are of one rank
        planes = planes[order]
        pieces: list[range | npt.NDArray[np.int64]] = []
        for one in self._received:
            if one.owner == self._ranks.rank:
                pieces.append(self._rows(columns, one))
            else:
                begin, end = np.searchsorted(planes, [one.place, one.place + one.rows])
                pieces.append(order[begin:end])
        count = sum(map(len, pieces))
        laid = {}
        for name, array in known.items():
            dtype = self.box.cell_dtype if name == CELLS else array.dtype
            target = laid[name] = self._memory(name, count, array.components, dtype)
            first = 0
            for piece in pieces:
                if not isinstance(piece, range):
                    some = cells[piece].astype(dtype) if name == CELLS else come[name][piece]
                    written(target, first, some)
                elif name == CELLS:
                    own = array.rows(piece.start, len(piece))
                    self.core.find_cells(own, target.rows(first, len(piece)))
                else:
                    copied(array.rows(piece.start, len(piece)), target, first)
                first += len(piece)
        return laid

    def _by_rows(self, known: dict[str, _core.Array], table: Table) -> dict[str, _core.Array]:
        """Return particles in the order of rows, and in a row of their numbers."""
        table = {**table, CELLS: self._local(table[CELLS]).astype(self.box.cell_dtype)}
        order = np.lexsort((table[NUMBERS][:, 0], table[CELLS][:, 0] // CELLS_OF_ROW))
        laid = {}
        for name, values in table.items():
            components, dtype = known[name].components, values.dtype.name
            laid[name] = self._memory(name, len(order), components, dtype)
            written(laid[name], 0, values[order])
        return laid

    def _local(self, cells: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return where cells are in the window of this rank."""
        local = cells.astype(np.int64) - self._first_cell
        local[local < 0] += self._planes * self._cells_of_plane
        return local

    def _memory(self, name: str, count: int, components: int, dtype: str) -> _core.Array:
        """Return an array of any values, that of the last time if it is large enough."""
        kept = self._kept.get(name)
        if (
            kept is None
            or kept.count < count
            or (kept.components, kept.dtype) != (components, dtype)
        ):
            room = count + count // 8
            context = self._swarm.device.core
            kept = self._kept[name] = _core.Array(
                context, room, components, dtype, "particles around"
            )
        return kept.rows(0, count)

    def starts(self, union: Union) -> _core.Array:
        """Return where each row of the particles begins."""
        cells = union.cells
        dtype = "int32" if cells.count < 2**31 else "int64"
        starts = self._memory("starts", self.box.rows + 1, 1, dtype)
        self.core.find_starts(cells, starts)
        return starts

    def _rows(self, columns: Columns, some: Transfer) -> range:
        """Return which particles, in the order of rows, are in some planes."""
        cells = columns.used(columns.cells)
        ends = some.begin, some.begin + some.rows
        return range(*(_place_of(end * self._cells_of_plane, cells) for end in ends))

    def _reach(self, window: Window, cells: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return which particles are in a window."""
        planes = cells[:, 0] // self._cells_of_plane
        return np.flatnonzero((planes - window.first) % self._planes < window.rows)


def _place_of(number: int, array: _core.Array) -> int:
    """Return how many numbers of an array in ascending order are less; few of them are read."""
    low, high = 0, array.count
    while low < high:
        step = -(-(high - low) // 64)
        less = int(np.searchsorted(part_of(array, range(low, high, step))[:, 0], number))
        if less == 0:
            return low
        low, high = low + (less - 1) * step + 1, min(high, low + less * step)
    return low


def _known(
    columns: Columns, names: tuple[str, ...], *, with_numbers: bool
) -> dict[str, _core.Array]:
    """Return what points receive, and where that is, perhaps in which order."""
    assert columns.numbers is not None
    known = {CELLS: columns.cells, OFFSETS: columns.offsets}
    known |= {NUMBERS: columns.numbers} if with_numbers else {}
    known |= {name: columns.attributes[name] for name in names}
    return {name: columns.used(array) for name, array in known.items()}
