# SPDX-License-Identifier: BSD-3-Clause
"""Memory of a device, and what it is taken for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


class Memory(Mapping[str, int]):
    """Bytes of device memory, by purpose; ``print`` shows a table.

    Attributes
    ----------
    total : int
        Sum of all bytes.
    available : int
        Memory of the device.

    Examples
    --------
    >>> import particles as pt
    >>> needed = pt.memory(pt.Grid((64, 64)))
    >>> needed.total == sum(needed.values())
    True
    """

    def __init__(self, rows: Mapping[str, int], available: int) -> None:
        self._rows = dict(sorted(rows.items(), key=lambda row: -row[1]))
        self.total = sum(rows.values())
        self.available = available

    @property
    def fits(self) -> bool:
        """Whether the device has enough memory."""
        return self.total <= self.available

    def __getitem__(self, name: str) -> int:
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __str__(self) -> str:
        rows = [*self._rows.items(), ("total", self.total), ("the device has", self.available)]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:{width}}  {_readable(size):>11}" for name, size in rows)

    def __repr__(self) -> str:
        return f"Memory(total={self.total}, {self._rows})"


def _readable(size: float) -> str:
    for unit in _UNITS:
        if size < 1024 or unit == _UNITS[-1]:
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.2f} {unit}"
