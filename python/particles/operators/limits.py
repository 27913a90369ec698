# SPDX-License-Identifier: BSD-3-Clause
"""What pushes must be like: judged here alone, refused or warned of, and said where and why."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from decimal import ROUND_FLOOR, Context
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.base.errors import NotFiniteError, OutOfMemoryError
from particles.base.frames import frames_of_package
from particles.base.kinds import is_a
from particles.fields.field import Field
from particles.fields.spots import first_not_finite, largest, next_to_walls, steepest
from particles.operators.schemes import SCHEMES

if TYPE_CHECKING:
    from particles.fields.grid import Grid
    from particles.operators.finiteness import Change, Extremes
    from particles.operators.flow import Flow
    from particles.operators.remesh import RemeshOp

Sample = tuple["npt.NDArray[Any]", "Grid"]

REFUSED = 0.9
_SMOOTHING = "M'8"  # the kernel that does not interpolate, so that no node keeps all it has
ROUNDING = 1e-6  # of what is measured in single precision
UNDERSHOOT = 0.5  # of the greatest magnitude, to the other side of 0, is told
GROWTH = 2.0  # times the greatest magnitude that a flow can gather to, is told
APART = 0.35  # of the box along an axis, so far a step may take points from one another
FOLLOWED = 0.1  # of it, which costs little accuracy
_GOLDEN, _LOOKS = 0.6180339887, 5
ACROSS = 0.1  # of the box, where so much is passed along another axis
JOINED = 0.25 * (1 + 1e-4)
"""Up to this strain of a joint joining costs little accuracy. A strain of 0.25 is no rarity, and its
rounding must not decide: so it is a little more."""
ALONE: float = -math.inf  # what a step bears that has none to be joined to


def joints_within(lcfl: float) -> float:
    """Return what joints may strain where no sweep may strain more than `lcfl`."""
    return min(lcfl * (1 + ROUNDING), JOINED)


class LCFLWarning(UserWarning):
    """A step strains the particles so much that the method loses accuracy.

    It names the limit of the strain, the kind of error, and the step to take instead. Masses allow
    less strain than values, and than fields with two initial values, such as colours: of these
    usually one level is used, and they over- and undershoot beside their jumps with any step.

    `run` also gives it at its end if masses that had one sign have taken the other, by more than
    half of the greatest magnitude, or if masses or colours have grown to more than twice as much as
    a steady flow can gather: their errors can grow where a flow stands still and strains, by steps within
    the limit, too. And it tells of shear, if steps take points of the box so far apart along one axis that the
    sweeps along the others no longer follow the flow: that limit is of no strain.

    Examples
    --------
    >>> import warnings
    >>> import particles as pt
    >>> warnings.simplefilter("ignore", pt.LCFLWarning)
    """

    __module__ = "particles"


class WallWarning(UserWarning):
    """A velocity goes through a wall, where what is carried piles up or runs out.

    On a wall the velocity across it should vanish. The message says where it does not.

    Examples
    --------
    >>> import warnings
    >>> import particles as pt
    >>> warnings.simplefilter("error", pt.WallWarning)
    >>> grid = pt.Grid(16, boundary="wall")
    >>> transport = pt.Splitting.from_preset("default", pt.Velocity(grid, "1"), pt.Field(grid))
    >>> transport.run(until=0.1, lcfl=0.2)
    Traceback (most recent call last):
    ...
    particles.WallWarning: the velocity goes through a wall: its component 0 is 1 ...
    """

    __module__ = "particles"


class Leak(NamedTuple):
    """What goes through walls across an axis, as a share of what the flow carries across the box."""

    share: float
    axis: int
    instant: float


class Given(NamedTuple):
    """What decided the duration of a step: its name and value, and how much of it a unit of time is."""

    name: str
    value: float
    per_unit: float = 1.0


class Bearable(NamedTuple):
    """What strain a step may have until what is carried suffers.

    Attributes
    ----------
    strain, advised : float
        Beyond which it does, and which to take then.
    loss : str
        What happens beyond.
    """

    strain: float
    advised: float
    loss: str


USUAL = Bearable(0.5, 0.5, "accuracy is lost")


def _at_most(value: float) -> str:
    """Return six digits of a limit which are within it, as far as limits are exact."""
    nearest = f"{value:.6g}"
    if float(nearest) <= value * (1 + ROUNDING / 2):
        return nearest
    return f"{float(Context(prec=6, rounding=ROUND_FLOOR).create_decimal(value)):.6g}"


class Strain(NamedTuple):
    """Strain of the sweeps of a step, per unit of its duration.

    Attributes
    ----------
    rate, axis
        Of the most strained sweep, and its axis; None where a step moves along all axes at once.
    joint : float
        Of the sweep that joins two such steps; infinite where steps cannot be joined, 0 where they
        have as long a sweep anyway.
    instant : float
        When the velocity strains so much.
    cells : float
        That particles cross in unit time along one axis, at most.
    limit : float
        Strain beyond which a step is refused: none where particles carry values.
    leak : Leak or None
        What goes through walls, if it is too much.
    """

    rate: float
    axis: int | None
    joint: float
    instant: float
    cells: float
    limit: float = REFUSED
    leak: Leak | None = None

    def is_too_large(self, dt: float) -> bool:
        """Whether a step of `dt` is refused."""
        return self.rate * dt > self.limit * (1 + ROUNDING)

    def bears_joints(self, dt: float, most: float) -> bool:
        """Whether steps of `dt` are joined by sweeps that are strained so much at most."""
        return self.joint * dt <= most

    def refuse(
        self, dt: float, place_of: Callable[[Strain], str], given: Given | None = None
    ) -> None:
        """Refuse a step of `dt` that is too large.

        What was `given` is what is spoken of: a step may be shorter, to end at some time.
        """
        if self.is_too_large(dt):
            name, value, per_unit = given or Given("dt", dt)
            most = self.limit / self.rate * per_unit
            raise ValueError(
                f"{name} must be at most {_at_most(most)}, not {value:g}: {self._said(dt)}, above "
                f"{self.limit} particles lose their order; {place_of(self)}"
            )

    def warn(self, dt: float, bearable: Bearable) -> bool:
        """Warn of a step of `dt` that strains more than is good; return whether it does."""
        if self.rate * dt <= bearable.strain * (1 + ROUNDING):
            return False
        limit = (
            f"; {_at_most(self.limit / self.rate)} is the limit" if self.limit < math.inf else ""
        )
        warnings.warn(
            f"dt = {dt:g} is large: {self._said(dt)}, above {bearable.strain:g} {bearable.loss}; "
            f"take dt={_at_most(bearable.advised / self.rate)} or run(lcfl={bearable.advised:g}){limit}",
            LCFLWarning,
            stacklevel=frames_of_package(),
        )
        return True

    def _said(self, dt: float) -> str:
        moved = "a step" if self.axis is None else f"a sweep along axis {self.axis}"
        return f"the strain of {moved} is {self.rate * dt:.3g}"


def strain_of_push(
    flow: Flow,
    core: _core.AdvectionOp,
    axis: int,
    begin: float,
    duration: float,
    *,
    is_back: bool,
    limit: float = REFUSED,
) -> Strain:
    """Return the strain of a single push, refusing what it cannot bear."""
    if is_back:
        begin, duration = begin + duration, -duration
    strain, instant, cells, leak, wrong = core.judge(axis, begin, duration)
    if wrong is not None:
        refuse_wrong(flow, wrong)
    return Strain(strain, axis, math.inf, instant, cells, limit, leak and Leak(*leak))


def refuse_wrong(flow: Flow, wrong: _core.Wrong) -> None:
    """Refuse what the core has found that no push can bear."""
    axis, speed, strain, instant, duration = wrong
    if axis is not None:
        check_speed(flow, axis, speed, instant, duration)
    check_differences(flow, axis, strain, instant)


def warn_of_disorder(flow: Flow, strain: Strain, duration: float) -> None:
    """Warn of a push that moves particles past each other: alone it is not refused."""
    if strain.is_too_large(abs(duration)):
        warnings.warn(
            f"the strain of a push along axis {strain.axis} is {strain.rate * abs(duration):.3g}, "
            f"above {REFUSED} particles lose their order; "
            f"{steepest_place(flow, strain.axis, strain.instant)}",
            LCFLWarning,
            stacklevel=frames_of_package(),
        )


def warn_of_leak(flow: Flow | None, leak: Leak | None) -> bool:
    """Warn of a velocity that goes through a wall; return whether it does."""
    if leak is None or flow is None:
        return False
    spots = [
        next_to_walls(values, grid, leak.axis)
        for values, grid in samples(flow, leak.axis, leak.instant)
    ]
    spot = max(spots, key=lambda spot: abs(spot.value))
    warnings.warn(
        f"the velocity goes through a wall: its component {leak.axis} is {spot}"
        f"{_whose(flow)}, and must vanish "
        f"on the wall; what is carried piles up at such walls, or runs out",
        WallWarning,
        stacklevel=frames_of_package(),
    )
    return True


def warn_of_undershoot(change: Change, remesh: RemeshOp) -> bool:
    """Warn of masses that have taken the sign they did not have, as no flow makes them do.

    Returns whether they have.
    """
    now = change.undershoot(UNDERSHOOT)
    if now is None:
        return False
    sign = "negative" if now < 0 else "positive"
    ways = ['limiter="positive"'] if now < 0 else []
    _warn_of_errors(
        f"{change.name} was {_span(change.start)} and now reaches {now:.3g}, though no flow makes "
        f"masses {sign}",
        ways,
        remesh,
    )
    return True


def shears(cells: float, grid: Grid) -> bool:
    """Whether particles that cross so many cells in a step can come too far apart."""
    shape = [n for n in grid.shape if n > 1]
    return len(shape) > 1 and 2 * cells > APART * min(shape)


def warn_of_shear(
    flow: Flow, begin: float, end: float, step: float, cells: float, *, is_given: bool
) -> None:
    """Warn of steps that take points of the box too far apart along one axis to follow the others.

    No sweep is strained where each component changes along the other axes alone, as in a rotation.
    Nowhere do steps cross more than so many cells.
    """
    try:
        found = [_shear(flow, time, step, cells) for time in _looks(flow, begin, end)]
    except (OutOfMemoryError, MemoryError):
        return
    most, worst = max(found, key=itemgetter(0))
    if most > APART:
        dt = f"{step * FOLLOWED / most:.1g}"
        which = f"; take dt of about {dt}"
        if not is_given:
            which = f", of which lcfl knows nothing; give dt as well, about {dt}"
        warnings.warn(
            f"steps of {step:.3g} take points of the box {most:.2g} times its extent apart along "
            f"axis {worst}: that is shear{which}",
            LCFLWarning,
            stacklevel=frames_of_package(),
        )


def _looks(flow: Flow, begin: float, end: float) -> list[float]:
    """Return times at which to look at a velocity, no period apart; one, if it is steady."""
    if is_a(flow.velocity, Field) or not flow.velocity.depends_on_time:
        return [begin]
    return [begin + (end - begin) * ((0.5 + k * _GOLDEN) % 1) for k in range(_LOOKS)]


def _shear(flow: Flow, time: float, step: float, cells: float) -> tuple[float, int]:
    """Return how far a step takes points apart along the axis on which that is most, in boxes."""
    grid = flow.grid
    axes = [axis for axis, n in enumerate(grid.shape) if n > 1]
    shares = {axis: step / grid.extent[axis] for axis in axes}
    spreads, sizes = {}, {}
    for axis in axes:
        across = [other for other in axes if other != axis]
        looks = [_spread_across(component, across) for component in flow._components(axis, time)]
        weights = flow._weights_at(time)
        spreads[axis], sizes[axis] = (
            sum(weight * look[k] for weight, look in zip(weights, looks, strict=True))
            for k in range(2)
        )
    found = (0.0, 0)
    for axis in axes:
        way = max(sizes[other] * shares[other] for other in axes if other != axis)
        apart = min(spreads[axis] * shares[axis], 2 * cells / grid.shape[axis])
        if way > ACROSS:
            found = max(found, (apart, axis), key=itemgetter(0))
    return found


def _spread_across(component: Field, axes: Sequence[int]) -> tuple[float, float]:
    """Return the greatest difference between points apart along some axes alone, and the magnitude."""
    high, low = (
        np.asarray(reduce(axis=axes[0], keepdims=True)) for reduce in (component.max, component.min)
    )
    rest = tuple(axes[1:])
    spread = high.max(axis=rest, keepdims=True) - low.min(axis=rest, keepdims=True)
    return float(spread.max()), float(max(high.max(), -low.min()))


def warn_of_growth(changes: list[Change], remesh: RemeshOp, flow: Flow, duration: float) -> None:
    """Warn of masses that have grown far more in a run than where a steady flow gathers them."""
    grown = [change for change in changes if change.growth() > GROWTH]
    gathered = _most_gathered(flow, duration) if grown else 1.0
    for change in grown:
        if change.growth() > GROWTH * gathered:
            _warn_of_errors(
                f"{change.name} was {_span(change.begin)} and is now {_span(change.now)}, though the "
                f"flow gathers masses to no more than {gathered:.3g} times as much",
                [],
                remesh,
            )


def _span(values: Extremes | None) -> str:
    low, high = values or (math.nan, math.nan)
    return f"{low:.3g}" if low == high else f"from {low:.3g} to {high:.3g}"


def _warn_of_errors(what: str, ways: list[str], remesh: RemeshOp) -> None:
    if remesh.kernel.name != _SMOOTHING:
        ways = [f'kernel="{_SMOOTHING}"', *ways]
    warnings.warn(
        f"{what}: errors of masses grow where a flow stands still and strains; take "
        f"{', '.join([*ways, 'smaller steps'])} or, in a flow without divergence, conservative=False",
        LCFLWarning,
        stacklevel=frames_of_package(),
    )


def _most_gathered(flow: Flow, duration: float) -> float:
    """Return how many times as much a steady flow makes of a mass for each volume, at most.

    That follows from its divergence. What goes through a wall comes to rest there.
    """
    divergence = np.zeros(())
    try:
        components = [samples(flow, axis, 0.0)[0] for axis in range(flow.grid.ndim)]
    except OutOfMemoryError:
        return math.inf
    with np.errstate(all="ignore"):
        for axis, (values, grid) in enumerate(components):
            low, high = (_beyond(values, axis, grid, end) for end in (0, -1))
            along = np.moveaxis(np.concatenate([low, values, high], axis), axis, 0)
            slope = (along[2:] - along[:-2]) / (2 * grid.spacing[axis])
            divergence = divergence + np.moveaxis(slope, 0, axis)
        found = float(np.exp(-np.min(divergence) * duration))
    return math.inf if math.isnan(found) else max(1.0, found)


def _beyond(values: npt.NDArray[Any], axis: int, grid: Grid, end: int) -> npt.NDArray[Any]:
    """Return the next plane beyond the first point of an axis, 0, or the last one, -1."""
    ends = grid.boundary[axis]
    if ends == "periodic":
        return values.take([-1 - end], axis)
    own = values.take([end], axis)
    return -own if (ends if is_a(ends, str) else ends[end]) == "wall" else own


def check_speed(flow: Flow, axis: int, speed: float, time: float, duration: float) -> None:
    """Refuse what is not finite, and moves, or stages of them, that no integer cell can hold."""
    spacing, dtype = flow.grid.spacing[axis], flow.used[1]
    if not abs(duration) <= (most := float(np.finfo(dtype).max) * spacing):
        raise ValueError(
            f"dt must be at most {most:.3g}, not {duration:g}, because moves in cells of {spacing:g} "
            f"along axis {axis} must be within the range of {dtype}"
        )
    if not math.isfinite(speed):
        raise _not_finite(flow, axis, time)
    cells = speed * abs(duration) / spacing
    most = SCHEMES[flow.scheme].bits_of_moves
    if not cells < 2**most:
        raise ValueError(
            f"dt must move particles by less than 2**{most} cells, not {cells:.3g} "
            f"along axis {axis}, where the velocity is {_fastest(flow, axis, time)}"
        )
    points = flow.grid.whole.shape[axis]
    if flow.grid.boundary[axis] != "periodic" and cells > _core.MOST_LENGTHS * points:
        raise ValueError(
            f"dt must move particles by at most {_core.MOST_LENGTHS} times the length of lines with "
            f"ends, {points} cells, not by {cells:.3g} along axis {axis}, where the velocity is "
            f"{_fastest(flow, axis, time)}"
        )


def check_finite(flow: Flow, time: float) -> None:
    """Refuse a velocity that is not finite at the points where it is known."""
    for axis in range(flow.grid.ndim):
        if any(first_not_finite(*sample) is not None for sample in samples(flow, axis, time)):
            raise _not_finite(flow, axis, time)


def check_differences(flow: Flow, axis: int | None, strain: float, time: float) -> None:
    """Refuse difference quotients that are not finite, though the velocity is."""
    if not math.isfinite(strain):
        raise ValueError(
            f"the velocity must have finite differences, but {steepest_place(flow, axis, time)}"
        )


def _not_finite(flow: Flow, axis: int, time: float) -> NotFiniteError:
    """Return an error that says where a component of a velocity is NaN or infinite."""
    words = f"velocity must be finite, but its component {axis} is not"
    is_timed = not is_a(flow.velocity, Field) and flow.velocity.depends_on_time
    when = f", at time {time:g}" if is_timed else ""
    for values, grid in samples(flow, axis, time):
        spot = first_not_finite(values, grid)
        if spot is not None:
            error = NotFiniteError(f"{words}: it is {spot}{when}")
            error.index, error.place, error.value = spot.index, spot.place, spot.value
            break
    else:
        where = "between or beyond the points of its grid"
        if flow.grid.is_divided:
            where = "at points of another rank, or between or beyond points"
        error = NotFiniteError(f"{words} {where}{when}")
        error.index, error.place, error.value = (), (), np.nan
    error.field, error.component, error.step, error.time = "velocity", axis, 0, time
    return error


def _fastest(flow: Flow, axis: int, time: float) -> str:
    """Say where a component of a velocity is greatest."""
    spots = [largest(values, grid) for values, grid in samples(flow, axis, time)]
    return str(max(spots, key=lambda spot: abs(spot.value))) + _whose(flow)


def _whose(flow: Flow) -> str:
    """Return which rank's points a place is looked for among, where there are several."""
    ranks = flow.grid.ranks
    return "" if ranks is None else f" among the points of rank {ranks.rank}"


def steepest_place(flow: Flow, axis: int | None, time: float) -> str:
    """Say where a velocity strains most: along an axis, or one component along all of them."""
    ndim = flow.grid.ndim
    axes = range(ndim) if axis is None else (axis,)
    component, spot = max(
        (
            (component, steepest(values, grid, tuple(axes)))
            for component in axes
            for values, grid in samples(flow, component, time)
        ),
        key=lambda found: found[1].value,
    )
    return f"component {component} of the velocity has the difference quotient {spot}{_whose(flow)}"


def samples(flow: Flow, axis: int, time: float) -> list[Sample]:
    """Return what a component is at the points of its grid: at a time, or at both around it."""
    return [(component.get(), component.grid) for component in flow._components(axis, time)]
