# SPDX-License-Identifier: BSD-3-Clause
"""The ranks of a communicator: the only place that knows MPI.

What all must call together first makes sure that all do the same. So whoever does something else,
or has ended, is told of, and nobody waits for ever.
"""

from __future__ import annotations

import atexit
import hashlib
import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from particles.base.checks import shown
from particles.base.kinds import is_a
from particles.communication.cuts import Interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpi4py import MPI

_STAGGER = 0.1  # seconds by which each rank is later to tell of what all may tell of
_PATIENCE = 3.0  # seconds that others have to tell that this rank has ended
_ROWS = 7100  # a tag


def ranks_of(comm: object) -> Ranks | None:
    """Return the ranks of what a grid is given, ``"world"`` or a communicator; None where alone."""
    if comm is None:
        return None
    if is_a(comm, str):
        if comm not in ("world", "self"):
            raise ValueError(
                f'comm must be "world", "self", a communicator or None, not {shown(comm)}'
            )
        return _known(_mpi().COMM_WORLD) if comm == "world" else None
    wanted = (
        f'comm must be "world", "self", an intracommunicator of mpi4py or None, not {shown(comm)}'
    )
    if "mpi4py.MPI" not in sys.modules:
        raise TypeError(wanted)
    mpi = _mpi()
    if not is_a(comm, mpi.Intracomm):
        raise TypeError(wanted)
    if comm == mpi.COMM_NULL:
        raise ValueError("comm must be a communicator that this rank is in, not COMM_NULL")
    return _known(comm)


def _mpi() -> Any:  # noqa: ANN401
    try:
        from mpi4py import MPI  # starts MPI
    except (ImportError, RuntimeError) as error:
        raise ImportError(f"comm needs MPI and mpi4py: pip install mpi4py ({error})") from error
    return MPI


_all: list[Ranks] = []


def _known(comm: MPI.Intracomm) -> Ranks:
    mpi = _mpi()
    for ranks in _all:
        if mpi.Comm.Compare(ranks.given, comm) == mpi.IDENT:
            return ranks
    _all.append(Ranks(comm))
    return _all[-1]


