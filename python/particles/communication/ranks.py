# SPDX-License-Identifier: BSD-3-Clause
"""The ranks of a communicator: the only place that knows MPI.

What all must call together first makes sure that all do the same. So whoever does something else,
or has ended, is told of, and nobody waits for ever.
"""

from __future__ import annotations

import atexit
import hashlib
import math
import os
import pickle
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

from particles.base.checks import shown
from particles.base.kinds import is_a
from particles.communication.cuts import Transfer, shape_of_rows, spread
from particles.runtime import environment

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpi4py import MPI

_STAGGER = 0.4  # seconds by which each rank is later to tell of what all may tell of
_PATIENCE = 3.0  # seconds that others have to tell that this rank has ended
_PAUSE = 2e-4  # seconds between two looks at what is waited for
_AT_ONCE = 1e-3  # seconds in which it is looked at without a pause
_START = 60  # seconds in which others must start MPI to be ended by one that fails before
_ROWS, _LINES = 7100, 7101  # tags


def begin_together() -> None:
    """Have ranks that a launcher has started end together from now on.

    MPI starts now only where ``PARTICLES_COMM`` says that all share grids; else with the first of
    those, or where a rank fails before.
    """
    if environment.launched() > 1 and environment.is_first_process():
        if environment.wanted_comm():
            ranks_of("world")
        elif find_spec("mpi4py"):
            _end_together()


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
        if find_spec("mpi4py") is None:
            raise ImportError("comm needs mpi4py and an MPI: pip install mpi4py mpich") from error
        raise ImportError(
            "comm needs an MPI that mpi4py can load: pip install mpich, or take the one of your "
            f"system ({str(error).partition(chr(10))[0]})"
        ) from error
    return MPI


_all: list[Ranks] = []


def _known(comm: MPI.Intracomm) -> Ranks:
    """Return the same ranks for all communicators of the same processes in the same order."""
    mpi = _mpi()
    same = mpi.IDENT, mpi.CONGRUENT
    for ranks in _all:
        if mpi.Comm.Compare(ranks.comm, comm) in same:
            return ranks
    world = mpi.COMM_WORLD
    made = Ranks((world if mpi.Comm.Compare(world, comm) in same else comm).Dup())
    _all.append(made)
    if made.size > 1:
        _end_together()
        _meet_at_finalize()
    return made


@dataclass
class Sent:
    """What a rank has sent so far."""

    messages: int = 0
    nbytes: int = 0


