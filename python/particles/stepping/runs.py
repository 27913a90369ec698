# SPDX-License-Identifier: BSD-3-Clause
"""What a run is asked for: steps from one time to another, and calls on the way."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from particles.base.checks import as_integer, as_real, converted, refusal, shown
from particles.base.kinds import is_a
from particles.operators.limits import REFUSED

if TYPE_CHECKING:
    from particles.operators.limits import Given


def as_limit(lcfl: float) -> float:
    """Return a strain that steps may have."""
    limit = as_real("lcfl", lcfl)
    if not 0 < limit <= REFUSED:
        raise ValueError(f"lcfl must be above 0 and at most {REFUSED}, not {limit}")
    return limit


def fewest_steps(ratio: float) -> int:
    """Return the fewest parts of which none is larger than allowed, but for rounding."""
    return max(1, math.ceil(ratio * (1 - 1e-9)))


def steps_between(start: float, end: float, dt: float) -> tuple[int, float]:
    """Whole steps, and what is left; what is left by rounding alone is none."""
    steps = (end - start) / dt
    if steps > 0.5 and abs(steps - round(steps)) <= 1e-9 * max(1.0, steps):
        return round(steps), 0.0
    if end - start <= 4 * sys.float_info.epsilon * max(abs(start), abs(end)):
        return 0, 0.0
    whole = math.floor(steps)
    return whole, end - (start + whole * dt)


def within(time: float, start: float, end: float) -> float:
    """Return a time, or the end of an interval that it misses by the rounding of sums of steps."""
    nearest = min(max(time, start), end)
    return nearest if math.isclose(time, nearest, rel_tol=ROUNDING) else time


Advanced = TypeVar("Advanced")

ROUNDING = 1e-12
MOST_TIMES = 2**20
_END = object()


class Calls(Generic[Advanced]):
    """Calls a function every few steps, or at given times.

    Parameters
    ----------
    callback : callable or None
        Called with what has been advanced.
    every : int or None
        Steps from one call to the next.
    at : iterable of float or None
        Times of calls, ascending, none outside the run.
    start, end : float
        Times at which the run begins and ends.

    Attributes
    ----------
    stops : tuple of float
        Times at which a step has to end; the last one is the end of the run.
    """

    def __init__(
        self,
        callback: Callable[[Advanced], object] | None,
        every: int | None,
        at: Iterable[float] | None,
        start: float,
        end: float,
    ) -> None:
        _check_choice(callback, every, at)
        self._callback = callback
        self._every = None if every is None else as_integer("every", every, least=1)
        times = () if at is None else _as_times(at, start, end)
        self.stops = tuple(dict.fromkeys((*times, end)))
        self._times = frozenset(times)
        self._steps = 0

    def most(self, steps: int) -> int:
        """Return how many of some steps may be done before the next call."""
        return steps if self._every is None else min(steps, self._every - self._steps % self._every)

    def after(self, advanced: Advanced, steps: int, time: float) -> None:
        """Call if it is time to, after so many steps more."""
        self._steps += steps
        reached = self._every is not None and steps > 0 and self._steps % self._every == 0
        if self._callback is not None and (reached or time in self._times):
            self._callback(advanced)


@dataclass
class Run(Generic[Advanced]):
    """What a run is asked for besides its steps."""

    calls: Calls[Advanced]
    check: str | None
    show: Callable[[int], None] | None = None
    warns: bool = True  # of the first large step
    warns_of_walls: bool = True  # of the first that goes through one
    given: Given | None = None  # what its steps come of
    is_fitted: bool = False  # to a strain that was asked for


def _check_choice(callback: object, every: object, at: object) -> None:
    if callback is None:
        if every is not None or at is not None:
            raise TypeError("every and at say when to call: they need a callback")
        return
    if not callable(callback):
        raise TypeError(f"callback must be callable, not {shown(callback)}")
    if (every is None) == (at is None):
        raise TypeError(
            f"a callback needs one of every and at, not every={shown(every)} and at={shown(at)}"
        )


def _as_times(at: Any, start: float, end: float) -> tuple[float, ...]:  # noqa: ANN401
    expected = "at must be a sequence of times"
    if is_a(at, str | bytes):
        raise TypeError(refusal(expected, at))
    given: Iterator[object] = converted(iter, at, expected)
    times: list[float] = []
    # One by one, as some iterables have no end. What a generator raises is its own.
    while (value := next(given, _END)) is not _END:
        time = within(as_real("at", value), start, end)
        if not start <= time <= end:
            raise ValueError(f"at must be from the present time {start} to {end}, not {time}")
        if times and time <= times[-1]:
            raise ValueError(f"at must ascend, not be {time} after {times[-1]}")
        if len(times) == MOST_TIMES:
            raise ValueError(f"at must be at most {MOST_TIMES} times, not more")
        times.append(time)
    return tuple(times)
