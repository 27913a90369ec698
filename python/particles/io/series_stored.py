# SPDX-License-Identifier: BSD-3-Clause
"""What is stored in the file of a series: looked at before it is read.

HDF5 converts numbers that are stored otherwise than they are asked for, and may end the process if
somebody has made up how they are stored. So nothing is read but what is stored as this library does.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np

_MOST_BYTES = 1024  # of an attribute


def check_dataset(
    name: str,
    dataset: Any,  # noqa: ANN401  h5py has no types
    dtype: np.dtype[Any],
    shape_of_row: tuple[int, ...],
    size: int,
    rows: int | None = None,
) -> None:
    """Refuse rows of another dtype or shape, or more than fit into a file of a size.

    There may be any number of them, if none is told.
    """
    there = len(dataset) if rows is None else rows
    if (
        not _is_stored_as(dataset.id, dtype)
        or dataset.maxshape != (None, *shape_of_row)
        or len(dataset) != there
    ):
        raise ValueError(f"{name} must have {there} rows of {dtype}, not {dataset}")
    if dtype.itemsize * max(math.prod(dataset.shape), math.prod(dataset.chunks)) > size:
        raise ValueError(f"{name} must fit into {size} bytes, but is {dataset}")


def attribute(owner: Any, name: str, kind: str) -> Any:  # noqa: ANN401
    """Return a small attribute of words ("S"), of float64 ("f") or of int64 ("i")."""
    stored = owner.attrs.get_id(name)
    dtype = stored.dtype if kind == "S" else np.dtype(f"{kind}8")
    size = dtype.itemsize * math.prod(stored.shape)
    if dtype.kind != kind or size > _MOST_BYTES or not _is_stored_as(stored, dtype):
        raise ValueError(f"{name} must be a few numbers or words, not {stored.shape}")
    return owner.attrs[name]


def _is_stored_as(stored: Any, dtype: np.dtype[Any]) -> bool:  # noqa: ANN401
    """Return whether numbers are stored bit by bit as NumPy has them."""
    return bool(stored.get_type().equal(import_module("h5py").h5t.py_create(dtype)))
