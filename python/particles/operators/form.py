# SPDX-License-Identifier: BSD-3-Clause
"""The layout of grid lines on a device, to choose it by hand."""

from __future__ import annotations

from dataclasses import dataclass, fields

from particles import _core
from particles.base.checks import as_integer, is_one_of, shown
from particles.base.kinds import is_a

__all__ = ["Form"]

KINDS = ("lanes", "private", "local", "global", "registers", "team")
WITH_LANES = ("lanes", "global")
LANES = (1, 4, 8, 16)
MOST = 2**20
"""Work-items of a group, tiles of a work-item, nodes that are swept at once."""


@dataclass(frozen=True, slots=True, repr=False)
class Form:
    """The layout of grid lines in the kernels on a device.

    What you leave out is chosen for the device. Every form adds up each node in the same order, so
    the results are the same to the bit, except for functions in a formula that the driver computes.
    Each choice answers a question of Cottet, Etancelin, Pérignon and Picard, "Particle method on
    GPU": the program ``python -m benchmarks.paper`` times them one after the other.

    Parameters
    ----------
    kind : {"lanes", "private", "local", "global", "registers", "team"}, optional
        Where the sums at the nodes of a line are kept until it is done. ``"global"``: in the result
        itself, which is zeroed first and is a different array from the particles; not for axes with
        ends, nor for masses with a limiter. ``"private"``,
        ``"local"``: in memory of a work-item, or of its work-group, and written once ("a local
        buffer ... minimizes global memory access"). ``"lanes"``: as private, with several
        neighbouring lines in a vector. ``"registers"``: of the few nodes around the particle, in
        registers; a node is written to a second array when the particles have passed it.
        ``"team"``: in registers, a node for each work-item of a work-group, which has told the
        others in local memory what its particle gives; not for values, nor where local memory has
        no room for the particles of a piece of a line. The last two are what suits GPUs, across the
        memory and along it, where ``"local"`` takes the place of a team that has no room. Vectors
        that lines cannot fill are left out: then ``"lanes"`` is ``"private"``. The ``repr`` of a
        `Splitting` tells the form along each axis.
    lanes : {1, 4, 8, 16}, optional
        Lines in a vector, for the kinds ``"lanes"`` and ``"global"``; refused along an axis whose
        lines cannot fill them. ``"global"`` in lanes works on transposed copies along the last
        axis.
    copied : bool, optional
        Whether the line of the velocity is copied to private memory before it is interpolated
        ("make data closer to work-items"). Lanes along the last axis always copy it. Lines too long
        for private memory never do.
    transposed : bool, optional
        For the last axis, whose nodes are neighbours in memory while neighbouring lines are not:
        whether to work on transposed copies ("make the data contiguous in a direction orthogonal
        to the splitting direction") or with strides. The copy of a velocity is kept.
    images : bool, optional
        Whether the velocity, or the displacements of the particles, is read from an image instead
        of a buffer ("which type of object is best suited"). Only for float32 and without lanes. The
        kernel interpolates, because the hardware distinguishes only 256 places between two nodes.
    group : int, optional
        Number of work-items in a work-group.
    tiles : int, optional
        Number of lines, or vectors of lines, that a work-item sweeps one after the other.
    nodes : int, optional
        Most nodes of a line whose sums a work-item, or a team, holds at once: longer lines are cut
        into pieces, which also read particles of their neighbours. A team that is told so has room
        for all particles of a piece, or of a whole line, at once; else those of a long line come in
        portions. Less is taken where memory is short; vectors are filled, and short periodic lines
        in registers stay whole. ``"global"`` cuts no line.

    Examples
    --------
    The paper's first version: results accumulate in global memory, with strides.

    >>> import numpy as np
    >>> import particles as pt
    >>> naive = pt.Form("global", lanes=1, copied=False, transposed=False)
    >>> naive
    Form(kind='global', lanes=1, copied=False, transposed=False)
    >>> grid = pt.Grid((8, 8))
    >>> velocity = pt.Field(grid, components=2)
    >>> velocity[0] = 1
    >>> u = pt.Field(grid)
    >>> u[3] = 1
    >>> transport = pt.Splitting(
    ...     pt.AdvectionOp(velocity, form=naive), pt.RemeshOp(u, form=naive)
    ... )
    >>> transport.step(0.25)
    >>> np.asarray(u)[:, 0]
    array([0., 0., 0., 0., 0., 1., 0., 0.], dtype=float32)
    """

    kind: str | None = None
    lanes: int | None = None
    copied: bool | None = None
    transposed: bool | None = None
    images: bool | None = None
    group: int | None = None
    tiles: int | None = None
    nodes: int | None = None

    def __post_init__(self) -> None:
        if self.kind is not None and not is_one_of(self.kind, KINDS):
            raise ValueError(
                f"kind must be one of {', '.join(KINDS)} or None, not {shown(self.kind)}"
            )
        for name in ("copied", "transposed", "images"):
            value = getattr(self, name)
            if not is_a(value, bool | None):
                raise TypeError(f"{name} must be True, False or None, not {shown(value)}")
        for name in ("group", "tiles", "nodes"):
            if getattr(self, name) is not None:
                as_integer(name, getattr(self, name), least=1, most=MOST)
        self._check_lanes()

    def _check_lanes(self) -> None:
        if self.images and (self.kind == "lanes" or self.lanes not in (None, 1)):
            raise ValueError("images must be None or False with lanes: they are read line by line")
        if self.lanes is None:
            return
        if as_integer("lanes", self.lanes) not in LANES:
            raise ValueError(
                f"lanes must be one of {', '.join(map(str, LANES))}, not {shown(self.lanes)}"
            )
        if self.kind not in WITH_LANES:
            raise ValueError(
                f"lanes must be None unless kind is {' or '.join(map(repr, WITH_LANES))}, "
                f"but kind is {self.kind!r}"
            )

    @property
    def core(self) -> _core.Form:
        """The same for the C++ core.

        :meta private:
        """
        return _core.Form(*(getattr(self, field.name) for field in fields(self)))

    def __repr__(self) -> str:
        chosen = ((field.name, getattr(self, field.name)) for field in fields(self))
        return (
            f"Form({', '.join(f'{name}={value!r}' for name, value in chosen if value is not None)})"
        )


def as_form(name: str, value: object) -> Form:
    """Return a form, which may be given by the name of its kind."""
    if value is None or is_a(value, Form):
        return value or Form()
    if is_a(value, str) and value in KINDS:
        return Form(value)
    raise ValueError(
        f"{name} must be a Form, one of {', '.join(KINDS)} or None, not {shown(value)}"
    )
