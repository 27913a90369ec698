# SPDX-License-Identifier: BSD-3-Clause
"""What a transport has done: for the section on methods, and to see whether it went well."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.base.kinds import is_a
from particles.base.markup import facts, table
from particles.fields.grid import boundary_text
from particles.kernels.ripple import strain_kept
from particles.operators.limits import ROUNDING, USUAL, Bearable, Strain
from particles.operators.velocity import Velocity
from particles.operators.velocity_series import VelocitySeries
from particles.stepping.schedule import SPLITTINGS

if TYPE_CHECKING:
    from particles.fields.field import Field
    from particles.fields.grid import Grid
    from particles.operators.advection import AdvectionOp
    from particles.operators.remesh import RemeshOp


Left = npt.NDArray[np.float64]  # of each component

# By benchmarks.gyre: of which share a sweep of masses may change a constant, and up to which strain.
RIPPLE, RECOMMENDED = 0.02, 0.2
_EDGES = 0.1  # share of what lies between two values where a field consists of these


class Extent(NamedTuple):
    """What `Field.min`, `max`, `sum` and `integral` tell of a component, and its magnitude.

    That is the sum of magnitudes where values have one sign, and a bound of it elsewhere.

    Examples
    --------
    >>> import particles as pt
    >>> grid = pt.Grid(8)
    >>> u = pt.Field(grid, name="u")
    >>> u.fill(2)
    >>> wind = pt.AdvectionOp(pt.Velocity(grid, "1"))
    >>> pt.Splitting(wind, pt.RemeshOp(u)).report().carried[0].end
    Extent(least=2.0, greatest=2.0, sum=16.0, integral=2.0, magnitude=16.0)
    """

    least: float
    greatest: float
    sum: float
    integral: float
    magnitude: float


class Opening(NamedTuple):
    """What there was before the first step.

    Attributes
    ----------
    time, steps
        Then.
    extents : tuple of Extent
        One for each component.
    left : array or None
        What had left; None where that is not counted.
    bearable : Bearable
        What strain the fields bear.
    """

    time: float
    steps: int
    extents: tuple[Extent, ...]
    left: Left | None
    bearable: Bearable


class Account:
    """Is opened by the first step; from then on it takes note of the steps.

    Attributes
    ----------
    opening : Opening or None
        None until the first step.
    dt : tuple of float or None
        Durations of the shortest and the longest step.
    lcfl, cells : float
        The greatest strain of a sweep, and the most cells that a particle crossed in a step.
    cells_of_run : float
        Those in a step of the last run.
    """

    def __init__(self, remesh: RemeshOp, *, is_split: bool) -> None:
        self._remesh = remesh
        self._is_split = is_split
        self.cells_of_run = 0.0
        self.close()

    def close(self) -> None:
        """Begin anew with the next step."""
        self.opening: Opening | None = None
        self.dt: tuple[float, float] | None = None
        self.lcfl, self.cells = 0.0, 0.0

    def open(self, time: float, steps: int, left: Left | None) -> Bearable:
        """Look at the fields unless that was done before; return what strain they bear."""
        if self.opening is None:
            looks = [look_at(component) for component in components_of(self._remesh.fields)]
            extents = tuple(extent for extent, _ in looks)
            is_smooth = any(not is_colour for _, is_colour in looks)
            if not is_smooth and any(extent.least < extent.greatest for extent in extents):
                self._remesh._carries_colours = True  # also when they have been smeared
            is_smooth = is_smooth and not self._remesh._carries_colours
            self.opening = Opening(time, steps, extents, left, self._bearable(is_smooth))
        return self.opening.bearable

    def is_within_limits_of_masses(self) -> bool:
        """Whether no step has strained more than masses bear, which colours may exceed."""
        return self.lcfl <= self._bearable(is_smooth=True).strain * (1 + ROUNDING)

    def note(self, strain: Strain, dt: float, joined: bool) -> None:
        """Take note of equal steps."""
        rate = max(strain.rate, strain.joint) if joined else strain.rate
        self.note_fitted([dt], rate * dt, strain.cells * dt)

    def note_fitted(self, durations: list[float], lcfl: float, cells: float) -> None:
        """Take note of steps, and of the greatest strain and most cells of one."""
        known = [*durations, *(self.dt or ())]
        self.dt = min(known), max(known)
        self.lcfl, self.cells = max(self.lcfl, lcfl), max(self.cells, cells)
        self.cells_of_run = max(self.cells_of_run, cells)

    def _bearable(self, is_smooth: bool) -> Bearable:
        """Masses that are strained no longer add up: that is lost on a field of two values.

        A field that jumps over- and undershoots by any step, and is read at a level.
        """
        remesh = self._remesh
        if not (remesh.conservative and self._is_split and is_smooth):
            return USUAL
        strain = min(USUAL.strain, strain_kept(remesh.kernel, RIPPLE))
        loss = f"masses over- and undershoot with {remesh.kernel.name}"
        return Bearable(strain, min(RECOMMENDED, strain), loss)


def components_of(fields: tuple[Field, ...]) -> Iterator[Field]:
    """Yield the components of fields one after the other."""
    for field in fields:
        for index in range(field.components):
            yield field.component(index)


def look_at(component: Field) -> tuple[Extent, bool]:
    """Return the extent of a field, and whether it has two values alone, but for its edges.

    With m and M the least and the greatest of n values, the sum of (u - m)(M - u) is none then. It
    is half of the lesser sum of these factors, times M - m, where u is a Gaussian.
    """
    extent, squares = _summary(component)
    scaled = component.scaled_for_squares()
    found, squares = (extent, squares) if scaled is None else _summary(scaled[0])
    least, greatest, total, *_ = found
    points, width = component.grid.whole.size, greatest - least
    between = (least + greatest) * total - squares - points * least * greatest
    lesser = min(total - points * least, points * greatest - total)
    return extent, between <= _EDGES * width * lesser if width > 0 else greatest == 0


def _summary(component: Field) -> tuple[Extent, float]:
    """Return the extent of a field and the sum of its squares."""
    total, squares, least, greatest = component.summary()
    integral = total * math.prod(component.grid.spacing)
    magnitude = _magnitude(least, greatest, total, squares, component.grid.whole.size)
    return Extent(least, greatest, total, integral, magnitude), squares


def _magnitude(least: float, greatest: float, total: float, squares: float, points: int) -> float:
    """Return a bound of the sum of magnitudes that takes no further reading.

    It exceeds the sum by twice what the negative values come to, so at most by twice the least
    value at every point; likewise for the positive ones. By Cauchy and Schwarz its square is at
    most the number of values times the sum of their squares.

    Examples
    --------
    >>> _magnitude(0.0, 2.0, 3.0, 5.0, points=4), _magnitude(-1.0, 1.0, 0.0, 4.0, points=4)
    (3.0, 4.0)
    """
    return min(
        total - 2 * points * min(least, 0.0),
        2 * points * max(greatest, 0.0) - total,
        math.sqrt(points * squares) or math.inf,  # squares of tiny values are none
    )


def extents_of(fields: tuple[Field, ...]) -> tuple[Extent, ...]:
    """Return the extent of each component; waits for the device."""
    return tuple(_summary(component)[0] for component in components_of(fields))


class Reported(Protocol):
    """What is reported of; a `Splitting` has an order, sources and diffusion besides."""

    @property
    def advection(self) -> AdvectionOp | None:
        """What pushes."""

    @property
    def remesh(self) -> RemeshOp:
        """What remeshes."""

    @property
    def time(self) -> float:
        """Of the fields."""

    @property
    def steps(self) -> int:
        """How many have been done."""


class Carried(NamedTuple):
    """What has become of one component.

    Attributes
    ----------
    name : str
        Of the field, with the number of the component where it has several.
    begin, end : Extent
        Before the first step, and now.
    left : float or None
        What has left through the ends of the grid, net, of the sum; None where values are carried.

    Examples
    --------
    >>> import particles as pt
    >>> grid = pt.Grid(10, boundary="outflow")
    >>> u = pt.Field(grid, name="u")
    >>> u.component(0)[5:] = 1
    >>> wind = pt.AdvectionOp(pt.Velocity(grid, "1"))
    >>> transport = pt.Splitting(wind, pt.RemeshOp(u))
    >>> transport.step(0.2)
    >>> (carried,) = transport.report().carried
    >>> carried.name, carried.left, carried.end.sum
    ('u', 2.0, 3.0)
    """

    name: str
    begin: Extent
    end: Extent
    left: float | None

    @property
    def change(self) -> float | None:
        """Change of the sum, with what has left, over the magnitude; None where all is 0."""
        magnitude = self.begin.magnitude or self.end.magnitude
        if magnitude == 0:
            return None
        return (self.end.sum + (self.left or 0.0) - self.begin.sum) / magnitude


@dataclass(frozen=True, repr=False)
class Report:
    """The result of `Splitting.report`; ``print`` shows a text, a notebook two tables.

    Attributes
    ----------
    method : dict
        Kernel, scheme and the like, as texts.
    time : tuple of float
        Time at the begin and at the end.
    steps : int
        Number of steps.
    dt : tuple of float or None
        Durations of the shortest and the longest step; None if there was none.
    lcfl : float
        Greatest strain of a sweep.
    cfl : float
        Most cells that the velocity crosses in a step, along one axis.
    carried : tuple
        One entry for each component of the fields, with its `name`. `begin` and `end` have the
        `least` and `greatest` value, the `sum` of all values and their `integral`, which is the
        sum times the volume of a cell, before the first step and now. `left` is what has left
        through the ends of the grid, in units of the sum as `Splitting.outflow` is, None for
        values. `change` is the change of the sum, including what has left, relative to the
        `magnitude` before the first step, or now where that was 0. That is the sum of magnitudes,
        or a bound of it where there are values of both signs, as the sum may then be 0.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> grid = pt.Grid((64, 64))
    >>> x, y = grid.coordinates()
    >>> dye = pt.Field(grid, name="dye")
    >>> dye[...] = np.exp(-50 * ((x - 0.5) ** 2 + (y - 0.25) ** 2))
    >>> flow = pt.Velocity(
    ...     grid,
    ...     lambda x, y: (
    ...         np.sin(2 * np.pi * x) * np.cos(2 * np.pi * y),
    ...         -np.cos(2 * np.pi * x) * np.sin(2 * np.pi * y),
    ...     ),
    ... )
    >>> transport = pt.Splitting.from_preset("positive", flow, dye)
    >>> transport.run(until=0.2, lcfl=0.2)
    >>> report = transport.report()
    >>> report.steps, round(report.lcfl, 2), report.carried[0].end.least >= 0
    (7, 0.18, True)
    """

    method: dict[str, str]
    time: tuple[float, float]
    steps: int
    dt: tuple[float, float] | None
    lcfl: float
    cfl: float
    carried: tuple[Carried, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as a dict for JSON.

        Returns
        -------
        dict

        Examples
        --------
        >>> import json
        >>> import particles as pt
        >>> grid = pt.Grid(8)
        >>> wind = pt.AdvectionOp(pt.Velocity(grid, "1"))
        >>> transport = pt.Splitting(wind, pt.RemeshOp(pt.Field(grid)))
        >>> json.loads(json.dumps(transport.report().as_dict()))["method"]["kernel"]
        "M'6"
        """
        rows = [
            {
                "name": row.name,
                "begin": row.begin._asdict(),
                "end": row.end._asdict(),
                "left": row.left,
                "change": row.change,
            }
            for row in self.carried
        ]
        return {**asdict(self), "carried": rows}

    def facts(self) -> dict[str, str]:
        """Return what is told beside the fields, as texts.

        :meta private:
        """
        begin, end = self.time
        steps = "1 step" if self.steps == 1 else f"{self.steps} steps"
        facts = {**self.method, "time": f"{begin:g} to {end:g}, {steps}"}
        if self.dt is not None:
            shortest, longest = (f"{dt:.4g}" for dt in self.dt)
            of = shortest if shortest == longest else f"{shortest} to {longest}"
            facts["time"] += f" of {of}"
            facts["step, at most"] = f"LCFL {self.lcfl:.3g}, CFL {self.cfl:.3g}"
        return facts

    def table(self) -> list[list[str]]:
        """Return a header, and two rows for each component.

        :meta private:
        """
        rows = [["", "", "least", "greatest", "integral", "sum", "left", "change"]]
        for row in self.carried:
            change = "" if row.change is None else f"{row.change:+.1e}"
            left = "" if row.left is None else f"{row.left:.6g}"
            rows.append([row.name, "begin", *_texts(row.begin), "", ""])
            rows.append(["", "end", *_texts(row.end), left, change])
        return rows

    def __repr__(self) -> str:
        width = max(map(len, self.facts()))
        lines = [f"{name:{width}}  {text}" for name, text in self.facts().items()]
        names = max(len(row.name) for row in self.carried)
        for name, when, *numbers in self.table():
            cells = "  ".join(f"{number:>11}" for number in numbers)
            lines.append(f"{name:{names}}  {when:5}  {cells}".rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        header, *rows = self.table()
        return facts("Report", self.facts()) + table("Carried", rows, header)


def report_of(transport: Reported, account: Account, left: Left | None) -> Report:
    """Return what a transport has done, of whose components so much has left."""
    fields, opening = transport.remesh.fields, account.opening
    now = extents_of(fields)
    before = now if opening is None else opening.extents
    had_left = left if opening is None else opening.left
    gone: list[float] | list[None] = [None] * len(now)
    if left is not None and had_left is not None:
        gone = (left - had_left).tolist()
    return Report(
        _method(transport),
        (transport.time if opening is None else opening.time, transport.time),
        0 if opening is None else transport.steps - opening.steps,
        account.dt,
        account.lcfl,
        account.cells,
        tuple(map(Carried, _names(fields), before, now, gone)),
    )


def _method(transport: Reported) -> dict[str, str]:
    advection, remesh = transport.advection, transport.remesh
    order = getattr(transport, "order", None)
    grid, carried = remesh.grid, remesh.fields[0]
    moving = {}
    if advection is not None:
        moving = {
            "kernel": remesh.kernel.name,
            "limiter": remesh.limiter or "none",
            "particles carry": "masses" if remesh.conservative else "values",
            "scheme": advection.scheme,
            "velocity": _velocity(advection),
        }
    diffusions = getattr(transport, "diffusion", ())
    source = getattr(transport, "source", None)
    spreading = ", ".join(f"viscosity {diffusion.viscosity}" for diffusion in diffusions)
    return {
        "splitting": "none" if order is None else f"{SPLITTINGS[order]}, order {order}",
        **moving,
        **({"diffusion": spreading} if spreading else {}),
        **({"source": source.readable_rates()} if source is not None else {}),
        "grid": f"{_points(grid)} points; {'; '.join(map(boundary_text, grid.boundary))}",
        "dtype": carried.dtype.name,
        "device": carried.device.name,
        "particles": _core.__version__,
    }


def _velocity(advection: AdvectionOp) -> str:
    velocity = advection.velocity
    if is_a(velocity, Velocity):
        return "a formula"
    times = f"at {len(velocity.times)} times, " if is_a(velocity, VelocitySeries) else ""
    return f"{times}on {_points(velocity.grid)} points, {advection.interpolation}"


def _points(grid: Grid) -> str:
    return " x ".join(map(str, grid.whole.shape))


def _names(fields: tuple[Field, ...]) -> list[str]:
    names = []
    for number, field in enumerate(fields):
        name = field.name or (f"field {number}" if len(fields) > 1 else "field")
        several = field.components > 1
        names += [f"{name}[{i}]" if several else name for i in range(field.components)]
    return names


def _texts(extent: Extent) -> list[str]:
    extrema = (f"{one:.4g}" for one in (extent.least, extent.greatest))
    return [*extrema, *(f"{one:.6g}" for one in (extent.integral, extent.sum))]
