# SPDX-License-Identifier: BSD-3-Clause
"""Checks of arguments; every refusal names the argument, what it must be, and what it is."""

from __future__ import annotations

import math
import operator
import os
import sys
import unicodedata
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, TypeGuard, TypeVar

import numpy as np
import numpy.typing as npt

from particles.base.frames import frames_of_package
from particles.base.kinds import is_a
from particles.base.pyopencl_objects import is_array, on_host

T = TypeVar("T")

REAL_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))
DTYPES = (np.dtype(np.float16), *REAL_DTYPES)
KEY_DTYPES: tuple[np.dtype[Any], ...] = tuple(map(np.dtype, ("int32", "uint32", "int64", "uint64")))
ARRAY_DTYPES: tuple[np.dtype[Any], ...] = (
    *DTYPES,
    np.dtype(np.bool_),
    np.dtype(np.uint8),
    *KEY_DTYPES,
)


# Every number of bytes that follows from these fits in 64 bits, padding included.
MOST_POINTS = 2**40
MOST_COMPONENTS = 2**10
MOST_NAMES, MOST_ENTRIES, MOST_NUMBERS = 2**12, 2**20, 2**28
MOST_AXES = 64  # of an array of NumPy
_PROTOCOLS = ("__array__", "__array_interface__", "__array_struct__", "__dlpack__")
MOST_SHOWN, MOST_NUMBERS_SHOWN = 500, 20
"""Letters and numbers of what came, in a message."""


def shown(value: object) -> str:
    """Return what came, for a message: never too long, and never an error of its own."""
    if is_a(value, np.ndarray) and value.size > MOST_NUMBERS_SHOWN:
        return f"an array of {value.dtype} of the shape {value.shape}"
    several = value if type(value) in (tuple, list) else ()
    if any(is_a(one, np.ndarray) and one.size > MOST_NUMBERS_SHOWN for one in several):  # type: ignore[attr-defined]
        return f"{len(several)} entries, the first {shown(several[0])}"  # type: ignore[arg-type, index]
    try:
        text = " ".join(line.strip() for line in exact(repr(value)).splitlines())
    except Exception:  # noqa: BLE001  a stranger's object may raise anything
        return f"an object of {type(value).__name__}"
    if len(text) <= MOST_SHOWN:
        return text
    with suppress(Exception):  # arrays of other libraries
        return f"a {type(value).__name__} of {value.dtype} of the shape {tuple(value.shape)}"  # type: ignore[attr-defined]
    return f"{text[:MOST_SHOWN]}..."


def both(ours: object, theirs: object) -> str:
    """Return two things that differ, for a message, also where they read the same.

    Examples
    --------
    >>> both(1, 2), both(1, 1)
    ('1 and 2', '1 and another one of that description')
    """
    one, other = repr(ours), repr(theirs)
    return f"{one} and {'another one of that description' if one == other else other}"


def exact(text: str) -> str:
    """Return a text without the methods that a class of its own may give it."""
    return str.__str__(text)


def as_identifier(text: str) -> str:
    """Return a name as Python takes it in code: letters that look alike, as two µ do, are one."""
    return unicodedata.normalize("NFKC", exact(text))


def refusal(expected: str, value: object) -> str:
    """Return what was expected and what came."""
    return f"{expected}, not {shown(value)}"


def converted(convert: Callable[[Any], T], value: object, expected: str) -> T:
    """Return what a conversion gives, or refuse what it cannot take."""
    try:
        return convert(value)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  a stranger's object may raise anything
        raise TypeError(refusal(expected, value)) from None


def as_integer(name: str, value: object, least: int | None = None, most: int | None = None) -> int:
    """Return an integer, not below `least` nor above `most` where these are given."""
    expected = f"{name} must be an integer"
    if is_a(value, bool | np.bool_):
        raise TypeError(refusal(expected, value))
    number = converted(operator.index, value, expected)
    if least is not None and number < least:
        raise ValueError(f"{name} must be at least {least}, not {shown(number)}")
    if most is not None and number > most:
        raise ValueError(f"{name} must be at most {most}, not {shown(number)}")
    return number


def as_flag(name: str, value: object) -> bool:
    """Return a truth value."""
    if not is_a(value, bool):
        raise TypeError(f"{name} must be True or False, not {shown(value)}")
    return value


def as_optional_flag(name: str, value: object) -> bool | None:
    """Return a truth value or None."""
    return None if value is None else as_flag(name, value)


