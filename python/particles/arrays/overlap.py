# SPDX-License-Identifier: BSD-3-Clause
"""Whether values lie in the same memory, in part or whole."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.runtime.crew import parts_of

# What NumPy may spend on the question before it says yes: some milliseconds.
_WORK = 10**6

_HOST = 0  # the memory of the host, as the core calls it


class _Elements:
    """Where values lie in their memory, as an array that is never read."""

    def __init__(self, values: _core.Array | _core.Field) -> None:
        dtype = np.dtype(values.dtype)
        memory, begin = values.origin
        self.__array_interface__ = {
            "version": 3,
            "typestr": dtype.str,
            "shape": (values.components, *values.shape),
            "strides": tuple(stride * dtype.itemsize for stride in values.strides),
            "data": (begin if memory == _HOST else begin + 1, True),  # nothing has the address 0
        }


def overlap(one: _core.Array | _core.Field, other: _core.Array | _core.Field) -> bool:
    """Whether two have a byte in common, be it by way of two buffers or two dtypes."""
    if max(len(parts_of(one)), len(parts_of(other))) > 1:
        return any(overlap(*pair) for pair in product(parts_of(one), parts_of(other)))
    if one.origin[0] != other.origin[0]:
        return False
    elements = np.asarray(_Elements(one)), np.asarray(_Elements(other))
    return np.may_share_memory(*elements, max_work=_WORK)  # type: ignore[arg-type]


def may_overlap(values: _core.Array | _core.Field, array: npt.NDArray[Any]) -> bool:
    """Whether an array of the host may lie in the memory of these, by the bounds of both."""
    if len(parts := parts_of(values)) > 1:
        return any(may_overlap(part, array) for part in parts)
    if not values.is_shared or values.origin[0] != _HOST:  # nobody else has it, or no array
        return False
    return np.may_share_memory(np.asarray(_Elements(values)), array)
