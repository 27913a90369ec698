# SPDX-License-Identifier: BSD-3-Clause
"""Files that several ranks fill, each its own bytes, and sums of them that no rank makes alone."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from particles.base.checks import as_path
from particles.base.disk import StrPath, errors_naming, replacing_by_name
from particles.communication.ranks import Ranks, together
from particles.io.atomic.pages import write

_TOKEN_BYTES = 16
_MOST_AT_ONCE = 2**18
# What is written is on the disk at once: else a client of NFS may write pages of zeros over what
# others have written beside it.
_AT_ONCE = getattr(os, "O_DSYNC", os.O_SYNC)


class Run(NamedTuple):
    """Bytes that follow each other in a file, and those among them that this rank has.

    Attributes
    ----------
    piece : int
        Bytes of which there is a sum; the last ones of a run may be fewer.
    nbytes : int
        Bytes of the run.
    begin : int
        Where those of this rank begin, at a piece.
    parts : callable
        Gives them.
    """

    piece: int
    nbytes: int
    begin: int
    parts: Callable[[], Iterable[memoryview]]


class Filled(NamedTuple):
    """A file that is being filled: open, by its name, and what it is to replace."""

    number: int
    path: Path
    target: Path
    ranks: Ranks | None

    @contextmanager
    def together(self, what: str) -> Iterator[None]:
        """Raise on all ranks alike what is raised on one of them within."""
        with together(self.ranks, what), errors_naming(self.target, self.path):
            yield


def layout_of(runs: Sequence[Run]) -> list[list[int]]:
    """Return of what length the pieces of each run are, and of how many bytes it is."""
    return [[run.piece, run.nbytes] for run in runs]


class _Sums:
    """The sums of pieces of bytes that come one after the other."""

    def __init__(self, piece: int) -> None:
        self._piece, self._left = piece, piece
        self._sum = hashlib.sha256()
        self.digests: list[bytes] = []

    def update(self, content: memoryview) -> None:
        while content:
            part, content = content[: self._left], content[self._left :]
            self._sum.update(part)
            self._left -= len(part)
            if not self._left:
                self.end()

    def end(self) -> None:
        """End a piece, if one has begun."""
        if self._left < self._piece:
            self.digests.append(self._sum.digest())
            self._sum, self._left = hashlib.sha256(), self._piece


def fill(file: Filled, place: int, runs: Sequence[Run]) -> dict[tuple[int, int], list[bytes]]:
    """Write the bytes of this rank from a place in a file on; return the sums of its pieces."""
    found = {}
    for which, run in enumerate(runs):
        sums, at = _Sums(run.piece), place + run.begin
        for content in run.parts():
            write(file.number, content, at)
            sums.update(content)
            at += len(content)
        sums.end()
        found[which, run.begin] = sums.digests
        place += run.nbytes
    return found


def sums_in_file(
    file: BinaryIO, place: int, layout: Iterable[Sequence[int]], ranks: Ranks | None
) -> list[bytes]:
    """Return the sums of all pieces in a file, of which each rank reads its share."""
    rank, size = (0, 1) if ranks is None else (ranks.rank, ranks.size)
    with together(ranks, "the sums of a file"):
        found = []
        for piece, nbytes in layout:
            count = -(-nbytes // piece)
            own = range(rank * count // size, (rank + 1) * count // size)
            file.seek(place + own.start * piece)
            sums = _Sums(piece)
            rest = min(own.stop * piece, nbytes) - own.start * piece
            while rest > 0 and (content := file.read(min(rest, _MOST_AT_ONCE))):
                sums.update(memoryview(content))
                rest -= len(content)
            sums.end()
            found.append(sums.digests)
            place += nbytes
    every = [found] if ranks is None else ranks.every("the sums of a file's pieces", found)
    return [digest for run in zip(*every, strict=True) for one in run for digest in one]


def gathered_sums(
    found: dict[tuple[int, int], list[bytes]], ranks: Ranks | None
) -> Iterator[bytes]:
    """Give the sums that all ranks have found, in the order of pieces."""
    every = [found] if ranks is None else ranks.every("the sums of what was written", found)
    known = {key: digests for one in every for key, digests in one.items() if digests}
    for key in sorted(known):
        yield from known[key]


@contextmanager
def replacing_together(path: StrPath, ranks: Ranks | None) -> Iterator[Filled]:
    """Give all ranks a file to fill, which takes the place of `path` when all of them have.

    Its first bytes are to be written last, by the first rank. An error of one is raised by all.
    """
    target = Path(os.path.realpath(as_path("path", path)))
    if ranks is None:
        with replacing_by_name(path) as unfinished, _opened(unfinished, 0) as number:
            yield Filled(number, unfinished, target, None)
        return
    token = os.urandom(_TOKEN_BYTES)
    with ExitStack() as new:
        own = new.enter_context(ExitStack())
        unfinished = Path()
        with ranks.together("a new file"):
            if ranks.rank == 0:
                unfinished = new.enter_context(replacing_by_name(path))
                unfinished.write_bytes(token)
        unfinished, target, token = ranks.told("a new file", (unfinished, target, token))
        with ranks.together("to open a new file"), errors_naming(target, unfinished):
            number = own.enter_context(_opened(unfinished, _AT_ONCE))
            if os.pread(number, _TOKEN_BYTES, 0) != token:
                words = "this rank sees another file there: all must see the same folder"
                raise FileNotFoundError(errno.ENOENT, words, str(target))
        yield Filled(number, unfinished, target, ranks)
        with ranks.together("the end of a new file"):
            own.close()
            new.close()


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    number = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | flags)
    try:
        yield number
    finally:
        os.close(number)
