# SPDX-License-Identifier: BSD-3-Clause
"""Boxes of equally spaced points."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.base.checks import (
    as_flag,
    as_integer,
    as_reals,
    as_shape,
    entries,
    is_one_of,
    shown,
)
from particles.base.frames import frames_of_package
from particles.base.guards import Told, fitted
from particles.base.kinds import is_a
from particles.base.markup import table
from particles.communication.cuts import begins_by_speed, begins_of, pair_of
from particles.communication.mates import Mate, mates_of
from particles.communication.ranks import Ranks, ranks_of
from particles.fields.neighbours import Cut, Neighbours
from particles.fields.several import SeveralGrids
from particles.fields.speeds import speeds_of
from particles.runtime import environment
from particles.runtime.crew import Crew
from particles.runtime.device import Device
from particles.runtime.device_group import DeviceGroup, group_of
from particles.runtime.devices import as_device, devices

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["Grid"]

BOUNDARIES = ("periodic", "wall", "outflow", "inflow")

Boundary: TypeAlias = str | Sequence[str | Sequence[str]]


class Grid(Told):
    """Equally spaced points in a box of one, two or three dimensions; immutable.

    Point i of a periodic axis lies at ``origin + i * spacing``: the point at ``origin + extent``
    is the one at ``origin`` and is not stored. Along an axis with ends, the points are cell
    centres, ``origin + (i + 1/2) * spacing``, and the ends are at ``origin`` and ``origin +
    extent``.

    Parameters
    ----------
    shape : int or array_like
        Number of points along each axis.
    origin : float or array_like, optional
        Where the box begins; 0 by default.
    extent : float or array_like, optional
        Length of the box along each axis; 1 by default.
    spacing : float or array_like, optional
        Distance of neighbouring points, instead of `extent`.
    boundary : str or sequence
        What is beyond the ends: one name for all axes, or one entry for each, which is a name or
        a pair (low, high). ``"periodic"``: the other end. ``"wall"``: the mirror image of the
        box; the velocity across vanishes on it. ``"outflow"``: what leaves is lost; beyond the
        end, the field and the velocity have their values at the last point. ``"inflow"``: the
        velocity is extrapolated from the points near the end, and the argument `inflow` of
        `RemeshOp` gives what flows in.
    comm : "world", "self" or mpi4py.MPI.Intracomm, optional
        Divides the points among the ranks of an MPI program (:doc:`/howto/ranks`): this grid, and
        fields on it, then have only the rank's own block. By default what the environment variable
        ``PARTICLES_COMM`` says; ``"self"``, or nothing there, divides nothing.
    devices : sequence of Device, int or str, optional
        Divides the points among devices of this process (:doc:`/howto/several_devices`), which work at the
        same time. Fields on this grid are used as any other.
    cuts : array_like of int, optional
        Into how many parts each axis is cut; by default the first axis into one part for each rank
        or device. Among ranks, the second of three axes can be cut as well: ``cuts=(4, 2, 1)`` for
        eight ranks (:ref:`what works then <cuts-of-two-axes>`). Among devices only the first axis can
        be cut. Each device gets rows in proportion to its speed; all get the same number if they are
        of one kind, or if cuts are given. Instead of the first number you can give the number of rows
        of each device: ``cuts=[(96, 32), 1, 1]``.

    Attributes
    ----------
    shape : tuple of int
        Number of points along each axis, of the rank's own block.
    ndim, size : int
        Number of axes, and of points in the rank's own block.
    origin, extent, spacing : tuple of float
        As above, one number for each axis, of the whole box.
    boundary : tuple
        One entry for each axis: ``"periodic"`` or a pair (low, high), of the whole box.
    first : tuple of float
        Where the first point of the rank's own block lies along each axis.
    begin : tuple of int
        Which point of the whole grid that is.
    whole : Grid
        The grid of all blocks, which is not divided; this one if it is not.
    cuts : tuple of int
        Into how many parts each axis is cut.
    devices : tuple of Device
        As above; empty if each field names its own device.
    rows : tuple of int
        How many points along the first axis each device has.

    Examples
    --------
    >>> import particles as pt
    >>> grid = pt.Grid((4, 8), extent=(1, 2))
    >>> grid.spacing
    (0.25, 0.25)
    >>> x, y = grid.coordinates()
    >>> (x + y).shape
    (4, 8)
    >>> channel = pt.Grid((4, 8), boundary=[("inflow", "outflow"), "wall"])
    >>> channel.boundary
    (('inflow', 'outflow'), ('wall', 'wall'))
    >>> channel.coordinates()[0].ravel()
    array([0.125, 0.375, 0.625, 0.875])
    """

    __slots__ = (
        "_device",
        "_parts",
        "_slabs",
        "_whole",
        "begin",
        "boundary",
        "core",
        "cuts",
        "extent",
        "first",
        "ndim",
        "neighbours",
        "origin",
        "ranks",
        "shape",
        "size",
        "spacing",
    )

    _ways: ClassVar = {
        **dict.fromkeys(("x", "y", "z", "coords", "points", "mesh", "meshgrid"), "coordinates()"),
        **dict.fromkeys(("dx", "dy", "dz", "h"), "spacing"),
        **dict.fromkeys(("nx", "ny", "nz", "n", "dims"), "shape"),
    }

    shape: tuple[int, ...]
    ndim: int
    size: int
    origin: tuple[float, ...]
    extent: tuple[float, ...]
    spacing: tuple[float, ...]
    boundary: tuple[str | tuple[str, str], ...]
    first: tuple[float, ...]
    begin: tuple[int, ...]
    cuts: tuple[int, ...]
    _device: Device | None
    ranks: Ranks | None
    neighbours: Neighbours | None
    core: _core.Grid
    _whole: Grid | None
    _slabs: Grid | None
    _parts: tuple[Grid, ...]

    @fitted
    def __init__(
        self,
        shape: npt.ArrayLike,
        *,
        origin: npt.ArrayLike | None = None,
        extent: npt.ArrayLike | None = None,
        spacing: npt.ArrayLike | None = None,
        boundary: Boundary = "periodic",
        comm: str | MPI.Intracomm | None = None,
        devices: Sequence[Device | int | str] | None = None,
        cuts: npt.ArrayLike | None = None,
    ) -> None:
        wanted = environment.wanted_comm() if comm is None else comm
        ranks = ranks_of(wanted)  # they end together
        if ranks is not None and ranks.size == 1 and is_a(wanted, str):
            _warn_of_strangers()
        device = None if devices is None else group_of(devices)
        points = as_shape("shape", shape)
        ndim = len(points)
        start = as_reals("origin", 0.0 if origin is None else origin, ndim)
        lengths, steps = _as_extent_and_spacing(extent, spacing, points)
        if not all(math.isfinite(x + length) for x, length in zip(start, lengths, strict=True)):
            raise ValueError(
                f"origin plus extent must be within the range of float64, not {start} plus {lengths}"
            )
        beyond = _as_boundary(boundary, ndim)
        first = tuple(
            x if ends == "periodic" else x + step / 2
            for x, step, ends in zip(start, steps, beyond, strict=True)
        )
        ends = [pair_of(entry) for entry in beyond]
        if device is not None and ranks is not None and ranks.size > 1:
            raise NotImplementedError(
                "devices does not work yet on a grid that is divided among ranks (comm): give each "
                "rank a device of its own"
            )
        begins = () if device is None else _begins_on_devices(cuts, points, device)
        parts = (
            _as_cuts(cuts, points, ranks)
            if device is None
            else (len(begins) - 1, *(1,) * (ndim - 1))
        )
        if ranks is None and comm is None:
            _warn_of_copies()
        box = {"ndim": ndim, "origin": start, "extent": lengths, "spacing": steps}
        whole = {
            **box,
            "boundary": beyond,
            "shape": points,
            "size": math.prod(points),
            "first": first,
            "begin": (0,) * ndim,
            "cuts": (1,) * ndim,
            "ranks": None,
            "neighbours": None,
            "_device": None,
            "_parts": (),
            "core": _core.Grid(points, first, steps, ends),
            "_whole": None,
            "_slabs": None,
        }
        self._take(whole)
        if device is not None:
            undivided = Grid.__new__(Grid)
            undivided._take(whole)
            self._take({"_device": device, "_whole": undivided})
        if is_a(device, DeviceGroup):
            blocks = [Grid.__new__(Grid) for _ in device.devices]
            for block, mate in zip(blocks, mates_of(device.crew), strict=True):
                block._take({**whole, "cuts": parts, "_whole": undivided})
                block._take(_block_of(block, mate, {0: begins}, begins))
            core = SeveralGrids(
                device.crew,
                [block.core for block in blocks],
                begins,
                [one for one in (block.neighbours for block in blocks) if one is not None],
            )
            self._take({"cuts": parts, "core": core, "_parts": tuple(blocks)})
        if ranks is None or ranks.size == 1:
            return
        ranks.meet(f"a grid: {self._identity}, cuts={parts}")
        undivided = Grid.__new__(Grid)
        undivided._take(whole)
        slabs = begins_of(points[0], ranks.size, _core.unit_of_planes(points[0]))
        if parts[0] < ranks.size:
            made = Grid.__new__(Grid)
            made._take({**whole, "cuts": (ranks.size, 1, 1), "_whole": undivided})
            made._take(_block_of(made, ranks, {0: slabs}, slabs))
            self._take({"_slabs": made})
            whole = {**whole, "_slabs": made}
        along = {0: slabs[:: ranks.size // parts[0]]} if parts[0] > 1 else {}
        if max(parts[1:], default=1) > 1:
            along[1] = begins_of(points[1], parts[1])
        self._take({**whole, "cuts": parts, "_whole": undivided})
        self._take(_block_of(self, ranks, along, slabs))

    def _take(self, values: dict[str, object]) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def whole(self) -> Grid:
        """The grid of all blocks, which is not divided; this one if it is not."""
        return self if self._whole is None else self._whole

    @property
    def slabs(self) -> Grid:
        """The same points on the same ranks, cut along the first axis alone; this one if it is so.

        The slabs of ranks whose blocks are neighbours along the second axis make up these blocks.

        :meta private:
        """
        return self if self._slabs is None else self._slabs

    @property
    def is_divided(self) -> bool:
        """Whether the points are divided among several ranks.

        :meta private:
        """
        return self.ranks is not None

    @property
    def is_cut(self) -> bool:
        """Whether the points are divided, among ranks or devices.

        :meta private:
        """
        return max(self.cuts) > 1

    @property
    def begins(self) -> tuple[int, ...]:
        """Where the parts of all begin along the first axis, and where the last one ends.

        Of a grid with other cuts, those of its slabs.

        :meta private:
        """
        return self._begins if self.neighbours is None else self.neighbours.begins

    @property
    def blocks(self) -> list[tuple[range, ...]]:
        """Which points along each axis every rank has.

        :meta private:
        """
        cuts = {} if self.neighbours is None else self.neighbours.cuts
        along = [
            [range(*ends) for ends in pairwise(cuts[axis].begins if axis in cuts else (0, n))]
            for axis, n in enumerate(self.whole.shape)
        ]
        return list(product(*along))

    @property
    def crew(self) -> Crew:
        """The threads of the devices among which the points are divided.

        :meta private:
        """
        assert is_a(self._device, DeviceGroup)
        return self._device.crew

    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices among which the points are divided; empty if fields name their own device."""
        return () if self._device is None else self._device.devices

    @property
    def rows(self) -> tuple[int, ...]:
        """How many points along the first axis each device has; all where there is one."""
        begins = self._begins
        return tuple(end - begin for begin, end in pairwise(begins))

    def _check_cuts(self, other: Grid) -> None:
        """Refuse another grid whose parts begin at other points, where it has as many of them."""
        if self.is_divided and self.cuts != other.cuts:
            raise ValueError(
                f"grid must have the cuts of the velocity's, {other.cuts}, not {self.cuts}"
            )
        is_same = self._device is other._device and self.shape[0] == other.shape[0]
        if is_same and self.rows != other.rows:
            raise ValueError(
                f"grid must have the rows of the velocity's on each device, {other.rows}, not "
                f"{self.rows}: give both the same cuts"
            )

    @property
    def _begins(self) -> tuple[int, ...]:
        core: Any = self.core
        return core.begins if is_a(core, SeveralGrids) else (0, self.shape[0])

    def _as_device(self, device: Device | int | str | None) -> Device:
        """Return the device of a field on this grid.

        :meta private:
        """
        if self._device is None:
            return as_device(device)
        if device is not None and device is not self._device:
            raise ValueError(
                f"device must be None on a grid that has its own (devices), not {shown(device)}"
            )
        return self._device

    def coordinates(self, sparse: bool = True) -> tuple[npt.NDArray[np.float64], ...]:
        """Return the coordinates of the points along each axis, as arrays that broadcast.

        Parameters
        ----------
        sparse : bool
            Whether each array has length 1 along the other axes, so that they broadcast against
            each other; otherwise each has the grid's shape.

        Returns
        -------
        tuple of numpy.ndarray
            One float64 array for each axis.

        Examples
        --------
        >>> import particles as pt
        >>> x, y = pt.Grid((2, 3)).coordinates()
        >>> x.shape, y.shape
        ((2, 1), (1, 3))
        """
        is_sparse = as_flag("sparse", sparse)
        axes = (
            first + np.arange(begin, begin + n) * spacing
            for n, begin, first, spacing in zip(
                self.shape, self.begin, self.whole.first, self.spacing, strict=True
            )
        )
        return tuple(np.meshgrid(*axes, indexing="ij", sparse=is_sparse))

    @property
    def is_periodic(self) -> bool:
        """Whether all axes are periodic."""
        return all(entry == "periodic" for entry in self.boundary)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Grid cannot be changed: {name} is {getattr(self, name, None)!r}")

    def __copy__(self) -> Grid:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Grid:
        return self

    def __reduce__(self) -> tuple[partial[Grid], tuple[()]]:
        refuse_divided("to pickle a grid", self)
        cuts: Any = (self.rows, *(1,) * (self.ndim - 1)) if self.is_cut else None
        same = partial(
            Grid,
            self.shape,
            origin=self.origin,
            spacing=self.spacing,
            boundary=self.boundary,
            comm="self",
            devices=None if self._device is None else [_index_of(one) for one in self.devices],
            cuts=cuts,
        )
        return same, ()

    def __eq__(self, other: object) -> bool:
        if not is_a(other, Grid):
            return NotImplemented
        return self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[object, ...]:
        whole = self.whole
        places = (self._device, self._begins) if is_a(self._device, DeviceGroup) else ()
        box = whole.shape, self.origin, self.spacing, self.boundary
        return *box, self.cuts, self.shape, self.begin, places

    def __repr__(self) -> str:
        by_extent = all(
            length / n == step
            for length, n, step in zip(self.extent, self.whole.shape, self.spacing, strict=True)
        )
        length = f"extent={self.extent}" if by_extent else f"spacing={self.spacing}"
        beyond = "" if self.is_periodic else f", boundary={self.boundary}"
        if self.ranks is not None:
            beyond += f", cuts={self.cuts}) of which rank {self.ranks.rank} has {self.shape} ("
            beyond += f"begin={self.begin}"
        if is_a(self._device, DeviceGroup):
            names = [one.index if one.index >= 0 else one.name for one in self.devices]
            beyond += f", devices={names}, rows={self.rows}"
        return f"Grid({self.whole.shape}, origin={self.origin}, {length}{beyond})"

    def _repr_html_(self) -> str:
        ends = zip(self.origin, self.extent, strict=True)
        points = [
            f"{own} of {n}" if self.is_divided else own
            for own, n in zip(self.shape, self.whole.shape, strict=True)
        ]
        rows = [
            ["xyz"[axis], points[axis], f"{start:g} to {start + length:g}", f"{step:g}", beyond]
            for axis, ((start, length), step, beyond) in enumerate(
                zip(ends, self.spacing, map(boundary_text, self.boundary), strict=True)
            )
        ]
        return table("Grid", rows, ["axis", "points", "from, to", "spacing", "boundary"])


