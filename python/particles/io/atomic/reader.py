# SPDX-License-Identifier: BSD-3-Clause
"""Content of a file, each page of which is compared with its sum before anybody sees it."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from particles.io.atomic.journal import Before, read_journal_of
from particles.io.atomic.label import Label
from particles.io.atomic.locks import SHARED, lock, unlock
from particles.io.atomic.pages import (
    PAGE,
    SUM_BYTES,
    DamageError,
    count_of,
    open_regular,
    pages_of,
    read_page,
    size_of,
    sum_of,
)

_KEPT = 32  # pages; a library reads what describes its data in small pieces


class Reader(io.RawIOBase):
    """What a library takes for a file: the content of a state.

    While it is open, no other process changes the file.

    Parameters
    ----------
    path : Path
        The file.
    between : callable
        Called while this waits for others.

    Attributes
    ----------
    subject : str
        What is read now, for messages.
    damage : str or None
        What was found to be wrong, as a library may say something else of it.
    """

    damage: str | None

    def __init__(self, path: Path, between: Callable[[], None]) -> None:
        self.path, self._between = path, between
        self.subject, self.damage = "what describes the fields", None
        self._place = 0
        self._process = os.getpid()
        self._kept: dict[int, bytes] = {}
        self._over: Mapping[int, bytes | bytearray] = {}
        self._number = -1
        try:
            self._open(Path(os.path.realpath(path)))
        except BaseException as error:
            self.close()
            if isinstance(error, OSError) and error.filename is None:
                raise self._named(error) from None
            raise

    def _open(self, path: Path) -> None:
        self._number = open_regular(path, os.O_RDONLY)
        lock(self._number, SHARED, self.path, self._between)
        before = read_journal_of(path, self._number)
        self._load(before if before is not None and before.is_of(self._number) else None)

    def _load(self, before: Before | None = None) -> None:
        """Read label and table, as they are or as they were."""
        self._over = {} if before is None else before.pages
        self._label = Label.of(bytes(self._raw(0)), self.path)
        self._end = self._label.content
        if self._label.end > (size_of(self._number) if before is None else before.end):
            raise DamageError(f"{self.path} is damaged: it is cut short")
        table = bytearray(self._label.table_bytes)
        for page, there, here in pages_of(self._label.content, len(table)):
            table[here] = self._raw(page)[there]
        if sum_of(table) != self._label.table_sum:
            raise DamageError(f"{self.path} is damaged in its table of sums")
        self._sums = np.frombuffer(bytes(SUM_BYTES) + table, "<u4")

    @property
    def identity(self) -> tuple[int, int]:
        """Which file is open, whatever lies under its name by now."""
        found = os.fstat(self._number)
        return found.st_dev, found.st_ino

    @property
    def size(self) -> int:
        """How many bytes there are, which is as many as anything in them can take."""
        return self._end

    def seek(self, place: int, origin: int = os.SEEK_SET) -> int:
        """Go to a place."""
        begins = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._end}
        self._place = begins[origin] + place
        return self._place

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  any memory
        """Read; there are zeros where nothing is."""
        view = memoryview(buffer).cast("B")
        count = 0
        while got := os.preadv(self._number, [view[count:]], self._place + count):
            count += got
        view[count:] = bytes(len(view) - count)
        for page, there, here in pages_of(self._place, len(view)):
            if there == slice(0, PAGE) and self._is_as_summed(page):
                if not self._is_whole(page, view[here]):
                    view[here] = bytes(PAGE)
            else:
                view[here] = self._page(page)[there]
        self._place += len(view)
        return len(view)

    def damaged(self) -> Iterator[tuple[int, int]]:
        """Compare every page with its sum; give first and last byte of those that have another."""
        for page in range(1, count_of(self._label.content)):
            content = self._of_content(page)
            if sum_of(content) != self._sums[page]:
                yield page * PAGE, page * PAGE + len(content) - 1
            self._between()

    def close(self) -> None:
        """Let go of the file."""
        if not self.closed:
            self._let_go()
        super().close()

    def _let_go(self) -> None:
        if self._number >= 0:
            unlock(self._number, self._process)
            os.close(self._number)
            self._number = -1

    def _is_as_summed(self, page: int) -> bool:
        """Return whether a page lies on the disk as it is to be read, sum and all."""
        return 0 < page < self._label.content // PAGE and page not in self._over

    def _raw(self, page: int) -> bytes | bytearray:
        return self._over[page] if page in self._over else read_page(self._number, page)

    def _page(self, page: int) -> bytes | bytearray:
        """Return a page of content."""
        if page in self._kept:
            return self._kept[page]
        content = self._of_content(page)
        if page > 0 and content and not self._is_whole(page, content):
            content = bytes(PAGE)
        if len(self._kept) == _KEPT:
            self._kept.pop(next(iter(self._kept)))
        self._kept[page] = content.ljust(PAGE, b"\0")
        return self._kept[page]

    def _of_content(self, page: int) -> bytes:
        return bytes(self._raw(page)[: max(0, self._label.content - page * PAGE)])

    def _is_whole(self, page: int, content: bytes | memoryview) -> bool:
        """Return whether a page has its sum; raise or note that it has not."""
        if sum_of(content) == self._sums[page]:
            return True
        last = page * PAGE + len(content) - 1
        self.damage = f"{self.subject}: bytes {page * PAGE} to {last} have another sum"
        self._tell(OSError(self.damage))
        return False

    def _named(self, error: OSError) -> OSError:
        return OSError(error.errno, error.strerror, str(self.path))

    def _tell(self, error: OSError) -> None:
        raise error


@contextmanager
def reading(path: Path, between: Callable[[], None]) -> Iterator[Reader]:
    """Give a file's content to read."""
    with Reader(path, between) as file:
        yield file