class Ranks:
    """The ranks of a communicator, seen from one of them.

    Attributes
    ----------
    comm : mpi4py.MPI.Intracomm
        A communicator of our own.
    rank, size : int
        Which one this is, of how many.
    sent : Sent
        What `exchange` and `swap` have sent so far, those of `lines` included.
    """

    def __init__(self, comm: MPI.Intracomm, sent: Sent | None = None) -> None:
        self.comm, self.rank, self.size = comm, comm.Get_rank(), comm.Get_size()
        self.sent = Sent() if sent is None else sent
        self._buffers: dict[object, npt.NDArray[Any]] = {}
        self._lines: dict[tuple[int, ...], dict[int, Ranks]] = {}

    def __repr__(self) -> str:
        return f"rank {self.rank} of {self.size}"

    def lines(self, cuts: tuple[int, ...]) -> dict[int, Ranks]:
        """Return who has the same place as this rank along all axes but one, for each that is cut.

        Of two axes that are cut, neighbouring ranks lie along the second one. All ranks must ask at
        once. They meet before they talk in lines: so whoever is missing there is told of.
        """
        if cuts not in self._lines:
            places = np.array(np.unravel_index(range(self.size), cuts))
            own = places[:, self.rank]
            found = {}
            for axis in (axis for axis, parts in enumerate(cuts) if parts > 1):
                found[axis] = self
                if cuts[axis] < self.size:
                    others = np.delete(places, axis, 0)
                    first = np.argmax((others == np.delete(own, axis)[:, None]).all(0))
                    line: Any = self.comm.Split(int(first), int(own[axis]))
                    found[axis] = Ranks(line, self.sent)
            self._lines[cuts] = found
        return self._lines[cuts]

    def meet(self, what: str, patience: float = math.inf) -> None:
        """Wait for all; raise alike everywhere where they do not do the same."""
        mpi = _mpi()
        digest = hashlib.blake2b(what.encode(), digest_size=7).digest()
        number = int.from_bytes(digest, "big")
        found = np.empty(2, np.int64)
        _wait(self.comm.Iallreduce(np.array([number, -number]), found, mpi.MAX), patience=patience)
        if found[0] == -found[1]:
            return
        told = self.comm.allgather(what)
        _Exit.status = max(self.comm.allgather(_Exit.status))
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
        _wait(self.comm.Iallreduce(mine, found, _mpi().MAX))
        return np.where(found[1] > 0, np.nan, found[0])

    def total(self, what: str, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the sums of integers of all ranks."""
        self.meet(what)
        found = np.empty_like(numbers)
        _wait(self.comm.Iallreduce(numbers, found, _mpi().SUM))
        return found

    def sums(self, what: str, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the sums of reals of all ranks, rounded once."""
        self.meet(f"{what} ({values.shape})")
        every = np.empty((self.size, *values.shape))
        _wait(self.comm.Iallgather(np.ascontiguousarray(values, np.float64), every))
        found = [sum_once(column) for column in every.reshape(self.size, -1).T.tolist()]
        return np.array(found).reshape(values.shape)

    def gather(
        self, what: str, root: int, own: npt.NDArray[Any], shapes: Sequence[tuple[int, ...]]
    ) -> list[npt.NDArray[Any]] | None:
        """Return the arrays of all ranks on one of them, None elsewhere."""
        self.meet(f"{what} on rank {root}")
        if self.rank != root:
            _wait(self.comm.Isend(_bytes(np.ascontiguousarray(own)), root))
            return None
        found = [
            own if rank == root else np.empty(shapes[rank], own.dtype) for rank in range(self.size)
        ]
        for rank in range(self.size):
            if rank != root:
                _wait(self.comm.Irecv(_bytes(found[rank]), rank))
        return found

    def scatter(
        self,
        what: str,
        root: int,
        parts: Sequence[npt.NDArray[Any]] | None,
        own: npt.NDArray[Any],
    ) -> None:
        """Fill one's own array with what one rank has for each."""
        self.meet(f"{what} from rank {root}")
        if self.rank != root:
            _wait(self.comm.Irecv(_bytes(own), root))
            return
        assert parts is not None
        for rank, part in enumerate(parts):
            if rank == root:
                own[...] = part
            else:
                _wait(self.comm.Isend(_bytes(np.ascontiguousarray(part)), rank))

    def every(self, what: str, own: object) -> list[Any]:
        """Return on all ranks what each of them has, in their order."""
        self.meet(what)
        content = np.frombuffer(pickle.dumps(own), np.uint8)
        sizes = np.empty(self.size, np.int64)
        _wait(self.comm.Iallgather(np.array([content.size]), sizes))
        found = np.empty(sizes.sum(), np.uint8)
        _wait(self.comm.Iallgatherv(content, [found, sizes.tolist()]))
        return [pickle.loads(part.data) for part in np.split(found, np.cumsum(sizes)[:-1])]

    def told(self, what: str, value: object, root: int = 0) -> Any:  # noqa: ANN401
        """Return on all ranks what one of them has."""
        self.meet(f"{what} by rank {root}")
        content = bytearray(pickle.dumps(value) if self.rank == root else b"")
        size = np.array([len(content)])
        _wait(self.comm.Ibcast(size, root))
        content = content or bytearray(int(size[0]))
        _wait(self.comm.Ibcast(content, root))
        return pickle.loads(content)

    @contextmanager
    def together(self, what: str) -> Iterator[None]:
        """Raise on all ranks alike what is raised on one of them within; all must come here."""
        failure: BaseException | None = None
        try:
            yield
        except BaseException as error:  # noqa: BLE001  it is raised below
            failure = error
        told = None
        if failure is not None:
            cause = failure.__cause__
            origin = cause.rank if isinstance(cause, _ElsewhereError) else self.rank
            told = _portable(failure), origin
        found = self.every(what, told)
        rank = next((rank for rank, one in enumerate(found) if one is not None), None)
        if rank is None:
            return
        if rank == self.rank and failure is not None:
            raise failure
        known, origin = found[rank]
        raise known from _ElsewhereError(origin)

    def exchange(
        self,
        sent: Sequence[Transfer],
        received: Sequence[Transfer],
        shape: Sequence[int],
        axis: int,
        dtype: npt.DTypeLike,
        read: Callable[[int, npt.NDArray[Any]], None],
        write: Callable[[int, npt.NDArray[Any]], None],
    ) -> None:
        """Fetch rows along an axis of others, and send them what they need.

        Blocks are of one shape, but for the axis. `read` fills an array with own rows from a number
        of the whole axis on; `write` puts one at a place. Buffers are kept.
        """
        requests = []
        arrived = []
        for number, one in enumerate(received):
            buffer = self._buffer(("in", number), shape_of_rows(shape, axis, one.rows), dtype)
            arrived.append(buffer)
            if one.owner != self.rank:
                requests.append(self.comm.Irecv(_bytes(buffer), one.owner, _ROWS))
        for number, one in enumerate(sent):
            buffer = self._buffer(("out", number), shape_of_rows(shape, axis, one.rows), dtype)
            read(one.begin, buffer)
            requests.append(self.comm.Isend(_bytes(buffer), one.receiver, _ROWS))
            self.sent.messages += 1
            self.sent.nbytes += buffer.nbytes
        for one, buffer in zip(received, arrived, strict=True):
            if one.owner == self.rank:
                read(one.begin, buffer)
        _wait(*requests)
        for one, buffer in zip(received, arrived, strict=True):
            write(one.place, spread(one, buffer, axis))

    def swap(
        self, sent: Sequence[npt.NDArray[Any]], shapes: Sequence[tuple[int, ...]]
    ) -> list[npt.NDArray[Any]]:
        """Send each rank an array, and return what comes from each, of known shapes."""
        found = [np.empty(shape, sent[0].dtype) for shape in shapes]
        requests = []
        for rank, (out, back) in enumerate(zip(sent, found, strict=True)):
            if rank == self.rank:
                back[...] = out
                continue
            if back.size:
                requests.append(self.comm.Irecv(_bytes(back), rank, _LINES))
            if out.size:
                requests.append(self.comm.Isend(_bytes(out), rank, _LINES))
                self.sent.messages += 1
                self.sent.nbytes += out.nbytes
        _wait(*requests)
        return found

    def deliver(
        self, what: str, rows: npt.NDArray[np.uint8], counts: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.uint8]:
        """Send rows of bytes to the ranks, so many to each in their order; return what has come.

        Rows of all ranks are as long. They come in the order of the ranks they come from.
        """
        self.meet(f"{what}, of {rows.shape[1]} bytes")
        coming = np.empty_like(counts)
        _wait(self.comm.Ialltoall(counts, coming))
        sent = np.split(rows, np.cumsum(counts)[:-1])
        return np.concatenate(self.swap(sent, [(int(n), rows.shape[1]) for n in coming]))

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
        _abort()


@contextmanager
def together(ranks: Ranks | None, what: str) -> Iterator[None]:
    """Do the same as `Ranks.together` where there are several ranks."""
    with nullcontext() if ranks is None else ranks.together(what):
        yield


@contextmanager
def bound(ranks: Ranks | None, *kinds: type[BaseException]) -> Iterator[None]:
    """Do the same as `Ranks.bound` where there are several ranks."""
    with nullcontext() if ranks is None else ranks.bound(*kinds):
        yield


def sum_once(numbers: Sequence[float]) -> float:
    """Return a sum of reals that is rounded once; infinite or NaN where that cannot be."""
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):  # what is too large, or infinities of both signs
        return float(sum(numbers))


