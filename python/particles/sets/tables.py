# SPDX-License-Identifier: BSD-3-Clause
"""Rows of columns on the host, and as bytes, as which they go from rank to rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.sets.columns import part_of

Table: TypeAlias = dict[str, npt.NDArray[Any]]
"""Of each column some rows, (rows, components)."""

Known: TypeAlias = Mapping[str, _core.Array]
"""Columns, of which there are as many rows in use."""


class _Column(Protocol):
    """What bytes of a column are."""

    @property
    def components(self) -> int: ...

    @property
    def dtype(self) -> npt.DTypeLike: ...


def table_of(known: Known, rows: range) -> Table:
    """Read some rows."""
    return {name: part_of(array, rows) for name, array in known.items()}


def some_of(table: Table, which: npt.NDArray[np.int64]) -> Table:
    """Return some rows of a table."""
    return {name: values[which] for name, values in table.items()}


def as_bytes(known: Mapping[str, _Column], *tables: Table) -> npt.NDArray[np.uint8]:
    """Return a row of bytes for each row of tables."""
    row = _row_of(known)
    rows = np.empty(sum(len(next(iter(table.values()))) for table in tables), row)
    first = 0
    for table in tables:
        for column, name in zip(row.names or (), known, strict=True):
            rows[column][first : first + len(table[name])] = table[name]
        first += len(next(iter(table.values())))
    return rows.view(np.uint8).reshape(-1, row.itemsize)


def from_bytes(known: Mapping[str, _Column], rows: npt.NDArray[np.uint8]) -> Table:
    """Return the table of rows of bytes."""
    row = _row_of(known)
    columns = np.ascontiguousarray(rows).reshape(-1).view(row)
    return {
        name: np.ascontiguousarray(columns[column])
        for column, name in zip(row.names or (), known, strict=True)
    }


def _row_of(known: Mapping[str, _Column]) -> np.dtype[np.void]:
    """Return the dtype of a row: numbers of all columns, one behind the other."""
    return np.dtype(
        [(f"f{k}", array.dtype, (array.components,)) for k, array in enumerate(known.values())]
    )
