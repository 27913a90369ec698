# SPDX-License-Identifier: BSD-3-Clause
"""The first page of a file, which says what state the file is in."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

from particles.io.atomic.pages import PAGE, SUM_BYTES, DamageError, count_of, sum_of

MAGIC = b"particles series 2\n".ljust(32, b"\0")
STATE_BYTES = 16
_FIELDS = struct.Struct(f"<32s{STATE_BYTES}sQL")


class Label(NamedTuple):
    """What a file holds.

    Attributes
    ----------
    state : bytes
        Drawn by lot for each state of each file.
    content : int
        Bytes before the table, those of this page among them.
    table_sum : int
        Of the table, which holds the sum of each page of content but this one.
    """

    state: bytes
    content: int
    table_sum: int

    @property
    def table_bytes(self) -> int:
        """How long the table is."""
        return SUM_BYTES * (count_of(self.content) - 1)

    @property
    def end(self) -> int:
        """Where the table ends, and with it the file."""
        return self.content + self.table_bytes

    def page(self) -> bytes:
        """Return the page."""
        fields = _FIELDS.pack(MAGIC, self.state, self.content, self.table_sum)
        page = fields.ljust(PAGE - SUM_BYTES, b"\0")
        return page + sum_of(page).to_bytes(SUM_BYTES, "little")

    @staticmethod
    def of(page: bytes, path: Path) -> Label:
        """Read a page, unless it is damaged, or another file's."""
        magic, state, content, table_sum = _FIELDS.unpack_from(page)
        if magic != MAGIC:
            raise ValueError(f"{path} is not a series of fields that this version reads")
        label = Label(state, content, table_sum)
        if page != label.page() or content < PAGE:
            raise DamageError(f"{path} is damaged in its first page")
        return label
