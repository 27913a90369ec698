# SPDX-License-Identifier: BSD-3-Clause
"""Fields that are worked on together: alike, and none in the memory of another."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from particles.arrays.overlap import overlap
from particles.base.checks import as_sequence, refusal, shown
from particles.base.kinds import is_a
from particles.fields.field import Field


def as_fields(fields: object) -> tuple[Field, ...]:
    """Return one field or several alike as a tuple."""
    every = as_several("fields", fields)
    if not every:
        raise TypeError(f"fields must be a Field or a sequence of them, not {shown(fields)}")
    for field in every:
        check_alike("fields", field, every[0], every[0].dtype)
    if any(overlap(one.core, other.core) for one, other in combinations(every, 2)):
        raise ValueError("fields must each have memory of their own, but two of them overlap")
    return every


def as_several(name: str, fields: object) -> tuple[Field, ...]:
    """Return one field or several as a tuple."""
    expected = f"{name} must be a Field or a sequence of them"
    every = [fields] if is_a(fields, Field) else as_sequence(fields, expected)
    for field in every:
        if not is_a(field, Field):
            raise TypeError(f"{refusal(expected, field)} in it")
    return tuple(every)


def check_alike(
    name: str, one: Field, other: Field, dtype: np.dtype[Any], advice: str = ""
) -> None:
    """Refuse a field that is not where another one is, or not of a dtype."""
    if one.grid != other.grid:
        raise ValueError(f"{name} must be on one grid, not on {one.grid} and {other.grid}")
    if one.dtype != dtype:
        raise TypeError(f"{name} must have one dtype, not {one.dtype} and {dtype}{advice}")
    if one.device is not other.device:
        raise ValueError(f"{name} must be on one device, not on {one.device} and {other.device}")
