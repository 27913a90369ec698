# SPDX-License-Identifier: BSD-3-Clause
"""What NumPy's basic indices select."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from particles.base.checks import as_exact, is_masked, shown
from particles.base.kinds import is_a

Axes: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Selection:
    """Equally spaced elements along every axis, and the array that NumPy makes of them.

    Steps are positive; axes that the index runs through backwards are listed in `reversed_axes`.
    """

    start: Axes
    count: Axes
    step: Axes
    reversed_axes: Axes
    shape: Axes
    is_scalar: bool

    def arranged(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return values of shape `count` as the index shows them."""
        result: npt.NDArray[Any] = np.flip(values, self.reversed_axes).reshape(self.shape)
        return result[()] if self.is_scalar else result

    def rearranged(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return values of shape `shape` as they lie in the field."""
        return np.flip(values.reshape(self.count), self.reversed_axes)


def is_advanced(key: object) -> bool:
    """Return whether the index is one of arrays, lists or truth values."""
    entries = _entries(key)
    if any(map(is_masked, entries)):
        raise IndexError("indices must not be masked: fill them first by their method filled")
    return any(
        is_a(entry, list | tuple | bool | np.bool_)
        or (is_a(entry, np.ndarray) and (entry.ndim > 0 or entry.dtype == bool))
        for entry in entries
    )


def for_numpy(key: object) -> Any:  # noqa: ANN401
    """Return an index of lists and arrays without what classes of their own make of lists."""
    entries = [
        as_exact(entry, "indices") if is_a(entry, list | tuple) else entry
        for entry in _entries(key)
    ]
    return tuple(entries) if is_a(key, tuple) else entries[0]


def as_selection(key: object, shape: Axes) -> Selection:
    """Return what a basic index selects from an array of this shape."""
    start, count, step, reversed_axes, result_shape = [], [], [], [], []
    entries = _expanded(key, len(shape))
    is_scalar = not any(entry is Ellipsis for entry in entries)
    axis = 0
    for entry in entries:
        if entry is None:
            result_shape.append(1)
            continue
        if entry is Ellipsis:
            continue
        length = shape[axis]
        if is_a(entry, slice):
            indices = _range_of(entry, axis, length)
            result_shape.append(len(indices))
            if len(indices) > 1 and indices.step < 0:
                reversed_axes.append(axis)
                indices = indices[::-1]
        else:
            index = _as_index(entry, axis, length)
            indices = range(index, index + 1)
        start.append(indices.start)
        count.append(len(indices))
        step.append(indices.step if len(indices) > 1 else 1)
        axis += 1
    return Selection(
        tuple(start),
        tuple(count),
        tuple(step),
        tuple(reversed_axes),
        tuple(result_shape),
        is_scalar and not result_shape,
    )


def selected_axes(key: object, ndim: int) -> list[tuple[int, slice | int] | None]:
    """Return what a basic index selects of each axis; None stands for a new axis."""
    selected: list[tuple[int, slice | int] | None] = []
    axis = 0
    for entry in _expanded(key, ndim):
        if entry is None:
            selected.append(None)
        elif entry is not Ellipsis:
            selected.append((axis, entry if is_a(entry, slice) else operator.index(entry)))
            axis += 1
    return selected


def spread_over(
    values: npt.NDArray[Any], shape: Axes, names: Sequence[str] = ()
) -> npt.NDArray[Any]:
    """Broadcast values as an assignment does, which overlooks leading axes of length 1.

    Names of the axes tell of values whose axes are in another order.
    """
    spread = values
    while spread.ndim > len(shape) and spread.shape[0] == 1:
        spread = spread[0]
    try:
        return np.broadcast_to(spread, shape)
    except ValueError:
        raise ValueError(
            f"values of the shape {values.shape} cannot be broadcast to {shape}"
            f"{order_of(values.shape, shape, names)}"
        ) from None


def order_of(given: Axes, shape: Axes, names: Sequence[str]) -> str:
    """Return what axes stand for, to end a message with, where those given are in another order.

    Examples
    --------
    >>> order_of((6, 8), (8, 6), ["x", "y"])
    ': transpose them, as axis 0 is x, axis 1 is y'
    >>> order_of((6, 9), (8, 6), ["x", "y"])
    ''
    """
    if given == shape or sorted(given) != sorted(shape) or len(names) != len(shape):
        return ""
    axes = ", ".join(f"axis {axis} is {name}" for axis, name in enumerate(names))
    return f": transpose them, as {axes}"


def _entries(key: object) -> list[Any]:
    """Return the entries of an index, which a tuple has several of."""
    return list(tuple.__iter__(key)) if is_a(key, tuple) else [key]


def _expanded(key: object, ndim: int) -> list[Any]:
    """Return one entry for each axis, with None and an Ellipsis, if any, left where they were."""
    entries = _entries(key)
    used = sum(entry is not None and entry is not Ellipsis for entry in entries)
    ellipses = [place for place, entry in enumerate(entries) if entry is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("an index can have only one ellipsis ('...')")
    if used > ndim:
        raise IndexError(f"too many indices: there are {ndim} axes, but {used} were given")
    place = ellipses[0] if ellipses else len(entries)
    entries[place:place] = [slice(None)] * (ndim - used)
    return entries


def _range_of(entry: slice, axis: int, length: int) -> range:
    try:
        return range(*entry.indices(length))
    except (TypeError, ValueError) as error:
        raise type(error)(f"index along axis {axis} is not a valid slice: {error}") from None


def _may_be_array(entry: object) -> bool:
    """Return whether NumPy would make an array for an index of what is none yet."""
    with suppress(Exception):  # a stranger's object may raise anything
        is_numpys = is_a(entry, np.generic | np.ndarray)
        return not is_numpys and np.dtype(getattr(entry, "dtype", None)).kind in "bui"
    return False


def _as_index(entry: object, axis: int, length: int) -> int:
    try:
        index = operator.index(entry)  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001  a stranger's object may raise anything
        advice = ": np.asarray(...) makes an array of it" if _may_be_array(entry) else ""
        raise IndexError(
            "indices must be integers, slices, '...', None, or arrays of integers or truth "
            f"values, not {shown(entry)}{advice}"
        ) from None
    if not -length <= index < length:
        raise IndexError(
            f"index {shown(index)} is out of bounds for axis {axis} with size {length}"
        )
    return index % length
