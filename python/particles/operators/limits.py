# SPDX-License-Identifier: BSD-3-Clause
"""What pushes must be like: judged here alone, refused or warned of, and said where and why."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from decimal import ROUND_FLOOR, Context
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.base.errors import NotFiniteError
from particles.base.frames import frames_of_package
from particles.base.kinds import is_a
from particles.fields.field import Field
from particles.fields.spots import first_not_finite, largest, next_to_walls, steepest
from particles.operators.looks import Extremes, Looks, extremes_at, looks_of, measure
from particles.operators.schemes import SCHEMES, Reals
from particles.operators.velocity_series import VelocitySeries

if TYPE_CHECKING:
    from particles.fields.grid import Grid
    from particles.operators.flow import Flow

Sample = tuple["npt.NDArray[Any]", "Grid"]

REFUSED = 0.9
ROUNDING = 1e-6  # of what is measured in single precision
JOINED = 0.25  # up to this strain of a joint, joining costs no accuracy

# Bits of the cells that a stage may look at: they are counted in 32.
_BITS_OF_CELLS = 30

# Every length of a line that particles come from beyond its ends costs as much as the line.
_MOST_LENGTHS = 1000

# What share of what the flow carries across the box may come to lie at a wall meanwhile.
BORNE = 1 / 50


class LCFLWarning(UserWarning):
    """A step strains the particles so much that the method loses accuracy.

    It names the limit of the strain, the kind of error, and the step to take instead. Masses allow
    less strain than values, and than fields with two initial values, such as colours: of these
    usually one level is used, and they over- and undershoot beside their jumps with any step.

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
        Of the sweep that joins two steps; infinite where steps cannot be joined, 0 where they have
        as long a sweep anyway.
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
        """Whether steps of `dt` can be joined at no cost in accuracy, and at most so strained."""
        return self.joint * dt <= min(most, JOINED)

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


class Judgement:
    """What pushes do to particles in unit time.

    Attributes
    ----------
    strain, cells : array
        The strain of each push, by its looks with their weights, and the cells that particles
        cross at most; by step and push.
    leaks : array
        What goes through walls, if it is too much, as a share of what the flow carries across the
        box; by step and push.
    """

    def __init__(
        self, flow: Flow, core: _core.AdvectionOp, looks: Looks, extremes: Extremes
    ) -> None:
        self._flow = flow
        self._looks = looks
        self._extremes = extremes
        axes = looks.axes_of_all
        self._are_right = ~extremes.is_known | are_borne(
            flow, axes, extremes.speed, extremes.strain, looks.durations
        )
        spacing = np.array(flow.grid.spacing)[axes]
        self._weighted = looks.weights * extremes.strain
        self.strain = np.add.reduce(self._weighted, axis=-1)
        self.cells = np.maximum.reduce(extremes.speed / spacing, axis=-1)
        self._shares = self._leaking(core)
        self.leaks = np.maximum.reduce(self._shares, axis=-1)

    def steps_borne(self, pushes: Iterable[int]) -> int:
        """Return how many steps come before the first with a push that cannot be borne."""
        are_wrong = ~np.logical_and.reduce(self._are_right[:, list(pushes)], axis=(1, 2))
        return int(are_wrong.argmax()) if are_wrong.any() else len(are_wrong)

    def check(self, pushes: Iterable[int]) -> None:
        """Refuse what cannot be borne in the first step."""
        for push in pushes:
            for look in (~self._are_right[0, push]).nonzero()[0]:
                axis, instant = (
                    int(self._looks.axes[push]),
                    float(self._looks.instants[0, push, look]),
                )
                speed, strain, _, _ = (float(found[0, push, look]) for found in self._extremes)
                check_speed(
                    self._flow, axis, speed, instant, float(self._looks.durations[0, push, look])
                )
                check_differences(self._flow, axis, strain, instant)

    def instant_of(self, step: int, push: int) -> float:
        """Return when a push strains most."""
        known = self._extremes.is_known[step, push].nonzero()[0]
        strains, instants = (
            self._weighted[step, push, known],
            self._looks.instants[step, push, known],
        )
        return float(max(zip(strains, instants, strict=True))[1])

    def leak(self, step: int, pushes: Iterable[int]) -> Leak | None:
        """Return what goes through walls in a step, if it is too much."""
        found = [
            Leak(float(share), int(self._looks.axes[push]), float(instant))
            for push in pushes
            for share, instant in zip(
                self._shares[step, push], self._looks.instants[step, push], strict=True
            )
            if share > 0
        ]
        return max(found, default=None)

    def _leaking(self, core: _core.AdvectionOp) -> Reals:
        """Return what goes through walls if it is more than is borne, and 0 elsewhere.

        While the fastest particles cross the box along some axis, the part of it that comes to a
        wall is the speed there times this time, by the length of the box across the wall. So it
        depends on neither steps nor spacing.
        """
        looks, extremes = self._looks, self._extremes
        shares = np.zeros(looks.instants.shape)
        where = extremes.is_known & self._are_right & (extremes.on_wall > BORNE * extremes.speed)
        if not where.any():
            return shares
        instants, durations = looks.instants[where], looks.durations[where]
        extent = np.array(self._flow.grid.extent)
        crossings = np.zeros(len(instants))
        for axis, length in enumerate(extent):
            axes = np.full(len(instants), axis)
            speeds = extremes_at(self._flow, core, axes, instants, durations)[:, 0]
            crossings = np.maximum(crossings, speeds / length)
        with np.errstate(divide="ignore"):
            found = extremes.on_wall[where] / extent[looks.axes_of_all[where]] / crossings
        shares[where] = np.where(found > BORNE, found, 0.0)
        return shares


