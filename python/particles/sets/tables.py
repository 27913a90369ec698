# SPDX-License-Identifier: BSD-3-Clause
"""Rows of columns on the host, and as bytes, as which they go from rank to rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.sets.columns import part_of

Table: TypeAlias = dict[str, npt.NDArray[Any]]
"""Of each column some rows, (rows, components)."""

Known: TypeAlias = Mapping[str, _core.Array]
"""Columns, of which there are as many rows in use."""


def table_of(known: Known, rows: range) -> Table:
    """Read some rows."""
    return {name: part_of(array, rows) for name, array in known.items()}


def some_of(table: Table, which: npt.NDArray[np.int64]) -> Table:
    """Return some rows of a table."""
    return {name: values[which] for name, values in table.items()}


def as_bytes(known: Known, *tables: Table) -> npt.NDArray[np.uint8]:
    """Return a row of bytes for each row of tables."""
    rows = [np.empty((0, sum(map(_bytes_of_row, known.values()))), np.uint8)]
    for table in tables:
        columns = [np.ascontiguousarray(table[name]).view(np.uint8) for name in known]
        rows.append(np.concatenate(columns, axis=1))
    return np.concatenate(rows)


def from_bytes(known: Known, rows: npt.NDArray[np.uint8]) -> Table:
    """Return the table of rows of bytes."""
    table, begin = {}, 0
    for name, array in known.items():
        end = begin + _bytes_of_row(array)
        table[name] = np.ascontiguousarray(rows[:, begin:end]).view(array.dtype)
        begin = end
    return table


def _bytes_of_row(array: _core.Array) -> int:
    return array.components * np.dtype(array.dtype).itemsize
