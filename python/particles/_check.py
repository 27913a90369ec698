# SPDX-License-Identifier: BSD-3-Clause
"""Checks of arguments; every refusal names the argument, what it must be, and what it is."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import numpy.typing as npt

REAL_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))
DTYPES = (np.dtype(np.float16), *REAL_DTYPES)


# Every number of bytes that follows from these fits in 64 bits, padding included.
MOST_POINTS = 2**40
MOST_COMPONENTS = 2**10


def as_integer(name: str, value: object, least: int | None = None, most: int | None = None) -> int:
    """Return an integer, not below `least` nor above `most` where these are given."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None
    if least is not None and number < least:
        raise ValueError(f"{name} must be at least {least}, not {number}")
    if most is not None and number > most:
        raise ValueError(f"{name} must be at most {most}, not {number}")
    return number


def as_index(name: str, value: object, length: int) -> int:
    """Return a place in a sequence; negative ones count from its end."""
    index = as_integer(name, value)
    if not -length <= index < length:
        raise IndexError(f"{name} must be from {-length} to {length - 1}, not {index}")
    return index % length


def as_shape(name: str, value: object) -> tuple[int, ...]:
    """Return the numbers of points along one to three axes."""
    entries = value if isinstance(value, tuple | list | np.ndarray) and np.ndim(value) else [value]
    shape = tuple(as_integer(name, entry, least=1) for entry in entries)
    if not 1 <= len(shape) <= 3:
        raise ValueError(f"{name} must have one to three axes, not {len(shape)}: {shape}")
    if math.prod(shape) > MOST_POINTS:
        raise ValueError(f"{name} must have at most {MOST_POINTS} points, not {shape}")
    return shape


def as_real(name: str, value: object) -> float:
    """Return a finite number."""
    if isinstance(value, str | bytes | bool | np.bool_):
        raise TypeError(f"{name} must be a number, not {value!r}")
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be a number, not {value!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, not {number}")
    return number


def as_reals(name: str, value: object, length: int) -> tuple[float, ...]:
    """Return `length` finite numbers; a single one serves every axis."""
    if not isinstance(value, tuple | list | np.ndarray) or np.ndim(value) == 0:
        return (as_real(name, value),) * length
    numbers = tuple(as_real(name, entry) for entry in value)
    if len(numbers) != length:
        raise ValueError(f"{name} must have one number for each of {length} axes, not {numbers}")
    return numbers


def as_dtype(name: str, value: object, known: tuple[np.dtype[Any], ...] = DTYPES) -> np.dtype[Any]:
    """Return one of the dtypes that are known."""
    *others, last = (one.name for one in known)
    refusal = f"{name} must be {', '.join(others)} or {last}, not {value!r}"
    try:
        dtype: np.dtype[Any] = np.dtype(value)  # type: ignore[call-overload]
    except TypeError:
        raise TypeError(refusal) from None
    if value is None or dtype not in known:
        raise TypeError(refusal)
    return dtype


def arithmetic(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return what numbers of a dtype are while they are computed with: float16 is for storage."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def as_name(name: str, value: object) -> str | None:
    """Return a text or None."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} must be a string or None, not {value!r}")
    return value


def as_bound(name: str, value: object) -> float:
    """Return a bound of values, infinite ones included; NaN stands for none."""
    if value is None:
        return math.nan
    try:
        return as_real(name, value)
    except ValueError:
        number = float(value)  # type: ignore[arg-type]
        if math.isnan(number):
            raise ValueError(f"{name} must be a number or None, not nan") from None
        return number


def as_values(value: object, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return an array of this dtype, refused where NumPy's "same_kind" casting is."""
    array = np.asarray(float(value) if type(value) is int else value)
    if not np.can_cast(array.dtype, dtype, "same_kind"):
        raise TypeError(f"values must be real numbers to become {dtype}, not {array.dtype}")
    return array.astype(dtype, copy=False)


def as_duration(name: str, value: object) -> float:
    """Return a positive number."""
    number = as_real(name, value)
    if number <= 0:
        raise ValueError(f"{name} must be positive, not {number}")
    return number