def is_one_of(value: object, choices: Sequence[str]) -> bool:
    """Whether a value is one of several texts, whatever it makes of a comparison."""
    return is_a(value, str) and exact(value) in choices


def as_choice(name: str, value: object, choices: Sequence[str]) -> str:
    """Return one of several texts."""
    if not is_a(value, str) or exact(value) not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {shown(value)}")
    return exact(value)


def as_index(name: str, value: object, length: int) -> int:
    """Return a place in a sequence; negative ones count from its end."""
    index = as_integer(name, value)
    if not -length <= index < length:
        raise IndexError(f"{name} must be from {-length} to {length - 1}, not {shown(index)}")
    return index % length


def as_shape(name: str, value: object) -> tuple[int, ...]:
    """Return the numbers of points along one to three axes."""
    several = entries(value)
    shape = tuple(as_integer(name, one, 1) for one in ([value] if several is None else several))
    if not 1 <= len(shape) <= 3:
        raise ValueError(f"{name} must have one to three axes, not {len(shape)}: {shown(shape)}")
    if math.prod(shape) > MOST_POINTS:
        raise ValueError(f"{name} must have at most {MOST_POINTS} points, not {shown(shape)}")
    return shape


def as_sequence(value: object, expected: str) -> list[Any]:
    """Return the entries of a sequence that is no text; how many there are is bounded."""
    several = listed(value)
    if several is None:
        if not _is_sequence(value):
            raise TypeError(refusal(expected, value))
        several = converted(
            lambda entries: list(islice(entries, MOST_ENTRIES + 1)), value, expected
        )
    if len(several) > MOST_ENTRIES:
        raise ValueError(f"{refusal(expected, value)}, of which there are more than {MOST_ENTRIES}")
    return several


def _is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    return is_a(value, Sequence) and not is_a(value, str | bytes | bytearray)


def as_mapping(value: object, expected: str) -> dict[Any, Any]:
    """Return what is in a mapping, whatever a class of its own makes of being asked."""
    if is_a(value, dict):
        return dict(dict.items(value))
    if not is_a(value, Mapping):
        raise TypeError(refusal(expected, value))
    named: dict[Any, Any] = converted(
        lambda mapping: dict(islice(mapping.items(), MOST_NAMES + 1)), value, expected
    )
    if len(named) > MOST_NAMES:
        raise ValueError(f"{refusal(expected, value)}, in which there are more than {MOST_NAMES}")
    return named


def entries(value: object) -> list[Any] | None:
    """Return the entries of a sequence that is no text or of an array of any library.

    There is one more than allowed of what is too long, and None of anything else.
    """
    if is_a(value, tuple | list):
        return listed(value)
    if is_a(value, np.ndarray):
        array = value if is_masked(value) else np.asarray(value)
        return list(array[: MOST_ENTRIES + 1]) if array.ndim else None
    try:
        if any(hasattr(type(value), one) for one in _PROTOCOLS):
            return entries(as_array(value))
        if _is_sequence(value):
            return list(islice(value, MOST_ENTRIES + 1))
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  a stranger's object may raise anything
        return None
    return None


def listed(value: object) -> list[Any] | None:
    """Return the entries of a tuple or list, None of anything else.

    They are those that are there, whatever a class of its own makes of an iteration.
    """
    if is_a(value, tuple):
        return list(tuple.__iter__(value))
    return list(list.__iter__(value)) if is_a(value, list) else None


def _is_number(value: object) -> bool:
    if is_a(value, np.ndarray | np.generic):
        return value.ndim == 0 and value.dtype.kind in "iuf" and not is_masked(value)
    if is_a(value, bool):
        return False
    return hasattr(type(value), "__float__") or hasattr(type(value), "__index__")


def as_real(name: str, value: object) -> float:
    """Return a finite number."""
    expected = f"{name} must be a number"
    if is_a(value, np.datetime64 | np.timedelta64):
        seconds = "count seconds, (dates - dates[0]) / np.timedelta64(1, 's')"
        raise TypeError(f"{refusal(expected, value)}: {seconds}")
    if not _is_number(value):
        raise TypeError(refusal(expected, value))
    number = converted(float, value, expected)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, not {number}")
    return number


