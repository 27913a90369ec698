# SPDX-License-Identifier: BSD-3-Clause
"""Between particles anywhere and the points of a grid, in both directions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

from particles import _core, kernels
from particles.arrays.overlap import overlap
from particles.base.checks import as_flag, as_sequence, is_one_of, refusal, shown
from particles.base.guards import OnDevice
from particles.base.kinds import is_a
from particles.fields.alike import as_several
from particles.fields.field import Field
from particles.fields.grid import Grid, box_text, have_same_box
from particles.interpolation.parts import (
    ParticlesAround,
    PlanesRead,
    field_of_rows,
    reach_of,
    windows_around,
)
from particles.runtime.crew import Several
from particles.sets.formulas import AttributeType
from particles.sets.particle_set import MOST_COMPONENTS, ParticleSet, as_attribute
from particles.sets.several import SeveralSets

__all__ = ["GridToParticles", "ParticlesToGrid"]


_ORDERS = ("canonical",)


class _Interpolation(OnDevice):
    """What both directions have."""

    swarm: ParticleSet
    names: tuple[str, ...]
    fields: tuple[Field, ...]
    kernel: kernels.RemeshingKernel

    def _begin(
        self, swarm: ParticleSet, names: tuple[str, ...], fields: tuple[Field, ...], kernel: object
    ) -> None:
        self.swarm = swarm
        self.names = names
        self.fields = fields
        self.kernel = kernels.get(kernel)  # type: ignore[arg-type]
        if len(fields) != len(names):
            raise ValueError(
                f"name must be as many names as there are fields, {len(fields)}, not {len(names)}"
            )
        for field in fields:
            _check_place(field, swarm)
        self._several: Several | None = None
        if swarm._several is not None:
            return
        self._core = _core.Interpolation(
            swarm.device.core,
            kernels.opencl_source(self.kernel),
            self.kernel.stencil,
        )

    def _have_parts(
        self, several: SeveralSets, made: Callable[[tuple[Field, ...], ParticleSet], _Interpolation]
    ) -> None:
        """Have one for each of several devices, of what that has."""
        fields = [field._parts() for field in self.fields]

        def part(rank: int) -> _Interpolation:
            return made(tuple(every[rank] for every in fields), several.parts[rank])

        self._several = Several(several.crew, several.crew.call(part))

    def _type_of(self, name: str, field: Field) -> AttributeType | None:
        """Return what an attribute is like that goes with a field; None where there is none."""
        its_type = self.swarm._types().get(name)
        if its_type is not None and its_type.components != field.components:
            raise ValueError(
                f"name must be of attributes with as many components as their fields, but {name} "
                f"has {its_type.components} and {_label(field)} {field.components}"
            )
        return its_type

    def _told(self) -> str:
        """Say what all ranks must do alike."""
        pairs = (
            f"{name} and {field.components} of {field.dtype} on {field.grid.whole.shape}"
            for name, field in zip(self.names, self.fields, strict=True)
        )
        return f"{', '.join(pairs)} by {self.kernel.name}"

    def _pairs_text(self) -> list[tuple[str, str]]:
        return [
            (repr(name), _label(field)) for name, field in zip(self.names, self.fields, strict=True)
        ]


class GridToParticles(_Interpolation):
    """Sample fields at the particles of a set.

    A particle at x receives the sum over the points i of ``u_i W((x - x_i) / h)``, with W the product
    of a `kernels` kernel along each axis. Beyond a wall there are mirror images of the points, and
    beyond an open end the value of the last point. It is the transpose of `ParticlesToGrid`.

    Parameters
    ----------
    field : Field or sequence of Field
        What to sample; in the box of the set's grid, with any number of points. Fields of a sequence
        that are alike, as attributes of theirs are, share weights, which takes less time.
    swarm : ParticleSet
        The particles; their positions are those at the time of `apply`.
    name : str or sequence of str
        The attribute that receives the samples, one for each field. If the set has none of
        that name, it is created, in the field's dtype.
    kernel : str or RemeshingKernel
        ``"M'6"``, ``"L1"``, which is linear interpolation, ``"nearest"``, ...: see `kernels.get`.

    Attributes
    ----------
    fields, names : tuple
        As above.
    swarm, kernel
        As above.

    Notes
    -----
    It computes in float64 if the field, the attribute or the set's `dtype` is float64, else in
    float32, and rounds once to the attribute's dtype. Each particle's result depends only on
    its position and on the field, so the set's order does not matter. Sorted sets are sampled
    fastest: ``repr`` tells whether and how to sort.

    With ``"nearest"`` a particle takes one point, and NaN or infinity at the others changes nothing.
    With any other kernel it takes the product of all points around it with their weights, of which
    a 0 times NaN is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> grid = pt.Grid((8, 8))
    >>> slope = pt.Field(grid)
    >>> slope[...] = np.arange(8)
    >>> swarm = pt.ParticleSet(grid, [[0.5, 0.25], [0.1, 0.3125]])
    >>> pt.GridToParticles(slope, swarm, "value", kernel="L1").apply()
    >>> swarm["value"].get()
    array([2. , 2.5], dtype=float32)
    """

    def __init__(
        self,
        field: Field | Sequence[Field],
        swarm: ParticleSet,
        name: str | Sequence[str],
        kernel: str | kernels.RemeshingKernel = "M'6",
    ) -> None:
        fields = _as_fields(field)
        _check_set(swarm)
        names = tuple(as_attribute(one) for one in _as_names(name))
        if len(set(names)) < len(names):
            raise ValueError(f"name must be of different attributes, not {shown(names)}")
        self._begin(swarm, names, fields, kernel)
        self._types()
        if swarm._several is not None:
            self._have_parts(
                swarm._several,
                lambda fields, swarm: GridToParticles(fields, swarm, names, self.kernel),
            )
            return
        self._read = [
            PlanesRead(field, windows_around(swarm.grid, field.grid, reach_of(self.kernel.stencil)))
            if field.grid.is_divided
            else None
            for field in fields
        ]

    def _types(self) -> dict[str, AttributeType]:
        """Return what the attributes are like, those that are to be made included."""
        types = {}
        for name, field in zip(self.names, self.fields, strict=True):
            if field.components > MOST_COMPONENTS:
                raise ValueError(
                    f"field must have at most {MOST_COMPONENTS} components, as attributes have, "
                    f"not {field.components}"
                )
            its_type = self._type_of(name, field)
            if its_type is not None and its_type.dtype.kind != "f":
                raise TypeError(
                    f"name must be of attributes of real numbers, but {name} is of {its_type.dtype}"
                )
            types[name] = (
                AttributeType(field.components, field.dtype) if its_type is None else its_type
            )
        return types

    def apply(self, *, add: bool = False) -> None:
        """Sample the fields where the particles are; does not wait for the device.

        Parameters
        ----------
        add : bool
            Whether to add to the values of the attributes, instead of replacing them.

        Examples
        --------
        >>> import particles as pt
        >>> one = pt.Field(pt.Grid(4))
        >>> one.fill(1)
        >>> swarm = pt.ParticleSet(one.grid, [[0.3]])
        >>> sample = pt.GridToParticles(one, swarm, "value", kernel="L1")
        >>> sample.apply()
        >>> sample.apply(add=True)
        >>> swarm["value"].get()
        array([2.], dtype=float32)
        """
        adds = as_flag("add", add)
        with self.swarm._alone:
            self._apply(adds)

    def _apply(self, adds: bool) -> None:
        swarm = self.swarm
        with swarm._together(lambda: f"GridToParticles.apply(add={adds}) of {self._told()}"):
            types = self._types()
            for field in self.fields:
                field._be_seen()
            starts = None if self._several is not None else self._starts_of_rows()
        if self._several is not None:
            self._several.each("_apply", adds)
            return
        given = {
            name: (field.core, 0, 0) if planes is None else planes.fetched()
            for name, field, planes in zip(self.names, self.fields, self._read, strict=True)
        }
        own = (swarm.grid.begin[0], swarm.grid.shape[0])
        places = swarm._columns.places

        def fill(before: Mapping[str, _core.Array], results: Mapping[str, _core.Array]) -> None:
            pairs = [
                (*given[name], before.get(name, array), array, adds and name in before)
                for name, array in results.items()
            ]
            self._core.to_particles(swarm._box, places, starts, pairs, *own)

        swarm._fill(types, fill)

    def _starts_of_rows(self) -> _core.Array | None:
        """Return where rows begin if particles lie along them, for a faster way to the same bits.

        Not on a small part of a grid, as the rows are those of the whole.
        """
        swarm = self.swarm
        may = not swarm.grid.is_divided or swarm._box.rows <= len(swarm)
        return swarm._starts() if may and swarm._is_in_rows else None

    def __repr__(self) -> str:
        pairs = ", ".join(f"{field} to {name}" for name, field in self._pairs_text())
        order = self.swarm._row_order
        is_slow = len(self.swarm) > 0 and not self.swarm._is_in_rows
        hint = f'; faster after swarm.sort("{order}")' if is_slow else ""
        return f"GridToParticles({pairs}, kernel={self.kernel.name!r}, of {self.swarm!r}{hint})"


class ParticlesToGrid(_Interpolation):
    """Spread what the particles of a set carry over the points of a grid.

    A point at x receives the sum over the particles p of ``s_p W((x_p - x) / h)``, with W the product
    of a `kernels` kernel along each axis: the sum of the field is that of the attribute, and
    the moments that the kernel conserves are conserved farther from ends than it reaches. What would
    go to a point beyond a wall goes to the point of which it is the mirror image, and beyond an open
    end to the last point. It is the transpose of `GridToParticles`.

    `apply` sorts the set by row if it is not: arrays of yours in the order of before no longer fit it
    (`ParticleSet.get`, `ParticleSet.set`).

    Parameters
    ----------
    swarm : ParticleSet
        The particles; their positions are those at the time of `apply`.
    name : str or sequence of str
        The attributes that they give, of any dtype. Those of a sequence that are alike, as their
        fields are, share weights, which takes less time; with ``order="canonical"`` where no two
        particles are at the same place.
    field : Field or sequence of Field
        What receives them, one for each name, with as many components; in the box of the set's
        grid, with any number of points.
    kernel : str or RemeshingKernel
        ``"M'6"``, ``"L1"``, ``"nearest"``, ...: see `kernels.get`.
    order : None or "canonical"
        The order in which a point adds up what it receives. By default row by row of the set's
        cells, and within a row in the set's order. With ``"canonical"``, results do not depend on
        the set's order either: it sorts by cell, then by the bits of the offsets in the cell, then
        by the bits of what the particles carry. Each call sorts again, and allocates memory. Several
        attributes or components are sorted once, unless particles are at the same place, where
        each has an order of its own; the call waits to know this.

    Attributes
    ----------
    fields, names : tuple
        As above.
    swarm, kernel, order
        As above.

    Notes
    -----
    It computes in float64 if the field, the attribute or the set's `dtype` is float64, or the
    attribute is of integers of 32 or 64 bits, else in float32, and rounds once to the field's dtype.
    The bits of results do not depend on threads or on how the work is divided.

    With ``"nearest"`` a particle gives to one point, so NaN or infinity of it comes to no other; with
    any other kernel to all points around it.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> grid = pt.Grid((8, 8))
    >>> swarm = pt.ParticleSet.random(grid, 1000, seed=1, mass=np.ones(1000, "float32"))
    >>> density = pt.Field(grid)
    >>> pt.ParticlesToGrid(swarm, "mass", density).apply()
    >>> print(round(density.sum(), 2))
    1000.0
    """

    def __init__(
        self,
        swarm: ParticleSet,
        name: str | Sequence[str],
        field: Field | Sequence[Field],
        kernel: str | kernels.RemeshingKernel = "M'6",
        *,
        order: str | None = None,
    ) -> None:
        _check_set(swarm)
        names = tuple(swarm._known(one) for one in _as_names(name))
        fields = _as_fields(field)
        if any(overlap(one.core, other.core) for one, other in combinations(fields, 2)):
            raise ValueError("field must be fields in memory of their own, but two of them overlap")
        if order is not None and not is_one_of(order, _ORDERS):
            raise ValueError(f'order must be "canonical" or None, not {shown(order)}')
        self.order = order
        self._begin(swarm, names, fields, kernel)
        self._check_names()
        for one in fields:
            if one.grid.ranks is not swarm.grid.ranks:
                raise ValueError(
                    f"field must be divided among the set's ranks as its grid is, {swarm.grid!r}, not "
                    f"{one.grid!r}"
                )
        if swarm._several is not None:
            self._have_parts(
                swarm._several,
                lambda fields, swarm: ParticlesToGrid(
                    swarm, names, fields, self.kernel, order=order
                ),
            )
            return
        self._slabs = [field._like_slabs() for field in fields]  # that blocks are put together to
        self._around: dict[Grid, ParticlesAround] = {}
        for grid in dict.fromkeys(field.grid.slabs for field in fields if swarm.grid.is_divided):
            self._around[grid] = ParticlesAround(swarm, grid, self.kernel.stencil)

    def _check_names(self) -> None:
        for name, field in zip(self.names, self.fields, strict=True):
            self.swarm._known(name)
            self._type_of(name, field)

    def apply(self, *, add: bool = False) -> None:
        """Spread what the particles carry over the points.

        It waits for the device only with ``order="canonical"`` and several attributes or components.
        First sorts the set by row, unless it has been sorted since it last moved, or `order` is
        ``"canonical"``; the ``repr`` tells whether it will.

        Parameters
        ----------
        add : bool
            Whether to add to the values of the fields, instead of replacing them.

        Examples
        --------
        >>> import particles as pt
        >>> swarm = pt.ParticleSet(pt.Grid(4), [[0.25]], mass=[1.0])
        >>> density = pt.Field(swarm.grid)
        >>> give = pt.ParticlesToGrid(swarm, "mass", density)
        >>> give.apply()
        >>> give.apply(add=True)
        >>> density.get()
        array([0., 2., 0., 0.], dtype=float32)
        """
        adds = as_flag("add", add)
        with self.swarm._alone:
            self._apply(adds)

    def _apply(self, adds: bool) -> None:
        swarm = self.swarm
        with swarm._together(
            lambda: f"ParticlesToGrid.apply(add={adds}) of {self._told()}, order={self.order}"
        ):
            self._check_names()
        if self._several is not None:
            for field in self.fields:
                field._be_seen() if adds else field._be_replaced()
            self._several.each("_apply", adds)
            return
        if swarm.grid.is_divided:
            self._apply_to_parts(adds)
            return
        starts = None if self.order else swarm._starts()
        columns = swarm._columns
        for field in self.fields:
            field._be_seen() if adds else field._be_replaced()
        pairs = [
            (columns.used(columns.attributes[name]), field.core)
            for name, field in zip(self.names, self.fields, strict=True)
        ]
        if starts is not None:
            in_cells = swarm._is_in_cells
            self._core.to_grid(swarm._box, columns.places, starts, pairs, adds, in_cells)
            return
        self._core.to_grid_in_any_order(swarm._core, columns.places, pairs, adds)

    def _apply_to_parts(self, adds: bool) -> None:
        """Give what the particles of all ranks carry to one's own points."""
        swarm, device = self.swarm, self.swarm.device.core
        if not self.order and not swarm._is_in_rows:
            swarm._sorted(swarm._row_order, False)
        for grid, around in self._around.items():
            every = zip(self.names, self.fields, self._slabs, strict=True)
            some = [(name, field, slabs) for name, field, slabs in every if slabs.grid == grid]
            names = tuple(dict.fromkeys(name for name, *_ in some))
            union = around.gathered(names, in_rows=not self.order)
            for _, field, slabs in some:
                field._be_seen() if adds else field._be_replaced()
                if adds:
                    field._in_slabs("particles", slabs)
            with swarm._together("to give to points"):
                starts = around.starts(union)
                pairs = []
                for name, _, field in some:
                    target = field.core
                    if grid.ndim == 1:
                        target = field_of_rows(field.core, grid, grid.whole.size, device)
                        target.copy_rows(grid.begin[0], field.core, 0, grid.size)
                    pairs.append((union.values[name], target))
                if self.order:
                    self._core.to_grid_in_any_order(around.core, union.places, pairs, adds)
                else:
                    self._core.to_grid(around.box, union.places, starts, pairs, adds, False)
                for (_, target), (*_, field) in zip(pairs, some, strict=True):
                    if target is not field.core:
                        field.core.copy_rows(0, target, grid.begin[0], grid.size)
            for _, field, slabs in some:
                field._take_slabs(slabs)

    def __repr__(self) -> str:
        pairs = ", ".join(f"{name} to {field}" for name, field in self._pairs_text())
        order = f", order={self.order!r}" if self.order else ""
        sorts = "" if self.order or self.swarm._is_in_rows else "; apply sorts the set"
        return f"ParticlesToGrid({pairs}, kernel={self.kernel.name!r}{order}, of {self.swarm!r}{sorts})"


