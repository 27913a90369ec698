# SPDX-License-Identifier: BSD-3-Clause
"""A file that a library changes in place, yet whole or not at all."""

from __future__ import annotations

import fcntl
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

PAGE = 4096


class Staged(io.RawIOBase):
    """What a library takes for a file: writing to it never fails.

    HDF5 cannot let go of a file that it could not write, and ends the process later. So what it
    appends goes to the disk at once; what it changes stays in memory until it has closed the file,
    and so does everything once the disk has failed.

    Parameters
    ----------
    path : Path
        The file, which is made if it is not there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_new = not path.exists()
        self._file = path.open("x+b" if self._is_new else "r+b", buffering=0)
        self._number = self._file.fileno()
        self._before = self._end = os.fstat(self._number).st_size
        # Whole pages, or what is changed in one would hide what is appended to it.
        self._appended_from = -(-self._before // PAGE) * PAGE
        self._pages: dict[int, bytearray] = {}
        self._place = 0
        self._failure: OSError | None = None
        try:
            fcntl.flock(self._number, fcntl.LOCK_EX | fcntl.LOCK_NB)  # as HDF5 does
        except BlockingIOError as error:
            self.close()
            words = "the file is in use by others"
            raise OSError(error.errno, words, str(path)) from None
        except OSError:  # a disk without locks
            pass

    def seek(self, place: int, origin: int = os.SEEK_SET) -> int:
        """Go to a place."""
        self._place = place + (self._end if origin == os.SEEK_END else 0)
        return self._place

    def tell(self) -> int:
        """Return the place."""
        return self._place

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  any memory
        """Read; there are zeros where nothing is."""
        view = memoryview(buffer).cast("B")
        count = os.preadv(self._number, [view], self._place)
        view[count:] = bytes(len(view) - count)
        for page, there, here in _pages_of(self._place, len(view)):
            if page in self._pages:
                view[here] = self._pages[page][there]
        self._place += len(view)
        return len(view)

    def write(self, content: Any) -> int:  # noqa: ANN401  any memory
        """Write, to the disk or to memory."""
        view = memoryview(content).cast("B")
        kept = max(0, min(len(view), self._appended_from - self._place))
        if self._failure is None:
            try:
                _write_all(self._number, view[kept:], self._place + kept)
            except OSError as error:
                self._failure = error
        self._keep(view[:kept] if self._failure is None else view)
        self._place += len(view)
        self._end = max(self._end, self._place)
        return len(view)

    def truncate(self, end: int | None = None) -> int:
        """Say where the file ends."""
        self._end = self._place if end is None else end
        return self._end

    def check(self) -> None:
        """Raise OSError if the disk has failed."""
        if self._failure is not None:
            raise OSError(self._failure.errno, self._failure.strerror, str(self._path))

    def commit(self) -> None:
        """Have the file changed on the disk, or leave it as it was."""
        self.check()
        before = {page: self._on_disk(page) for page in self._pages}
        try:
            os.fsync(self._number)
            self._put(self._pages, self._end)
        except OSError as error:
            with suppress(OSError):
                self._put(before, self._before)
            raise OSError(error.errno, error.strerror, str(self._path)) from None

    def discard(self) -> None:
        """Leave the file as it was."""
        with suppress(OSError):
            if os.fstat(self._number).st_size != self._before:
                os.ftruncate(self._number, self._before)
            if self._is_new:
                self._path.unlink()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
        super().close()

    def _keep(self, view: memoryview) -> None:
        for page, there, here in _pages_of(self._place, len(view)):
            if page not in self._pages:
                self._pages[page] = self._on_disk(page)
            self._pages[page][there] = view[here]

    def _on_disk(self, page: int) -> bytearray:
        content = os.pread(self._number, PAGE, page * PAGE)
        return bytearray(content.ljust(PAGE, b"\0"))

    def _put(self, pages: dict[int, bytearray], end: int) -> None:
        for page, content in sorted(pages.items()):
            _write_all(self._number, memoryview(content), page * PAGE)
        os.ftruncate(self._number, end)
        os.fsync(self._number)


@contextmanager
def staged(path: Path) -> Iterator[Staged]:
    """Give a file to change, which is as it was if anything goes wrong."""
    file = Staged(path)
    try:
        yield file
        file.commit()
    except BaseException:
        file.discard()
        raise
    finally:
        file.close()


def _pages_of(begin: int, count: int) -> Iterator[tuple[int, slice, slice]]:
    """Give pages, which part of each lies within some bytes, and where among these."""
    pages = range(begin // PAGE, -(-(begin + count) // PAGE)) if count else ()
    for page in pages:
        first, last = max(begin, page * PAGE), min(begin + count, (page + 1) * PAGE)
        yield (
            page,
            slice(first - page * PAGE, last - page * PAGE),
            slice(first - begin, last - begin),
        )


def _write_all(number: int, view: memoryview, place: int) -> None:
    while view:
        written = os.pwrite(number, view, place)
        view, place = view[written:], place + written