class _ElsewhereError(RuntimeError):
    """Tells which rank has raised what others raise as well."""

    def __init__(self, rank: int) -> None:
        super().__init__(f"rank {rank} has raised it")
        self.rank = rank


def _portable(error: BaseException) -> BaseException:
    """Return what another rank can raise in the place of an exception."""
    try:
        known = pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001  whatever pickle finds there
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error if type(known) is type(error) else RuntimeError(str(error))


def _bytes(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)


def _wait(*requests: MPI.Request, patience: float = math.inf) -> None:
    """Wait for messages, and heed signals meanwhile; end all ranks where this one cannot wait."""
    are_there, some, begin = _mpi().Request.Testall, list(requests), time.monotonic()
    try:
        while not are_there(some):
            waited = time.monotonic() - begin
            if waited > patience:
                _abort()
            if waited > _AT_ONCE:
                time.sleep(_PAUSE)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        _abort()
        raise


def _abort() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    if "mpi4py.MPI" not in sys.modules:
        # Others may be about to start MPI, which then waits for this one; or may never do so.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_START)
    time.sleep(_STAGGER / 2)  # launchers drop what they have not yet read
    _mpi().COMM_WORLD.Abort(_Exit.status or 1)


class _Exit(SystemExit):
    """What `sys.exit` raises: an interpreter that ends with it asks for its code, outside any frame."""

    status: ClassVar = 0

    @property
    def code(self) -> object:  # type: ignore[override]
        given = self.args[0] if self.args else None
        try:
            sys._getframe(1)
        except ValueError:
            _Exit.status = 0 if given is None else given & 0xFF if is_a(given, int) else 1
        return given