def _begins_on_devices(cuts: object, points: tuple[int, ...], device: Device) -> tuple[int, ...]:
    """Return where the parts of devices begin along the first axis, and where the last one ends.

    They are as long as the devices are fast, or as `cuts` say.
    """
    group = device.devices if is_a(device, DeviceGroup) else (device,)
    size, unit = len(group), _core.unit_of_planes(points[0])
    given = entries(cuts)
    if size > points[0] // unit:
        raise ValueError(
            f"shape must have at least {unit * size} points along the first axis for {size} "
            f"devices, not {points[0]}"
        )
    wanted = (size, *(1,) * (len(points) - 1))
    if cuts is None:
        if is_a(device, DeviceGroup) and not device.are_alike:
            return begins_by_speed(points[0], device.speeds(speeds_of), unit)
        return begins_of(points[0], size, unit)
    expected = (
        f"cuts must be {wanted} for {size} {'device' if size == 1 else 'devices'}, or have the rows "
        f"of each device in the place of {size}"
    )
    if given is None or len(given) != len(points):
        raise TypeError(f"{expected}, not {shown(cuts)}")
    if any(as_integer("cuts", one, 1) != 1 for one in given[1:]):
        raise ValueError(f"{expected}, as other axes cannot be cut yet, not {shown(cuts)}")
    rows = entries(given[0])
    if rows is None:
        if as_integer("cuts", given[0], 1) != size:
            raise ValueError(f"{expected}, not {shown(cuts)}")
        return begins_of(points[0], size, unit)
    numbers = [as_integer("cuts", one, 1) for one in rows]
    if len(numbers) != size or sum(numbers) != points[0] or any(n % unit for n in numbers[:-1]):
        multiples = f"multiples of {unit} but for the last, " if unit > 1 else ""
        raise ValueError(
            f"{expected}: {size} numbers, {multiples}{points[0]} in all, not {shown(cuts)}"
        )
    return (0, *(int(end) for end in np.cumsum(numbers)))


