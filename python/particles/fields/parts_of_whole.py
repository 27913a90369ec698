# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a field of all ranks, brought to one of them or from it."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from particles.fields.grid import Grid

Key: TypeAlias = tuple[Any, ...]


class Field(Protocol):
    """What is used of a field, which stands above."""

    grid: Grid
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __getitem__(self, key: object) -> Any: ...  # noqa: ANN401
    def __setitem__(self, key: object, value: object) -> None: ...
    def _told(self, what: str) -> str: ...


class _Share(NamedTuple):
    """What a rank has of a part: where in its own block, and where in the part."""

    own: Key
    place: Key
    shape: tuple[int, ...]


def whole_shape(field: Field) -> tuple[int, ...]:
    """Return the shape of a field of all ranks."""
    return (*field.shape[: len(field.shape) - field.grid.ndim], *field.grid.whole.shape)


def gathered(field: Field, key: object = ..., root: int = 0) -> npt.NDArray[Any] | None:
    """Return what an index selects of a field of all ranks on one of them, None elsewhere.

    All ranks must ask for the same, by integers and slices that go upwards. A field that is not
    divided is read by each rank for itself.
    """
    ranks = field.grid.ranks
    if ranks is None:
        values: npt.NDArray[Any] = field[key]
        return values
    shape, shares = _shares(field, key)
    own = shares[ranks.rank]
    with ranks.together("to read what others need"):
        mine = np.ascontiguousarray(field[own.own]) if _size(own) else np.empty(0, field.dtype)
    what = field._told("gather") + ("" if key is ... else f" at {key}")
    parts = ranks.gather(what, root, mine, [one.shape for one in shares])
    if parts is None:
        return None
    found = np.empty(shape, field.dtype)
    for share, part in zip(shares, parts, strict=True):
        if _size(share):
            found[share.place] = part
    return found


def scattered(
    field: Field, key: object, values: npt.NDArray[Any] | None = None, root: int = 0
) -> None:
    """Assign values that one rank has to what an index selects of a field of all ranks."""
    ranks = field.grid.ranks
    if ranks is None:
        field[key] = values
        return
    _, shares = _shares(field, key)
    own = shares[ranks.rank]
    mine = np.empty(own.shape, field.dtype)
    parts = None
    if values is not None:
        parts = [
            values[share.place] if _size(share) else np.empty(share.shape, values.dtype)
            for share in shares
        ]
    ranks.scatter(f"{field._told('to assign a part')}, {key}", root, parts, mine)
    with ranks.together("to assign what another rank has"):
        if _size(own):
            field[own.own] = mine


def _size(share: _Share) -> int:
    return int(np.prod(share.shape, dtype=np.int64))


def _shares(field: Field, key: object) -> tuple[tuple[int, ...], list[_Share]]:
    """Return the shape of what an index selects, and what each rank has of it."""
    shape = whole_shape(field)
    given = key if isinstance(key, tuple) else (key,)
    if ... not in given:
        given = (*given, ...)
    place = given.index(...)
    missing = (slice(None),) * (len(shape) - len(given) + 1)
    indices = (*given[:place], *missing, *given[place + 1 :])
    wanted = [
        range(n)[one] if isinstance(one, slice) else range(int(one), int(one) + 1)
        for one, n in zip(indices, shape, strict=True)
    ]
    is_kept = [isinstance(one, slice) for one in indices]
    front = tuple(map(range, shape[: len(shape) - field.grid.ndim]))
    found = tuple(len(one) for one, kept in zip(wanted, is_kept, strict=True) if kept)
    blocks = [(*front, *block) for block in field.grid.blocks]
    return found, [_share_of(block, wanted, is_kept) for block in blocks]


def _share_of(block: tuple[range, ...], wanted: list[range], is_kept: list[bool]) -> _Share:
    own: list[Any] = []
    place: list[Any] = []
    shape: list[int] = []
    for has, wants, kept in zip(block, wanted, is_kept, strict=True):
        low, high = (
            min(max(-(-(end - wants.start) // wants.step), 0), len(wants))
            for end in (has.start, has.stop)
        )
        mine = wants[low:high]
        if kept:
            first = mine.start - has.start
            own.append(slice(first, first + len(mine) * mine.step, mine.step))
            place.append(slice(low, high))
            shape.append(len(mine))
        elif mine:
            own.append(mine.start - has.start)
        else:
            shape.append(0)  # and nothing of it is read
    return _Share(tuple(own), tuple(place), tuple(shape))