def as_reals(name: str, value: object, length: int) -> tuple[float, ...]:
    """Return `length` finite numbers; a single one serves every axis."""
    if entries(value) is None:
        return (as_real(name, value),) * length
    numbers = as_numbers(name, value)
    if len(numbers) != length:
        raise ValueError(
            f"{name} must have one number for each of {length} axes, not {shown(numbers)}"
        )
    return numbers


def as_numbers(name: str, value: object) -> tuple[float, ...]:
    """Return finite numbers, however many."""
    expected = f"{name} must be a sequence of numbers"
    several = entries(value)
    if several is None:
        raise TypeError(refusal(expected, value))
    several = as_sequence(several, expected)
    return tuple(as_real(name, entry) for entry in several)


def as_dtype(name: str, value: object, known: tuple[np.dtype[Any], ...] = DTYPES) -> np.dtype[Any]:
    """Return one of the dtypes that are known."""
    *others, last = (one.name for one in known)
    expected = f"{name} must be {', '.join(others)} or {last}"
    dtype: np.dtype[Any] = converted(np.dtype, value, expected)
    if value is None or dtype not in known:
        raise TypeError(refusal(expected, value))
    return dtype


def arithmetic(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return what numbers of a dtype are while they are computed with: float16 is for storage."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def numeric(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return what numbers of a dtype are where others are made of them: truth values are 0 and 1."""
    own = np.dtype(dtype)
    return np.dtype(np.uint8) if own.kind == "b" else own


def _is_encodable(
    text: str,
    encoding: str = sys.getfilesystemencoding(),
    errors: str = sys.getfilesystemencodeerrors(),
) -> bool:
    try:
        text.encode(encoding, errors)
    except UnicodeEncodeError:
        return False
    return True


def as_name(name: str, value: object) -> str | None:
    """Return a text or None."""
    if value is None:
        return None
    if not is_a(value, str):
        raise TypeError(f"{name} must be a string or None, not {shown(value)}")
    text = exact(value)
    if not _is_encodable(text, "utf-8", "strict"):
        raise ValueError(f"{name} must be text that UTF-8 can encode, not {shown(value)}")
    return text


def as_bound(name: str, value: object) -> float:
    """Return a bound of values, infinite ones included; NaN stands for none.

    Integers stay as they are: no float is some of those beyond 2^53.
    """
    if value is None:
        return math.nan
    try:
        number = as_real(name, value)
        return as_integer(name, value) if is_a(value, int | np.integer) else number
    except ValueError:
        number = float(value)  # type: ignore[arg-type]
        if math.isnan(number):
            raise ValueError(f"{name} must be a number or None, not nan") from None
        return number


def is_function(value: object) -> TypeGuard[Callable[..., Any]]:
    """Whether a value can be called, and is no class, nor an array that can."""
    is_array = any(hasattr(type(value), one) for one in _PROTOCOLS)
    return callable(value) and not is_a(value, type) and not is_array


def are_arrays(value: object) -> bool:
    """Whether a value is an array with axes, or a tuple or list with one in it."""
    several = listed(value)
    return any(map(_has_axes, [value] if several is None else several))


def _has_axes(value: Any) -> bool:  # noqa: ANN401
    with suppress(Exception):  # a stranger's object may raise anything
        is_array = any(hasattr(type(value), protocol) for protocol in _PROTOCOLS)
        return is_array and getattr(value, "ndim", 1) != 0
    return False


def is_masked(value: object) -> bool:
    """Whether entries of an array are masked."""
    return is_a(value, np.ma.MaskedArray) and bool(np.ma.is_masked(value))


def as_exact(value: object, name: str, depth: int = 0) -> object:
    """Return sequences of classes of their own as lists, as NumPy would ask them without an end."""
    kind = type(value)
    if kind in (list, tuple):
        if depth == MOST_AXES or set(map(type, value)) <= {int, float}:  # type: ignore[call-overload]
            return value
        return [as_exact(entry, name, depth + 1) for entry in value]  # type: ignore[attr-defined]
    is_sequence = hasattr(kind, "__len__") and hasattr(kind, "__getitem__")
    if not is_sequence or is_a(value, str | dict) or any(hasattr(kind, one) for one in _PROTOCOLS):
        return value
    with suppress(TypeError):
        memoryview(value)  # type: ignore[arg-type]
        return value
    expected = f"{name} must be real numbers in an array"
    if is_a(value, Mapping):
        raise TypeError(refusal(expected, value))
    count = converted(len, value, expected)
    if count > MOST_NUMBERS:
        raise ValueError(f"{name} must be at most {MOST_NUMBERS} numbers, not {count}")
    entries = converted(lambda given: list(islice(given, count)), value, expected)
    try:
        return as_exact(entries, name, depth)
    except TypeError:
        return value  # an array of others, of which NumPy says what it is


def as_array(value: object, name: str = "values") -> npt.NDArray[Any]:
    """Return the array that a value is or can become, by NumPy's protocols, DLPack or PyOpenCL."""
    if is_masked(value):
        raise ValueError(f"{name} must not be masked: fill them first by their method filled")
    if is_array(value):
        return on_host(value, name)
    value = as_exact(value, name)
    has_dlpack_alone = hasattr(value, "__dlpack__") and not hasattr(value, "__array__")
    convert: Any = (
        np.from_dlpack if has_dlpack_alone else float if type(value) is int else np.asarray
    )
    expected = f"{name} must be real numbers in an array"
    if not any(hasattr(type(value), one) for one in _PROTOCOLS):
        return np.asarray(converted(convert, value, expected))
    try:
        return np.asarray(convert(value))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  a stranger's object may raise anything
        raise TypeError(f"{refusal(expected, value)}: {shown(error)}") from None


def as_values(
    value: object, dtype: np.dtype[Any] = REAL_DTYPES[1], name: str = "values"
) -> npt.NDArray[Any]:
    """Return an array of this dtype, refused where NumPy's "same_kind" casting is.

    Integers must be such, and fit.
    """
    if dtype.kind in "iu":
        return _as_integers(value, dtype, name)
    array = as_array(value, name)
    if not np.can_cast(array.dtype, dtype, "same_kind"):
        given = f" ({type(value).__name__})" if array.dtype == object else ""
        kind = "truth values" if dtype.kind == "b" else "real numbers"
        raise TypeError(f"{name} must be {kind} to become {dtype}, not {array.dtype}{given}")
    if np.geterr()["over"] != "warn":
        return array.astype(dtype, copy=False)
    with np.errstate(over="call", call=_warn_of_overflow):
        return array.astype(dtype, copy=False)


def _as_integers(value: object, dtype: np.dtype[Any], name: str) -> npt.NDArray[Any]:
    array = np.asarray(value) if type(value) is int else as_array(value, name)
    limits = np.iinfo(dtype)
    refusal = f"{name} must be integers from {limits.min} to {limits.max} to become {dtype}"
    is_wide = array.dtype == object and type(value) is int  # of more than 64 bits
    if array.dtype.kind not in "biu" and array.size and not is_wide:
        raise TypeError(f"{refusal}, not {array.dtype}")
    if array.size and not np.can_cast(array.dtype, dtype, "safe"):
        least, greatest = int(array.min()), int(array.max())
        if least < limits.min or greatest > limits.max:
            raise ValueError(f"{refusal}, not {shown(least if least < limits.min else greatest)}")
    return array.astype(dtype, copy=False)


def _warn_of_overflow(*_: object) -> None:
    warnings.warn("overflow encountered in cast", RuntimeWarning, stacklevel=frames_of_package())


def as_path(name: str, value: object, suffix: str | None = None) -> Path:
    """Return the path of a file, whose name must end in `suffix`, if there is one."""
    expected = f"{name} must be a text or a path"
    text = converted(os.fspath, value, expected)
    if not is_a(text, str):
        raise TypeError(refusal(expected, value))
    text = exact(text)
    if not text or "\0" in text or not _is_encodable(text):
        raise ValueError(f"{name} must name a file, not be {shown(text)}")
    path = Path(text)
    if suffix is not None and path.suffix != suffix:
        raise ValueError(f"{name} must end in {suffix}, not {shown(text)}")
    return path


def as_duration(name: str, value: object) -> float:
    """Return a positive number."""
    number = as_real(name, value)
    if number <= 0:
        raise ValueError(f"{name} must be positive, not {number}")
    return number


def check_advances(name: str, given: object, dt: float, end: float) -> None:
    """Refuse steps of which no number of ours counts how many lead to an end."""
    if end + dt == end:
        raise ValueError(f"{name} must be large enough to change the time {end}, not {given}")


def check_queue(name: str, value: object) -> None:
    """Refuse what is no command queue of PyOpenCL."""
    import pyopencl

    if not is_a(value, pyopencl.CommandQueue):
        raise TypeError(f"{name} must be a pyopencl.CommandQueue, not {shown(value)}")