def _block_of(
    grid: Grid,
    ranks: Ranks | Mate,
    begins: dict[int, tuple[int, ...]],
    begins_of_slabs: tuple[int, ...],
) -> dict[str, object]:
    """Return what one of several has of a grid, which is that of all yet.

    `begins` tell where parts begin along each axis that is cut, and where the last one ends.
    """
    points, first = grid.shape, grid.first
    lines = ranks.lines(grid.cuts)
    cuts = {axis: Cut(lines[axis], begins[axis], grid.boundary[axis]) for axis in begins}
    ends_of = [
        cuts[axis].begins[lines[axis].rank :][:2] if axis in cuts else (0, n)
        for axis, n in enumerate(points)
    ]
    begin = tuple(low for low, _ in ends_of)
    own = tuple(high - low for low, high in ends_of)
    neighbours = Neighbours(ranks, cuts, begins_of_slabs)
    ends = [pair_of(entry) for entry in grid.boundary]
    return {
        "shape": own,
        "size": math.prod(own),
        "first": tuple(x + i * h for x, i, h in zip(first, begin, grid.spacing, strict=True)),
        "begin": begin,
        "ranks": ranks,
        "neighbours": neighbours,
        "core": _core.Grid(own, first, grid.spacing, ends, begin, points, neighbours),
    }


