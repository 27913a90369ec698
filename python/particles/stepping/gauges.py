# SPDX-License-Identifier: BSD-3-Clause
"""How much steps strain the particles: looked at, measured and judged, many steps at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.base.errors import DeviceError
from particles.base.kinds import is_a
from particles.fields.field import Field
from particles.operators.flow import Flow
from particles.operators.limits import (
    REFUSED,
    ROUNDING,
    Judgement,
    Strain,
    are_borne,
    check_differences,
    check_finite,
    check_speed,
    judged,
    steepest_place,
    strain_of_push,
)
from particles.operators.looks import looks_of
from particles.operators.maxima import maxima
from particles.operators.schemes import Reals
from particles.operators.velocity_series import VelocitySeries

_AHEAD = 64  # steps for which it is known at once how fast a velocity can be


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

    def of_steps(
        self, times: Sequence[float], dt: float, borne: float = 0.0, *, walls: bool = True
    ) -> tuple[Strain, int]:
        """Return no strain, so that all steps are joined."""
        return Strain(0.0, None, 0.0, times[0], 0.0, math.inf), len(times)

    def place_of(self, strain: Strain) -> str:
        """Say that there is no such place."""
        return "nothing moves"


class Gauge:
    """Knows how much a velocity strains steps.

    Attributes
    ----------
    is_timed : bool
        Whether the time occurs in the velocity.
    """

    def __init__(self, flow: Flow) -> None:
        velocity = flow.velocity
        self.is_timed = not is_a(velocity, Field) and velocity.depends_on_time
        self._flow = flow
        self._known: tuple[tuple[int, float, float], Strain] | None = None
        self._agreed: int | None = None  # version of the velocity that all ranks know of

    def of_steps(
        self, times: Sequence[float], dt: float, borne: float = 0.0, *, walls: bool = True
    ) -> tuple[Strain, int]:
        """Return the greatest strain of steps of `dt` at times, and of how many of them that is.

        Those are one where its strain is more than what is `borne`, or something goes through
        `walls`; else there is no such step among them. Refuses what the first cannot bear.
        """
        ranks = self._flow.grid.ranks
        if ranks is not None:
            self._agree(f"{len(times)} steps of {dt!r} from {times[0]!r} on")
        key = self._flow.version, times[0] if self.is_timed else 0.0, dt
        if self._known and self._known[0] == key and not self._is_shared():
            return self._known[1], 1
        begins = times if self.is_timed else (0.0,)
        if ranks is None:
            strain, steps = self._measured(begins, dt, borne, walls)
        else:
            with ranks.bound(DeviceError, MemoryError):
                strain, steps = self._measured(begins, dt, borne, walls)
        if steps == 1:
            self._known = key, strain
        return strain, steps

    def place_of(self, strain: Strain) -> str:
        """Say where a velocity strains that much."""
        return steepest_place(self._flow, strain.axis, strain.instant)

    def _measured(
        self, times: Sequence[float], dt: float, borne: float, walls: bool
    ) -> tuple[Strain, int]:
        raise NotImplementedError

    def _agree(self, what: str) -> None:
        """Have all ranks of a divided grid measure anew what has changed on one of them."""
        if self._flow._has_changed(self._agreed, what):
            self._known = None
            self._forget()
        self._agreed = self._flow.version

    def _forget(self) -> None:
        raise NotImplementedError

    def _is_shared(self) -> bool:
        """Whether the velocity may change without telling."""
        return any(field.core.is_shared for field in self._flow.fields)


class _Sweeps(NamedTuple):
    """Those of a step, in units of it."""

    axes: npt.NDArray[np.int64]
    begins: Reals
    lengths: Reals


def _sweeps_of(splitting: _core.Splitting) -> _Sweeps:
    stages = [s for s in splitting.schedule if isinstance(s.axis, int)]
    return _Sweeps(
        np.array([stage.axis for stage in stages]),
        np.array([stage.begin for stage in stages]),
        np.array([stage.length for stage in stages]),
    )


class SplittingGauge(Gauge):
    """Measures how a velocity strains sweeps, and has the schedules of the steps follow it."""

    def __init__(
        self,
        flow: Flow,
        core: _core.AdvectionOp,
        splitting: _core.Splitting,
        conservative: bool,
    ) -> None:
        super().__init__(flow)
        self._core = core
        self._splitting = splitting
        self._follows_back = not conservative
        self._limit = REFUSED if conservative else math.inf
        self._axes = np.arange(flow.grid.ndim)
        self._sweeps = _sweeps_of(splitting)
        self._chosen_for: int | None = None  # version of the velocity

    def update_schedules(self, time: float) -> None:
        """Have them follow the velocity; they stay those of the last step if the time occurs."""
        self._agree(f"the schedule at {time!r}")
        if self._chosen_for is None or not self.is_timed:
            self._chosen(self._judged(np.array([time if self.is_timed else 0.0]), 0.0, None))

    def of_sweep(self, axis: int, time: float, dt: float) -> Strain:
        """Return the strain of one sweep over the whole of `dt`."""
        self._agree(f"a sweep along axis {axis} of {dt!r} from {time!r} on")
        self._tell_bounds(time, time + dt)
        begin = time if self.is_timed else 0.0
        return strain_of_push(
            self._flow,
            self._core,
            axis,
            begin,
            dt,
            is_back=self._follows_back,
            limit=self._limit,
        )

    def _forget(self) -> None:
        self._chosen_for = None
        self._core.forget()
        self._splitting.forget()

    def _measured(
        self, times: Sequence[float], dt: float, borne: float, walls: bool
    ) -> tuple[Strain, int]:
        self._tell_bounds(times[0], times[-1] + dt, times[0] + _AHEAD * dt)
        begins, is_new = np.array(times), True
        while is_new:  # a velocity in time is looked at where its sweeps are
            sweeps = self._sweeps if self.is_timed else None
            judgement = self._judged(begins, dt, sweeps)
            is_new, alike = self._chosen(judgement)
            is_new = is_new and self.is_timed
        sweeps = self._sweeps
        pushes = len(self._axes) + np.arange(len(sweeps.axes)) if self.is_timed else sweeps.axes
        alike = min(alike, judgement.steps_borne(pushes))
        if alike == 0:
            judgement.check(pushes)
        rates = judgement.strain[:alike, pushes] * np.abs(sweeps.lengths)
        most = np.maximum.reduce(rates, axis=1)
        leaks = np.maximum.reduce(judgement.leaks[:alike, pushes], axis=1)
        alike = _leading((most * dt > borne * (1 + ROUNDING)) | (walls & (leaks > 0)))
        step = int(most[:alike].argmax())
        _, axis, instant = max(
            (rates[step, k], int(sweeps.axes[k]), judgement.instant_of(step, int(pushes[k])))
            for k in (rates[step] == most[step]).nonzero()[0]
        )
        strain = Strain(
            float(most[step]),
            axis,
            self._joint(judgement),
            instant,
            float(judgement.cells[:alike, pushes].max()),
            self._limit,
            judgement.leak(0, pushes) if leaks[0] > 0 else None,
        )
        return strain, alike

    def _judged(self, times: Reals, dt: float, sweeps: _Sweeps | None) -> Judgement:
        """Judge pushes over whole steps along each axis, and sweeps."""
        axes = len(self._axes)
        pushes = axes + (0 if sweeps is None else len(sweeps.axes))
        of_all, shape = np.empty(pushes, np.int64), (len(times), pushes)
        begins, durations = np.empty(shape), np.empty(shape)
        of_all[:axes], begins[:, :axes], durations[:, :axes] = self._axes, times[:, None], dt
        if sweeps is not None:
            of_all[axes:] = sweeps.axes
            begins[:, axes:] = times[:, None] + sweeps.begins * dt
            durations[:, axes:] = sweeps.lengths * dt
        looks = looks_of(self._flow, of_all, begins, durations, is_back=self._follows_back)
        return judged(self._flow, self._core, looks)

    def _chosen(self, judgement: Judgement) -> tuple[bool, int]:
        """Have the schedules follow the first step; return whether they do so only now.

        And how many steps have the same.
        """
        judgement.check(self._axes)
        count = judgement.steps_borne(self._axes)
        strains = judgement.strain[:count, : len(self._axes)].tolist()
        is_new, alike = self._splitting.choose_schedules(strains)
        if is_new:
            self._sweeps = _sweeps_of(self._splitting)
        self._chosen_for = self._flow.version
        return is_new, alike

    def _joint(self, judgement: Judgement) -> float:
        stages = self._splitting.joined_schedule
        axis, length = stages[0].axis, 2 * stages[0].length
        if self.is_timed or len(stages) == 1 or stages[-1].axis != axis:
            return math.inf
        if any(s.axis == axis and s.length >= length for s in stages):
            return 0.0
        return float(judgement.strain[0, axis]) * length if isinstance(axis, int) else math.inf

    def _tell_bounds(self, begin: float, end: float, ahead: float | None = None) -> None:
        """Let sweeps between two times know how far they move particles without measuring it."""
        if self._flow.amplitudes is not None:
            self._flow.amplitudes.tell_bounds(self._core, begin, end, ahead)


class UnsplitGauge(Gauge):
    """Measures how much a velocity strains particles that move along all axes at once."""

    def __init__(self, flow: Flow, core: _core.Unsplit) -> None:
        super().__init__(flow)
        self._core = core

    def _measured(
        self, times: Sequence[float], dt: float, borne: float, walls: bool
    ) -> tuple[Strain, int]:
        """Add up the looks of a scheme; of a series the greatest one counts."""
        instants, weights = _looks_along_all(self._flow, times, dt)
        found = maxima(self._core, instants.ravel())
        speeds = found[:, :-1].reshape(*instants.shape, -1)
        strains = found[:, -1].reshape(instants.shape)
        axes = np.broadcast_to(np.arange(speeds.shape[-1]), speeds.shape)
        with np.errstate(invalid="ignore", over="ignore"):
            are_right = are_borne(
                self._flow, axes, speeds, strains[..., None], np.full(axes.shape, dt)
            )
        alike = _leading(~np.logical_and.reduce(are_right, axis=(1, 2)))
        if not are_right[0].all():
            self._refuse(instants[0], speeds[0], strains[0], dt)
        weighted = strains[:alike] if weights is None else weights * strains[:alike]
        rates = np.max(weighted, axis=1) if weights is None else np.add.reduce(weighted, axis=1)
        alike = _leading(rates * dt > borne * (1 + ROUNDING))
        step = int(rates[:alike].argmax())
        _, instant = max(zip(weighted[step], instants[step], strict=True))
        cells = float((speeds[:alike] / np.array(self._flow.grid.spacing)).max())
        return Strain(float(rates[step]), None, math.inf, float(instant), cells), alike

    def _refuse(self, instants: Reals, speeds: Reals, strains: Reals, dt: float) -> None:
        for instant, of_axes, strain in zip(instants, speeds, strains, strict=True):
            for axis, speed in enumerate(of_axes):
                check_speed(self._flow, axis, float(speed), float(instant), dt)
            check_differences(self._flow, None, float(strain), float(instant))


class TracersGauge(Gauge):
    """Measures how much a velocity strains what is anywhere in a box."""

    def __init__(self, flow: Flow, core: _core.Tracers) -> None:
        super().__init__(flow)
        self._core = core

    def _measured(
        self, times: Sequence[float], dt: float, borne: float, walls: bool
    ) -> tuple[Strain, int]:
        """Judge the first step, by which each is fitted; nothing is refused but what is not finite."""
        instants, weights = _looks_along_all(self._flow, times[:1], dt)
        strains = maxima(self._core, instants[0])
        if not np.isfinite(strains).all():
            instant = float(instants[0][~np.isfinite(strains)][0])
            check_finite(self._flow, instant)
            check_differences(self._flow, None, math.inf, instant)
        rate = float(strains.max() if weights is None else weights @ strains)
        instant = float(instants[0][strains.argmax()])
        return Strain(rate, None, math.inf, instant, 0.0, math.inf), 1


def _looks_along_all(flow: Flow, times: Sequence[float], dt: float) -> tuple[Reals, Reals | None]:
    """Return when steps along all axes look, by step, with the weights of the looks.

    Of a series, the greatest counts: what is linear in time strains most where a piece ends.
    """
    velocity = flow.velocity
    if is_a(velocity, VelocitySeries):
        inside = [t for t in velocity.times if times[0] < t < times[0] + dt]
        return np.array([[times[0], *inside, times[0] + dt]]), None
    axis, duration = np.zeros(1, int), np.full((len(times), 1), dt)
    looks = looks_of(flow, axis, np.array(times)[:, None], duration, is_back=False)
    return looks.instants[:, 0], looks.weights


def _leading(are_remarkable: npt.NDArray[np.bool_]) -> int:
    """Return how many steps come before the first that is remarkable, or 1 if that is the first."""
    return max(1, int(are_remarkable.argmax())) if are_remarkable.any() else len(are_remarkable)
