# SPDX-License-Identifier: BSD-3-Clause
"""Finds numbers that are not finite in the fields that are carried."""

from __future__ import annotations

import math
import warnings
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from particles.base.checks import is_one_of, shown
from particles.base.errors import NotFiniteError, NotFiniteWarning
from particles.base.frames import frames_of_package
from particles.fields.spots import first_not_finite

if TYPE_CHECKING:
    from particles.fields.field import Field

CHECKS = ("step", "end")


_ONE_SIGN = 0.01  # of the greatest magnitude may have the other sign, as rounding leaves it


class Extremes(NamedTuple):
    """The least and the greatest value of a field."""

    least: float
    greatest: float


class Change(NamedTuple):
    """What a field was and is: where steps started that nobody else has changed, and the last run."""

    number: int
    name: str
    start: Extremes | None
    begin: Extremes | None
    now: Extremes

    def undershoot(self, share: float) -> float | None:
        """Return the value that is farthest on the side of 0 where none was, if it is far.

        That is by a share of the greatest magnitude, of now where what is carried gathers.

        Examples
        --------
        >>> def after(least, greatest):
        ...     return Change(0, "u", Extremes(0, 1), None, Extremes(least, greatest))
        >>> after(-2, 1).undershoot(0.5), after(-2, 9).undershoot(0.5)
        (-2, None)
        """
        if self.start is None:
            return None
        (least, greatest), now = self.start, self.now
        if greatest > 0 and -least <= _ONE_SIGN * greatest:
            return now.least if now.least < -share * max(greatest, now.greatest) else None
        if least < 0 and greatest <= -_ONE_SIGN * least:
            return now.greatest if now.greatest > -share * min(least, now.least) else None
        return None

    def growth(self) -> float:
        """Return how many times its greatest magnitude has become in the last run; 1 if unknown."""
        if self.begin is None or not any(self.begin):
            return 1.0
        return max(map(abs, self.now)) / max(map(abs, self.begin))


class Watch:
    """Looks at fields on their device: one reduction of each, and nothing travels but its result.

    Only if that is not finite are the values read, to find out where. A source that acts on the
    fields is named then.
    """

    def __init__(
        self,
        fields: tuple[Field, ...],
        source: object | None = None,
        what: str = "carried field",
    ) -> None:
        self._fields = fields
        self._source = source
        self._what = what  # is a field without a name
        self._finite: list[int] | None = None  # versions of fields that were found so
        self._ranges: list[Extremes] = []  # of each field, as last looked at
        self._starts: list[Extremes | None] = [None] * len(fields)  # as others than steps left it
        self._begins: list[Extremes | None] = [None] * len(fields)  # as the last run found it
        # Fields that are waiting for a reader would keep each other, and their memory.
        self._weakly = [weakref.ref(field) for field in fields]
        for field in fields:
            field.core.summary()  # builds and allocates what every look needs

    def look_before(self, steps: int, time: float) -> None:
        """Raise NotFiniteError if a field is not finite before more steps are done."""
        finite: Sequence[int | None] = self._finite or [None] * len(self._fields)
        are_new = [
            field.core.is_shared or field.core.version != version
            for field, version in zip(self._fields, finite, strict=True)
        ]
        if any(are_new):
            self._look(f"before step {steps + 1}, at time {time:g}", None, steps, time)
        for number, is_new in enumerate(are_new):
            if is_new or self._starts[number] is None:
                self._starts[number] = self._ranges[number]
        self._begins = list(self._ranges)

    def look(self, steps: int, time: float, dt: float) -> None:
        """Raise NotFiniteError if a field is not finite after steps; waits for the device."""
        self._look(_after_step(steps, time, dt), self._source, steps, time)

    def _look(self, when: str, source: object | None, steps: int, time: float) -> None:
        versions = [field.core.version for field in self._fields]  # before looking
        with _until_told(self._fields):
            ranges: list[Extremes] = []
            error = _first(self._fields, when, source, self._what, ranges)
            if error is not None:
                error.step, error.time = steps, time
                raise error
        self._finite, self._ranges = versions, ranges

    @contextmanager
    def expecting_changes(self) -> Iterator[None]:
        """Let others than steps change the fields; what they leave is what steps start from."""
        before = [field.core.version for field in self._fields]
        yield
        for number, field in enumerate(self._fields):
            if field.core.is_shared or field.core.version != before[number]:
                self._starts[number] = self._begins[number] = None

    def changes(self) -> list[Change]:
        """Return how the last looks differ from those before; all ranks must call it.

        On several ranks nothing is known of the last run.
        """
        ranks = self._fields[0].grid.ranks
        known = list(zip(self._starts, self._begins, self._ranges, strict=True))
        if ranks is not None:
            mine = [
                (start is None, *_from_zero(start or now), *_from_zero(now))
                for start, _, now in known
            ]
            every = ranks.greatest("extremes of carried fields", np.array(mine, float)).tolist()
            known = [
                (None if is_unknown else Extremes(-below, above), None, Extremes(-low, high))
                for is_unknown, below, above, low, high in every
            ]
        names = [_name_of(field, k, self._what) for k, field in enumerate(self._fields)]
        return [Change(k, name, *known[k]) for k, name in enumerate(names)]

    def forget_start(self, change: Change) -> None:
        """Have what is now there be what steps start from."""
        self._starts[change.number] = None

    def look_when_read(self, steps: int, time: float, dt: float) -> None:
        """Have the next reader of each field warned if it is not finite then."""
        source = None if self._source is None else weakref.ref(self._source)
        self._tell_reader(_after_step(steps, time, dt), source)

    def look_when_read_after(self, what: str) -> None:
        """Have the next reader warned, and told after what the field was so."""
        self._tell_reader(f"after {what}", None)

    def _tell_reader(self, when: str, source: weakref.ref[Any] | None) -> None:
        for field in self._fields:
            field.unseen = partial(_warn, self._weakly, when, source)