def _index_of(device: Device) -> int:
    """Return by which number another process knows a device."""
    if not any(one is device for one in devices()):
        raise TypeError(
            f"a grid can be pickled if its devices are some of pt.devices(), and {device!r} is not"
        )
    return device.index


def refuse_divided(what: str, grid: Grid) -> None:
    """Refuse what does not work yet where a grid is divided among ranks."""
    if grid.is_divided:
        refuse_on_ranks(what)


def refuse_blocks(name: str, what: str, grid: Grid) -> None:
    """Refuse what does not work yet where a grid is cut along other axes than the first."""
    if grid.slabs is not grid:
        raise NotImplementedError(
            f"{name} must be on a grid that is cut along the first axis alone for {what}, "
            f"{grid.slabs.cuts}, not {grid.cuts}: other cuts do not work yet there"
        )


def refuse_on_ranks(what: str) -> NoReturn:
    """Refuse what does not work yet among ranks."""
    raise NotImplementedError(
        f"{what} does not work yet on a grid that is divided among ranks (comm): see the "
        "page on ranks for what does"
    )


def _as_cuts(value: object, points: tuple[int, ...], ranks: Ranks | None) -> tuple[int, ...]:
    """Return into how many parts each axis is cut."""
    size = 1 if ranks is None else ranks.size
    whole = (1,) * len(points)
    given = entries(value)
    if value is not None and given is None:
        raise TypeError(f"cuts must be a number for each axis, not {shown(value)}")
    if given is not None and ranks is None:
        raise ValueError(
            f"cuts must be None on a grid that is not divided (comm, devices), not {shown(value)}"
        )
    wanted = (size, *whole[1:])
    parts = wanted if given is None else tuple(as_integer("cuts", one, 1) for one in given)
    if len(parts) != len(points) or math.prod(parts) != size:
        raise ValueError(
            f"cuts must have a number for each of {len(points)} axes, whose product is the number "
            f"of ranks, {size}, not {shown(value)}"
        )
    if any(n > 1 for n in (parts[1:] if len(points) < 3 else parts[2:])):
        raise ValueError(
            f"cuts must leave the last axis whole, along which values lie side by side, such as "
            f"{wanted}, not {parts}"
        )
    if parts[1:] and parts[1] > points[1]:
        raise ValueError(
            f"shape must have at least {parts[1]} points along axis 1 for cuts {parts}, not "
            f"{points[1]}"
        )
    unit = _core.unit_of_planes(points[0])
    if size > points[0] // unit:
        raise ValueError(
            f"shape must have at least {unit * size} points along the first axis for {size} ranks, "
            f"not {points[0]}"
        )
    return parts