def _exit(status: object = None, /) -> NoReturn:
    raise _Exit(*([] if status is None else [status]))


@cache
def _end_together() -> None:
    """Have an exception on one rank, or its end, end all of them."""
    usual, process = sys.excepthook, os.getpid()

    def tell_and_end(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        # Where all have raised, the first to tell of it ends the others before they do.
        is_mine = os.getpid() == process and not _has_finalized()
        if is_mine and _all:
            time.sleep(_STAGGER * min(_mpi().COMM_WORLD.Get_rank(), 5))
        usual(kind, error, trace)
        if is_mine:
            _abort()

    def end() -> None:
        is_child = os.getpid() != process
        if is_child and "mpi4py.MPI" in sys.modules:  # which it would end for its parent
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(_status())
        if is_child or _has_finalized():
            return
        if _all:
            _leave()
        elif _Exit.status:
            _abort()

    sys.excepthook, sys.exit = tell_and_end, _exit
    atexit.register(end)


def _has_finalized() -> bool:
    return "mpi4py.MPI" in sys.modules and bool(_mpi().Is_finalized())


def _status() -> int:
    """Return with which status this process ends."""
    return _Exit.status or int(getattr(sys, "last_value", None) is not None)


def _leave() -> None:
    """Wait for all to leave; end those that do something else."""
    patience = _PATIENCE if _status() else math.inf  # others may compute on for long
    try:
        while _all:
            _all.pop().meet("the end of the script", patience)
    except RuntimeError:  # the others tell
        time.sleep(_PATIENCE)
        _abort()


@cache
def _meet_at_finalize() -> None:
    """Have whoever ends MPI wait for all before: it begins with what ``COMM_SELF`` has attached."""
    mpi = _mpi()
    key = mpi.Comm.Create_keyval(delete_fn=lambda *_: _leave())
    mpi.COMM_SELF.Set_attr(key, True)
