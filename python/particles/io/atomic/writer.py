# SPDX-License-Identifier: BSD-3-Clause
"""A file that a library changes in place, yet whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from particles.base.disk import flush_folder
from particles.io.atomic.journal import Before, Journal
from particles.io.atomic.label import STATE_BYTES, Label
from particles.io.atomic.locks import ALONE, SHARED, lock
from particles.io.atomic.pages import (
    PAGE,
    DamageError,
    count_of,
    open_regular,
    pages_of,
    read_page,
    size_of,
    sum_of,
    write,
)
from particles.io.atomic.reader import Reader


class Writer(Reader):
    """What a library takes for a file: writing to it never fails, and reading it neither.

    HDF5 cannot let go of a file that it could not write, and ends the process later. So what it
    appends goes to the disk at once; what it changes stays in memory until it has closed the file,
    and so does everything once the disk has failed. Of a damaged page it is given zeros, in which it
    finds nothing.

    Parameters
    ----------
    path : Path
        The file, which is made if it is not there.
    between : callable
        Called while this waits for others.
    is_known_to_be_alone : bool
        Whether nobody else can be at work, on file systems without locks.
    begins_anew : callable
        Asked, once nobody else can write, whether to replace the file by a new one.

    Attributes
    ----------
    is_new : bool
        Whether it is begun: it was not there, or empty, or is to be replaced.
    was_changing : bool
        Whether somebody else had left it in the middle.
    afterwards : ExitStack
        What ends when the file is changed, or is not, and before anybody else can change it.
    """

    def __init__(
        self,
        path: Path,
        between: Callable[[], None],
        is_known_to_be_alone: bool = False,
        begins_anew: Callable[[], bool] = bool,
    ) -> None:
        self._is_alone, self.was_changing = is_known_to_be_alone, False
        self._begins_anew = begins_anew
        self.afterwards = ExitStack()
        self._failure: OSError | None = None
        self._is_changing = False
        self._changed: dict[int, bytearray] = {}
        self._appended: dict[int, int] = {}
        super().__init__(path, between)

    def _open(self, path: Path) -> None:
        self._real = path
        if not path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
        self._journal = Journal(path, self._between)
        is_there = os.path.lexists(path)
        try:
            if is_there:
                self._make_whole()
            elif self._journal.is_complete():
                self._refuse_journal()
            self.is_new = not is_there or size_of(self._number) == 0 or self._begins_anew()
            if self.is_new:
                self._begin()
            else:
                self._continue()
        except BaseException:
            if size_of(self._journal.number) == 0:
                with suppress(OSError):
                    self._journal.remove()
            raise
        self._over = self._changed

    def _begin(self) -> None:
        """Write where a journal would be, until there is a whole file."""
        self._let_go()
        self._journal.empty()
        self._number = os.dup(self._journal.number)
        self._label, self._sums = Label(b"", 0, 0), np.zeros(0, "<u4")
        self._end = self._before = self._appended_from = 0

    def _make_whole(self) -> None:
        """Open what is there, and take back what somebody left in the middle."""
        self._number = open_regular(self._real, os.O_RDWR)
        has_locks = lock(self._number, SHARED, self.path, self._between)
        before = self._journal.read(self._number)
        if before is not None:
            self._recover(before, has_locks or self._is_alone)
            self.was_changing = True

    def _continue(self) -> None:
        self._check_links()
        self._load()
        self._before = self._label.end
        # Whole pages, or what is changed in one would hide what is appended to it.
        self._appended_from = count_of(self._before) * PAGE
        if size_of(self._number) > self._before:
            os.ftruncate(self._number, self._before)

    def _recover(self, before: Before, can_be_alone: bool) -> None:
        """Take back what somebody left in the middle, who is no more."""
        if not before.is_of(self._number):
            self._refuse_journal()
        if not can_be_alone:
            words = (
                "it is in the middle of a change, and its file system has no locks to prove that "
                "nobody is at work on it; if so, particles repair --alone"
            )
            raise OSError(errno.ENOLCK, words)
        lock(self._number, ALONE, self.path, self._between)
        before.play(self._number)
        self._journal.empty()
        lock(self._number, SHARED, self.path, self._between)

    def _check_links(self) -> None:
        """Refuse a file that others may change by another name, beside which is another journal."""
        if os.fstat(self._number).st_nlink > 1:
            words = "it has another hard link, beside which its journal is not found; change a copy"
            raise OSError(errno.EMLINK, words)

    def _refuse_journal(self) -> None:
        words = f"the journal of another file lies beside {self.path}; move it away"
        raise FileExistsError(errno.EEXIST, words, str(self._journal.path))

    def write(self, content: Any) -> int:  # noqa: ANN401  any memory
        """Write, to the disk or to memory."""
        view = memoryview(content).cast("B")
        self._put(view, self._place)
        self._place += len(view)
        self._end = max(self._end, self._place)
        return len(view)

    def truncate(self, end: int | None = None) -> int:
        """Say where the file ends."""
        self._end = self._place if end is None else end
        return self._end

    def check(self) -> None:
        """Raise OSError if the disk has failed, or damage was found: that HDF5 must not be told."""
        if self.damage is not None:
            raise DamageError(f"{self.path} is damaged: {self.damage}")
        if self._failure is not None:
            raise self._named(self._failure)

    def commit(self) -> None:
        """Have the file changed on the disk, or leave it as it was."""
        try:
            self.check()
            label = self._seal()
            self.check()
            os.fsync(self._number)
            if self.is_new:
                self._journal.path.rename(self._real)
                flush_folder(self._real)
            else:
                self._change(label)
        except OSError as error:
            raise self._named(error) from None

    def discard(self) -> None:
        """Leave the file as it was."""
        if self._is_changing:  # and could not be changed back: the journal will tell
            return
        with suppress(OSError):
            if not self.is_new and size_of(self._number) != self._before:
                os.ftruncate(self._number, self._before)
            self._journal.remove()

    def close(self) -> None:
        """Let go of the file, and let others write."""
        super().close()
        if hasattr(self, "_journal"):
            self._journal.close()

    def _change(self, label: Label) -> None:
        """Go from one state to the next."""
        lock(self._number, ALONE, self.path, self._between)
        if read_page(self._number, 0) != self._label.page() or size_of(self._number) < self._before:
            raise OSError(errno.EBUSY, "another program has changed it meanwhile")
        pages = sorted(page for page in self._changed if page * PAGE < self._before)
        self._journal.write(self._number, pages, label.page(), self._before)
        self._is_changing = True
        try:
            for page, content in sorted(self._changed.items()):
                write(self._number, content, page * PAGE)
            os.ftruncate(self._number, label.end)
            os.fsync(self._number)
        except OSError:
            before = self._journal.read(self._number)
            if before is not None:
                before.play(self._number)
                self._is_changing = False
            raise
        self._journal.remove()
        self._is_changing = False

    def _seal(self) -> Label:
        """Put the sums of all pages behind the content, and the label before it."""
        behind = range(self._label.content // PAGE, count_of(self._before))
        for page in behind:  # the table was there
            self._changed.setdefault(page, bytearray(self._page(page)))
        end = max(self._end, self._label.content)  # so no file is shorter than its journal says
        known = self._label.content // PAGE
        sums = np.zeros(count_of(end), "<u4")
        sums[:known] = self._sums[:known]
        for page in {*self._changed, *range(known, len(sums))}:
            if not 0 < page < len(sums):
                continue
            if page in self._appended and (page + 1) * PAGE <= end:
                sums[page] = self._appended[page]
            else:
                sums[page] = sum_of(self._page(page)[: end - page * PAGE])
        table = sums[1:].tobytes()
        label = Label(secrets.token_bytes(STATE_BYTES), end, sum_of(table))
        self._put(memoryview(table), end)
        self._put(memoryview(label.page()), 0)
        return label

    def _put(self, view: memoryview, place: int) -> None:
        kept = max(0, min(len(view), self._appended_from - place))
        if self._failure is None:
            try:
                write(self._number, view[kept:], place + kept)
            except OSError as error:
                self._failure = error
        self._keep(view[:kept] if self._failure is None else view, place)
        self._add_up(view[kept:], place + kept)

    def _keep(self, view: memoryview, place: int) -> None:
        for page, there, here in pages_of(place, len(view)):
            if page not in self._changed:
                self._changed[page] = bytearray(self._page(page))
            self._changed[page][there] = view[here]

    def _add_up(self, view: memoryview, place: int) -> None:
        """Note the sums of pages that are appended whole, while they are at hand."""
        for page, there, here in pages_of(place, len(view)):
            if there == slice(0, PAGE):
                self._appended[page] = sum_of(view[here])
            else:
                self._appended.pop(page, None)

    def _is_as_summed(self, page: int) -> bool:
        return super()._is_as_summed(page) and page not in self._changed

    def _page(self, page: int) -> bytes | bytearray:
        if page in self._changed:
            return self._changed[page]
        if page * PAGE >= self._appended_from:
            return read_page(self._number, page)
        return super()._page(page)

    def _tell(self, error: OSError) -> None:
        pass


@contextmanager
def changing(
    path: Path, between: Callable[[], None], begins_anew: Callable[[], bool] = bool
) -> Iterator[Writer]:
    """Give a file to change, or to begin anew, which is as it was if anything goes wrong."""
    with (
        Writer(path, between, begins_anew=begins_anew) as file,
        file.afterwards,
        committed(file),
    ):
        yield file


@contextmanager
def committed(file: Writer) -> Iterator[None]:
    """Have a file changed in the end, or leave it as it was if anything goes wrong."""
    try:
        yield
        file.commit()
    except BaseException:
        file.discard()
        raise
