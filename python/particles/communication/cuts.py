# SPDX-License-Identifier: BSD-3-Clause
"""Which rows of an axis each rank has, and which rows of others it needs; no MPI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from particles.base.kinds import is_a

Ends = str | tuple[str, str]


def pair_of(ends: Ends) -> tuple[str, str]:
    """Return what is at the low and at the high end of an axis."""
    return (ends, ends) if is_a(ends, str) else ends


def begins_of(rows: int, parts: int, unit: int = 1) -> tuple[int, ...]:
    """Return where each of nearly equal parts of an axis begins, and where the last one ends.

    Parts begin at multiples of a unit; there must be as many units as parts.

    Examples
    --------
    >>> begins_of(10, 3)
    (0, 3, 6, 10)
    >>> begins_of(10, 3, unit=2)
    (0, 2, 6, 10)
    """
    units = rows // unit
    if units < parts:
        raise ValueError(f"{rows} rows have {units} units of {unit}, fewer than {parts} parts")
    return (*(units * part // parts * unit for part in range(parts)), rows)


def begins_by_speed(rows: int, speeds: Sequence[float], unit: int = 1) -> tuple[int, ...]:
    """Return where parts of an axis begin that are as long as whoever has them is fast.

    Parts begin at multiples of a unit; each has one unit at least.

    Examples
    --------
    >>> begins_by_speed(12, [3.0, 1.0])
    (0, 9, 12)
    >>> begins_by_speed(12, [1.0, 1e-9, 1e-9])
    (0, 10, 11, 12)
    """
    units, ends = rows // unit, np.cumsum(speeds)
    if units < len(speeds):
        raise ValueError(
            f"{rows} rows have {units} units of {unit}, fewer than {len(speeds)} parts"
        )
    begins = [0]
    for part, end in enumerate(ends[:-1], 1):
        wanted = round(units * float(end / ends[-1]))
        begins.append(min(max(wanted, begins[-1] + 1), units - len(speeds) + part))
    return (*(unit * begin for begin in begins), rows)


class Transfer(NamedTuple):
    """Rows that a rank gets of another one.

    Attributes
    ----------
    owner, receiver : int
        Ranks.
    begin, rows : int
        Rows of the owner, counted on the whole axis.
    place, places : int
        Where they belong, counted from the receiver's own first row, and to how many places: one
        row is for all of them where it is the last before an open end.
    is_mirrored : bool
        Whether they come in reverse order.
    """

    owner: int
    receiver: int
    begin: int
    rows: int
    place: int
    places: int
    is_mirrored: bool = False


def shape_of_rows(shape: Sequence[int], axis: int, rows: int) -> tuple[int, ...]:
    """Return the shape of so many rows along an axis of a block.

    Examples
    --------
    >>> shape_of_rows((4, 5, 6), 1, 2)
    (4, 2, 6)
    """
    return (*shape[:axis], rows, *shape[axis + 1 :])


def spread(transfer: Transfer, rows: npt.NDArray[Any], axis: int) -> npt.NDArray[Any]:
    """Return rows along an axis that came as they belong at their places.

    Examples
    --------
    >>> spread(Transfer(0, 1, 2, 3, 0, 3, is_mirrored=True), np.array([2, 3, 4]), 0)
    array([4, 3, 2])
    >>> spread(Transfer(0, 1, 2, 1, 0, 3), np.array([2]), 0)
    array([2, 2, 2])
    """
    if transfer.is_mirrored:
        return np.ascontiguousarray(np.flip(rows, axis))
    if transfer.places > transfer.rows:
        return np.repeat(rows, transfer.places, axis)
    return rows


def sources(places: npt.NDArray[np.int64], rows: int, ends: Ends) -> npt.NDArray[np.int64]:
    """Return the rows on an axis of which those are made that may be beyond its ends."""
    low, high = pair_of(ends)
    if low == "periodic":
        return places % rows
    if low == "wall" and high == "wall":
        places = places % (2 * rows)
        return np.where(places >= rows, 2 * rows - 1 - places, places)
    if low == "wall":
        places = np.where(places < 0, -1 - places, places)
    if high == "wall":
        places = np.where(places >= rows, 2 * rows - 1 - places, places)
    return np.clip(places, 0, rows - 1)


class Window(NamedTuple):
    """Rows of an axis that somebody needs; behind the last one of the axis comes row 0.

    Attributes
    ----------
    first, rows : int
        Which one is the first, and how many there are, at most as many as the axis has.
    """

    first: int
    rows: int


def window_of(low: int, high: int, rows: int, ends: Ends) -> Window:
    """Return those from `low` to `high` that an axis has, or all that it has.

    Examples
    --------
    >>> window_of(-1, 3, 8, "periodic"), window_of(-1, 3, 8, "wall"), window_of(-3, 7, 8, "periodic")
    (Window(first=7, rows=4), Window(first=0, rows=3), Window(first=0, rows=8))
    """
    if high - low >= rows:
        return Window(0, rows)
    if ends == "periodic":
        return Window(low % rows, high - low)
    low, high = max(low, 0), min(high, rows)
    return Window(low, high - low)


def rows_of_window(begins: tuple[int, ...], receiver: int, window: Window) -> list[Transfer]:
    """Return whose rows are in a window, its own included; places count from its first row.

    Examples
    --------
    >>> for one in rows_of_window((0, 3, 8), 0, Window(7, 4)):
    ...     print(one.owner, one.begin, one.rows, "to", one.place)
    1 7 1 to 0
    0 0 3 to 1
    """
    found: list[Transfer] = []
    place = 0
    while place < window.rows:
        row = (window.first + place) % begins[-1]
        owner = int(np.searchsorted(begins, row, side="right")) - 1
        rows = min(window.rows - place, begins[owner + 1] - row)
        found.append(Transfer(owner, receiver, row, rows, place, rows))
        place += rows
    return found


def rows_around(
    begins: tuple[int, ...], receiver: int, low: int, high: int, ends: Ends
) -> list[Transfer]:
    """Return what a rank needs before and behind its own rows, in ascending order of places.

    Examples
    --------
    >>> for one in rows_around((0, 3, 6), 0, 1, 2, "periodic"):
    ...     print(one.owner, one.begin, one.rows, "to", one.place)
    1 5 1 to -1
    1 3 2 to 3
    """
    own = begins[receiver + 1] - begins[receiver]
    found: list[Transfer] = []
    for first, last in (-low, 0), (own, own + high):
        places = np.arange(first, last)
        needed = sources(places + begins[receiver], begins[-1], ends)
        owners = np.searchsorted(begins, needed, side="right") - 1
        at = 0
        while at < len(places):
            end, step = at + 1, 0
            while end < len(places) and owners[end] == owners[at]:
                if end == at + 1:
                    step = int(needed[end] - needed[at])
                if abs(step) > 1 or needed[end] - needed[end - 1] != step:
                    break
                end += 1
            length = end - at
            rows = 1 if step == 0 or length == 1 else length
            found.append(
                Transfer(
                    int(owners[at]),
                    receiver,
                    int(min(needed[at], needed[end - 1])),
                    rows,
                    int(places[at]),
                    length,
                    is_mirrored=rows > 1 and step < 0,
                )
            )
            at = end
    return found
