# SPDX-License-Identifier: BSD-3-Clause
"""Pages of open files, and what reaches the disk when."""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from particles.base.disk import check_regular

# A sum of each makes a table of a 4096th of the file. What changes is kept in pages, too.
PAGE = 2**14
SUM_BYTES = 4


class DamageError(ValueError):
    """A file is not what was written."""


sum_of = zlib.crc32  # finds every change of up to four bytes in a row, and 1 - 2^-32 of all others


def count_of(size: int) -> int:
    """Return how many pages some bytes take."""
    return -(-size // PAGE)


def pages_of(begin: int, count: int) -> Iterator[tuple[int, slice, slice]]:
    """Give pages, which part of each lies within some bytes, and where among these."""
    pages = range(begin // PAGE, count_of(begin + count)) if count else ()
    for page in pages:
        first, last = max(begin, page * PAGE), min(begin + count, (page + 1) * PAGE)
        yield (
            page,
            slice(first - page * PAGE, last - page * PAGE),
            slice(first - begin, last - begin),
        )


def open_regular(path: Path, flags: int, mode: int = 0o666) -> int:
    """Open a regular file, or none: to open a device may already do something."""
    with suppress(FileNotFoundError):
        found = path.lstat()
        if not stat.S_ISLNK(found.st_mode):
            check_regular(path, found)
    number = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW, mode)
    try:
        check_regular(path, os.fstat(number))
    except BaseException:
        os.close(number)
        raise
    return number


def size_of(number: int) -> int:
    """Return the size of an open file."""
    return os.fstat(number).st_size


def read_page(number: int, page: int) -> bytes:
    """Return what is there, and zeros where nothing is."""
    return read(number, page * PAGE, PAGE).ljust(PAGE, b"\0")


def read(number: int, place: int, count: int) -> bytes:
    """Return as many bytes as there are up to a number."""
    content = bytearray()
    while len(content) < count:
        part = os.pread(number, count - len(content), place + len(content))
        if not part:
            break
        content += part
    return bytes(content)


def write(number: int, content: bytes | bytearray | memoryview, place: int) -> None:
    """Write all."""
    view = memoryview(content)
    while view:
        written = os.pwrite(number, view, place)
        view, place = view[written:], place + written