def _check_set(swarm: object) -> None:
    if not is_a(swarm, ParticleSet):
        raise TypeError(f"swarm must be a ParticleSet, not {shown(swarm)}")


def _as_names(name: object) -> list[object]:
    """Return one name or several."""
    if is_a(name, str):
        return [name]
    expected = "name must be the name of an attribute or a sequence of them"
    several = as_sequence(name, expected)
    if not several:
        raise TypeError(refusal(expected, name))
    for one in several:
        if not is_a(one, str):
            raise TypeError(f"{refusal(expected, one)} in it")
    return several


def _as_fields(field: object) -> tuple[Field, ...]:
    fields = as_several("field", field)
    if not fields:
        raise TypeError(f"field must be a Field or a sequence of them, not {shown(field)}")
    return fields


def _check_place(field: Field, swarm: ParticleSet) -> None:
    """Refuse a field of another box or device than a set's."""
    if field.device is not swarm.device:
        raise ValueError(
            f"field must be on the set's device, {swarm.device!r}, not {field.device!r}"
        )
    given, box = field.grid, swarm.grid
    if given.is_divided and given.ranks is not box.ranks:
        raise ValueError(
            f"field must be divided among the set's ranks, or be whole, not of {given!r} for a set "
            f"in {box!r}"
        )
    if not have_same_box(given, box):
        raise ValueError(f"field must be of the set's box, {box_text(box)}, not {box_text(given)}")


def _label(field: Field) -> str:
    return f"field {field.name!r}" if field.name else f"a field of {field.shape}"
