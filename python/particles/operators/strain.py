# SPDX-License-Identifier: BSD-3-Clause
"""How much the sweeps of a step strain the particles: measured, warned of, refused."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from decimal import ROUND_FLOOR, Context
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from particles import _core
from particles.base.frames import frames_of_package
from particles.fields.field import Field
from particles.operators.push_limits import Move, check_move, push_of
from particles.operators.velocity_limits import steepest_place
from particles.operators.walls import Leak

if TYPE_CHECKING:
    from particles.operators.flow import Flow

_Measure = Callable[[int, float, float], Move]  # of an axis, a beginning and a duration

REFUSED = 0.9
_ROUNDING = 1e-6  # of what is measured in single precision
JOINED = 0.25  # up to this strain of a joint, joining costs no accuracy


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
    if float(nearest) <= value * (1 + _ROUNDING / 2):
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
    moment : float
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
    moment: float
    cells: float
    limit: float = REFUSED
    leak: Leak | None = None

    @classmethod
    def of(cls, move: Move, axis: int, limit: float = REFUSED) -> Strain:
        """Return the strain of a single sweep."""
        return cls(move.strain, axis, math.inf, move.moment, move.cells, limit, move.leak)

    def is_too_large(self, dt: float) -> bool:
        """Whether a step of `dt` is refused."""
        return self.rate * dt > self.limit * (1 + _ROUNDING)

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
        if self.rate * dt <= bearable.strain * (1 + _ROUNDING):
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


def warn_of_disorder(flow: Flow, strain: Strain, duration: float) -> None:
    """Warn of a push that moves particles past each other: alone it is not refused."""
    if strain.is_too_large(abs(duration)):
        warnings.warn(
            f"the strain of a push along axis {strain.axis} is {strain.rate * abs(duration):.3g}, "
            f"above {REFUSED} particles lose their order; "
            f"{steepest_place(flow, strain.axis, strain.moment)}",
            LCFLWarning,
            stacklevel=frames_of_package(),
        )


class StrainGauge:
    """Measures how a velocity strains sweeps, and has the schedules of the steps follow it.

    Attributes
    ----------
    is_timed : bool
        Whether the time occurs in the velocity.
    """

    def __init__(
        self,
        flow: Flow,
        core: _core.AdvectionOp,
        splitting: _core.Splitting,
        conservative: bool,
    ) -> None:
        velocity = flow.velocity
        self.is_timed = not isinstance(velocity, Field) and velocity.depends_on_time
        self._flow = flow
        self._core = core
        self._splitting = splitting
        self._follows_back = not conservative
        self._limit = REFUSED if conservative else math.inf
        self._chosen_for: int | None = None  # version of the velocity
        self._known: tuple[tuple[int, float, float], Strain] | None = None

    def update_schedules(self, time: float) -> None:
        """Have them follow the velocity; they stay those of the last step if the time occurs."""
        if self._chosen_for is None or not self.is_timed:
            self._choose_schedules(self._measurement(0.0), time, 0.0)

    def of_step(self, time: float, dt: float) -> Strain:
        """Return the strain of a step, refusing what its sweeps cannot bear."""
        key = self._version(), time if self.is_timed else 0.0, dt
        if self._known and self._known[0] == key and not self._is_shared():
            return self._known[1]
        self._tell_bounds(time, time + dt)
        measure = self._measurement(dt)
        self._choose_schedules(measure, time, dt)
        strains, leaks, cells = [], [], 0.0
        for stage in self._splitting.schedule:
            if isinstance(stage.axis, int):
                move = measure(stage.axis, time + stage.begin * dt, stage.length * dt)
                strains.append((move.strain * abs(stage.length), stage.axis, move.moment))
                leaks += [move.leak] if move.leak else []
                cells = max(cells, move.cells)
        most, axis, moment = max(strains)
        joint = self._of_joint(measure, time)
        leak = max(leaks, default=None)
        strain = Strain(most, axis, joint, moment, cells, self._limit, leak)
        self._known = key, strain
        return strain

    def _of_joint(self, measure: _Measure, time: float) -> float:
        stages = self._splitting.joined_schedule
        axis, length = stages[0].axis, 2 * stages[0].length
        if self.is_timed or len(stages) == 1 or stages[-1].axis != axis:
            return math.inf
        if any(s.axis == axis and s.length >= length for s in stages):
            return 0.0
        return measure(axis, time, 0.0).strain * length if isinstance(axis, int) else math.inf

    def of_sweep(self, axis: int, time: float, dt: float) -> Strain:
        """Return the strain of one sweep over the whole of `dt`."""
        self._tell_bounds(time, time + dt)
        return Strain.of(self._measurement(dt)(axis, time, dt), axis, self._limit)

    def _tell_bounds(self, begin: float, end: float) -> None:
        """Let sweeps between two times know how far they move particles without measuring it."""
        if self._flow.amplitudes is not None:
            self._flow.amplitudes.tell_bounds(self._core, begin, end)

    def place_of(self, strain: Strain) -> str:
        """Say where a velocity strains that much."""
        return steepest_place(self._flow, strain.axis, strain.moment)

    def _version(self) -> int:
        return self._flow.version

    def _is_shared(self) -> bool:
        """Whether the velocity may change without telling."""
        return any(field.core.is_shared for field in self._flow.fields)

    def _choose_schedules(self, measure: _Measure, time: float, dt: float) -> None:
        version = self._version()
        if version == self._chosen_for and not self.is_timed and not self._is_shared():
            return
        axes = range(self._flow.grid.ndim)
        self._splitting.choose_schedules([measure(axis, time, dt).strain for axis in axes])
        self._chosen_for = version

    def _measurement(self, dt: float) -> _Measure:
        """Return what measures each sweep once, where the velocity is steady each axis."""

        @cache
        def measure(axis: int, begin: float, duration: float) -> Move:
            push = push_of(begin, duration, self._follows_back)
            return check_move(self._flow, self._core, axis, *push)

        return measure if self.is_timed else lambda axis, *_: measure(axis, 0.0, dt)


class Stillness:
    """The gauge of steps in which nothing moves.

    Attributes
    ----------
    is_timed : bool
        Whether the time occurs in the velocity.
    """

    is_timed = False

    def update_schedules(self, time: float) -> None:
        """Leave them as they are."""

    def of_step(self, time: float, dt: float) -> Strain:
        """Return none, so that all steps are joined."""
        return Strain(0.0, None, 0.0, time, 0.0, math.inf)

    def place_of(self, strain: Strain) -> str:
        """Say that there is no such place."""
        return "nothing moves"