class Ranks:
    """The ranks of a communicator, seen from one of them.

    Attributes
    ----------
    given : mpi4py.MPI.Intracomm
        The communicator; messages go through a copy of it.
    rank, size : int
        Which one this is, of how many.
    messages, bytes_sent : int
        What `exchange` has sent so far.
    """

    def __init__(self, comm: MPI.Intracomm) -> None:
        self.given = comm
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self.messages = self.bytes_sent = 0
        self._comm = comm.Dup()
        self._buffers: dict[object, npt.NDArray[Any]] = {}
        if self.size > 1:
            _end_together(self)

    def meet(self, what: str) -> None:
        """Wait for all; raise alike everywhere where they do not do the same."""
        mpi = _mpi()
        digest = hashlib.blake2b(what.encode(), digest_size=7).digest()
        number = int.from_bytes(digest, "big")
        found = np.empty(2, np.int64)
        self._comm.Allreduce(np.array([number, -number]), found, mpi.MAX)
        if found[0] == -found[1]:
            return
        told = self._comm.allgather(what)
        first = next(rank for rank in range(self.size) if told[rank] != told[0])
        raise RuntimeError(
            f"all ranks must do the same, but rank 0 is at {told[0]}, rank {first} at {told[first]}"
        )

    def greatest(self, what: str, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the greatest of all ranks of each of some numbers; NaN where one has NaN."""
        self.meet(f"{what} ({values.shape})")
        found = np.empty((2, *values.shape))
        mine = np.stack(
            [
                np.nan_to_num(values, nan=-np.inf, posinf=np.inf, neginf=-np.inf),
                np.isnan(values).astype(float),
            ]
        )
        self._comm.Allreduce(mine, found, _mpi().MAX)
        return np.where(found[1] > 0, np.nan, found[0])

    def total(self, what: str, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the sums of integers of all ranks."""
        self.meet(what)
        found = np.empty_like(numbers)
        self._comm.Allreduce(numbers, found, _mpi().SUM)
        return found

    def sums(self, what: str, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the sums of reals of all ranks, rounded once."""
        self.meet(f"{what} ({values.shape})")
        every = np.array(self._comm.allgather(values))
        found = [math.fsum(column) for column in every.reshape(self.size, -1).T.tolist()]
        return np.array(found).reshape(values.shape)

    def gather(
        self, what: str, root: int, own: npt.NDArray[Any], shapes: Sequence[tuple[int, ...]]
    ) -> list[npt.NDArray[Any]] | None:
        """Return the arrays of all ranks on one of them, None elsewhere."""
        self.meet(f"{what} ({root})")
        if self.rank != root:
            self._comm.Send(_bytes(np.ascontiguousarray(own)), root)
            return None
        found = [
            own if rank == root else np.empty(shapes[rank], own.dtype) for rank in range(self.size)
        ]
        for rank in range(self.size):
            if rank != root:
                self._comm.Recv(_bytes(found[rank]), rank)
        return found

    def exchange(
        self,
        sent: Sequence[Interval],
        received: Sequence[Interval],
        row: tuple[int, ...],
        dtype: npt.DTypeLike,
        read: Callable[[int, npt.NDArray[Any]], None],
        write: Callable[[int, npt.NDArray[Any]], None],
    ) -> None:
        """Fetch rows of others, and send them what they need.

        `read` fills an array with own rows from a number of the whole axis
        on; `write` puts one at a place. Buffers are kept.
        """
        requests = []
        arrived = []
        for number, one in enumerate(received):
            buffer = self._buffer(("in", number), (one.rows, *row), dtype)
            arrived.append(buffer)
            if one.owner != self.rank:
                requests.append(self._comm.Irecv(_bytes(buffer), one.owner, _ROWS))
        for number, one in enumerate(sent):
            buffer = self._buffer(("out", number), (one.rows, *row), dtype)
            read(one.begin, buffer)
            requests.append(self._comm.Isend(_bytes(buffer), one.receiver, _ROWS))
            self.messages += 1
            self.bytes_sent += buffer.nbytes
        for one, buffer in zip(received, arrived, strict=True):
            if one.owner == self.rank:
                read(one.begin, buffer)
        _mpi().Request.Waitall(requests)
        for one, buffer in zip(received, arrived, strict=True):
            if one.is_mirrored:
                buffer = np.ascontiguousarray(buffer[::-1])
            elif one.places > one.rows:
                buffer = np.ascontiguousarray(np.broadcast_to(buffer, (one.places, *row)))
            write(one.place, buffer)

    def _buffer(
        self, key: object, shape: tuple[int, ...], dtype: npt.DTypeLike
    ) -> npt.NDArray[Any]:
        bytes_needed = int(np.prod(shape)) * np.dtype(dtype).itemsize
        kept = self._buffers.get(key)
        if kept is None or kept.nbytes < bytes_needed:
            kept = self._buffers[key] = np.empty(bytes_needed, np.uint8)
        return kept[:bytes_needed].view(dtype).reshape(shape)

    @contextmanager
    def bound(self, *kinds: type[BaseException]) -> Iterator[None]:
        """End all ranks at an exception of some kinds, which keeps this one from its next message."""
        try:
            yield
        except kinds:
            sys.excepthook(*sys.exc_info())
            self.abort()
            raise

    def abort(self) -> None:
        """End all ranks, now."""
        sys.stdout.flush()
        sys.stderr.flush()
        self._comm.Abort(1)


def _bytes(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)


def _end_together(ranks: Ranks) -> None:
    """Have an exception on one rank, or its end, end all of them."""
    usual = sys.excepthook

    def tell_and_end(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        # Where all have raised, the first to tell of it ends the others before they do.
        time.sleep(_STAGGER * min(ranks.rank, 10))
        usual(kind, error, trace)
        ranks.abort()

    def end() -> None:
        try:
            ranks.meet("the end of the script")
        except RuntimeError:  # the others tell
            time.sleep(_PATIENCE)
            ranks.abort()

    sys.excepthook = tell_and_end
    atexit.register(end)