def judged(flow: Flow, core: _core.AdvectionOp, looks: Looks) -> Judgement:
    """Return what pushes do, by what the velocity is where they look."""
    with np.errstate(invalid="ignore", over="ignore"):
        return Judgement(flow, core, looks, measure(flow, core, looks))


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
    looks = looks_of(
        flow, np.array([axis]), np.array([[begin]]), np.array([[duration]]), is_back=is_back
    )
    judgement = judged(flow, core, looks)
    judgement.check((0,))
    return Strain(
        float(judgement.strain[0, 0]),
        axis,
        math.inf,
        judgement.instant_of(0, 0),
        float(judgement.cells[0, 0]),
        limit,
        judgement.leak(0, (0,)),
    )


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


def are_borne(
    flow: Flow, axes: npt.NDArray[np.int64], speed: Reals, strain: Reals, durations: Reals
) -> npt.NDArray[np.bool_]:
    """Whether `check_speed` and `check_differences` let moves along axes pass.

    For who lets NumPy be silent about numbers that are not finite.
    """
    grid = flow.grid
    spacing, points = np.array(grid.spacing)[axes], np.array(grid.whole_shape)[axes]
    is_periodic = np.array([boundary == "periodic" for boundary in grid.boundary])[axes]
    duration = np.abs(durations)
    cells = speed * duration / spacing
    is_short = duration <= float(np.finfo(flow.used[1]).max) * spacing
    borne: npt.NDArray[np.bool_] = (
        is_short
        & np.isfinite(speed)
        & np.isfinite(strain)
        & (cells < 2.0 ** _bits_of_moves(flow))
        & (is_periodic | (cells <= _MOST_LENGTHS * points))
    )
    return borne


def _bits_of_moves(flow: Flow) -> int:
    return _BITS_OF_CELLS - (SCHEMES[flow.scheme].reach - 1).bit_length()


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
    most = _bits_of_moves(flow)
    if not cells < 2**most:
        raise ValueError(
            f"dt must move particles by less than 2**{most} cells, not {cells:.3g} "
            f"along axis {axis}, where the velocity is {_fastest(flow, axis, time)}"
        )
    points = flow.grid.whole_shape[axis]
    if flow.grid.boundary[axis] != "periodic" and cells > _MOST_LENGTHS * points:
        raise ValueError(
            f"dt must move particles by at most {_MOST_LENGTHS} times the length of lines with "
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
    velocity = flow.velocity
    if is_a(velocity, VelocitySeries):
        level = flow.core_for(flow.device, flow.dtype).level_at(time)
        fields = velocity.fields[level : level + 2]
    else:
        fields = flow.fields
    if fields:
        return [(field.component(axis).get(), field.grid) for field in fields]
    return [(flow.on_points(axis, time), flow.grid)]