def _from_zero(found: Extremes) -> tuple[float, float]:
    """Return how far values are below and above 0, of which ranks have a greatest one."""
    return -found.least, found.greatest


def _after_step(steps: int, time: float, dt: float) -> str:
    """Say of what a stepper's fields are the result."""
    return f"after step {steps}, at time {time:g}, with dt = {dt:g}"


def _warn(fields: Sequence[weakref.ref[Field]], when: str, source: weakref.ref[Any] | None) -> None:
    alive = [field() for field in fields]
    with _until_told(alive):
        error = _first(alive, when, None if source is None else source())
        if error is not None:
            warnings.warn(str(error), NotFiniteWarning, stacklevel=frames_of_package())


@contextmanager
def _until_told(fields: Sequence[Field | None]) -> Iterator[None]:
    """Have the next reader of fields look again where whatever else comes between."""
    looks = [(field, field.unseen) for field in fields if field is not None]
    try:
        yield
    except (NotFiniteError, NotFiniteWarning):
        raise
    except BaseException:
        for field, look in looks:
            field.unseen = look
        raise


def _first(
    fields: Sequence[Field | None],
    when: str,
    source: object | None,
    what: str = "carried field",
    ranges: list[Extremes] | None = None,
) -> NotFiniteError | None:
    """Return what is wrong with the first field that is not finite, and when it was so.

    The extremes of those before it are appended to `ranges`.
    """
    for number, field in enumerate(fields):
        if field is None:
            continue
        field.unseen = None
        *_, least, greatest = field.core.summary()
        if not (math.isfinite(least) and math.isfinite(greatest)):
            hint = "" if source is None else f"; {shown(source)} may need a smaller dt"
            return _found(field, _name_of(field, number, what), when + hint)
        if ranges is not None:
            ranges.append(Extremes(least, greatest))
    return None


def _name_of(field: Field, number: int, what: str) -> str:
    return f"field {field.name!r}" if field.name else f"{what} {number}"


def _found(field: Field, name: str, when: str) -> NotFiniteError:
    for component in range(field.components):
        spot = first_not_finite(field.component(component).get(), field.grid)
        if spot is not None:
            break
    else:
        raise RuntimeError(f"{name} was written while it was looked at")
    whose = name if field.components == 1 else f"component {component} of {name}"
    error = NotFiniteError(f"{whose} is {spot}, {when}")
    error.field, error.component = name, component
    error.index, error.place, error.value = spot.index, spot.place, spot.value
    return error


def as_check(check: object) -> str | None:
    """Return when to look at fields."""
    if check is not None and not is_one_of(check, CHECKS):
        raise ValueError(f'check must be "step", "end" or None, not {shown(check)}')
    return None if check is None else str(check)
