# SPDX-License-Identifier: BSD-3-Clause
"""The journal beside a file: what its pages were before they are changed."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from particles.base.disk import flush_folder, keep_access
from particles.io.atomic import label
from particles.io.atomic.locks import ALONE, lock, unlock
from particles.io.atomic.pages import (
    PAGE,
    count_of,
    open_regular,
    read,
    read_page,
    size_of,
    write,
)

MAGIC = b"particles journal 1\n".ljust(32, b"\0")
_HEAD = struct.Struct("<32sQQ")
_NUMBER_BYTES = 8
_DIGEST_BYTES = hashlib.sha256().digest_size


def journal_of(path: Path) -> Path:
    """Return where the journal of a file lies."""
    return path.with_name(f"{path.name}.journal")


class Before(NamedTuple):
    """What a complete journal holds.

    Attributes
    ----------
    end : int
        How long the file was.
    pages : dict of int to bytes
        What it had in the pages that are changed, the first one always; none for a file that must be
        another one.
    label : bytes
        The first page as the change makes it.
    """

    end: int
    pages: dict[int, bytes]
    label: bytes

    def is_of(self, number: int) -> bool:
        """Return whether an open file is in the middle of this change, or at an end of it.

        Each byte of its first page is then the one before or the one after, in whatever pieces it
        reached the disk; both hold many bytes that were drawn by lot.
        """
        if 0 not in self.pages:
            return False
        now, one, other = (
            np.frombuffer(page, np.uint8)
            for page in (read_page(number, 0), self.pages[0], self.label)
        )
        return bool(((now == one) | (now == other)).all())

    def play(self, number: int) -> None:
        """Make a file what it was."""
        for page, content in self.pages.items():
            write(number, content, page * PAGE)
        os.ftruncate(number, self.end)
        os.fsync(number)


class _Head(NamedTuple):
    """How a journal begins: what the file's end was, and how many pages follow."""

    end: int
    pages: int

    @property
    def numbers_end(self) -> int:
        return _HEAD.size + self.pages * _NUMBER_BYTES

    @property
    def sum_place(self) -> int:
        return self.numbers_end + (self.pages + 1) * PAGE


def _head_of(number: int) -> _Head | None:
    """Return how an open journal begins, if it is as long as it says."""
    magic, *fields = _HEAD.unpack(read(number, 0, _HEAD.size).ljust(_HEAD.size, b"\0"))
    head = _Head(*fields)
    is_long = size_of(number) == head.sum_place + _DIGEST_BYTES
    return head if magic == MAGIC and is_long else None


def read_journal(number: int, of_file: int) -> Before | None:
    """Return what an open journal holds if it is complete: only then has anything been changed.

    The open file is never shorter than it was. If the journal says so it is of another one, and
    nothing more is read: it may claim anything.
    """
    head = _head_of(number)
    if head is None:
        return None
    if max(head.end, head.pages * PAGE) > count_of(size_of(of_file)) * PAGE:
        return Before(head.end, {}, b"")
    content = memoryview(read(number, 0, head.sum_place + _DIGEST_BYTES))
    if hashlib.sha256(content[: head.sum_place]).digest() != content[head.sum_place :]:
        return None
    numbers = np.frombuffer(content[_HEAD.size : head.numbers_end], "<u8").tolist()
    places = range(head.numbers_end, head.sum_place, PAGE)
    *pages, after = (bytes(content[place : place + PAGE]) for place in places)
    return Before(head.end, dict(zip(numbers, pages, strict=True)), after)


def read_journal_of(path: Path, of_file: int) -> Before | None:
    """Return what the journal beside an open file holds, if there is a complete one."""
    try:
        number = open_regular(journal_of(path), os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        _check_owner(number, path)
        return read_journal(number, of_file)
    finally:
        os.close(number)


def _check_owner(number: int, path: Path) -> None:
    """Refuse a stranger's journal in a folder where all may put files, and replace none of others."""
    owners = {0, os.geteuid()}
    with suppress(FileNotFoundError):
        owners.add(path.stat().st_uid)
    if path.parent.stat().st_mode & stat.S_ISVTX and os.fstat(number).st_uid not in owners:
        words = f"somebody else has put a journal beside {path}"
        raise PermissionError(errno.EPERM, words, str(journal_of(path)))


class Journal:
    """The journal beside a file, which is made and locked: nobody else writes.

    Parameters
    ----------
    path : Path
        The file.
    between : callable
        Called while this waits for others.
    """

    def __init__(self, path: Path, between: Callable[[], None]) -> None:
        self.path = journal_of(path)
        self.number, self._process = -1, os.getpid()
        while not self._is_there():
            self.close()
            self._open(path)
            try:
                if self.number >= 0:
                    lock(self.number, ALONE, path, between)
            except BaseException:
                self.close()
                raise
        try:
            self._check(path)
        except BaseException:
            self.close()
            raise

    def _check(self, path: Path) -> None:
        _check_owner(self.number, path)
        if not _is_ours(read(self.number, 0, len(MAGIC))):
            words = f"a file that is no journal has the name of the one of {path}"
            raise FileExistsError(errno.EEXIST, words, str(self.path))

    def _open(self, path: Path) -> None:
        """Open it, or make it: who may read it is who may read the file. It may go meanwhile."""
        try:
            of_file = path.stat()
        except FileNotFoundError:
            of_file = None
        mode = 0o666 if of_file is None else 0o600
        try:
            self.number = open_regular(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:
            with suppress(FileNotFoundError):
                self.number = open_regular(self.path, os.O_RDWR)
        else:
            if of_file is not None:
                keep_access(self.number, path, of_file)

    def _is_there(self) -> bool:
        """Return whether what is open still has the name, which goes when a writer is done."""
        if self.number < 0:
            return False
        try:
            return os.path.samestat(os.fstat(self.number), self.path.lstat())
        except FileNotFoundError:
            return False

    def is_complete(self) -> bool:
        """Return whether it seems to hold anything."""
        return _head_of(self.number) is not None

    def read(self, of_file: int) -> Before | None:
        """Return what it holds of an open file if it is complete."""
        return read_journal(self.number, of_file)

    def empty(self) -> None:
        """Hold nothing."""
        os.ftruncate(self.number, 0)

    def write(self, number: int, pages: Sequence[int], label: bytes, end: int) -> None:
        """Hold pages of an open file, the first one among them, and have them on the disk."""
        self.empty()
        digest, place = hashlib.sha256(), 0

        def add(part: bytes) -> None:
            nonlocal place
            write(self.number, part, place)
            digest.update(part)
            place += len(part)

        add(_HEAD.pack(MAGIC, end, len(pages)) + np.array(pages, "<u8").tobytes())
        for page in pages:
            add(read_page(number, page))
        add(label)
        add(digest.digest())
        os.fsync(self.number)
        flush_folder(self.path)

    def remove(self) -> None:
        """Be no more, on the disk too."""
        self.path.unlink()
        flush_folder(self.path)

    def close(self) -> None:
        """Let others write."""
        if self.number >= 0:
            unlock(self.number, self._process)
            os.close(self.number)
            self.number = -1


def _is_ours(head: bytes) -> bool:
    """Return whether a file begins as a journal, or a new file, that was cut short anywhere."""
    return any(
        all(found in (0, wanted) for found, wanted in zip(head, magic, strict=False))
        for magic in (MAGIC, label.MAGIC)
    )