@cache
def _warn_of_copies() -> None:
    if (ranks := environment.launched()) > 1:
        warnings.warn(
            f'this is one of {ranks} ranks, and each computes the same: give comm="world" to '
            "Grid, or set PARTICLES_COMM=world, to divide the grid among them",
            stacklevel=frames_of_package(),
        )


@cache
def _warn_of_strangers() -> None:
    if (tasks := environment.tasks_of_step()) > 1:
        warnings.warn(
            f'comm is "world", but MPI knows of one rank where Slurm has started {tasks} processes: '
            "each computes the same; mpi4py must be built with an MPI that srun can start "
            "(srun --mpi=list)",
            stacklevel=frames_of_package(),
        )


def boundary_text(entry: str | tuple[str, str]) -> str:
    """Return what is beyond the ends of an axis in words."""
    return entry if isinstance(entry, str) else ", ".join(entry)


def _as_extent_and_spacing(
    extent: npt.ArrayLike | None,
    spacing: npt.ArrayLike | None,
    points: tuple[int, ...],
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return both, of which one at most is given."""
    if spacing is None:
        lengths = _as_lengths("extent", 1.0 if extent is None else extent, len(points))
        steps = tuple(length / n for length, n in zip(lengths, points, strict=True))
    elif extent is None:
        steps = _as_lengths("spacing", spacing, len(points))
        lengths = tuple(step * n for step, n in zip(steps, points, strict=True))
    else:
        raise ValueError(f"give extent or spacing, not both: {shown(extent)} and {shown(spacing)}")
    if not all(math.isfinite(a) and b > 0 for a, b in zip(lengths, steps, strict=True)):
        raise ValueError(f"extent {lengths} of {points} points must be within the range of float64")
    return lengths, steps


def _as_lengths(name: str, value: object, ndim: int) -> tuple[float, ...]:
    lengths = as_reals(name, value, ndim)
    if min(lengths) <= 0:
        raise ValueError(f"{name} must be positive along every axis, not {lengths}")
    return lengths


def _as_boundary(value: object, ndim: int) -> tuple[str | tuple[str, str], ...]:
    several = entries(value)
    given = [value] * ndim if several is None else several
    if len(given) != ndim:
        raise ValueError(
            f"boundary must have one entry for each of {ndim} axes, not {shown(value)}"
            + (
                f": two ends of one axis are [{tuple(given)}]"
                if (ndim, len(given)) == (1, 2)
                else ""
            )
        )
    return tuple(_as_ends(entry) for entry in given)


def _as_ends(entry: object) -> str | tuple[str, str]:
    pair = entries(entry)
    ends = [entry, entry] if pair is None else pair
    if len(ends) != 2 or not all(is_one_of(end, BOUNDARIES) for end in ends):
        raise ValueError(
            f"boundary must be {', '.join(BOUNDARIES)} or a pair (low, high) of them along each "
            f"axis, not {shown(entry)}"
        )
    low, high = ends
    if (low == "periodic") != (high == "periodic"):
        raise ValueError(
            f"boundary must be periodic at both ends of an axis or at neither, not {shown(entry)}"
        )
    return "periodic" if low == "periodic" else (str(low), str(high))


def check_grid(grid: object) -> None:
    """Refuse what is no grid, and say how the shape or the values that came get one."""
    if is_a(grid, Grid):
        return
    way = ""
    if is_a(grid, np.ndarray) and grid.dtype.kind == "f" and 1 <= grid.ndim <= 3:
        way = f": use pt.Field.from_arrays(pt.Grid({grid.shape}), array)"
    elif not is_a(grid, bool):
        with suppress(TypeError, ValueError):
            shape = as_shape("shape", grid)
            way = f": use pt.Grid({shape if len(shape) > 1 else shape[0]})"
    raise TypeError(f"grid must be a Grid, not {shown(grid)}{way}")


def are_as_long(grid: Grid, other: Grid, axis: int) -> bool:
    """Whether two grids cover the same part of an axis, but for rounding."""
    error = 1e-9 * other.extent[axis]
    return (
        abs(grid.origin[axis] - other.origin[axis]) <= error
        and abs(grid.extent[axis] - other.extent[axis]) <= error
    )


def have_same_box(grid: Grid, other: Grid) -> bool:
    """Whether two grids cover the same part of space, but for rounding, with the same ends."""
    return grid.boundary == other.boundary and all(
        are_as_long(grid, other, axis) for axis in range(grid.ndim)
    )


def box_text(grid: Grid) -> str:
    """Return which part of space a grid covers, for messages."""
    ends = "periodic" if grid.is_periodic else grid.boundary
    return f"from {grid.origin} over {grid.extent}, {ends}"


def check_resolution(grid: Grid, dtype: npt.DTypeLike) -> None:
    """Refuse a formula on points that the device cannot tell from each other."""
    for axis, (origin, extent, spacing) in enumerate(
        zip(grid.origin, grid.extent, grid.spacing, strict=True)
    ):
        farthest = max(abs(origin), abs(origin + extent))
        known = np.finfo(dtype)
        if farthest > float(known.max) or spacing < max(
            float(known.eps) * farthest, known.smallest_subnormal
        ):
            raise ValueError(
                f"grid must have points that {dtype} can distinguish, but along axis {axis} they "
                f"are {spacing:.3g} apart at coordinates up to {farthest:.3g}: put the origin "
                "nearer to 0, or use float64"
            )
